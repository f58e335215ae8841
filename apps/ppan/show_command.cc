#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "ppan/command_line.h"
#include "ppan/output.h"
#include "ppan/model/image_release_model.h"
#include "ppan/model/model_signature.h"

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
  write_stdout(std::visit(
      [&](const auto& model) {
        return options.json ? to_json(model).dump(2) + "\n" : describe(model, options.unit);
      },
      any));
  return 0;
}

}  // namespace

void add_show_command(CommandLine& line) {
  const auto options = std::make_shared<ShowOptions>();
  CLI::App* command = line.app.add_subcommand("show", "Tell what a model is");
  command->footer(
      "Checks the whole file first. JSON is always in nats.\n"
      "Examples:\n"
      "  ppan show run/point-07.ppan\n"
      "  ppan show model.ppan --json\n"
      "  ppan show model.ppan --trust board.pem");
  command->add_option("model", options->model, "Model file that 'ppan curve' or 'ppan pick' wrote")
      ->required()
      ->type_name("MODEL")
      ->default_str("");
  command->add_flag("--json", options->json, "Everything the file says, as JSON");
  add_trust_option(*command, options->trust);
  add_unit_option(*command, options->unit);
  command->callback([options, &line] { line.run = [options] { return run_show(*options); }; });
}

}  // namespace ppan::cli
