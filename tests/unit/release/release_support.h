#pragma once

// A small model of mixed columns without any training: the numbers of a network do not matter to how it is
// stored and applied.

#include <string>
#include <utility>
#include <vector>

#include "ppan/core/random.h"
#include "ppan/encode/encoder.h"
#include "ppan/model/release_model.h"
#include "ppan/model/table_model.h"
#include "ppan/source/csv_source.h"

namespace ppan::release_test {

inline std::string people_csv(int rows) {
  std::string text = "id,age,job,pay,ill,note\n";
  const std::vector<std::string> jobs{"clerk", "nurse", "\"driver, bus\"", "cook"};
  for (int i = 0; i < rows; ++i) {
    text += "p" + std::to_string(i) + "," + std::to_string(20 + i * 7 % 45) + "," +
            jobs[static_cast<std::size_t>(i * 5 / 3 % 4)] + "," +
            (i % 11 == 3 ? std::string() : std::to_string(1000 + i * 37 % 900) + ".50") + "," +
            (i % 3 == 0 ? "yes" : "no") + ",x" + std::to_string(i % 5) + "\n";
  }
  return text;
}

inline Schema people_schema() {
  Schema schema;
  const std::vector<std::pair<std::string, ColumnType>> columns{{"age", ColumnType::kInteger},
                                                                {"job", ColumnType::kCategory},
                                                                {"pay", ColumnType::kReal},
                                                                {"ill", ColumnType::kCategory}};
  for (const auto& [name, type] : columns) {
    ColumnSpec spec;
    spec.name = name;
    spec.type = type;
    schema.columns.push_back(std::move(spec));
  }
  schema.sensitive = {"ill"};
  schema.useful = {"age", "job", "pay"};
  schema.keep = {"id"};
  return schema;
}

struct People {
  Schema schema = people_schema();
  Encoding encoding;
  EncodedRows rows;

  explicit People(int count = 900) {
    CsvSource reader(memory_source(people_csv(count)));
    const Table table = read_table(reader, schema.columns);
    EncodingOptions options{.min_rows = 1, .grid_cost = 0};  // so that rows come back as they were
    options.missing = CsvOptions{}.missing;
    encoding = fit_encoding(table, schema.columns, options);
    const Encoder encoder(encoding);
    encoder.encode(table, std::vector<std::int32_t>{0, 1, 2, 3}, UnknownRow::kFail, rows);
  }

  /// A noisy code whose networks have random parameters.
  [[nodiscard]] TableModel random_model(std::uint64_t seed = 1) const {
    const TableModel shape = unchanged_model(schema, encoding);
    TableComponent component;
    component.kind = ComponentKind::kTrained;
    component.label = "point 1";
    component.mechanism.kind = MechanismKind::kNoisyCode;
    component.mechanism.released = shape.released_layout().width;
    component.mechanism.hidden = {8};
    component.mechanism.decoder = {8};
    component.mechanism.code = 3;
    Attribute<float> observed;
    observed.value = Matrix<float>::Zero(1, shape.observed_layout().width);
    const auto mechanism = make_mechanism<float>(component.mechanism, observed);
    SeededRandom random(seed);
    mechanism->initialise(random);
    component.parameters = mechanism->parameters();
    return TableModel(schema, encoding, {component});
  }

  [[nodiscard]] ReleaseModel model(TableModel table) const {
    ReleaseModel out{.table = std::move(table),
                     .format = table_format(CsvOptions{}),
                     .unknown = UnknownRow::kFail,
                     .order = {"id", "age", "job", "pay"},
                     .origin = {},
                     .audit = std::nullopt,
                     .checksum = {}};
    out.format.delimiter = ',';
    out.origin.program = "ppan test";
    out.origin.label = "point 1";
    out.origin.budget = 0.25;
    out.origin.distortion = 0.2;
    out.origin.changed = 0.1;
    out.origin.columns = {
        {.name = "age", .numeric = true, .weight = 1, .changed = 0.5, .distortion = 0.04, .rms_error = 0.2}};
    out.origin.leakage = Estimate{.nats = 0.1,
                                  .interval95 = Interval{0.08, 0.12},
                                  .bound = Bound::kLower,
                                  .method = "fresh network",
                                  .samples = 100};
    out.origin.epochs = 3;
    out.origin.iterations = 12;
    out.origin.seed = 7;
    out.origin.training_rows = 240;
    out.origin.settings = {{"train.epochs", "3"}};
    return out;
  }
  [[nodiscard]] ReleaseModel unchanged() const { return model(unchanged_model(schema, encoding)); }
  [[nodiscard]] ReleaseModel constant() const { return model(constant_model(schema, encoding, rows)); }
  [[nodiscard]] ReleaseModel random() const { return model(random_model()); }
};

}  // namespace ppan::release_test
