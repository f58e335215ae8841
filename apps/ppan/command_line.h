#pragma once

// The frame of the command line. Each command is one file with one function, add_..._command(), which
// declares its options and says what to run; main() alone catches errors and turns them into an exit status.

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ppan/core/estimate.h"

namespace ppan::cli {

struct CommandLine {
  CLI::App app;
  bool show_values = false;  ///< Cells of records may be quoted in messages.
  std::function<int()> run;  ///< What the parsed command does; its value is the exit status.

  CommandLine();
};

/// `ppan init`: a first job file for a table.
void add_init_command(CommandLine& line);
/// `ppan curve`: the trade-off curve of a table.
void add_curve_command(CommandLine& line);
/// `ppan pick`: the model of one point of a curve.
void add_pick_command(CommandLine& line);
/// `ppan show`: what a model is.
void add_show_command(CommandLine& line);
/// `ppan release`: a table through a model.
void add_release_command(CommandLine& line);
/// `ppan theory`: closed-form curves.
void add_theory_command(CommandLine& line);
/// `ppan paper`: the experiments of the paper.
void add_paper_command(CommandLine& line);
/// `ppan report`: the page of a finished run, made again.
void add_report_command(CommandLine& line);
/// `ppan audit`: what fresh attackers find in a release.
void add_audit_command(CommandLine& line);

/// Parses the arguments (without the program's name) and sets `line.run`. Text to print instead of running
/// anything (help, version) is returned. Throws Error(kUsage), with the nearest known names for an unknown
/// one.
std::optional<std::string> parse(CommandLine& line, std::vector<std::string> arguments);

/// Declares an option that takes a value of the kind that help calls `type`. The default is shown where there
/// is one. Value: a string, a number, an optional or a list of these.
template <typename Value>
CLI::Option* option(CLI::App& command, const std::string& name, Value& value, const std::string& type,
                    const std::string& description);

/// --unit nats|bits.
void add_unit_option(CLI::App& command, InformationUnit& unit);

/// --trust KEYFILE: public keys, one of which must have signed the model.
void add_trust_option(CLI::App& command, std::string& path);

/// --max-unpacked SIZE: bytes, or with K, M, G or T.
void add_unpacked_option(CLI::App& command, std::uint64_t& most);

/// Declares an option that takes one of a few words; another word is an Error(kUsage) with the nearest of
/// them.
CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& value,
                        std::vector<std::string> choices, const std::string& description);

}  // namespace ppan::cli
