"""ppan release"""

import gzip
import os
import resource
import signal
import subprocess
import unittest

from support import BINARY
from table_support import COLUMNS, RunTest, people, ppan, read_csv, write_csv


class Release(RunTest):
    def release(self, table, *arguments, name="released.csv"):
        """Rows of a release that must succeed, and what it said."""
        result = ppan("release", self.model, table, "-o", self.path(name), *arguments)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        self.assert_no_leftovers()
        return read_csv(self.path(name)), result.stderr

    def not_released(self, status, table, *arguments, stdin=None):
        """Message of a release that must fail and leave no file."""
        target = self.path("not-released.csv")
        message = self.refuse(status, "release", self.model, table, "-o", target, *arguments)
        self.assertFalse(os.path.exists(target))
        self.assert_no_leftovers()
        return message

    def bad_table(self, name="bad.csv"):
        rows = people(300, seed=9)
        rows[120]["age"] = "hello"
        rows[200]["job"] = "pilot"
        return write_csv(self.path(name), rows)

    def test_rows_come_out_in_order_with_the_columns_of_the_model(self):
        rows, said = self.release(self.path("people.csv"))
        self.assertEqual(list(rows[0]), ["id", "age", "job", "pay", "hours"])
        self.assertEqual([row["id"] for row in rows], [row["id"] for row in people(800)])
        self.assertEqual(said, "dropped columns: town, ill, note\n")
        self.assertEqual({row["job"] for row in rows} - {"clerk", "driver", "nurse", "driver, bus"}, set())
        for row in rows:
            self.assertRegex(row["age"], r"\A\d+\Z")
            self.assertRegex(row["pay"], r"\A(\d+\.\d\d)?\Z")  # the grid of the column, no further digits

    def test_tomorrows_records_in_another_order_of_columns(self):
        table = write_csv(self.path("new.csv"), people(5000, seed=77), list(reversed(COLUMNS[:5])))
        rows, said = self.release(table)
        self.assertEqual([row["id"] for row in rows], [f"p{i:05}" for i in range(5000)])
        self.assertEqual(said, "")

    def test_standard_input_and_output(self):
        with open(self.path("people.csv")) as table:
            result = subprocess.run([BINARY, "release", self.model, "-"], stdin=table, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True, timeout=100)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count("\n"), 801)

    def test_gzip_by_extension(self):
        with open(self.path("people.csv"), "rb") as plain, gzip.open(self.path("people.csv.gz"), "wb") as packed:
            packed.write(plain.read())
        result = ppan("release", self.model, self.path("people.csv.gz"), "-o", self.path("out.csv.gz"), "--quiet")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        with gzip.open(self.path("out.csv.gz"), "rt") as file:
            self.assertEqual(file.read().count("\n"), 801)

    def test_noise_is_fresh_unless_a_test_asks_otherwise(self):
        table = self.path("people.csv")
        first, _ = self.release(table)
        second, _ = self.release(table)
        self.assertNotEqual(first, second)
        one, said = self.release(table, "--insecure-test-noise", "5", "--threads", "1")
        self.assertIn("WARNING: seeded noise", said)
        self.assertEqual(one, self.release(table, "--insecure-test-noise", "5", "--threads", "3")[0])
        self.assertNotEqual(one, self.release(table, "--insecure-test-noise", "6")[0])

    def test_fail_names_the_row_and_leaves_nothing(self):
        message = self.not_released(3, self.bad_table())
        self.assertIn('bad.csv line 122, column "age": the cell is not a whole number\n', message)
        self.assertIn("--show-values shows the cell", message)
        self.assertIn('fix: fix the row, or choose release.unknown = "reject" or "nearest"', message)
        self.write("released.csv", "before")
        self.refuse(3, "release", self.model, self.path("bad.csv"), "-o", self.path("released.csv"))
        self.assertEqual(self.read("released.csv"), "before")

    def test_reject_sets_rows_aside(self):
        rejects = self.path("rejects.csv")
        rows, said = self.release(self.bad_table(), "--unknown", "reject", "--rejects", rejects)
        self.assertEqual(len(rows), 298)
        self.assertIn("2 of 300 rows rejected", said)
        rejected = read_csv(rejects)
        self.assertEqual([(row["id"], row["reject_line"], row["reject_reason"]) for row in rejected],
                         [("p00120", "122", 'age: "hello" is not a whole number'),
                          ("p00200", "202", 'job: "pilot" is an unknown level')])
        self.assertIn("--rejects FILE", self.not_released(2, self.bad_table(), "--unknown", "reject"))

    def test_nearest_releases_every_row(self):
        rows, said = self.release(self.bad_table(), "--unknown", "nearest")
        self.assertEqual(len(rows), 300)
        self.assertIn("2 cells that could not be released took the nearest value", said)

    def test_columns_that_are_not_there(self):
        table = write_csv(self.path("short.csv"), people(5), ["id", "pay", "jobs", "town"])
        message = self.not_released(3, table)
        self.assertIn("lacks columns that the model needs", message)
        self.assertIn("age: ", message)
        self.assertIn("job: unknown column 'job' (did you mean 'jobs'?)", message)

    def test_bad_tables(self):
        header = "id,age,job,pay,hours\n"
        for name, text, part in (("empty.csv", "", "is empty"), ("ragged.csv", header + "p,1\n", "line 2"),
                                 ("inf.csv", header + "p,inf,clerk,1.00,20\n", 'is not a finite number'),
                                 ("missing.csv", header + "p,,clerk,1.00,20\n", "the value is missing"),
                                 ("twice.csv", "id,age,age\n", "age"), ("nul.csv", header + "p\0,1\n", "line 2")):
            with self.subTest(name=name):
                self.assertIn(part, self.not_released(3, self.write(name, text)))
        self.not_released(4, self.path("absent.csv"))
        rows, _ = self.release(self.write("header.csv", header))
        self.assertEqual(rows, [])

    def test_a_full_disk(self):
        message = self.refuse(4, "release", self.model, self.path("people.csv"), "-o", "/dev/full")
        self.assertIn("No space left on device", message)
        target = self.path("not-released.csv")

        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        result = ppan("release", self.model, self.path("people.csv"), "-o", target, preexec_fn=small_files)
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("File too large", result.stderr)
        self.assertFalse(os.path.exists(target))
        self.assert_no_leftovers()

    def test_a_closed_pipe_leaves_no_rejects_behind(self):
        big = write_csv(self.path("big.csv"), people(20000, seed=3))
        rejects = self.path("closed-rejects.csv")
        process = subprocess.Popen([BINARY, "release", self.model, big, "--unknown", "reject", "--rejects", rejects],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.read(10)
        process.stdout.close()
        message = process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.wait(timeout=60), 4)
        self.assertIn("cannot write standard output: Broken pipe", message)
        self.assertFalse(os.path.exists(rejects))
        self.assert_no_leftovers()

    def test_an_input_is_never_overwritten(self):
        table = write_csv(self.path("precious.csv"), people(5))
        before = self.read("precious.csv")
        self.assertIn("is also an input", self.refuse(2, "release", self.model, table, "-o", table))
        self.assertIn("is also an input", self.refuse(2, "release", self.model, table, "-o", self.model))
        self.assertEqual(self.read("precious.csv"), before)
        self.assertIn("same place", self.refuse(2, "release", self.model, table, "-o", "x", "--rejects", "x"))

    def test_wrong_words(self):
        table = self.path("people.csv")
        self.assertIn("did you mean 'reject'", self.not_released(2, table, "--unknown", "rejekt"))
        self.assertIn("--delimiter", self.not_released(2, table, "--delimiter", "comma"))
        self.assertIn("threads", self.not_released(2, table, "--threads", "-2"))
        self.refuse(3, "release", table, table)
        self.refuse(4, "release", self.path("absent.ppan"), table)


if __name__ == "__main__":
    unittest.main()
