#include <memory>
#include <string>

#include "ppan/command_line.h"
#include "ppan/model/image_release_model.h"
#include "ppan/model/model_signature.h"
#include "ppan/output.h"

namespace ppan::cli {
namespace {

struct ShowOptions {
  std::string model;
  std::string trust;
  bool json = false;
  InformationUnit unit = InformationUnit::kNats;
};

int run_show(const ShowOptions& options) {
  const AnyModel any = load_any_model(options.model);
  if (!options.trust.empty()) require_trusted(signer_of(any), options.model, options.trust);
  write_stdout(options.json ? json_text(any) : describe(any, options.unit));
  return 0;
}

}  // namespace

void add_show_command(CommandLine& line) {
  const auto options = std::make_shared<ShowOptions>();
  CLI::App* command = line.app.add_subcommand("show", "Describe a model");
  command->footer(R"(Checks the whole file first. JSON is always in nats.
Examples:
  ppan show run/point-07.ppan
  ppan show model.ppan --json
  ppan show model.ppan --trust board.pem)");
  option(*command, "model", options->model, "MODEL", "Model file that 'ppan curve' or 'ppan pick' wrote")
      ->required();
  command->add_flag("--json", options->json, "Everything the file says, as JSON");
  add_trust_option(*command, options->trust);
  add_unit_option(*command, options->unit);
  command->callback([options, &line] { line.run = [options] { return run_show(*options); }; });
}

}  // namespace ppan::cli
