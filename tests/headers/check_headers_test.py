#!/usr/bin/env python3
"""The check of headers notices a header that lives on what others include.

check_headers_test.py COMPILER [FLAG ...]
"""

import sys
import tempfile
import unittest
from pathlib import Path

from check_headers import chains_of, choose_shared, closure, includes_of, problems_of

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
            includes = includes_of(sources)
            self.shared = choose_shared(list(includes), includes, sources)
            return problems_of(list(includes), sources, work, COMPILER)

    def test_headers_that_include_what_they_use_pass(self):
        direct = {f"direct{n}": f'#include "ppan/core/matrix.h"\ninline Eigen::VectorXd a{n};\n' for n in range(3)}
        through = {f"through{n}": f'#include "ppan/core/direct{n}.h"\ninline Eigen::MatrixXd b{n};\n' for n in range(3)}
        found = self.problems(plain="#include <string>\ninline std::string c;\n", **direct, **through)
        self.assertEqual(found, [])
        with_matrix = {name for name, shared in self.shared.items() if shared and "Eigen/Core" in shared}
        self.assertEqual(with_matrix, {f"ppan/core/{name}.h" for name in ("matrix", *direct, *through)})

    def test_chains_are_few_and_hold_every_header_once(self):
        includes = {"a.h": [], "b.h": ["a.h"], "c.h": ["a.h"], "d.h": ["b.h", "c.h"], "e.h": ["c.h"], "f.h": []}
        chains = chains_of(list(includes), includes)
        self.assertEqual(len(chains), 3)  # neither b.h and c.h nor d.h and e.h can share one, and nothing includes f.h
        self.assertEqual(sorted(name for chain in chains for name in chain), sorted(includes))
        for chain in chains:
            for before, name in zip(chain, chain[1:]):
                self.assertIn(before, closure(includes, name))

    def test_a_header_in_the_middle_of_a_chain_is_found(self):
        (found,) = self.problems(
            first="#include <cstddef>\n",
            middle='#include "ppan/core/first.h"\ninline std::multimap<int, int> lost;\n',
            last='#include "ppan/core/middle.h"\n#include <map>\n',
        )
        self.assertIn("middle.h", found)

    def test_the_costliest_header_in_common_is_shared(self):
        includes = {"matrix.h": [], "deep.h": ["matrix.h"], **{f"user{n}.h": ["deep.h"] for n in range(9)}}
        with tempfile.TemporaryDirectory() as directory:
            texts = {"matrix.h": "#include <Eigen/Core>\n", "deep.h": "#include <nlohmann/json.hpp>\n"}
            for name in includes:
                (Path(directory) / name).write_text(texts.get(name, ""))
            shared = choose_shared(list(includes), includes, directory)
        self.assertEqual({shared[f"user{n}.h"] for n in range(9)}, {("Eigen/Core", "nlohmann/json.hpp")})

    def test_a_shared_header_that_does_not_compile_is_found(self):
        users = {f"user{n}": '#include "ppan/core/deep.h"\n' for n in range(9)}
        found = self.problems(deep="// much to read\n" * 2000 + "inline std::multimap<int, int> lost;\n", **users)
        self.assertEqual(self.shared["ppan/core/user0.h"], ("ppan/core/deep.h",))
        self.assertTrue(any("multimap" in text for text in found))

    def test_a_header_beside_many_that_include_more_is_found(self):
        users = {f"user{n}": "#include <string>\n#include <vector>\ninline std::vector<std::string> names;\n" for n in range(9)}
        (found,) = self.problems(needy="#include <vector>\ninline std::map<int, int> lost;\n", **users)
        self.assertEqual(self.shared["ppan/core/user0.h"], ("string", "vector"))
        self.assertNotEqual(self.shared["ppan/core/needy.h"], ("string", "vector"))
        self.assertIn("needy.h", found)

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
