"""The examples on tables: the facade does what the commands do, and a program that only releases holds nothing else."""

import csv
import pathlib
import re
import subprocess
import sys
import unittest

from table_support import RunTest, people, ppan, write_csv

PROTECT, RELEASE, SOURCE = sys.argv.pop(1), sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))


class Tables(RunTest):
    """RunTest has trained two points by `ppan curve`."""

    def test_the_program_of_the_readme_does_what_the_commands_do(self):
        # As the command was called in RunTest.
        text = self.read("job.toml")
        text = re.sub(r"(?m)^# *points = .*$|^points = .*$", "points = 2", text)
        text = re.sub(r"(?m)^# *epochs = .*$|^epochs = .*$", "epochs = 2", text)
        text = re.sub(r"(?m)^keep = .*$", "keep = []", text)  # a kept column is never the same for everybody
        job = self.write("short.toml", text)
        write_csv(self.path("held_out.csv"), people(300, seed=8))
        result = subprocess.run([PROTECT, job, self.path("held_out.csv"), self.path("people.csv"), self.path(".")],
                                capture_output=True, text=True, timeout=300)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"leakage: .* nats")
        self.assertIn("released: 800 rows", result.stdout)
        self.assertEqual(self.read("released.csv").count("\n"), 801)
        self.assertTrue(pathlib.Path(self.path("run", "report.html")).exists())

    def test_curve_and_models_are_those_of_the_command(self):
        def numbers(name):
            with open(self.path(name, "curve.csv"), newline="") as file:
                return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]
        self.test_the_program_of_the_readme_does_what_the_commands_do()
        self.assertEqual(ppan("curve", self.path("short.toml"), "--out", self.path("by-command"), "--quiet").returncode, 0)
        self.assertEqual(numbers("run"), numbers("by-command"))

    def test_a_program_that_only_releases_releases(self):
        result = subprocess.run([RELEASE, self.model, self.path("people.csv"), self.path("out.csv")],
                                capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "800 rows\n", ""))
        self.assertEqual(self.read("out.csv").count("\n"), 801)

    def test_and_links_neither_attackers_nor_reports(self):
        def linked(program):
            needed = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
            symbols = subprocess.run(["nm", "-C", program], capture_output=True, text=True, check=True).stdout
            return needed + symbols
        unwanted = ("libxgboost", "XGBooster", "nanoflann", "ppan::to_html", "ppan::audit(", "ppan::Match")
        for name in unwanted:
            self.assertNotIn(name, linked(RELEASE))
        # The whole library has them, so the names are the right ones.
        for name in ("libxgboost", "nanoflann", "ppan::to_html", "ppan::audit("):
            self.assertIn(name, linked(PROTECT))

    def test_the_readme_shows_the_program(self):
        program = (SOURCE / "examples/protect_table.cc").read_text()
        body = program[program.index('#include "ppan/ppan.h"'):]
        self.assertIn(body, (SOURCE / "README.md").read_text())


if __name__ == "__main__":
    unittest.main()
