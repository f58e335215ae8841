"""ppan paper"""

import csv
import json
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from support import BINARY, CommandTest

HEADER = ["series", "budget", "weight", "distortion", "leakage", "optimum", "excess"]


class Paper(CommandTest):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.out = Path(self.directory.name) / "run"

    def paper(self, *arguments):
        return self.succeed("paper", *map(str, arguments), "--quiet")

    def rows(self, out=None):
        with open((out or self.out) / "curve.csv", newline="") as file:
            reader = csv.DictReader(file)
            self.assertEqual(reader.fieldnames[:7], HEADER)
            return list(reader)

    def test_list_describes_every_experiment(self):
        text = self.succeed("paper", "--list")
        for name in ("discrete", "scalar-gaussian", "vector-gaussian", "rate-distortion", "scatter"):
            self.assertIn(name + "\n", text)

    def test_a_run_leaves_the_files_of_the_contract(self):
        table = self.paper("scalar-gaussian", "--out", self.out, "--points", "2", "--epochs", "2",
                             "--preset", "paper")
        self.assertIn("excess", table)
        rows = self.rows()
        self.assertEqual([r["series"] for r in rows], ["ppan/useful-only"] * 2 + ["ppan/full-data"] * 2)
        for r in rows:
            self.assertAlmostEqual(float(r["leakage"]) - float(r["optimum"]), float(r["excess"]), places=9)
            self.assertTrue(r["leakage_kind"] and r["leakage_method"] and r["leakage_low"])
        summary = json.loads((self.out / "summary.json").read_text())
        self.assertEqual(summary["status"], "complete")
        self.assertEqual(len(summary["points"]), 4)
        self.assertEqual(len((self.out / "metrics.jsonl").read_text().splitlines()), 8)
        for name in ("curve.svg", "report.html"):
            self.assertGreater((self.out / name).stat().st_size, 1000)

    def test_discrete_stands_beside_the_conventional_approach(self):
        self.paper("discrete", "--out", self.out, "--points", 2, "--epochs", 3)
        self.assertEqual({r["series"] for r in self.rows()},
                         {"ppan/useful-only", "ppan/full-data", "conventional/useful-only", "conventional/full-data"})

    def test_scatter_draws_its_clouds(self):
        self.paper("scatter", "--out", self.out, "--epochs", "1")
        self.assertIn("<svg", (self.out / "scatter.svg").read_text())
        self.assertEqual(len((self.out / "scatter.csv").read_text().splitlines()), 1 + 3 * 500)

    def test_same_seed_same_file(self):
        other = Path(self.directory.name) / "other"
        for out, threads in ((self.out, "1"), (other, "2")):
            self.paper("vector-gaussian", "--out", out, "--points", "2", "--epochs", "1", "--threads", threads)
        self.assertEqual((self.out / "curve.csv").read_text(), (other / "curve.csv").read_text())

    def test_every_problem_at_once_and_nothing_written(self):
        text = self.refuse(2, "paper", "scalar-gausian", "--points", "0", "--epochs", "-3", "--out", str(self.out))
        for part in ("scalar-gaussian", "points: 0", "epochs: -3"):
            self.assertIn(part, text)
        self.assertFalse(self.out.exists())

    def test_unknown_mechanism_names_the_nearest(self):
        self.assertIn("gaussian", self.refuse(2, "paper", "discrete", "--mechanism", "gausian", "--out", str(self.out)))

    def test_no_output_directory(self):
        self.assertIn("--out", self.refuse(2, "paper", "discrete"))

    def test_a_full_directory_is_refused_unless_forced(self):
        self.out.mkdir()
        (self.out / "mine").write_text("kept")
        self.assertIn("not empty", self.refuse(2, "paper", "scatter", "--out", str(self.out), "--epochs", "1"))
        self.paper("scatter", "--out", self.out, "--epochs", "1", "--force")
        self.assertEqual((self.out / "mine").read_text(), "kept")

    def test_interrupted_keeps_what_is_finished(self):
        process = subprocess.Popen([BINARY, "paper", "vector-gaussian", "--out", self.out, "--points", "300", "--epochs",
                                    "20", "--threads", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in process.stderr:  # the first plain progress line with a finished point
            if "1/300" in line or "2/300" in line or "3/300" in line:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, text = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertIn("interrupted", text)
        summary = json.loads((self.out / "summary.json").read_text())
        self.assertEqual(summary["status"], "interrupted")
        self.assertEqual(len(self.rows()), len(summary["points"]))
        self.assertGreater(len(summary["missing"]), 0)
        self.assertEqual(len(summary["missing"]) + len(summary["points"]), 300)


if __name__ == "__main__":
    unittest.main()
