"""The check of function lengths on planted functions."""

import unittest

from function_length import MOST_LINES, functions


def body(lines, margin=""):
    return "".join(f"{margin}  x();\n" for _ in range(lines))


def longest(text):
    return max((length for _, _, length in functions(text)), default=0)


class FunctionLength(unittest.TestCase):
    def test_a_long_function_is_measured(self):
        self.assertEqual(longest("int f() {\n" + body(MOST_LINES - 1) + "}\n"), MOST_LINES + 1)

    def test_so_is_one_whose_signature_is_broken(self):
        self.assertEqual(longest("int f(int a,\n      int b) {\n" + body(MOST_LINES) + "}\n"), MOST_LINES + 2)

    def test_so_is_a_member(self):
        text = "class A {\n  void f() const {\n" + body(90, "  ") + "  }\n};\n"
        self.assertEqual(longest(text), 92)

    def test_classes_namespaces_and_tables_are_not_functions(self):
        for line in ("class A {", "struct B : C {", "namespace ppan {", "constexpr std::array kAll{{", "enum class E {"):
            with self.subTest(line=line):
                self.assertEqual(longest(line + "\n" + body(100) + "}\n"), 0)

    def test_blocks_inside_a_function_are_not_counted_again(self):
        text = "int f() {\n  if (a) {\n    b();\n  }\n}\n"
        self.assertEqual([length for _, _, length in functions(text)], [5])


if __name__ == "__main__":
    unittest.main()
