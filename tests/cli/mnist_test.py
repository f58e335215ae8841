"""ppan paper mnist, on digits drawn here: nothing is downloaded."""

import csv
import gzip
import json
import random
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from support import BINARY, CommandTest

SIDE = 8
# Lit segments of a pocket calculator's digits, as (row, column) cells of a 7 x 4 raster.
TOP, MIDDLE, BOTTOM = [(0, c) for c in range(4)], [(3, c) for c in range(4)], [(6, c) for c in range(4)]
UPPER_LEFT, UPPER_RIGHT = [(r, 0) for r in range(4)], [(r, 3) for r in range(4)]
LOWER_LEFT, LOWER_RIGHT = [(r, 0) for r in range(3, 7)], [(r, 3) for r in range(3, 7)]
DIGITS = [
    TOP + UPPER_LEFT + UPPER_RIGHT + LOWER_LEFT + LOWER_RIGHT + BOTTOM,
    UPPER_RIGHT + LOWER_RIGHT,
    TOP + UPPER_RIGHT + MIDDLE + LOWER_LEFT + BOTTOM,
    TOP + UPPER_RIGHT + MIDDLE + LOWER_RIGHT + BOTTOM,
]


def draw(digit, rng):
    """A digit somewhere in the image, with strokes of uneven brightness on a dark ground."""
    pixels = bytearray(rng.randrange(20) for _ in range(SIDE * SIDE))
    down, right = rng.randrange(2), rng.randrange(4)
    for row, column in DIGITS[digit]:
        pixels[(row + down) * SIDE + column + right] = rng.randrange(170, 256)
    return bytes(pixels)


def write_set(directory, part, count, seed, compress=False):
    rng = random.Random(seed)
    labels = [rng.randrange(len(DIGITS)) for _ in range(count)]
    images = struct.pack(">IIII", 0x803, count, SIDE, SIDE) + b"".join(draw(d, rng) for d in labels)
    names = struct.pack(">II", 0x801, count) + bytes(labels)
    for name, data in ((f"{part}-images-idx3-ubyte", images), (f"{part}-labels-idx1-ubyte", names)):
        if compress:
            (directory / (name + ".gz")).write_bytes(gzip.compress(data))
        else:
            (directory / name).write_bytes(data)


class Mnist(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.root.cleanup)
        cls.data = Path(cls.root.name) / "digits"
        cls.data.mkdir()
        write_set(cls.data, "train", 400, seed=1)
        write_set(cls.data, "t10k", 200, seed=2, compress=True)

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.out = Path(self.directory.name) / "run"

    def command(self, *arguments, out=None, data=None):
        return ["paper", "mnist", "--data", str(data or self.data), "--out", str(out or self.out), "--quiet",
                "--attack-epochs", "1", *map(str, arguments)]

    def rows(self, out=None, series="ppan/images"):
        with open((out or self.out) / "curve.csv", newline="") as file:
            return [row for row in csv.DictReader(file) if row["series"] == series]

    def test_the_papers_mechanism_leaves_its_files_and_figures(self):
        table = self.succeed(*self.command("--preset", "paper", "--gamma", "2", "--lambda", "15,2", "--epochs", "2"))
        self.assertIn("time-sharing", table)
        rows = self.rows()
        self.assertEqual([row["weight"] for row in rows], ["15", "2"])
        for row in rows:
            self.assertEqual(row["leakage_kind"], "lower bound")
            self.assertGreater(float(row["distortion"]), 0)
            self.assertLessEqual(float(row["leakage"]), 1.39)  # log 4
            self.assertTrue(0 <= float(row["accuracy"]) <= 1)
            self.assertNotEqual(row["training_belief"], "")
        # The line of time-sharing falls from everything at the unchanged image to nothing.
        line = self.rows(series="reference/time-sharing")
        self.assertAlmostEqual(float(line[0]["leakage"]), 1.386, delta=0.02)
        self.assertEqual(float(line[-1]["leakage"]), 0)
        hull = self.rows(series="ppan/hull")
        self.assertEqual([float(hull[0][key]) for key in ("leakage", "leakage_low", "time_sharing")],
                         [float(line[0]["leakage"])] * 3)
        for vertex in hull[1:-1]:
            # The completed curve passes through points, and takes their intervals with them.
            point = next(row for row in rows if row["distortion"] == vertex["distortion"])
            for column in ("leakage", "leakage_low", "leakage_high", "time_sharing"):
                self.assertEqual(vertex[column], point[column], column)
        for name in ("digits.png", "panels-01.png", "panels-02.png"):
            self.assertTrue((self.out / name).read_bytes().startswith(b"\x89PNG"), name)
        for name in ("digits.svg", "panels-01.svg", "leakage.svg", "accuracy.svg", "accuracy-leakage.svg", "curve.svg"):
            self.assertIn("<svg", (self.out / name).read_text(), name)
        leakage = (self.out / "leakage.svg").read_text()
        for series in ("strongest fresh attacker", "not evidence", "time-sharing"):
            self.assertIn(series, leakage)
        self.assertIn("point 1", self.succeed("show", str(self.out / rows[0]["model"])))
        page = (self.out / "report.html").read_text()
        self.assertIn("convolutional network", page)
        metrics = [json.loads(line) for line in (self.out / "metrics.jsonl").read_text().splitlines()]
        self.assertEqual(len(metrics), 4)
        self.assertTrue(all("discriminator" in line for line in metrics))
        summary = json.loads((self.out / "summary.json").read_text())
        self.assertEqual(summary["status"], "complete")
        facts = {fact["name"]: fact["value"] for fact in summary["facts"]}
        self.assertRegex(facts["completed curve as a share of time-sharing"], r"^\d\.\d\d at \d\.\d\d(, \d\.\d\d at \d\.\d\d)+$")
        # With a discriminator the momentum of Adam is not the printed one, and the run says so.
        settings = {setting["name"]: setting for setting in summary["settings"]}
        self.assertEqual(settings["beta1"]["used"], "0.5")

    def test_a_killed_run_resumes_to_the_same_numbers(self):
        arguments = ("--budget", "0.3,0.5", "--epochs", "30", "--threads", "1")
        whole = Path(self.directory.name) / "whole"
        self.succeed(*self.command(*arguments, out=whole))
        process = subprocess.Popen([BINARY, *self.command(*arguments)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        # Killed without warning as soon as the first point has a checkpoint.
        started = time.monotonic()
        while not (self.out / "pieces" / "train-01.part.piece").exists() and time.monotonic() < started + 120:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.succeed(*self.command(*arguments, "--resume"))
        for mine, theirs in zip(self.rows(), self.rows(whole)):
            for column in ("distortion", "leakage", "accuracy", "training_belief", "leakage_upper"):
                self.assertEqual(mine[column], theirs[column], column)
        # Once more: nothing is left to do, and nothing changes.
        before = (self.out / "curve.csv").read_bytes()
        self.succeed(*self.command(*arguments, "--resume"))
        self.assertEqual((self.out / "curve.csv").read_bytes(), before)
        # Other settings are refused, and what is there stays.
        text = self.refuse(2, *self.command("--budget", "0.3,0.6", "--epochs", "30", "--resume"))
        self.assertIn("a finished run of another job, other data", text)
        self.assertEqual((self.out / "curve.csv").read_bytes(), before)

    def test_stopping_keeps_finished_points(self):
        process = subprocess.Popen([BINARY, *self.command("--budget", "0.3,0.5", "--epochs", "400", "--threads", "1")],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        started = time.monotonic()
        while not (self.out / "pieces" / "start.part.piece").exists() and time.monotonic() < started + 120:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("--resume", errors)
        summary = json.loads((self.out / "summary.json").read_text())
        self.assertEqual(summary["status"], "interrupted")
        self.assertEqual(len(summary["missing"]), 2)

    def test_settings_that_cannot_be_are_named(self):
        self.assertIn("script/fetch-mnist", self.refuse(2, "paper", "mnist", "--out", str(self.out)))
        self.assertIn("--out", self.refuse(2, "paper", "mnist", "--data", str(self.data)))
        self.assertIn("--budget", self.refuse(2, *self.command("--lambda", "5")))
        self.assertIn("--lambda", self.refuse(2, *self.command("--preset", "paper", "--budget", "0.2")))
        self.assertIn("'x' is not a number", self.refuse(2, *self.command("--budget", "0.2,x")))
        self.assertIn("preset paper", self.refuse(2, *self.command("--gamma", "2")))
        self.assertIn("preset paper", self.refuse(2, *self.command("--beta1", "0.9")))
        self.assertIn("beta1", self.refuse(2, *self.command("--preset", "paper", "--beta1", "1")))
        self.assertIn("epochs", self.refuse(2, *self.command("--epochs", "0")))
        self.assertIn("budget-form: does not apply to mnist", self.refuse(2, *self.command("--budget-form", "dual")))
        self.assertIn("digit: 1000000 is not allowed", self.refuse(2, *self.command("--digit", "1000000")))
        self.assertIn("no run to resume", self.refuse(2, *self.command("--resume")))
        self.assertFalse(self.out.exists())

    def test_a_directory_in_use_is_left_alone(self):
        self.out.mkdir()
        (self.out / "notes.txt").write_text("mine")
        self.assertIn("--force", self.refuse(2, *self.command()))
        self.assertEqual([path.name for path in self.out.iterdir()], ["notes.txt"])

    def test_bad_images_are_refused_before_anything_is_written(self):
        def broken(change):
            copy = Path(self.directory.name) / "broken"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(self.data, copy)
            change(copy)
            return copy

        def truncate(copy):
            path = copy / "train-images-idx3-ubyte"
            path.write_bytes(path.read_bytes()[:-100])

        def lose_a_label(copy):
            path = copy / "train-labels-idx1-ubyte"
            data = path.read_bytes()
            path.write_bytes(struct.pack(">II", 0x801, 399) + data[8:-1])

        def mislabel(copy):
            shutil.copy(copy / "train-labels-idx1-ubyte", copy / "train-images-idx3-ubyte")

        self.assertIn("script/fetch-mnist",
                      self.refuse(4, *self.command(data=Path(self.directory.name) / "nowhere")))
        self.assertIn("script/fetch-mnist", self.refuse(
            4, *self.command(data=broken(lambda copy: (copy / "t10k-labels-idx1-ubyte.gz").unlink()))))
        self.assertIn("train-images", self.refuse(3, *self.command(data=broken(truncate))))
        self.assertIn("399", self.refuse(3, *self.command(data=broken(lose_a_label))))
        self.refuse(3, *self.command(data=broken(mislabel)))
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
