#include "ppan/table/table_optimum.h"

#include <algorithm>
#include <map>

#include "ppan/table/table_distortion.h"

namespace ppan {
namespace {

constexpr std::size_t kMostObserved = 64;
constexpr std::size_t kMostReleased = 64;
constexpr std::size_t kMostHidden = 16;

// Codes that occur, numbered in order of appearance; `first` is a row that has each.
struct Compact {
  Symbols code;                     // of each row
  std::vector<std::int32_t> value;  // joint code of each number
  std::vector<std::int32_t> first;
};
Compact compact(const Symbols& joint) {
  Compact out;
  std::map<std::int32_t, std::int32_t> known;
  for (std::size_t r = 0; r < joint.size(); ++r) {
    const auto [at, added] = known.try_emplace(joint[r], static_cast<std::int32_t>(out.value.size()));
    if (added) {
      out.value.push_back(joint[r]);
      out.first.push_back(static_cast<std::int32_t>(r));
    }
    out.code.push_back(at->second);
  }
  return out;
}

std::optional<Compact> joint_codes(const EncodedRows& rows, const Encoding& encoding,
                                   const std::vector<std::int32_t>& columns, std::size_t most) {
  const auto cells = joint_levels(encoding, columns);
  if (!cells || *cells < 1) return std::nullopt;
  Compact out = compact(join_codes(rows, encoding, columns));
  if (out.value.size() > most) return std::nullopt;
  return out;
}

EncodedRows rows_at(const EncodedRows& rows, const std::vector<std::int32_t>& columns,
                    const std::vector<std::int32_t>& which) {
  EncodedRows out;
  out.rows = static_cast<std::int64_t>(which.size());
  out.which = columns;
  out.bad.assign(which.size(), 0);
  for (const std::int32_t column : columns) {
    EncodedColumn& to = out.columns.emplace_back();
    for (const std::int32_t row : which)
      to.code.push_back(rows.columns[rows.position_of(column)].code[static_cast<std::size_t>(row)]);
  }
  return out;
}

Matrix<double> joint_shares(const Compact& rows, const Compact& columns) {
  Matrix<double> out =
      Matrix<double>::Zero(static_cast<Index>(rows.value.size()), static_cast<Index>(columns.value.size()));
  for (std::size_t r = 0; r < rows.code.size(); ++r) out(rows.code[r], columns.code[r]) += 1;
  return out / static_cast<double>(rows.code.size());
}

}  // namespace

std::optional<TableOptimum> TableOptimum::fit(const EncodedRows& rows, const Schema& schema,
                                              const Encoding& encoding) {
  const std::vector<std::int32_t> observed = encoding.indices_of(schema.observed_columns());
  const std::vector<std::int32_t> released = encoding.indices_of(schema.useful);
  const std::vector<std::int32_t> hidden = encoding.indices_of(schema.hidden_columns());
  const auto cells = joint_levels(encoding, released);
  if (rows.rows == 0 || !cells || *cells < 2 || *cells > kMostCells) return std::nullopt;
  const auto w = joint_codes(rows, encoding, observed, kMostObserved);
  const auto y = joint_codes(rows, encoding, released, kMostReleased);
  const auto x = joint_codes(rows, encoding, hidden, kMostHidden);
  if (!w || !x || !y) return std::nullopt;
  TableOptimum out;
  out.distribution_ = {joint_shares(*w, *x), joint_shares(*w, *y)};
  out.observed_ = rows_at(rows, observed, w->first);
  out.released_cells_ = *cells;
  const Matrix<double> whole = cell_distortion<double>(encoding, released);
  out.all_ = whole(y->value, Eigen::all);
  out.distortion_ = out.all_(Eigen::all, y->value);
  const bool shows = std::all_of(released.begin(), released.end(), [&](std::int32_t column) {
    return std::find(observed.begin(), observed.end(), column) != observed.end();
  });
  for (const std::int32_t row : w->first)
    out.released_of_.push_back(
        shows ? y->value[static_cast<std::size_t>(y->code[static_cast<std::size_t>(row)])] : -1);
  return out;
}

theory::ConvexSolution TableOptimum::at(double distortion) const {
  return theory::solve_convex(distribution_, distortion_,
                              std::max(distortion, theory::least_distortion(distribution_, distortion_)));
}

std::optional<Matrix<double>> TableOptimum::mechanism_of(const TableModel& model) const {
  Matrix<double> out = Matrix<double>::Zero(observed_.rows, released_cells_);
  for (const TableComponent& component : model.components()) {
    switch (component.kind) {
      case ComponentKind::kUnchanged:
        for (Index w = 0; w < out.rows(); ++w)
          out(w, released_of_[static_cast<std::size_t>(w)]) += component.weight;
        break;
      case ComponentKind::kConstant: {
        EncodedRows one;
        one.rows = 1;
        one.which = model.released();
        for (const std::int32_t code : component.code) one.columns.push_back({{}, {code}, {}});
        out.col(join_codes(one, model.encoding(), model.released()).front()).array() += component.weight;
        break;
      }
      case ComponentKind::kTrained: {
        if (component.mechanism.kind != MechanismKind::kFinite) return std::nullopt;
        const Attribute<float> observed =
            observed_attribute(observed_, model.encoding(), model.observed_layout(), MechanismKind::kFinite);
        const auto mechanism = make_mechanism(component.mechanism, observed);
        mechanism->parameters() = component.parameters;
        Draws<float> draws;
        mechanism->draw(observed, {}, draws);
        out += component.weight * draws.weight.cast<double>();
        break;
      }
      case ComponentKind::kCodebook:
      case ComponentKind::kHeads:
        return std::nullopt;
    }
  }
  out.array().colwise() /= out.rowwise().sum().eval().array();
  return out;
}

double TableOptimum::leakage(const Matrix<double>& mechanism) const {
  return theory::leakage(distribution_, mechanism);
}

double TableOptimum::distortion(const Matrix<double>& mechanism) const {
  return theory::expected_distortion(distribution_, mechanism, all_);
}

}  // namespace ppan
