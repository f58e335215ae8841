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

    def rows(self, out=None, optimum=False):
        with open((out or self.out) / "curve.csv", newline="") as file:
            reader = csv.DictReader(file)
            self.assertEqual(reader.fieldnames[:7], HEADER)
            return [row for row in reader if optimum == row["series"].startswith("optimum/")]

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
                         {who + "/" + what for who in ("ppan", "conventional", "conventional-prior")
                          for what in ("useful-only", "full-data")})

    def test_scatter_draws_its_clouds(self):
        self.paper("scatter", "--out", self.out, "--epochs", "1")
        self.assertIn("<svg", (self.out / "scatter.svg").read_text())
        self.assertEqual(len((self.out / "scatter.csv").read_text().splitlines()), 1 + 3 * 4000)
        self.assertIn("sensitive X, released Z", (self.out / "scatter.svg").read_text())

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
        self.assertIn("mnist", self.refuse(2, "paper", "mnits", "--out", str(self.out)))

    def test_the_optimum_is_a_fine_curve_of_its_own(self):
        self.paper("rate-distortion", "--out", self.out, "--points", "4", "--epochs", "1", "--preset", "paper")
        grid = {float(r["distortion"]): float(r["leakage"]) for r in self.rows(optimum=True)}
        self.assertEqual({r["series"] for r in self.rows(optimum=True)}, {"optimum/rate-distortion"})
        self.assertGreater(len(grid), 190)
        near = min(grid, key=lambda d: abs(d - 0.4))
        self.assertAlmostEqual(grid[near], 3.61, delta=0.15)  # a chord through four points gave 5.64
        self.assertIn("optimum", (self.out / "curve.svg").read_text())

    def test_an_option_that_does_not_apply_is_an_error(self):
        text = self.refuse(2, "paper", "scalar-gaussian", "--m", "5", "--digit", "3", "--out", str(self.out))
        self.assertIn("m: does not apply to scalar-gaussian", text)
        self.assertIn("digit: does not apply to scalar-gaussian", text)
        self.assertIn("--lambda", text)  # what it takes
        self.assertIn("mechanism: does not apply to mnist",
                      self.refuse(2, "paper", "mnist", "--mechanism", "gaussian", "--out", str(self.out)))
        self.assertIn("test: finite worlds", self.refuse(2, "paper", "discrete", "--test", "500", "--out", str(self.out)))
        self.assertFalse(self.out.exists())

    def test_full_covariances_of_a_mixture(self):
        run = ("gaussian", "--rho", "0.8,0.3", "--mechanism", "mixture", "--components", 2, "--points", 1, "--epochs", 2, "--train", 400, "--test", 400)
        outs = [Path(self.directory.name) / name for name in ("usual", "diagonal", "full")]
        self.paper(*run, "--out", outs[0])
        self.paper(*run, "--covariances", "diagonal", "--out", outs[1])
        self.paper(*run, "--covariances", "full", "--out", outs[2])
        curves = [(out / "curve.csv").read_text() for out in outs]
        self.assertEqual(curves[0], curves[1])
        self.assertNotEqual(curves[1], curves[2])
        self.assertIn("covariances: is for gaussian mechanisms and mixtures",
                      self.refuse(2, "paper", "gaussian", "--covariances", "full", "--out", str(self.out)))
        self.assertFalse(self.out.exists())

    def test_missed_budgets_are_warned_of(self):
        result = subprocess.run([BINARY, "paper", "scalar-gaussian", "--mechanism", "gaussian", "--preset", "paper",
                                 "--budget", "0", "--epochs", "2", "--out", self.out], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0)
        self.assertIn("warning: ppan/useful-only point 1: the distortion", result.stderr)
        summary = json.loads((self.out / "summary.json").read_text())
        self.assertIn("above its budget", summary["points"][0]["warnings"][0])

    def test_worlds_from_the_command_line(self):
        pmf = Path(self.directory.name) / "pmf.csv"
        pmf.write_text("x,y,w,probability\nno,a,s,0.3\nno,b,t,0.2\nyes,a,s,0.1\nyes,b,t,0.4\n")
        cov = Path(self.directory.name) / "cov.csv"
        cov.write_text("1,0.5,0.2\n0.5,1,0.1\n0.2,0.1,2\n")
        for arguments, series in (
                (("symmetric-pair", "--m", 4, "--p", 0.2, "--observation", "full-data,noisy", "--flip", 0.1), 2),
                (("gaussian", "--rho", "0.8,0.3", "--observation", "noisy", "--noise", 0.2), 1),
                (("gaussian", "--covariance", cov, "--sensitive", 1), 1),
                (("finite", "--pmf", pmf, "--observation", "given"), 1),
                (("finite", "--pmf", pmf, "--observation", "funnel"), 1)):
            out = Path(self.directory.name) / f"world-{len(list(Path(self.directory.name).iterdir()))}"
            self.paper(*arguments, "--out", out, "--points", 2, "--epochs", 2, "--train", 300)
            rows = [r for r in self.rows(out) if r["series"].startswith("ppan/")]
            self.assertEqual(len(rows), 2 * series)
            if "funnel" not in arguments:
                self.assertTrue(all(r["optimum"] for r in rows), arguments)
                self.assertTrue(self.rows(out, optimum=True))
            self.assertTrue((out / "mechanisms.csv").exists() or list(out.glob("mechanism-*.safetensors")))
            if "given" in arguments:
                self.assertIn("ppan/given,1,s,a,", (out / "mechanisms.csv").read_text())

    def test_bad_worlds_are_refused(self):
        pmf = Path(self.directory.name) / "pmf.csv"
        pmf.write_text("x,y,probability\na,b,-0.5\na,c,0.7\n")
        text = self.refuse(3, "paper", "finite", "--pmf", str(pmf), "--out", str(self.out))
        self.assertIn("line 2: probability -0.5 is negative", text)
        self.assertIn("sums to 0.2", text)
        pmf.write_text("x,y,probability\na,b,0.5\na,c,0.4\n")
        self.assertIn("sums to 0.9", self.refuse(3, "paper", "finite", "--pmf", str(pmf), "--out", str(self.out)))
        cov = Path(self.directory.name) / "cov.csv"
        cov.write_text("1,2\n2,1\n")
        self.assertIn("semi-definite", self.refuse(3, "paper", "gaussian", "--covariance", str(cov), "--out", str(self.out)))
        cov.write_text("1,0.3\n0.2,1\n")
        self.assertIn("not symmetric", self.refuse(3, "paper", "gaussian", "--covariance", str(cov), "--out", str(self.out)))
        pmf.write_text("x,y,probability\na,b,0.5\na,c,0.5\n")
        matrix = Path(self.directory.name) / "d.csv"
        matrix.write_text("0,1\n1,-2\n3,0\n")
        text = self.refuse(3, "paper", "finite", "--pmf", str(pmf), "--distortion", str(matrix), "--out", str(self.out))
        self.assertIn("has 3 rows where Y has 2 symbols", text)
        self.assertIn("has a negative entry", text)
        self.assertIn("weight: is of a budget's penalty",
                      self.refuse(2, "paper", "discrete", "--weight", "3", "--lambda", "4", "--out", str(self.out)))
        text = self.refuse(2, "paper", "symmetric-pair", "--m", "1", "--p", "2", "--alpha", "0.5", "--observation",
                           "noizy", "--out", str(self.out))
        for part in ("m: 1", "p: 2", "alpha: 0.5", "did you mean 'noisy'"):
            self.assertIn(part, text)
        self.assertFalse(self.out.exists())

    def test_files_and_options_are_judged_together(self):
        pmf = Path(self.directory.name) / "pmf.csv"
        pmf.write_text("x,y,W,probability\na,b,c,much\n,b,c,0.5\na,b,c,-0.25\n")
        matrix = Path(self.directory.name) / "d.csv"
        matrix.write_text("0,-1\n1,0\n")
        text = self.refuse(2, "paper", "finite", "--pmf", str(pmf), "--distortion", str(matrix), "--alpha", "-1", "--m", "3",
                           "--budget", "-1", "--out", str(self.out))
        for part in ("'W' is not a column", "line 2: probability 'much'", "line 3: x is empty", "line 4: probability -0.25",
                     "has a negative entry", "alpha: -1", "m: does not apply", "budget: -1"):
            self.assertIn(part, text)
        cov = Path(self.directory.name) / "cov.csv"
        cov.write_text("1,2\n3,1\n")
        text = self.refuse(3, "paper", "gaussian", "--covariance", str(cov), "--sensitive", "2", "--out", str(self.out))
        for part in ("cov.csv is not a covariance", "not symmetric: row 1, column 2 is 2", "least eigenvalue is -1.5",
                     "sensitive: 2 of 2 rows"):
            self.assertIn(part, text)
        self.assertFalse(self.out.exists())

    def test_what_memory_cannot_hold_is_refused_before_anything_is_made(self):
        cov = Path(self.directory.name) / "cov.csv"
        cov.write_text("\n".join(",".join("1" if i == j else "0" for j in range(80)) for i in range(80)))
        for status, arguments, part in (
                (2, ("symmetric-pair", "--m", "100000"), "m: with W of 100000"),
                (2, ("symmetric-pair", "--m", "400", "--observation", "full-data"), "m: with W of 160000"),
                (2, ("gaussian", "--test", "999999999999"), "test: 999999999999"),
                (2, ("discrete", "--train", "900000000"), "train: 900000000"),
                (2, ("scalar-gaussian", "--hidden", "99999999"), "hidden: 99999999"),
                (3, ("gaussian", "--covariance", str(cov)), "it may have 64 rows"),
                (2, ("gaussian", "--rho", ",".join(["0.5"] * 40)), "80 components together")):
            with self.subTest(arguments=arguments[:3]):
                self.assertIn(part, self.refuse(status, "paper", *arguments, "--out", str(self.out)))
                self.assertFalse(self.out.exists())

    def test_a_page_says_how_leakage_was_read(self):
        said = {"bottleneck-gaussian": "Leakage is exact", "scalar-gaussian": "Gaussian estimate"}
        for name, claim in said.items():
            out = Path(self.directory.name) / name
            self.paper(name, "--out", out, "--points", 1, "--epochs", 1, "--train", 400)
            self.assertIn(claim, " ".join(json.loads((out / "summary.json").read_text())["claimed"]))
        out = Path(self.directory.name) / "order"
        self.paper("discrete", "--out", out, "--alpha", "2", "--points", 1, "--epochs", 1)
        self.assertNotIn("conventional", " ".join(json.loads((out / "summary.json").read_text())["claimed"]))
        self.assertIn("\u03b1-leakage, exact", (out / "curve.svg").read_text())

    def test_every_trained_mechanism_is_a_file(self):
        self.paper("symmetric-pair", "--m", 3, "--out", self.out, "--points", 2, "--epochs", 1, "--train", "100,200")
        self.assertEqual(sorted(p.name for p in self.out.glob("mechanism-*")),
                         [f"mechanism-{size}-{i:03}.safetensors" for size in (100, 200) for i in (1, 2)])

    def test_seeds_and_sizes(self):
        self.paper("discrete", "--out", self.out, "--points", 2, "--epochs", 2, "--seeds", 2, "--train", "100,300")
        rows = self.rows()
        self.assertIn("ppan@100/useful-only", {r["series"] for r in rows})
        self.assertTrue(all(r["seeds"] == "2" and r["leakage_sd"] for r in rows))
        sizes = (self.out / "sizes.svg").read_text()
        self.assertIn("<svg", sizes)
        self.assertIn("conventional with the same prior, full data", sizes)

    def test_deviations_of_the_preset_paper_are_listed(self):
        text = self.succeed("paper", "--list", "--verbose")
        for part in ("--budget-form record", "5 units", "--beta1 0.9", "training data", "the budgets are not printed", "initial weights"):
            self.assertIn(part, text)
        self.assertNotIn("step sizes", text)  # Adam's numbers are printed, and used
        short = self.succeed("paper", "--list")
        self.assertNotIn("--preset paper:", short)

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
