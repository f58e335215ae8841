"""Heads with a task, a derived column and a constraint, from the table to the release; the exact optimum of a small table."""

import csv
import io
import json
import random
import unittest

from table_support import GRADE, TableTest, draft_of_workers, ppan, write_csv


class Heads(TableTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        _, cls.edited = draft_of_workers(cls, "heads")
        with open(cls.path("heads.toml"), "w") as file:
            file.write(cls.edited)
        result = ppan("curve", cls.path("heads.toml"), "--out", cls.path("run"), "--points", "2", "--epochs", "3", "--quiet")
        assert result.returncode == 0, result.stderr

    def test_the_curve_has_tasks(self):
        with open(self.path("run", "curve.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        points = [row for row in rows if row["series"] == "ppan/table"]
        self.assertEqual(len(points), 2)
        for row in points:
            self.assertEqual(row["task_metric"], "retires: AUC")
        self.assertFalse([row for row in rows if row["series"] == "reference/optimum"])  # numbers are among the columns

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
            self.assertEqual(row["retires"], original["retires"])
        # The last point may redraw a column; the first hardly touches any.
        out = self.succeed("release", self.path("run", "point-01.ppan"), self.path("workers.csv"), "-o", "-", "--quiet")
        first = list(csv.DictReader(io.StringIO(out)))
        self.assertLess(sum(row["age"] != original["age"] for row, original in zip(first, before)), 800)

    def test_releases_differ_and_the_model_says_what_it_is(self):
        command = ("release", self.path("run", "point-02.ppan"), self.path("workers.csv"), "-o", "-", "--quiet")
        self.assertNotEqual(self.succeed(*command), self.succeed(*command))  # the noise has no seed
        self.assertIn("heads", self.succeed("show", self.path("run", "point-02.ppan")))
        model = json.loads(self.succeed("show", self.path("run", "point-02.ppan"), "--json"))
        self.assertIn("heads", [part["kind"] for part in model["model"]["components"]])

    def test_redrawn_columns_are_offered(self):
        with open(self.path("run", "curve.csv"), newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["series"] == "ppan/redrawn"]
        self.assertTrue(rows)
        # On the grids of the columns.
        before = list(csv.DictReader(io.StringIO(self.succeed("release", self.path("run", "unchanged.ppan"), self.path("workers.csv"), "-o", "-", "--quiet"))))
        for row in rows:
            self.assertTrue(row["leakage"] and row["task_score"] and row["task_loss"] and row["changed"] and row["audit"])
            model = self.path("run", row["model"])
            self.assertIn("columns that are redrawn from the others", self.succeed("show", model))
            released = list(csv.DictReader(io.StringIO(self.succeed("release", model, self.path("workers.csv"), "-o", "-", "--quiet"))))
            self.assertEqual(len(released), len(before))
            names = row["label"].removesuffix(" redrawn").split(", ")
            for name in released[0]:
                changed = sum(a[name] != b[name] for a, b in zip(released, before)) / len(before)
                (self.assertGreater if name in names else self.assertLess)(changed, 0.05, (row["label"], name))
            for cells in released:
                self.assertEqual(int(cells["grade"]), GRADE[cells["job"]])
                self.assertGreaterEqual(int(cells["age"]), 18)
        self.succeed("audit", self.path("run", rows[-1]["model"]), "--data", self.path("workers.csv"), "--quick")
        text = self.succeed("pick", self.path("run"), "--leakage", "0.7", "-o", self.path("picked.ppan"))
        self.assertIn("task        loss", text)
        self.succeed("pick", self.path("run"), "--leakage", "0.7", "--least-distortion", "-o", self.path("picked.ppan"), "--force")

    def test_keys_of_other_families_are_refused(self):
        for before, after in (("# leakages = []", "leakages = [0.1]"), ('# usefulness = "both"', 'usefulness = "task"'),
                              ('# codewords = "auto"', "codewords = 40"), ('# budget_form = "dual"', 'budget_form = "record"')):
            self.assertIn(before, self.edited)
            with open(self.path("bad.toml"), "w") as file:
                file.write(self.edited.replace(before, after))
            result = ppan("curve", self.path("bad.toml"), "--out", self.path("bad-run"), "--force", "--quiet", "--epochs", "1")
            self.assertEqual(result.returncode, 2, after)
            self.assertIn(before.split()[1], result.stderr)


class Optimum(TableTest):
    def test_small_tables_have_the_exact_optimum_beside_every_point(self):
        source = random.Random(5)
        rows = []
        for _ in range(1500):
            ill = source.random() < 0.4
            rows.append({"job": source.choice(["clerk", "nurse", "nurse"] if ill else ["clerk", "clerk", "driver"]),
                         "smokes": "yes" if source.random() < (0.6 if ill else 0.3) else "no", "ill": "yes" if ill else "no"})
        write_csv(self.path("small.csv"), rows, ["job", "smokes", "ill"])
        self.succeed("init", self.path("small.csv"), "--sensitive", "ill", "-o", self.path("small.toml"))
        self.succeed("curve", self.path("small.toml"), "--out", self.path("small-run"), "--points", "3", "--set", "audit.quick=true", "--quiet")
        with open(self.path("small-run", "curve.csv"), newline="") as file:
            table = list(csv.DictReader(file))
        points = [row for row in table if row["series"] == "ppan/table"]
        best = [row for row in table if row["series"] == "reference/optimum"]
        self.assertEqual(len(best), len(points))
        for row, least in zip(points, best):
            self.assertGreaterEqual(float(row["excess"]), -1e-6)  # nothing leaks less than the least
            self.assertLessEqual(float(row["excess"]), 0.01)
            self.assertAlmostEqual(float(row["optimum"]), float(least["leakage"]), places=9)


if __name__ == "__main__":
    unittest.main()
