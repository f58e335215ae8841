"""Tables as they come: dates in text, categories of very many levels, many files with a fault in one."""

import gzip
import os
import random
import tempfile
import unittest
from datetime import date, timedelta

from support import CommandTest, ppan
from table_support import read_csv, write_csv
from typed_support import TypedTest


def visits(count, seed):
    """People with dates in text, a product that a few buy often and most seldom, and a maker that two share."""
    source = random.Random(seed)
    rows = []
    for number in range(count):
        ill = source.random() < 0.5
        rows.append({
            "born": date(1950, 1, 1) + timedelta(days=source.randrange(9000) + (9000 if ill else 0)),
            "seen": f"2024-0{source.randrange(1, 10)}-1{source.randrange(10)} 1{source.randrange(10)}:{source.randrange(10, 60)}:00",
            "product": f"p{min(4999, int(1 / (source.random() + 0.0002))):04}",
            "maker": f"m{number // 2:05}",
            "ill": "yes" if ill else "no",
        })
    return rows


COLUMNS = ["born", "seen", "product", "maker", "ill"]


class Dates(CommandTest):
    def test_dates_in_text_and_many_levels_from_draft_to_audit(self):
        with tempfile.TemporaryDirectory() as directory:
            path = lambda name: os.path.join(directory, name)
            write_csv(path("people.csv"), visits(1200, 9), COLUMNS)
            write_csv(path("others.csv"), visits(400, 10), COLUMNS)
            self.succeed("init", path("people.csv"), "--sensitive", "ill", "-o", path("job.toml"))
            with open(path("job.toml")) as file:
                drafted = file.read()
            for line in ['born = "date"', 'seen = "timestamp"']:
                self.assertIn(line, drafted)
            self.assertRegex(drafted, r'maker = "category" +# UNSURE: 600 levels: only the most frequent are kept, the others are grouped')
            result = ppan("curve", path("job.toml"), "--out", path("run"), "--points", "1", "--epochs", "2", "--set", "audit.quick=true")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("'maker': 100 % of the rows have one of many levels that are grouped as \"other\"", result.stdout + result.stderr)
            result = ppan("release", path("run/point-01.ppan"), path("others.csv"), "-o", path("released.csv"))
            self.assertEqual(result.returncode, 0, result.stderr)
            original = {row["product"] for row in read_csv(path("people.csv"))}
            released = read_csv(path("released.csv"))
            self.assertEqual(len(released), 400)
            for row in released:
                self.assertRegex(row["born"], r"\A\d{4}-\d\d-\d\d\Z")
                self.assertRegex(row["seen"], r"\A\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\Z")
                self.assertEqual(row["maker"], "other")  # two rows each: fewer than encode.min_rows
                self.assertIn(row["product"], original | {"other"})
            self.assertLessEqual(len({row["product"] for row in released}), 65)
            result = ppan("audit", path("run/point-01.ppan"), "--data", path("others.csv"), "--quick")
            self.assertEqual(result.returncode, 0, result.stderr)


class ManyFiles(TypedTest):
    def parts(self, name, fault):
        os.makedirs(self.path(name))
        with open(self.path("people.csv")) as file:
            lines = file.read().splitlines()
        for part in range(3):
            own = lines[1 + 100 * part:101 + 100 * part]
            if part == 1:
                own[40] = fault(own[40])
            with gzip.open(self.path(name, f"{part}.csv.gz"), "wt") as packed:
                packed.write("\n".join([lines[0], *own]) + "\n")
        return self.path(name, "*.csv.gz")

    def test_a_fault_is_named_by_its_file_and_the_line_in_it(self):
        pattern = self.parts("fields", lambda row: row + ",1,2")
        for words in [["init", pattern, "--sensitive", "ill"], ["release", self.model, pattern, "-o", self.path("none.csv")]]:
            result = ppan(*words)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertRegex(result.stderr, r"1\.csv\.gz line 42: ", words)
        self.assertFalse(os.path.exists(self.path("none.csv")))

    def test_a_part_that_is_cut_short(self):
        pattern = self.parts("short", lambda row: row)
        with open(self.path("short", "1.csv.gz"), "r+b") as packed:
            packed.truncate(os.path.getsize(packed.name) // 2)
        result = ppan("release", self.model, pattern, "-o", self.path("none.csv"))
        self.assertIn(result.returncode, (3, 4), result.stderr)
        self.assertIn("1.csv.gz", result.stderr)
        self.assertFalse(os.path.exists(self.path("none.csv")))


if __name__ == "__main__":
    unittest.main()
