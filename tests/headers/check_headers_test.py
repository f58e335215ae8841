#!/usr/bin/env python3
"""The check of headers notices a header that lives on what others include.

check_headers_test.py COMPILER [FLAG ...]
"""

import sys
import tempfile
import unittest
from pathlib import Path

from check_headers import includes_of, problems_of, reaching

COMPILER = sys.argv[1:]
MATRIX = "#pragma once\n#include <Eigen/Core>\n"


class HeadersTest(unittest.TestCase):
    def problems(self, **headers):
        with tempfile.TemporaryDirectory() as directory:
            sources = Path(directory) / "src"
            (sources / "ppan/core").mkdir(parents=True)
            (sources / "ppan/core/matrix.h").write_text(MATRIX)
            for name, text in headers.items():
                (sources / f"ppan/core/{name}.h").write_text("#pragma once\n" + text)
            work = Path(directory) / "work"
            work.mkdir()
            self.reaches = reaching(includes_of(sources), "ppan/core/matrix.h")
            return problems_of(includes_of(sources), sources, work, COMPILER)

    def test_headers_that_include_what_they_use_pass(self):
        found = self.problems(
            direct='#include "ppan/core/matrix.h"\ninline Eigen::VectorXd a;\n',
            through='#include "ppan/core/direct.h"\ninline Eigen::MatrixXd b;\n',
            plain="#include <string>\ninline std::string c;\n",
        )
        self.assertEqual(found, [])
        self.assertEqual(self.reaches, {"ppan/core/direct.h", "ppan/core/through.h"})

    def test_a_header_without_its_string_is_found(self):
        (found,) = self.problems(needy="inline std::string lost;\n")
        self.assertIn("ppan/core/needy.h", found)

    def test_a_header_without_its_matrix_is_found_beside_one_that_has_it(self):
        (found,) = self.problems(
            direct='#include "ppan/core/matrix.h"\ninline Eigen::VectorXd a;\n', needy="inline Eigen::VectorXd lost;\n"
        )
        self.assertIn("ppan/core/needy.h", found)

    def test_a_header_that_has_the_matrix_and_not_the_map_is_found(self):
        (found,) = self.problems(needy='#include "ppan/core/matrix.h"\ninline std::multimap<int, int> lost;\n')
        self.assertIn("multimap", found)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
