"""ppan curve"""

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from support import BINARY
from table_support import RunTest, ppan

SERIES = {"ppan/table", "ppan/hull", "reference/unchanged", "reference/dropped", "reference/noise",
          "reference/randomized-response", "reference/gaussian-noise", "reference/time-sharing"}


class Curve(RunTest):
    def rows(self, run="run"):
        return list(csv.DictReader(io.StringIO(self.read(run, "curve.csv"))))

    def refused(self, status, job, *arguments):
        """Message of a curve that must not begin: no directory is left behind."""
        out = self.path("not-a-run")
        message = self.refuse(status, "curve", job, "--out", out, *arguments)
        self.assertFalse(os.path.exists(out), message)
        return message

    def job(self, name, *changes):
        text = self.read("job.toml")
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new, 1)
        return self.write(name, text)

    def test_the_curve_has_the_columns_and_series_that_others_rely_on(self):
        self.assertTrue(self.read("run", "curve.csv").startswith("series,budget,weight,distortion,leakage,optimum,excess"))
        rows = self.rows()
        self.assertLessEqual(SERIES, {row["series"] for row in rows})
        points = [row for row in rows if row["series"] == "ppan/table"]
        self.assertEqual([row["point"] for row in points], ["1", "2"])
        for row in rows:
            self.assertTrue(row["distortion"] and row["leakage"], row)
            self.assertGreaterEqual(float(row["distortion"]), 0)
        unchanged = next(row for row in rows if row["series"] == "reference/unchanged")
        self.assertLess(float(unchanged["distortion"]), 0.0005)  # what the grids of the numbers cost
        self.assertGreater(float(unchanged["leakage"]), 0.1)  # the table tells of the illness
        for row in points + [unchanged]:
            self.assertGreaterEqual(float(row["leakage_upper"]), float(row["leakage_low"]), row)
            self.assertTrue(row["leakage_upper_method"])

    def test_an_alpha_loss_trains_and_the_report_says_so(self):
        out = self.path("alpha")
        result = ppan("curve", self.path("job.toml"), "--out", out, "--points", "1", "--epochs", "2", "--set",
                      "privacy.alpha=inf", "--set", "audit.quick=true", "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("alpha-loss of order inf", self.read("alpha", "report.html"))
        for line in self.read("alpha", "metrics.jsonl").splitlines():
            self.assertLess(json.loads(line)["leakage"], 0.92)  # at most -log of the greatest share

    def test_everything_is_in_the_directory(self):
        names = set(os.listdir(self.path("run")))
        self.assertLessEqual({"curve.csv", "summary.json", "metrics.jsonl", "columns.json", "curve.svg", "report.html",
                              "job.toml", "point-01.ppan", "point-02.ppan", "unchanged.ppan", "constant.ppan"}, names)
        self.assertEqual(self.read("run", "job.toml"), self.read("job.toml"))
        self.assert_no_leftovers(self.path("run"))

    def test_the_summary_says_what_was_asked_and_used(self):
        summary = json.loads(self.read("run", "summary.json"))
        self.assertEqual((summary["status"], summary["hidden"], summary["useful"]),
                         ("complete", "ill", "age, job, pay, hours"))
        settings = {entry["name"]: entry for entry in summary["settings"]}
        self.assertEqual((settings["train.epochs"]["given"], settings["train.epochs"]["used"]), ("2", "2"))
        self.assertNotIn("given", settings["train.batch"])
        self.assertEqual([point["model"] for point in summary["points"]], ["point-01.ppan", "point-02.ppan"])
        self.assertTrue(summary["claimed"] and summary["not_claimed"])

    def test_metrics_have_a_line_for_each_epoch(self):
        lines = [json.loads(line) for line in self.read("run", "metrics.jsonl").splitlines()]
        self.assertEqual({(line["number"], line["epoch"]) for line in lines}, {(1, 1), (1, 2), (2, 1), (2, 2)})

    def test_the_report_shows_columns_and_no_sensitive_values_of_records(self):
        page = self.read("run", "report.html")
        for name in ("age", "job", "pay", "hours"):
            self.assertIn(name, page)
        self.assertNotIn("p00017", page)
        details = json.loads(self.read("run", "columns.json"))
        self.assertEqual([c["name"] for c in details["points"][0]["columns"]], ["age", "job", "pay", "hours"])
        self.assertNotIn("examples", details["points"][0])

    def test_the_terminal_gets_a_plot_a_table_and_the_place(self):
        self.assertIn("report: " + self.path("run", "report.html"), self.curve.stdout)
        self.assertNotIn("UNAUDITED", self.curve.stdout)
        self.assertIn("ppan/table", self.curve.stdout)
        self.assertIn("dropped, because no role names them: town, note", self.curve.stderr)

    def test_every_point_is_audited_by_the_whole_suite(self):
        for row in self.rows():
            if row["model"]:
                self.assertIn(", 320 rows", row["audit"])
        for point in json.loads(self.read("run", "columns.json"))["points"]:
            audit, = point["audits"]
            names = {attacker["name"] for attacker in audit["attackers"]}
            self.assertTrue({"boosted trees", "large network", "nearest neighbours", "prior only"} <= names, names)
            self.assertTrue(any(attacker.get("learning_curve") for attacker in audit["attackers"]))
            self.assertIn("no", {group["name"] for group in audit["classes"]})

    def test_a_limit_and_quick_attackers(self):
        arguments = ("curve", self.path("job.toml"), "--points", "1", "--epochs", "1", "--quiet", "--set", "audit.quick=true")
        kept = ppan(*arguments, "--out", self.path("within"), "--set", "audit.limit=5")
        self.assertEqual(kept.returncode, 0, kept.stderr)
        self.assertIn("within the limit of 5 nats at the least distortion: point 1", kept.stdout)
        self.assertIn(", quick", self.rows("within")[0]["audit"])
        broken = ppan(*arguments, "--out", self.path("beyond"), "--set", "audit.limit=0")
        self.assertEqual(broken.returncode, 6, broken.stderr)
        self.assertIn("no trained point is shown to be within the limit of 0 nats", broken.stderr)
        self.assertTrue(os.path.exists(self.path("beyond", "report.html")))

    def test_the_same_seed_gives_the_same_files_whatever_the_threads(self):
        result = ppan("curve", self.path("job.toml"), "--out", self.path("again"), "--points", "2", "--epochs", "2",
                      "--threads", "1", "--quiet")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        timeless = [{key: value for key, value in row.items() if key != "seconds"} for row in self.rows("again")]
        self.assertEqual(timeless, [{k: v for k, v in row.items() if k != "seconds"} for row in self.rows()])
        for name in ("metrics.jsonl",):
            self.assertEqual(sorted(self.read("again", name).splitlines()), sorted(self.read("run", name).splitlines()))
        with open(self.path("again", "point-02.ppan"), "rb") as a, open(self.path("run", "point-02.ppan"), "rb") as b:
            first, second = a.read(), b.read()
        # Everything but train.threads, which the file says was given, and the checksum over it.
        self.assertEqual(first[-2000:], second[-2000:])

    def test_an_interrupted_run_keeps_finished_points(self):
        out = self.path("interrupted")
        process = subprocess.Popen([BINARY, "curve", self.path("job.toml"), "--out", out, "--points", "40", "--epochs", "2",
                                    "--threads", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not os.path.exists(os.path.join(out, "point-01.ppan")):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIn("interrupted", stderr)
        summary = json.loads(self.read("interrupted", "summary.json"))
        self.assertEqual(summary["status"], "interrupted")
        self.assertTrue(summary["points"])
        self.assertEqual(len(summary["points"]) + len(summary["missing"]), 40)
        self.succeed("show", self.path("interrupted", "point-01.ppan"))
        self.assert_no_leftovers(out)

    def test_a_directory_in_use_is_refused_and_force_leaves_nothing_of_the_old_run(self):
        out = self.path("forced")
        os.makedirs(out)
        for name in ("point-09.ppan", "keep.txt"):
            self.write(os.path.join("forced", name), "old")
        arguments = ("curve", self.path("job.toml"), "--out", out, "--points", "1", "--epochs", "1", "--quiet")
        self.assertIn("is not empty", self.refuse(2, *arguments))
        self.assertEqual(ppan(*arguments, "--force").returncode, 0)
        self.assertFalse(os.path.exists(os.path.join(out, "point-09.ppan")))
        self.assertEqual(self.read("forced", "keep.txt"), "old")
        shutil.rmtree(out)

    def test_bad_settings_are_named(self):
        job = self.path("job.toml")
        self.assertIn("train.epochs", self.refused(2, job, "--epochs", "0"))
        self.assertIn("did you mean 'train.epochs'", self.refused(2, job, "--set", "train.epoch=3"))
        self.assertIn("not KEY=VALUE", self.refused(2, job, "--set", "train.epochs"))
        self.assertIn("did you mean 'epochs'", self.refused(2, self.job("key.toml", ("# epochs =", "epocs ="))))
        self.refused(4, self.path("absent.toml"))
        self.assertIn("line", self.refused(2, self.write("broken.toml", "[data\n")))

    def test_a_job_that_does_not_fit_the_table(self):
        message = self.refused(2, self.job("names.toml", ('keep = ["id"]', 'keep = ["idd"]')))
        self.assertIn("the table has no such column: unknown column 'idd' (did you mean 'id'?)", message)
        message = self.refused(2, self.job("roles.toml", ('keep = ["id"]', 'keep = ["ill"]')))
        self.assertIn("'ill' is also sensitive", message)
        message = self.refused(2, self.job("twice.toml", ('["age", "job"', '["age", "age", "job"')))
        self.assertIn("'age' is listed twice", message)

    def table_job(self, name, header, rows):
        """A job with sensitive s and useful u (category) and v (real) for a table of its own."""
        self.write(f"{name}.csv", "\n".join([header, *rows]) + "\n")
        return self.write(f"{name}.toml", f'[data]\nsource = "{name}.csv"\n[roles]\nsensitive = ["s"]\nuseful = ["u", "v"]\n'
                          '[columns]\ns = "category"\nu = "category"\nv = "real"\n')

    def test_tables_that_cannot_be_used(self):
        good = [f"{'ab'[i % 2]},{'xyz'[i % 3]},{i}" for i in range(300)]
        cases = {
            "ragged": ("s,u,v", [*good[:50], "a,x", *good[50:]], "line 52"),
            "repeated": ("s,u,u", good, "u"),
            "nothing": ("s,u,v", [], "no rows"),
            "constant": ("s,u,v", [f"a,x,{i}" for i in range(300)], "has one value in every row"),
            "unique": ("s,u,v", [f"s{i},x,{i}" for i in range(300)], "a different value in every row"),
            "many": ("s,u,v", [f"s{i},x,1" for i in range(100200)], "a different value in every row"),
            "infinite": ("s,u,v", [*good, "a,x,inf"], 'is not a finite number'),
            "word": ("s,u,v", [*good, "a,x,hello"], 'line 302, column "v": the cell is not a number'),
        }
        for name, (header, rows, part) in cases.items():
            with self.subTest(name=name):
                self.assertIn(part, self.refused(3, self.table_job(name, header, rows)))
        empty = self.table_job("empty", "", [])
        self.write("empty.csv", "")
        self.assertIn("is empty", self.refused(3, empty))

    def test_a_useful_column_of_very_many_levels_is_grouped(self):
        rows = [f"{'ab'[i % 2]},level{i % 1500},{i % 40}" for i in range(3000)]
        job = self.table_job("levels", "s,u,v", rows)
        result = ppan("curve", job, "--out", self.path("levels-run"), "--points", "1", "--epochs", "1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"column 'u': \d+(\.\d)? % of the rows have one of many levels that are grouped")
        model = json.loads(self.succeed("show", self.path("levels-run", "point-01.ppan"), "--json"))
        levels = [c for c in model["model"]["encoding"]["columns"] if c["name"] == "u"][0]["levels"]
        self.assertLessEqual(len(levels), 64)
        self.assertIn("other", levels)


if __name__ == "__main__":
    unittest.main()
