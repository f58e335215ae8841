#pragma once

// What the cells of a row say as a set. Answers on the same scale, amounts of twelve months or the readings
// of several sensors are columns of one kind; how many of them are alike, how often each answer was given,
// which of them is the largest and how far apart they are may tell what none of them and no few of them tell.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ppan/audit/audit_table.h"

namespace ppan {

/// One number for each row.
struct RowTrace {
  std::string column;  ///< Which columns it is made of.
  Vector<float> data;
  std::int32_t values = 0;  ///< 0 to values - 1, to count by; 0: no such number.
};

class RowProfile {
 public:
  /// Finds the columns of one kind: three or more with much the same texts, or numbers of one size.
  explicit RowProfile(const AuditTable& released);

  /// The same traces, in the same order, for every release of the table.
  [[nodiscard]] std::vector<RowTrace> traces(const AuditTable& released) const;

 private:
  struct Kind {
    std::vector<std::size_t> column;
    std::string name;
    std::vector<std::string> frequent{};  ///< Of texts; numbers have none.
  };
  void find_texts(const AuditTable& released);
  void find_numbers(const AuditTable& released);
  static void count_texts(const AuditTable& released, const Kind& kind, std::vector<RowTrace>& out);
  static void compare_numbers(const AuditTable& released, const Kind& kind, std::vector<RowTrace>& out);

  std::vector<Kind> texts_;
  std::vector<Kind> numbers_;
};

}  // namespace ppan
