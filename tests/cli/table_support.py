"""A table of people, and a short run of `ppan curve` on it."""

import csv
import json
import os
import random
import shutil
import tempfile
from types import SimpleNamespace

from support import CommandTest, ppan

COLUMNS = ["id", "age", "job", "pay", "hours", "town", "ill", "note"]


def people(count, seed=5):
    """Rows whose illness shows in age, job and pay; some pay is missing."""
    source = random.Random(seed)
    rows = []
    for number in range(count):
        ill = source.random() < 0.4
        rows.append({
            "id": f"p{number:05}",
            "age": min(90, max(18, round(source.gauss(55 if ill else 38, 10)))),
            "job": source.choice(["clerk", "driver", "driver", "driver, bus"] if ill else ["clerk", "nurse", "nurse"]),
            "pay": "" if source.random() < 0.03 else f"{source.gauss(2200 if ill else 2900, 500):.2f}",
            "hours": source.choice([20, 30, 38, 40]),
            "town": source.choice(["north", "south", "east"]),
            "ill": "yes" if ill else "no",
            "note": f"x{number % 7}",
        })
    return rows


def write_csv(path, rows, columns=None):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, columns or COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def make_table(directory):
    """Writes people.csv (800 rows) and job.toml, which names it by a relative path."""
    write_csv(os.path.join(directory, "people.csv"), people(800))
    result = ppan("init", "people.csv", "--sensitive", "ill", "--useful", "age,job,pay,hours", "--keep", "id", "-o", "job.toml",
                  cwd=directory)
    assert result.returncode == 0, result.stderr


class TableTest(CommandTest):
    """A directory with people.csv and job.toml."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        make_table(cls.directory.name)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.directory.name, *names)

    def write(self, name, text):
        with open(self.path(name), "w", newline="") as file:
            file.write(text)
        return self.path(name)

    def read(self, *names):
        with open(self.path(*names), newline="") as file:
            return file.read()

    def assert_no_leftovers(self, directory=None):
        names = os.listdir(directory or self.directory.name)
        self.assertEqual([name for name in names if ".tmp" in name], [])


def make_run(directory):
    """Trains a short curve in the directory's run/; returns what the command printed."""
    result = ppan("curve", os.path.join(directory, "job.toml"), "--out", os.path.join(directory, "run"), "--points", "2", "--epochs", "2")
    assert result.returncode == 0, result.stderr
    return {"stdout": result.stdout, "stderr": result.stderr}


class RunTest(TableTest):
    """The same with a short run: a copy of the one in PPAN_SHORT_RUN, which short_run.py makes once for all test files, or one of its own."""

    @classmethod
    def setUpClass(cls):
        shared = os.environ.get("PPAN_SHORT_RUN")
        if shared:
            cls.directory = tempfile.TemporaryDirectory()
            shutil.copytree(shared, cls.directory.name, dirs_exist_ok=True)
            with open(cls.path("printed.json")) as file:
                printed = json.loads(file.read().replace(shared, cls.directory.name))
            os.remove(cls.path("printed.json"))
        else:
            super().setUpClass()
            printed = make_run(cls.directory.name)
        cls.curve = SimpleNamespace(**printed)
        cls.model = cls.path("run", "point-01.ppan")


GRADE = {"clerk": 3, "driver": 1, "driver, bus": 2, "nurse": 4}


def draft_of_workers(test, family):
    """Writes workers.csv, with a grade that follows from the job and a task, and returns the drafted job and one that
    asks for `family`, the derived column and constraints."""
    rows = people(900)
    for row in rows:
        row["grade"] = GRADE[row["job"]]
        row["retires"] = "yes" if int(row["age"]) > 50 else "no"
    write_csv(test.path("workers.csv"), rows, ["age", "job", "grade", "pay", "hours", "ill", "retires"])
    result = ppan("init", test.path("workers.csv"), "--sensitive", "ill", "--task", "retires", "-o", test.path("draft.toml"))
    assert result.returncode == 0, result.stderr
    with open(test.path("draft.toml")) as file:
        draft = file.read()
    return draft, (draft.replace('grade = "integer"', 'grade = { type = "integer", derived_from = "job" }')
                   .replace("# constraints = []", 'constraints = ["age >= 18", "hours > 25"]')
                   .replace('# family = "auto"', f'family = "{family}"').replace("# quick = false", "quick = true"))
