"""`ppan curve` cut off and gone on with, in one process or in several, gives the files of one run that was not."""

import csv
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

from support import BINARY, ppan
from table_support import TableTest, people, write_csv

SHORT = ["--points", "3", "--epochs", "2", "--set", "audit.quick=true", "--quiet"]
# What is measured by the clock.
TIMES = [(re.compile(rb'"seconds": ?[0-9.e+-]+'), b'"seconds":0'), (re.compile(rb"\b\d+(\.\d+)? (s|min|h)\b"), b"TIME"),
         (re.compile(rb'<data value="[^"]*">[^<]*</data></td><td class="more ">(point-\d+.ppan)'), rb"TIME \1")]


class ResumeTest(TableTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        write_csv(cls.path("people.csv"), people(400))
        cls.whole = cls.run_directory("whole")
        result = cls.curve(cls.whole)
        assert result.returncode == 0, result.stderr

    @classmethod
    def run_directory(cls, name):
        """DIRECTORY/NAME/run: the command, which a summary shows, names the same directory everywhere."""
        os.makedirs(cls.path(name), exist_ok=True)
        with open(cls.path("job.toml")) as job, open(cls.path(name, "job.toml"), "w") as own:
            own.write(job.read().replace(cls.path("people.csv"), "people.csv"))
        shutil.copy(cls.path("people.csv"), cls.path(name, "people.csv"))
        return cls.path(name)

    @staticmethod
    def arguments(*more):
        return ["curve", "job.toml", "--out", "run", *SHORT, *more]

    @classmethod
    def curve(cls, directory, *more):
        return ppan(*cls.arguments(*more), cwd=directory)

    def begin(self, directory, *more):
        return subprocess.Popen([BINARY, *self.arguments(*more)], cwd=directory, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    @staticmethod
    def files(directory):
        """The files of a run without what the clock says."""
        found = {}
        for path, _, names in os.walk(os.path.join(directory, "run")):
            for name in names:
                with open(os.path.join(path, name), "rb") as file:
                    data = file.read()
                if name == "curve.csv":
                    data = timeless_csv(data)
                elif not name.endswith((".ppan", ".toml")):
                    for pattern, instead in TIMES:
                        data = pattern.sub(instead, data)
                found[os.path.relpath(os.path.join(path, name), directory)] = data
        return found

    def assert_same_run(self, directory):
        expected, found = self.files(self.whole), self.files(directory)
        self.assertEqual(sorted(expected), sorted(found))
        for name, data in expected.items():
            if data != found[name]:
                at = next(i for i in range(min(len(data), len(found[name]))) if data[i] != found[name][i])
                self.fail(f"{name} differs at {at}: {data[at - 60:at + 60]} / {found[name][at - 60:at + 60]}")

    def test_the_pieces_are_gone_when_all_is_done(self):
        self.assertNotIn("pieces", os.listdir(os.path.join(self.whole, "run")))

    def test_resuming_a_finished_run_does_nothing(self):
        before = self.files(self.whole)
        result = self.curve(self.whole, "--resume")
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        self.assertEqual(before, self.files(self.whole))

    def test_three_processes_on_one_directory_give_the_same_files_as_one(self):
        directory = self.run_directory("three")
        self.assertEqual(self.curve(directory, "--prepare").returncode, 0)
        self.assertIn("points are missing: 1, 2, 3", self.curve(directory, "--finish").stderr)
        processes = [self.begin(directory, "--only", only) for only in ("3,references", "1-2", "2")]
        for process in processes:
            _, errors = process.communicate(timeout=300)
            self.assertEqual((process.returncode, errors), (0, ""))
        result = self.curve(directory, "--finish")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assert_same_run(directory)

    def test_three_processes_may_all_do_everything(self):
        directory = self.run_directory("all")
        processes = [self.begin(directory, "--resume") for _ in range(3)]
        for process in processes:
            _, errors = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0, errors)
        self.assert_same_run(directory)

    def test_a_run_that_is_killed_again_and_again_ends_as_one_that_was_not(self):
        directory = self.run_directory("killed")
        source = random.Random(7)
        begun = time.monotonic()
        self.curve(self.run_directory("pace"), "--prepare")
        pace = time.monotonic() - begun
        kept = 0
        for _ in range(8):
            process = self.begin(directory, "--resume")
            # However long that takes here: between nothing and about two pieces.
            time.sleep(source.random() * 1.5 * pace)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            pieces = self.pieces(directory)
            self.assertGreaterEqual(pieces, kept, "a finished piece was lost")
            kept = pieces
        result = self.curve(directory, "--resume")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_same_run(directory)
        self.assert_no_leftovers(os.path.join(directory, "run"))

    @staticmethod
    def pieces(directory):
        try:
            return len([n for n in os.listdir(os.path.join(directory, "run", "pieces")) if n.endswith(".piece")])
        except FileNotFoundError:
            return 0

    def test_other_jobs_data_and_damaged_pieces_are_refused(self):
        directory = self.run_directory("foreign")
        self.assertEqual(self.curve(directory, "--prepare").returncode, 0)
        for more in (("--seed", "9"), ("--set", "train.batch=64")):
            result = self.curve(directory, "--resume", *more)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("another job, other data or another version", result.stderr)
        write_csv(os.path.join(directory, "people.csv"), people(401))
        self.assertIn("another job, other data", self.curve(directory, "--resume").stderr)
        write_csv(os.path.join(directory, "people.csv"), people(400))
        # Other threads are no other run.
        self.assertEqual(self.curve(directory, "--only", "3", "--threads", "1").returncode, 0)
        result = self.curve(directory)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--resume continues it", result.stderr)
        path = os.path.join(directory, "run", "pieces", "start.piece")
        with open(path, "r+b") as file:
            file.seek(400)
            byte = file.read(1)
            file.seek(400)
            file.write(bytes([byte[0] ^ 1]))
        result = self.curve(directory, "--resume")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("start.piece is damaged", result.stderr)
        os.remove(path)
        self.assertEqual(self.curve(directory, "--resume").returncode, 0)
        self.assert_same_run(directory)

    def test_an_interrupted_run_tells_how_to_go_on(self):
        directory = self.run_directory("interrupted")
        process = self.begin(directory)
        while process.poll() is None and not os.path.exists(os.path.join(directory, "run", "point-03.ppan")):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
        if process.returncode == 0:
            self.skipTest("the run was faster than the signal")
        self.assertEqual(process.returncode, 130)
        self.assertIn("--resume continues", errors)
        with open(os.path.join(directory, "run", "summary.json")) as file:
            self.assertEqual(json.load(file)["status"], "interrupted")
        self.assertEqual(self.curve(directory, "--resume").returncode, 0)
        self.assert_same_run(directory)

    def test_a_failed_run_does_not_block_the_next(self):
        directory = self.run_directory("failed")
        write_csv(os.path.join(directory, "people.csv"), people(2))
        self.assertNotEqual(self.curve(directory).returncode, 0)
        self.assertFalse(os.path.exists(os.path.join(directory, "run")))
        os.mkdir(os.path.join(directory, "run"))
        self.assertNotEqual(self.curve(directory).returncode, 0)
        self.assertEqual(os.listdir(os.path.join(directory, "run")), [])
        write_csv(os.path.join(directory, "people.csv"), people(400))
        self.assertEqual(self.curve(directory).returncode, 0)

    def test_parts_that_do_not_go_together_are_refused(self):
        for more in (("--only", "4"), ("--only", "0"), ("--only", "2-1"), ("--only", "x"), ("--resume", "--force"),
                     ("--finish", "--only", "1")):
            result = self.curve(self.run_directory("refused"), *more)
            self.assertEqual(result.returncode, 2, more)
        self.assertFalse(os.path.exists(self.path("refused", "run", "curve.csv")))


def timeless_csv(data):
    """The rows without the column of times."""
    rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
    at = rows[0].index("seconds")
    return repr([row[:at] + row[at + 1:] for row in rows]).encode()


if __name__ == "__main__":
    unittest.main()
