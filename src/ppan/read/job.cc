#include "ppan/read/job.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <set>

#include "ppan/core/file.h"
#include "ppan/core/suggest.h"
#include "ppan/read/settings.h"

namespace ppan {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20U;

struct LineProblem {
  int line;
  Problem problem;
};

int line_of(const toml::node& node) {
  return static_cast<int>(node.source().begin.line);
}

// A TOML value as a setting can take it; nothing for dates, tables and mixed lists.
std::optional<SettingValue> value_of(const toml::node& node) {
  if (const auto* v = node.as_boolean()) return v->get();
  if (const auto* v = node.as_integer()) return v->get();
  if (const auto* v = node.as_floating_point()) return v->get();
  if (const auto* v = node.as_string()) return v->get();
  const auto* list = node.as_array();
  if (list == nullptr) return std::nullopt;
  std::vector<std::string> texts;
  std::vector<double> numbers;
  for (const toml::node& item : *list) {
    if (const auto* v = item.as_string()) {
      texts.push_back(v->get());
    } else if (const auto number = item.value<double>(); number && item.is_number()) {
      numbers.push_back(*number);
    } else {
      return std::nullopt;
    }
  }
  if (!texts.empty() && !numbers.empty()) return std::nullopt;
  if (!numbers.empty()) return numbers;
  return texts;
}

// Entries of a table in the order in which they are written.
std::vector<std::pair<std::string, const toml::node*>> in_order(const toml::table& table) {
  std::vector<std::pair<std::string, const toml::node*>> entries;
  for (const auto& [key, node] : table) entries.emplace_back(std::string(key.str()), &node);
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    const auto& x = a.second->source().begin;
    const auto& y = b.second->source().begin;
    return std::pair(x.line, x.column) < std::pair(y.line, y.column);
  });
  return entries;
}

class JobParser {
 public:
  explicit JobParser(const toml::table& root) {
    std::vector<std::string> sections{"columns"};
    for (const Setting& s : settings()) {
      if (sections.back() != s.section()) sections.push_back(s.section());
    }
    for (const auto& [name, node] : in_order(root)) {
      const toml::table* section = node->as_table();
      if (std::find(sections.begin(), sections.end(), name) == sections.end()) {
        add(*node, name, unknown_name(section != nullptr ? "section" : "key", name, sections));
      } else if (section == nullptr) {
        add(*node, name, fmt::format("is a section: write [{}] on a line of its own", name));
      } else if (name == "columns") {
        parse_columns(*section);
      } else {
        parse_section(name, *section);
      }
    }
    for (Problem& p : job_.check()) {
      const auto given = job_.given.find(p.field);
      problems_.push_back({given == job_.given.end() ? 0 : given->second, std::move(p)});
    }
  }

  JobFile take(std::string_view name) {
    std::stable_sort(problems_.begin(), problems_.end(),
                     [](const LineProblem& a, const LineProblem& b) { return a.line < b.line; });
    Problems all;
    for (LineProblem& p : problems_) {
      if (p.line > 0) p.problem.field = fmt::format("line {}, {}", p.line, p.problem.field);
      all.push_back(std::move(p.problem));
    }
    require_none(all,
                 fmt::format("{} has {} {}", name, all.size(), all.size() == 1 ? "problem" : "problems"));
    return std::move(job_);
  }

 private:
  void add(const toml::node& node, std::string field, std::string what) {
    problems_.push_back({line_of(node), {std::move(field), std::move(what)}});
  }

  template <typename Target>
  void set(const BasicSetting<Target>& setting, const std::string& field, const toml::node& node,
           Target& target) {
    const auto value = value_of(node);
    const std::string fault = value ? setting.set(target, *value) : fmt::format("must be {}", setting.type);
    if (!fault.empty()) add(node, field, fault);
  }

  void parse_section(const std::string& section, const toml::table& table) {
    std::vector<std::string> known;
    for (const Setting& s : settings()) {
      if (s.section() == section) known.push_back(s.name());
    }
    for (const auto& [name, node] : in_order(table)) {
      const std::string key = fmt::format("{}.{}", section, name);
      const auto setting =
          std::find_if(settings().begin(), settings().end(), [&](const Setting& s) { return s.key == key; });
      if (setting == settings().end()) {
        add(*node, key, unknown_name("key", name, known));
        continue;
      }
      job_.given[key] = line_of(*node);
      set(*setting, key, *node, job_);
    }
  }

  void parse_columns(const toml::table& table) {
    std::vector<std::string> known;
    for (const ColumnSetting& s : column_settings()) known.push_back(s.key);
    for (const auto& [name, node] : in_order(table)) {
      const std::string key = fmt::format("columns.{}", name);
      job_.given[key] = line_of(*node);
      ColumnSpec column;
      column.name = name;
      if (node->is_string()) {
        set(column_settings().front(), key, *node, column);
      } else if (const toml::table* parts = node->as_table()) {
        if (!parts->contains("type")) add(*node, key, "has no type");
        for (const auto& [part, value] : in_order(*parts)) {
          const std::string part_key = fmt::format("{}.{}", key, part);
          const auto setting =
              std::find_if(column_settings().begin(), column_settings().end(),
                           [&, wanted = part](const ColumnSetting& s) { return s.key == wanted; });
          if (setting == column_settings().end()) {
            add(*value, part_key, unknown_name("key", part, known));
          } else {
            job_.given[part_key] = line_of(*value);
            set(*setting, part_key, *value, column);
          }
        }
      } else {
        add(*node, key, "must be a type in quotes, or { type = \"...\", ... }");
      }
      job_.schema.columns.push_back(std::move(column));
    }
  }

  JobFile job_;
  std::vector<LineProblem> problems_;
};

template <typename Enum, std::size_t n>
std::string_view name_at(const std::array<std::string_view, n>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

std::string column_text(const ColumnSpec& column) {
  std::string extra;
  for (const ColumnSetting& s : column_settings()) {
    if (s.key == "type") continue;
    const std::string value = s.show(column);
    if (value != s.show(ColumnSpec{})) extra += fmt::format(", {} = {}", s.key, value);
  }
  const std::string type = toml_quoted(to_string(column.type));
  return extra.empty() ? type : fmt::format("{{ type = {}{} }}", type, extra);
}

std::string columns_section(const JobFile& job, const std::map<std::string, ColumnRemark>& remarks) {
  std::string out =
      "\n[columns]\n# Types: integer, real, category, identifier. Further keys: name = { type = \"real\", "
      "weight = 2 "
      "}\n";
  std::size_t width = 0;
  std::vector<std::pair<std::string, const ColumnRemark*>> lines;
  for (const ColumnSpec& column : job.schema.columns) {
    const auto remark = remarks.find(column.name);
    std::string line = fmt::format("{} = {}", toml_key(column.name), column_text(column));
    if (remark != remarks.end() && remark->second.commented_out) line = "# " + line;
    if (line.size() <= 50) width = std::max(width, line.size());
    lines.emplace_back(std::move(line), remark == remarks.end() ? nullptr : &remark->second);
  }
  for (const auto& [line, remark] : lines) {
    out += remark == nullptr || remark->text.empty()
               ? line + "\n"
               : fmt::format("{:<{}}  # {}\n", line, width, remark->text);
  }
  return out;
}

}  // namespace

std::string_view to_string(UnknownRow policy) {
  return name_at(std::array<std::string_view, 3>{"fail", "reject", "nearest"}, policy);
}
std::string_view to_string(MechanismFamily family) {
  return name_at(std::array<std::string_view, 4>{"auto", "finite", "noise-input", "noisy-code"}, family);
}
std::string_view to_string(BudgetForm form) {
  return name_at(std::array<std::string_view, 3>{"dual", "expected", "record"}, form);
}

std::filesystem::path JobFile::source_path() const {
  return source == "-" ? std::filesystem::path("-") : directory / source;
}

Problems JobFile::check() const {
  ProblemList problems;
  problems.require(!source.empty(), "data.source", "is missing; name the table to learn from");
  problems.require(!csv.delimiter || *csv.delimiter != csv.decimal, "read.delimiter",
                   "is also the decimal mark");
  problems.require(
      split.validation + split.test <= 0.95, "split.test",
      fmt::format("validation and test together take {} of the rows; leave at least 0.05 to train on",
                  split.validation + split.test));
  Problems all = problems.take();
  for (Problem& p : schema.check()) all.push_back(std::move(p));
  return all;
}

JobFile parse_job(std::string_view text, std::string_view name) {
  if (text.size() > kMostBytes)
    throw Error(ErrorCode::kUsage, fmt::format("{} is larger than {} bytes", name, kMostBytes));
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw Error(ErrorCode::kUsage,
                fmt::format("{} line {}: {}", name, error.source().begin.line, error.description()),
                "mend the TOML there; texts need quotes, lists brackets");
  }
  return JobParser(root).take(name);
}

JobFile load_job(const std::filesystem::path& path) {
  JobFile job = parse_job(read_file(path), path.string());
  job.directory = path.parent_path();
  return job;
}

void set_job_value(JobFile& job, std::string_view key, std::string_view value) {
  std::vector<std::string> known;
  for (const Setting& s : settings()) known.push_back(s.key);
  const auto at = std::find(known.begin(), known.end(), key);
  if (at == known.end()) throw Error(ErrorCode::kUsage, unknown_name("setting", key, known));
  const Setting& setting = settings()[static_cast<std::size_t>(at - known.begin())];
  std::optional<SettingValue> parsed;
  try {
    const toml::table line = toml::parse(fmt::format("value = {}", value));
    if (line.size() == 1) parsed = value_of(*line.get("value"));
  } catch (const toml::parse_error&) {
    parsed = std::string(value);  // bare text
  }
  const std::string fault = parsed ? setting.set(job, *parsed) : fmt::format("must be {}", setting.type);
  if (!fault.empty()) throw Error(ErrorCode::kUsage, fmt::format("{}: {}", key, fault));
  job.given[std::string(key)] = 0;
}

std::string write_job(const JobFile& job, const std::map<std::string, ColumnRemark>& remarks) {
  std::string out =
      "# Job file for ppan. Lines that begin with # are comments; those that show a key show its default.\n";
  std::string section;
  for (const Setting& s : settings()) {
    if (s.section() != section) {
      if (section == "roles") out += columns_section(job, remarks);
      section = s.section();
      out += fmt::format("\n[{}]\n", section);
    }
    const std::string range = s.range.empty() ? s.type : fmt::format("{}: {}", s.type, s.range);
    out += fmt::format("# {} ({})\n", s.help, range);
    out += fmt::format("{}{} = {}\n", job.given.contains(s.key) ? "" : "# ", s.name(), s.show(job));
  }
  return out;
}

std::string draft_job(const std::filesystem::path& data) {
  if (data == "-")
    throw Error(ErrorCode::kUsage,
                "a job file cannot be drafted from standard input, because the table is read twice",
                "save it to a file first");
  JobFile job;
  const CsvGuess guess = guess_csv(sample_of(*open_source(data)));
  job.source = data.string();
  job.csv.delimiter = guess.delimiter;
  job.csv.header = guess.header;
  job.csv.trim = guess.trim;
  job.csv.decimal = guess.decimal;
  for (const char* key : {"data.source", "read.delimiter", "read.header", "read.decimal", "read.trim",
                          "read.missing", "roles.sensitive", "roles.useful"})
    job.given[key] = 0;

  CsvReader reader(open_source(data), job.csv);
  const TableProfile table = profile_table(reader);
  std::map<std::string, ColumnRemark> remarks;
  for (const ColumnProfile& column : table.columns) {
    const TypeGuess type = guess_type(column);
    ColumnSpec spec;
    spec.name = column.name;
    spec.type = type.type;
    spec.missing = type.missing;
    if (!type.constant && type.type != ColumnType::kIdentifier) job.schema.useful.push_back(column.name);
    std::string text = (type.sure ? "" : "UNSURE: ") + type.reason;
    if (column.missing > 0 && !type.constant) text += fmt::format("; {} missing", column.missing);
    for (char& c : text) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
    }
    remarks[column.name] = {std::move(text), type.constant};
    job.schema.columns.push_back(std::move(spec));
  }
  std::string out = write_job(job, remarks);
  std::string head = fmt::format("# {} rows, {} columns.\n", table.rows, table.columns.size());
  for (const std::string& note : guess.unsure) head += fmt::format("# UNSURE: {}.\n", note);
  head +=
      "# To do: move what must stay secret from roles.useful to roles.sensitive, and look at every UNSURE.\n";
  return head + out;
}

}  // namespace ppan
