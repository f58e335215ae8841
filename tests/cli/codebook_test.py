"""A codebook with a task, a derived column and a constraint, from the table to the release."""

import csv
import io
import json
import unittest

from table_support import GRADE, TableTest, draft_of_workers, people, ppan


class Codebook(TableTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.draft, cls.edited = draft_of_workers(cls, "codebook")
        with open(cls.path("book.toml"), "w") as file:
            file.write(cls.edited)
        result = ppan("curve", cls.path("book.toml"), "--out", cls.path("run"), "--points", "2", "--epochs", "3", "--quiet")
        assert result.returncode == 0, result.stderr

    def job(self, *changes):
        text = self.edited
        for before, after in changes:
            self.assertIn(before, text)
            text = text.replace(before, after)
        with open(self.path("bad.toml"), "w") as file:
            file.write(text)
        return ppan("curve", self.path("bad.toml"), "--out", self.path("bad-run"), "--force", "--quiet", "--epochs", "1")

    def test_init_finds_what_follows(self):
        line = next(line for line in self.draft.splitlines() if line.startswith("grade"))
        self.assertIn("follows from job", line)
        self.assertIn('derived_from = "job"', line)
        self.assertIn('task = ["retires"]', self.draft)

    def test_the_curve_has_bounds_and_tasks(self):
        with open(self.path("run", "curve.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        points = [row for row in rows if row["series"] == "ppan/table"]
        self.assertEqual(len(points), 2)
        for row in points:
            self.assertIn("for every attacker", row["leakage_upper_method"])
            self.assertGreaterEqual(float(row["leakage_upper_any_distribution"]), float(row["leakage_upper"]))
            self.assertEqual(row["task_metric"], "retires: AUC")
            self.assertLess(float(row["task_low"]), float(row["task_high"]))
        unchanged = next(row for row in rows if row["series"] == "reference/unchanged")
        self.assertEqual(float(unchanged["task_loss"]), 0)
        self.assertTrue(all(row["task_score"] for row in rows if row["series"] == "reference/dropped"))
        with open(self.path("run", "report.html")) as file:
            self.assertTrue("What a recipient loses" in file.read())
        with open(self.path("run", "task.svg")) as file:
            self.assertIn("retires: AUC", file.read())

    def test_released_rows_make_sense(self):
        out = self.succeed("release", self.path("run", "point-02.ppan"), self.path("workers.csv"), "-o", "-", "--quiet")
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual(len(rows), 900)
        with open(self.path("workers.csv"), newline="") as file:
            before = list(csv.DictReader(file))
        for row, original in zip(rows, before):
            self.assertEqual(int(row["grade"]), GRADE[row["job"]])
            self.assertGreaterEqual(int(row["age"]), 18)
            self.assertGreater(int(row["hours"]), 25)
            self.assertEqual(row["retires"], original["retires"])  # kept as it is
        self.assertGreater(sum(row["age"] != original["age"] for row, original in zip(rows, before)), 400)

    def test_pick_by_task_loss(self):
        self.succeed("pick", self.path("run"), "--task-loss", "1", "-o", self.path("picked.ppan"), "--force")
        model = json.loads(self.succeed("show", self.path("picked.ppan"), "--json"))
        self.assertIn("retires: AUC", model["origin"]["task"])
        result = ppan("pick", self.path("run"), "--task-loss", "-1", "-o", self.path("x.ppan"))
        self.assertEqual(result.returncode, 2)

    def test_bad_jobs_say_everything_at_once(self):
        result = self.job(('task = ["retires"]', 'task = ["ill", "age", "nothing"]'), ('"age >= 18"', '"job >= 18"'))
        self.assertEqual(result.returncode, 2)
        for text in ("'ill' is also sensitive", "'age' is also useful", "nothing", "'job' in 'job >= 18'"):
            self.assertIn(text, result.stderr)
        result = self.job(('"age >= 18"', '"age >= 200"'))
        self.assertEqual(result.returncode, 3)
        self.assertIn("no row meets 'age >= 200'", result.stderr)
        result = self.job(('# codewords = "auto"', "codewords = 4000"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("4000 codewords of at least 5 people", result.stderr)
        result = self.job(("# budgets = []", "budgets = [0.1]"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("privacy.leakages", result.stderr)


if __name__ == "__main__":
    unittest.main()
