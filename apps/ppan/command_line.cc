#include "ppan/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

#include "ppan/core/error.h"
#include "ppan/core/suggest.h"
#include "ppan/open/open_rows.h"

namespace ppan::cli {
namespace {

// The command that the arguments chose, as deep as they went.
const CLI::App& chosen_command(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().back();
  return *command;
}

std::string path_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : path_of(*parent) + " " + command.get_name();
}

std::vector<std::string> command_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (!sub->get_name().empty()) names.push_back(sub->get_name());
  }
  return names;
}

// Long names of the options that `command` takes, those of its parents included where they fall through.
std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* at = &command; at != nullptr;
       at = at->get_fallthrough() ? at->get_parent() : nullptr) {
    for (const CLI::Option* option : at->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        const std::string full = "--" + name;
        if (std::find(names.begin(), names.end(), full) == names.end()) names.push_back(full);
      }
    }
  }
  return names;
}

// The dashes are left out of the comparison: they would make any two short options look alike.
std::string unknown_option(const std::string& word, const CLI::App& command) {
  std::vector<std::string> bare;
  for (const std::string& name : option_names(command)) bare.push_back(name.substr(2));
  const auto near = nearest(word.substr(std::min(word.find_first_not_of('-'), word.size())), bare);
  if (near.empty()) return fmt::format("unknown option '{}'", word);
  return fmt::format("unknown option '{}' (did you mean '--{}'?)", word, fmt::join(near, "' or '--"));
}

[[noreturn]] void refuse_unknown(const CLI::App& app) {
  const CLI::App& command = chosen_command(app);
  const std::vector<std::string> left = app.remaining(true);
  const std::string word = left.empty() ? std::string() : left.front().substr(0, left.front().find('='));
  const std::string fix = fmt::format("'{} --help' shows what there is", path_of(command));
  if (word.starts_with('-')) {
    throw Error(ErrorCode::kUsage, unknown_option(word, command), fix);
  }
  const std::vector<std::string> names = command_names(command);
  if (names.empty()) {
    throw Error(ErrorCode::kUsage,
                fmt::format("'{}' is one argument too many for '{}'", word, path_of(command)), fix);
  }
  const bool top = command.get_parent() == nullptr;
  throw Error(ErrorCode::kUsage, unknown_name(top ? "command" : "name", word, names), fix);
}

}  // namespace

CommandLine::CommandLine() {
  app.name("ppan");
  app.description("Learned release mechanisms with measured leakage.");
  app.set_version_flag("--version",
                       [] { return fmt::format("ppan {}\nwith {}", PPAN_VERSION, sources_built_in()); });
  app.set_help_flag("-h,--help", "Show this help");
  app.get_formatter()->column_width(32);
  app.get_formatter()->label("SUBCOMMAND", "NAME");
  app.require_subcommand(0, 1);
  app.option_defaults()->always_capture_default();
  app.footer(R"(Exit status: 0 done, 1 internal fault, 2 usage, 3 bad input data, 4 input/output,
             5 training diverged, 6 an audit limit was exceeded.
Each command has its own --help, with examples.)");
  add_init_command(*this);
  add_curve_command(*this);
  add_pick_command(*this);
  add_show_command(*this);
  add_release_command(*this);
  add_theory_command(*this);
  add_paper_command(*this);
  add_report_command(*this);
  add_audit_command(*this);
  app.add_flag("--show-values", show_values, "Show cell values in messages; they may end up in logs");
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    command->group("Commands");
    command->fallthrough();  // so that --show-values may stand behind the command
  }
}

std::optional<std::string> parse(CommandLine& line, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // the order CLI11 consumes them in
  try {
    line.app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return line.app.help();
  } catch (const CLI::CallForVersion&) {
    return line.app.version() + "\n";
  } catch (const CLI::ExtrasError&) {
    refuse_unknown(line.app);
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorCode::kUsage, error.what(),
                fmt::format("'{} --help' shows what there is", path_of(chosen_command(line.app))));
  }
  if (!line.run) {
    throw Error(ErrorCode::kUsage,
                fmt::format("no command given (known: {})", fmt::join(command_names(line.app), ", ")),
                "'ppan --help' says what each does");
  }
  return std::nullopt;
}

template <typename Value>
CLI::Option* option(CLI::App& command, const std::string& name, Value& value, const std::string& type,
                    const std::string& description) {
  CLI::Option* added = command.add_option(name, value, description)->type_name(type);
  if constexpr (requires { value.empty(); }) {
    if (value.empty()) added->default_str("");
  }
  return added;
}

// Here alone, because every one of them takes the compiler long.
template CLI::Option* option(CLI::App&, const std::string&, std::string&, const std::string&,
                             const std::string&);
template CLI::Option* option(CLI::App&, const std::string&, int&, const std::string&, const std::string&);
template CLI::Option* option(CLI::App&, const std::string&, std::uint64_t&, const std::string&,
                             const std::string&);
template CLI::Option* option(CLI::App&, const std::string&, std::optional<int>&, const std::string&,
                             const std::string&);
template CLI::Option* option(CLI::App&, const std::string&, std::optional<std::int64_t>&, const std::string&,
                             const std::string&);
template CLI::Option* option(CLI::App&, const std::string&, std::optional<std::uint64_t>&, const std::string&,
                             const std::string&);
template CLI::Option* option(CLI::App&, const std::string&, std::optional<double>&, const std::string&,
                             const std::string&);
template CLI::Option* option(CLI::App&, const std::string&, std::optional<std::string>&, const std::string&,
                             const std::string&);
template CLI::Option* option(CLI::App&, const std::string&, std::vector<double>&, const std::string&,
                             const std::string&);
template CLI::Option* option(CLI::App&, const std::string&, std::vector<std::string>&, const std::string&,
                             const std::string&);

CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& value,
                        std::vector<std::string> choices, const std::string& description) {
  std::string listed = fmt::format("{}", fmt::join(choices, "|"));
  return command
      .add_option_function<std::string>(
          name,
          [&value, name, choices = std::move(choices)](const std::string& word) {
            if (std::find(choices.begin(), choices.end(), word) == choices.end()) {
              throw Error(ErrorCode::kUsage, unknown_name("value of " + name, word, choices));
            }
            value = word;
          },
          description)
      ->type_name(std::move(listed))
      ->default_str(value);
}

void add_trust_option(CLI::App& command, std::string& path) {
  command
      .add_option("--trust", path,
                  "Refuse a model that is not signed with one of the keys in this file (PEM, public)")
      ->type_name("KEYFILE")
      ->default_str("");
}

void add_unpacked_option(CLI::App& command, std::uint64_t& most) {
  command.add_option("--max-unpacked", most, "What a .gz file may unpack to: bytes, or with K, M, G, T")
      ->transform(CLI::AsSizeValue(false).description(""))
      ->type_name("SIZE")
      ->default_str(fmt::format("{}G", most >> 30U));
}

void add_unit_option(CLI::App& command, InformationUnit& unit) {
  command
      .add_option_function<std::string>(
          "--unit",
          [&unit](const std::string& word) {
            const std::vector<std::string> units{"nats", "bits"};
            if (word != "nats" && word != "bits") {
              throw Error(ErrorCode::kUsage, unknown_name("value of --unit", word, units));
            }
            unit = word == "bits" ? InformationUnit::kBits : InformationUnit::kNats;
          },
          "Unit of information")
      ->type_name("nats|bits")
      ->default_str("nats");
}

}  // namespace ppan::cli
