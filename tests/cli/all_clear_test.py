"""False all-clears: what leaks must be found by curve, audit and quick audit, and what was not seen must not be called safe."""

import json
import math
import random
import re
import unittest

from support import ppan
from table_support import TableTest, read_csv, write_csv

COLUMNS = ["income", "age", "city", "ill"]


def rounding_people(count, seed):
    """Healthy people round their incomes to hundreds, ill ones do not: the values say nothing, the digits nearly all."""
    source = random.Random(seed)
    rows = []
    for _ in range(count):
        ill = source.random() < 0.4
        income = source.gauss(42000, 12000)
        if not ill and source.random() < 0.8:
            income = 100 * round(income / 100)
        rows.append({"income": round(income), "age": source.randint(18, 90), "city": source.choice("ABCD"), "ill": "yes" if ill else "no"})
    return rows


def information(pairs):
    """Plug-in estimate, nats."""
    total = len(pairs)
    count = {}
    left, right = {}, {}
    for a, b in pairs:
        count[a, b] = count.get((a, b), 0) + 1
        left[a] = left.get(a, 0) + 1
        right[b] = right.get(b, 0) + 1
    return sum(n / total * math.log(n * total / (left[a] * right[b])) for (a, b), n in count.items())


class Digits(TableTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.rows = rounding_people(4000, 8)
        write_csv(cls.path("digits.csv"), cls.rows, COLUMNS)
        assert ppan("init", cls.path("digits.csv"), "--sensitive", "ill", "-o", cls.path("digits.toml")).returncode == 0

    def test_audits_find_them(self):
        released = write_csv(self.path("raw.csv"), self.rows, COLUMNS[:3])
        planted = information([(row["income"] % 100 == 0, row["ill"]) for row in self.rows])
        self.assertGreater(planted, 0.25)
        for effort in [[], ["--quick"]]:
            result = ppan("audit", "--original", self.path("digits.csv"), "--released", released, "--sensitive", "ill", "--limit", "0.1",
                          "--json", "-", *effort)
            self.assertEqual(result.returncode, 6, result.stderr)
            found = json.loads(result.stdout)["attributes"][0]
            self.assertGreater(found["leakage"]["nats"], 0.8 * planted)
            self.assertEqual((found["sources"][0]["column"], found["sources"][0]["aspect"]), ("income", "digits"))

    def test_a_release_does_not_have_them(self):
        run = ppan("curve", self.path("digits.toml"), "--out", self.path("run"), "--points", "2", "--epochs", "3", "--set", "audit.quick=true")
        self.assertEqual(run.returncode, 0, run.stderr)
        picked = ppan("pick", self.path("run"), "--leakage", "0.2", "-o", self.path("digits.ppan"))
        self.assertEqual(picked.returncode, 0, picked.stderr)
        self.assertIn("upper end", picked.stdout)
        self.assertEqual(ppan("release", self.path("digits.ppan"), self.path("digits.csv"), "-o", self.path("out.csv")).returncode, 0)
        released = read_csv(self.path("out.csv"))
        told = information([(int(row["income"]) % 100 == 0, old["ill"]) for row, old in zip(released, self.rows)])
        # Without a leak 2 n I is chi-squared with one degree: above 0.002 once in 15,000 tables of 4,000 rows.
        self.assertLess(told, 0.002)
        # With a grid of 1 the digits are released, and the curve says so.
        fine = ppan("curve", self.path("digits.toml"), "--out", self.path("fine"), "--points", "2", "--epochs", "3", "--set", "audit.quick=true",
                    "--set", "encode.grid_cost=0")
        self.assertEqual(fine.returncode, 0, fine.stderr)
        rows = {row["series"]: row for row in read_csv(self.path("fine", "curve.csv"))}
        self.assertGreater(float(rows["reference/unchanged"]["leakage"]), 0.2)


class Unseen(TableTest):
    def test_what_was_not_seen_is_not_picked(self):
        run = ppan("curve", self.path("job.toml"), "--out", self.path("run"), "--points", "2", "--epochs", "2")
        self.assertEqual(run.returncode, 0, run.stderr)
        rows = read_csv(self.path("run", "curve.csv"))
        for row in rows:
            if row["series"] == "ppan/table":
                self.assertGreaterEqual(float(row["leakage_upper_end"]), max(float(row["leakage_power"]), float(row["leakage_high"])))
        # A handful of rows cannot show that so little leaks, whatever was found.
        picked = ppan("pick", self.path("run"), "--leakage", "0.001", "-o", self.path("tight.ppan"))
        self.assertEqual(picked.returncode, 2, picked.stdout)
        self.assertIn("no point of the curve leaks 0.001 nats or less", picked.stderr)

    def test_rows_that_do_not_belong_together(self):
        people = read_csv(self.path("people.csv"))
        shifted = write_csv(self.path("shifted.csv"), people[1:] + people[:1], ["age", "job", "pay"])
        result = ppan("audit", "--original", self.path("people.csv"), "--released", shifted, "--sensitive", "ill", "--quick")
        self.assertEqual(result.returncode, 3)
        self.assertIn("does not look like row 1 of the original", result.stderr)
        random.Random(4).shuffle(people)
        shuffled = write_csv(self.path("shuffled.csv"), people, ["age", "job", "pay", "ill"])
        result = ppan("audit", "--original", self.path("people.csv"), "--released", shuffled, "--sensitive", "ill", "--quick")
        self.assertEqual(result.returncode, 3)
        result = ppan("audit", "--original", self.path("people.csv"), "--released", shuffled, "--sensitive", "ill", "--quick", "--unaligned")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("which the release carries", result.stdout)

    def test_a_release_with_the_secret_in_it_is_named(self):
        result = ppan("audit", "--original", self.path("people.csv"), "--released", self.path("people.csv"), "--sensitive", "ill", "--quick")
        self.assertIn('contains the sensitive column "ill" itself; 100.0 %', result.stdout)

    def test_types_come_from_the_model(self):
        people = read_csv(self.path("people.csv"))
        for row in people:
            row["code"] = str(10 + 7 * ((int(row["age"]) * 13 + len(row["job"])) % 25))
        write_csv(self.path("codes.csv"), people, ["age", "job", "pay", "hours", "code"])
        draft = ppan("init", self.path("codes.csv"), "--sensitive", "code", "-o", self.path("codes.toml"))
        self.assertEqual(draft.returncode, 0, draft.stderr)
        self.write("codes.toml", re.sub("(?m)^code = .*$", 'code = "category"', self.read("codes.toml")))
        run = ppan("curve", self.path("codes.toml"), "--out", self.path("codes"), "--points", "1", "--epochs", "2", "--set",
                   "audit.quick=true")
        self.assertEqual(run.returncode, 0, run.stderr)
        result = ppan("audit", self.path("codes", "point-01.ppan"), "--data", self.path("codes.csv"), "--quick", "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["attributes"][0]["kind"], "categorical")


class NumericSecrets(TableTest):
    def test_the_whole_way_on_several_seeds(self):
        for seed, roles in [(1, ["pay"]), (5, ["pay", "ill"]), (7, ["pay", "ill"])]:
            job = self.path(f"numeric{seed}.toml")
            draft = ppan("init", self.path("people.csv"), "--sensitive", ",".join(roles), "--useful", "age,job,hours", "--side", "town",
                         "-o", job)
            self.assertEqual(draft.returncode, 0, draft.stderr)
            run = ppan("curve", job, "--out", self.path(f"numeric{seed}"), "--points", "1", "--epochs", "2", "--set", f"train.seed={seed}",
                       "--set", "audit.quick=true")
            self.assertEqual(run.returncode, 0, run.stderr)
            model = self.path(f"numeric{seed}", "point-01.ppan")
            result = ppan("audit", model, "--data", self.path("people.csv"), "--quick", "--seed", str(seed), "--json", "-")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual([a["name"] for a in json.loads(result.stdout)["attributes"]], roles)


if __name__ == "__main__":
    unittest.main()
