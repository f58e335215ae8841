"""Which files may be compiled as one: planted clashes are kept apart, and everything else is together."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "cmake"))
from unity_groups import groups_of  # noqa: E402


def source(text):
    return f"namespace ppan {{\nnamespace {{\n{text}\n}}  // namespace\n}}  // namespace ppan\n"


class UnityGroups(unittest.TestCase):
    def test_clashes_are_apart(self):
        for first, second in [
            ("constexpr int kSteps = 1;", "constexpr double kSteps = 2;"),
            ("constexpr std::array<int, 2> kSteps{1, 2};", "const int kSteps = 2;"),
            ("struct Row {\n  int a;\n};", "class Row {\n};"),
            ("int twice(int a) {\n  return 2 * a;\n}", "int twice(int b) {\n  return b + b;\n}"),
            ("int twice(int a,\n          int b) {\n}", "int twice(int b, int c) {\n}"),
            ("[[noreturn]] void fail(int a) {\n}", "[[noreturn]] void fail(int a) {\n}"),
            ("using Rows = int;", "using Rows = long;"),
        ]:
            self.assertEqual(groups_of([source(first), source(second)]), [0, 1], first)

    def test_others_are_together(self):
        for first, second in [
            ("int twice(int a) {\n}", "int twice(double a) {\n}"),
            ("constexpr int kOne = 1;", "constexpr int kTwo = 1;"),
            ("int f() {\n  const int kOne = 1;\n}", "int g() {\n  const int kOne = 1;\n}"),
        ]:
            self.assertEqual(groups_of([source(first), source(second)]), [0, 0], first)

    def test_groups_are_not_too_long(self):
        self.assertEqual(groups_of(["x\n" * 3] * 3, most_lines=7), [0, 0, 1])


if __name__ == "__main__":
    unittest.main()
