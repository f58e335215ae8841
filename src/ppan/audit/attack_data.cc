#include "ppan/audit/attack_data.h"

#include <algorithm>

#include "ppan/audit/informative_relations.h"
#include "ppan/core/random.h"

namespace ppan {
namespace {

FeatureSource source_of(const Relation& relation) {
  return {relation.column, relation.place ? "position" : "relation"};
}

}  // namespace

AttackData::AttackData(const SuiteInput& input, const AttackTarget& target, const AttackSplit& split,
                       const SuiteOptions& options)
    : input_(input),
      target_(target),
      split_(split),
      options_(options),
      features_(screen_features(input, target, split, options.screen_traces)) {
  choose_rows();
  if (target.continuous) scores_ = normal_scores(target, held_out_rows_);
  find_tuples();
  find_relations();
  selection_ = rows_from(input_.released, split.selection);
  test_ = rows_from(input_.released, split.test);
  task_ = make_task();
}

AttackRows AttackData::first_test_rows(std::size_t count) const {
  return rows_from(input_.released, std::span<const std::int32_t>(split_.test.data(), count));
}

// Held-out rows first come first; rows that trained the mechanism are mixed in among them.
void AttackData::choose_rows() {
  const auto most = static_cast<std::size_t>(std::min(options_.most_training_rows, most_rows()));
  held_out_rows_ = split_.train;
  held_out_rows_.resize(std::min(held_out_rows_.size(), most));
  all_rows_ = held_out_rows_;
  if (split_.trained.empty()) return;
  const std::size_t more = std::min(split_.trained.size(), most - held_out_rows_.size());
  all_rows_.insert(all_rows_.end(), split_.trained.begin(),
                   split_.trained.begin() + static_cast<std::ptrdiff_t>(more));
  SeededRandom random = SeededRandom(options_.seed).fork("learning-order");
  shuffle(random, all_rows_);
}

bool AttackData::counts_by_keys() const {
  const auto& wanted = options_.attackers;
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), AttackerKind::kKeys) != wanted.end();
}

// Keys of several columns, for those who count by keys.
void AttackData::find_tuples() {
  if (counts_by_keys() && input_.released.coarse.cols() > 1)
    tuples_ = informative_tuples(input_.released.coarse, input_.coarse_values, target_.code, all_rows_,
                                 target_.levels, input_.coarse_in_threes);
}

// Features and keys of several cells of a row, at the end of the others.
void AttackData::find_relations() {
  if (!counts_by_keys() || input_.released.number.cols() + input_.released.keys.cols() == 0) return;
  const RelationInput looked{
      {input_.released.number, input_.released.keys}, input_.number, input_.key_source, input_.key_values};
  relations_ = informative_relations(looked, target_.code, all_rows_, target_.levels, options_.threads);
  for (const Relation& relation : relations_) features_.source.push_back(source_of(relation));
}

AttackRows AttackData::rows_from(const AttackFeatures& features, std::span<const std::int32_t> rows) const {
  AttackRows part = attack_rows(features, target_.code, scores_.row, rows, features_.kept);
  const Index keys = part.keys.cols();
  const auto tuples = static_cast<Index>(tuples_.size());
  if (tuples_.empty() && relations_.empty()) return part;
  part.keys.conservativeResize(Eigen::NoChange, keys + tuples + static_cast<Index>(relations_.size()));
  for (std::size_t t = 0; t < tuples_.size(); ++t) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      part.keys(static_cast<Index>(i), keys + static_cast<Index>(t)) =
          tuples_[t].code(features.coarse, input_.coarse_values, rows[i]);
  }
  const Index values = part.data.cols();
  part.data.conservativeResize(Eigen::NoChange, values + static_cast<Index>(relations_.size()));
  for (std::size_t r = 0; r < relations_.size(); ++r) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double value = relations_[r].value({features.number, features.keys}, rows[i]);
      part.data(static_cast<Index>(i), values + static_cast<Index>(r)) = relations_[r].feature(value);
      part.keys(static_cast<Index>(i), keys + tuples + static_cast<Index>(r)) = relations_[r].bin(value);
    }
  }
  return part;
}

// Rows that there is room for, every release counted.
Index AttackData::most_rows() const {
  return std::min(options_.most_releases, room_for_rows(options_, static_cast<Index>(features_.kept.size())));
}

// The first of `parts` parts of the rows, in every release that there is room for.
AttackRows AttackData::training(LearnFrom from, std::size_t parts) const {
  const std::vector<std::int32_t>& rows = rows_of(from);
  const std::span<const std::int32_t> part(rows.data(), rows.size() / parts);
  const Index room = most_rows() / std::max<Index>(1, static_cast<Index>(part.size())) - 1;
  const std::size_t further =
      std::min(input_.again.size(), static_cast<std::size_t>(std::max<Index>(0, room)));
  AttackRows first = rows_from(input_.released, part);
  if (further == 0) return first;
  // Of a wide table every copy counts: room for all releases at once.
  const Index count = first.rows();
  const auto all = static_cast<Index>(further + 1) * count;
  first.data.conservativeResize(all, Eigen::NoChange);
  first.keys.conservativeResize(all, Eigen::NoChange);
  if (first.score.size() > 0) first.score.conservativeResize(all);
  for (std::size_t r = 0; r < further; ++r) {
    const AttackRows more = rows_from(input_.again[r], part);
    const Index begin = static_cast<Index>(r + 1) * count;
    first.data.middleRows(begin, count) = more.data;
    first.keys.middleRows(begin, count) = more.keys;
    if (more.score.size() > 0) first.score.segment(begin, count) = more.score;
    first.cell.insert(first.cell.end(), more.cell.begin(), more.cell.end());
    first.x.insert(first.x.end(), more.x.begin(), more.x.end());
  }
  return first;
}

AttackTask AttackData::make_task() const {
  AttackTask task;
  task.levels = target_.levels;
  // Held-out rows alone say how frequent the levels are: the others need not be of the same distribution.
  task.prior = Vector<double>::Constant(target_.levels, 0.5);
  for (const std::int32_t row : held_out_rows_) task.prior[target_.code[static_cast<std::size_t>(row)]] += 1;
  task.prior /= task.prior.sum();
  task.cells = input_.released.cells;
  task.values = features_.values;
  task.key_values = input_.key_values;
  for (const KeyTuple& tuple : tuples_) task.key_values.push_back(tuple.values);
  for (const Relation& relation : relations_) task.key_values.push_back(relation.bins());
  task.score_edge = scores_.edge;
  task.missing_level = target_.missing_level;
  task.effort = options_.effort;
  return task;
}

// Of every key, those of several columns at the end.
std::vector<FeatureSource> AttackData::key_sources() const {
  std::vector<FeatureSource> out = input_.key_source;
  for (const KeyTuple& tuple : tuples_) {
    std::string columns;
    for (const Index p : tuple.part)
      columns += (columns.empty() ? "" : " and ") + input_.coarse_column[static_cast<std::size_t>(p)];
    out.push_back({columns, "together"});
  }
  for (const Relation& relation : relations_) out.push_back(source_of(relation));
  return out;
}

}  // namespace ppan
