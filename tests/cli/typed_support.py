"""The same people with columns of every type, as CSV and as an SQLite table, and a model trained on the SQLite table."""

import datetime
import os
import random
import sqlite3
import tempfile

from support import CommandTest, ppan
from table_support import write_csv

COLUMNS = ["id", "age", "job", "pay", "tax", "born", "seen", "member", "ill"]
SQLITE_TYPES = "id integer, age integer, job text, pay real, tax decimal(10,2), born date, seen timestamp, member boolean, ill text"

JOB = """[data]
source = {source}
[roles]
sensitive = ["ill"]
useful = ["age", "job", "pay", "tax", "born", "seen", "member"]
keep = ["id"]
[columns]
age = "integer"
job = "category"
pay = "real"
tax = "real"
born = "date"
seen = "timestamp"
member = "category"
ill = "category"
[train]
epochs = 2
[privacy]
points = 2
[audit]
quick = true
"""


def typed_people(count, seed=3):
    """Rows as text; some pay is missing."""
    source = random.Random(seed)
    rows = []
    for number in range(count):
        ill = source.random() < 0.4
        age = source.randint(18, 80)
        pay = 1000 + 20 * age + source.gauss(300 if ill else 0, 150)
        born = datetime.date(2020, 1, 1) - datetime.timedelta(days=365 * age + source.randint(0, 364))
        seen = datetime.datetime(2024, 1, 1) + datetime.timedelta(minutes=source.randint(0, 500000))
        rows.append({"id": number, "age": age, "job": source.choice(["clerk", "nurse", "driver, bus"]),
                     "pay": "" if source.random() < 0.05 else f"{pay:.2f}", "tax": f"{pay / 5:.2f}",
                     "born": born.isoformat(), "seen": seen.isoformat(" "),
                     "member": "true" if source.random() < 0.5 else "false", "ill": "yes" if ill else "no"})
    return rows


def values(row):
    """A row as Python values for a database."""
    return [row["id"], row["age"], row["job"], float(row["pay"]) if row["pay"] else None, float(row["tax"]), row["born"],
            row["seen"], 1 if row["member"] == "true" else 0, row["ill"]]


def write_sqlite(path, rows, table="people"):
    with sqlite3.connect(path) as database:
        database.execute(f"create table {table} ({SQLITE_TYPES})")
        database.executemany(f"insert into {table} values (?,?,?,?,?,?,?,?,?)", [values(row) for row in rows])
    database.close()


class TypedTest(CommandTest):
    """A directory with people.csv, shop.db and a model that was trained on shop.db."""

    COUNT = 600

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        os.chmod(cls.directory.name, 0o755)
        cls.rows = typed_people(cls.COUNT)
        write_csv(cls.path("people.csv"), cls.rows, COLUMNS)
        write_sqlite(cls.path("shop.db"), cls.rows)
        with open(cls.path("job.toml"), "w") as file:
            file.write(JOB.format(source='"sqlite:shop.db?table=people"'))
        result = ppan("curve", cls.path("job.toml"), "--out", cls.path("run"), "--quiet")
        assert result.returncode == 0, result.stderr
        cls.model = cls.path("run", "point-01.ppan")

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    @classmethod
    def path(cls, *names):
        return os.path.join(cls.directory.name, *names)

    def release(self, source, target, *more, status=0, **options):
        """Standard error of a release with seeded noise, so that releases of the same rows can be compared."""
        result = ppan("release", self.model, source, "-o", target, "--insecure-test-noise", "7", *more, **options)
        self.assertEqual((result.returncode, result.stdout), (status, ""), result.stderr)
        return result.stderr

    def released_csv(self, source, *more):
        self.release(source, self.path("released.csv"), *more)
        with open(self.path("released.csv"), newline="") as file:
            return file.read()

    def require_duckdb(self):
        if "without DuckDB" in ppan("--version").stdout:
            self.skipTest("built without DuckDB")

    def rows_where(self, condition, parquet):
        """How many rows of a Parquet file meet a condition in SQL."""
        drafted = self.succeed("init", f"select * from read_parquet('{parquet}') where {condition}")
        return int(drafted.split()[1])
