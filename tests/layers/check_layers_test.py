"""The layer check on small trees with planted violations."""

import pathlib
import tempfile
import unittest

from check_layers import MOST_LINES_OF_A_PROGRAM, check_program, read_layers, violations

LAYERS = read_layers("core: \nnn: core\ntrain: core nn\n")


class LayerCheck(unittest.TestCase):
    def check(self, files, layers=None):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for name, text in files.items():
                (root / name).parent.mkdir(exist_ok=True)
                (root / name).write_text(text)
            return violations(root, LAYERS if layers is None else layers)

    def test_declared_own_and_foreign_includes_pass(self):
        files = {
            "core/a.h": "#include <vector>\n",
            "nn/b.h": '#include "ppan/core/a.h"\n#include "ppan/nn/c.h"\n#include <Eigen/Core>\n',
            "nn/c.h": "",
            "train/d.cc": '#include "ppan/nn/b.h"\n',
        }
        self.assertEqual(self.check(files), [])

    def test_an_include_upwards_is_found_with_its_place(self):
        found = self.check({"core/a.h": '#pragma once\n#include "ppan/nn/b.h"\n'})
        self.assertEqual(found, ["core/a.h:2: core includes ppan/nn/b.h, but does not declare USES nn"])

    def test_spacing_and_angle_brackets_do_not_hide_it(self):
        for line in ("  #  include <ppan/nn/b.h>", '#include  "ppan/nn/b.h"  // why'):
            with self.subTest(line=line):
                self.assertEqual(len(self.check({"core/a.cc": line})), 1)

    def test_an_undeclared_stage_is_found(self):
        self.assertIn("not declared", self.check({"extra/a.h": ""})[0])

    def test_relative_includes_are_found(self):
        self.assertEqual(len(self.check({"nn/b.h": "", "nn/c.h": '#include "b.h"\n'})), 1)
        self.assertEqual(len(self.check({"nn/c.h": '#include "../core/a.h"\n'})), 1)

    def test_a_system_header_with_the_name_of_a_neighbour_passes(self):
        self.assertEqual(self.check({"nn/png.h": "", "nn/png.cc": "#include <png.h>\n"}), [])

    def test_a_program_is_held_to_what_it_declares(self):
        layers = read_layers("core: \nnn: core\nfacade: core\napps: core facade\n")
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            (root / "a.cc").write_text('#include "ppan/ppan.h"\n#include "ppan/own.h"\n#include "ppan/nn/b.h"\n')
            found = list(check_program("apps", root, layers))
            self.assertEqual(found, ["apps/a.cc:3: apps includes ppan/nn/b.h, but does not declare USES nn"])
            (root / "a.cc").write_text('#include "ppan/ppan.h"\n')
            self.assertEqual(len(list(check_program("apps", root, read_layers("core: \napps: core\n")))), 1)

    def test_a_program_that_does_the_work_of_the_library_is_found(self):
        layers = read_layers("core: \napps: core\n")
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            (root / "a.cc").write_text("#include <string>\n#include <nlohmann/json.hpp>\n")
            found = list(check_program("apps", root, layers))
            self.assertEqual(found, ["apps/a.cc:2: a program includes nlohmann/json.hpp; that is for the library to do"])
            (root / "a.cc").write_text("int a;\n" * (MOST_LINES_OF_A_PROGRAM + 1))
            self.assertEqual(len(list(check_program("apps", root, layers))), 1)

    def test_the_files_at_the_root_are_the_facade(self):
        layers = read_layers("core: \nnn: core\nfacade: core\n")
        found = self.check({"ppan.h": '#include "ppan/core/a.h"\n#include "ppan/nn/b.h"\n'}, layers)
        self.assertEqual(found, ["ppan.h:2: facade includes ppan/nn/b.h, but does not declare USES nn"])

    def test_a_circle_is_found(self):
        found = self.check({}, read_layers("core: nn\nnn: core\n"))
        self.assertEqual(found, ["stage core uses nn, which does not come before it"])


if __name__ == "__main__":
    unittest.main()
