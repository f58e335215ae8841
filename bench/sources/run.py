"""Releases from source to source against the source's own copy: `script/bench sources` runs this.

usage: run.py [--build DIR] [--rows N] [--repeats N] [--part NAME ...]

Parts: parquet csv postgres wide levels. Every bar is a ratio of two runs that take turns, in processor time, which a busy machine changes little
(that of a server is counted on both sides); the same by the clock is said beside it. Exit status 1 if a bar is missed.
"""

import argparse
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "cli"))

JOB = """[data]
source = "{source}"
[roles]
sensitive = ["ill"]
useful = ["age", "pay", "hours", "job", "town", "member", "score"]
[columns]
age = "integer"
pay = "real"
hours = "integer"
job = "category"
town = "category"
member = "category"
score = "real"
ill = "category"
[train]
epochs = 1
[privacy]
points = 1
[audit]
quick = true
"""
COLUMNS = "age, pay, hours, job, town, member, score"
ROWS = ("select 18 + (i * 7919) % 60 as age, round(1000 + ((i * 104729) % 500000) / 100.0, 2) as pay, 20 + (i * 31) % 30 as hours, "
        "['clerk', 'nurse', 'driver', 'farmer', 'pilot'][1 + (i * 17) % 5] as job, ['north', 'south', 'east'][1 + (i * 13) % 3] as town, "
        "(i * 11) % 3 = 0 as member, ((i * 7907) % 1000) / 1000.0::double as score, "
        "case when (i * 7919) % 60 > 30 and (i * 17) % 5 < 3 then 'yes' else 'no' end as ill from range({}) t(i)")


class Run:
    def __init__(self, command, environment=None):
        start = time.monotonic()
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env={**os.environ, **(environment or {})})
        words = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.wall = time.monotonic() - start
        if process.returncode:
            sys.exit(f"{' '.join(str(word) for word in command)[:300]}: {words.decode()}")
        self.processor, self.megabytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def children_seconds(pid):
    """Processor seconds of the processes that a server had for its clients, of those that have ended."""
    time.sleep(0.3)  # until the last one has
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


class Bench:
    def __init__(self, arguments, scratch):
        self.rows, self.repeats, self.scratch = arguments.rows, arguments.repeats, pathlib.Path(scratch)
        self.ppan = arguments.build / "ppan"
        self.library = ROOT / ".deps" / "duckdb" / "libduckdb.so"
        self.missed = False

    def path(self, name):
        return self.scratch / name

    def sql(self, *statements):
        return Run([sys.executable, "-B", ROOT / "bench" / "sources" / "duckdb_sql.py", self.library, "set preserve_insertion_order = true", *statements])

    def make(self, rows):
        if not self.path(f"{rows}.parquet").exists():
            self.sql(f"copy ({ROWS.format(rows)}) to '{self.path(f'{rows}.parquet')}' (format parquet)",
                     f"copy ({ROWS.format(rows)}) to '{self.path(f'{rows}.csv')}' (format csv, header)")

    def model(self):
        if not self.path("run").exists():
            self.make(5000)
            self.path("job.toml").write_text(JOB.format(source=self.path("5000.parquet")))
            Run([self.ppan, "curve", self.path("job.toml"), "--out", self.path("run"), "--quiet"])
        return self.path("run") / "point-01.ppan"

    def release(self, source, target, *more, environment=None):
        return Run([self.ppan, "release", self.model(), source, "-o", target, "--quiet", *more], environment)

    def compare(self, what, ours, theirs, bar, server=lambda: 0.0):
        """`server` gives the processor seconds that somebody else has used so far for either."""
        seen = {"processor": ([], []), "wall": ([], [])}
        for _ in range(self.repeats):
            for side, run in enumerate((ours, theirs)):
                before = server()
                done = run()
                seen["processor"][side].append(done.processor + server() - before)
                seen["wall"][side].append(done.wall)
        middle = {clock: [statistics.median(times) for times in both] for clock, both in seen.items()}
        ratio = {clock: theirs_took / ours_took for clock, (ours_took, theirs_took) in middle.items()}
        self.say(what, f"{ratio['processor']:.0%} of its rows per second (processor time {middle['processor'][0]:.2f} s and "
                 f"{middle['processor'][1]:.2f} s; by the clock {ratio['wall']:.0%}, {middle['wall'][0]:.2f} s and {middle['wall'][1]:.2f} s)",
                 bar is None or ratio["processor"] >= bar, bar and f"at least {bar:.0%}")

    def say(self, what, found, met, bar):
        self.missed = self.missed or not met
        print(f"{what}: {found}{f'; bar {bar}: ' + ('met' if met else 'MISSED') if bar else ''}", flush=True)

    def parquet(self):
        self.make(self.rows)
        self.make(self.rows // 10)
        whole, tenth, out = self.path(f"{self.rows}.parquet"), self.path(f"{self.rows // 10}.parquet"), self.path("out.parquet")
        self.model()
        self.compare("release Parquet to Parquet against DuckDB's copy", lambda: self.release(whole, out),
                     lambda: self.sql(f"copy (select {COLUMNS} from read_parquet('{whole}')) to '{self.path('copy.parquet')}' (format parquet, compression zstd)"), 0.4)
        peaks = [self.release(table, out).megabytes for table in (tenth, whole)]
        self.say("peak memory of that release", f"{peaks[1]:.0f} MB, and {peaks[0]:.0f} MB for a tenth of the rows", peaks[1] <= 400, "at most 400 MB")

    def csv(self):
        self.make(self.rows)
        table, out = self.path(f"{self.rows}.csv"), self.path("out.csv")
        self.model()
        self.compare("release CSV to CSV against DuckDB's copy", lambda: self.release(table, out),
                     lambda: self.sql(f"copy (select {COLUMNS} from read_csv('{table}')) to '{self.path('copy.csv')}' (format csv, header)"), 0.5)

    def postgres(self):
        from postgres_server import PASSWORD, Server
        self.make(self.rows)
        self.model()
        server = Server()
        try:
            environment = {"PGPASSWORD": PASSWORD}
            server.sql("create table people (age int, pay double precision, hours int, job text, town text, member boolean, score double precision, ill text)")
            with open(self.path(f"{self.rows}.csv")) as table:
                psql = ["psql", "-X", "-q", "-h", "127.0.0.1", "-p", str(server.port), "-U", "tester", "-d", "postgres", "-c"]
                subprocess.run([*psql, "copy people from stdin (format csv, header)"], stdin=table, check=True, env={**os.environ, **environment})
            server.sql("create table copied as select age, pay, hours, job, town, member, score from people limit 0")
            pipe = (f"{' '.join(psql)} 'copy (select {COLUMNS} from people) to stdout (format binary)' | "
                    f"{' '.join(psql)} 'truncate copied' -c 'copy copied from stdin (format binary)'")
            self.compare("release PostgreSQL to PostgreSQL against COPY piped into COPY",
                         lambda: self.release(server.address("table=people"), server.address("table=released"), "--force", environment=environment),
                         lambda: Run(["bash", "-c", pipe], environment), 0.5, lambda: children_seconds(server.process.pid))
        finally:
            server.stop()

    def wide(self):
        """1,000 numeric columns, 10,000 rows: one point trained and audited."""
        names = [f"c{i}" for i in range(1000)]
        cells = ", ".join(f"((i * {2 * j + 7919}) % 1009) / 10.0 + case when i % 3 = 0 then {j % 7} else 0 end as c{j}" for j in range(1000))
        self.sql(f"copy (select {cells}, case when i % 3 = 0 then 'yes' else 'no' end as ill from range(10000) t(i)) to '{self.path('wide.parquet')}' (format parquet)")
        job = ["[data]", f'source = "{self.path("wide.parquet")}"', "[roles]", 'sensitive = ["ill"]', f"useful = {names}".replace("'", '"'), "[columns]",
               *[f'{name} = "real"' for name in names], 'ill = "category"', "[train]", "epochs = 1", "[privacy]", "points = 1", "[audit]", "quick = true"]
        # What a job gets that says nothing of the mechanism; and heads, which are not chosen for so many columns.
        for family, bar in (("auto", 2048), ("heads", None)):
            self.path("wide.toml").write_text("\n".join([*job, "[mechanism]", f'family = "{family}"']))
            run = Run([self.ppan, "curve", self.path("wide.toml"), "--out", self.path(f"wide-{family}"), "--quiet"])
            self.say(f"1,000 numeric columns x 10,000 rows, one point of {family} trained and audited",
                     f"{run.megabytes:.0f} MB, {run.processor:.0f} s of processor time", bar is None or run.megabytes <= bar, bar and "at most 2 GB")

    def levels(self):
        """A category of 100,000 levels."""
        self.sql("copy (select 18 + i % 60 as age, 'street ' || ((i * 7919) % 100000) as street, case when i % 60 > 30 then 'yes' else 'no' end as ill "
                 f"from range(300000) t(i)) to '{self.path('levels.parquet')}' (format parquet)")
        job = ["[data]", f'source = "{self.path("levels.parquet")}"', "[roles]", 'sensitive = ["ill"]', 'useful = ["age", "street"]', "[columns]", 'age = "integer"',
               'street = "category"', 'ill = "category"', "[train]", "epochs = 1", "[privacy]", "points = 1", "[audit]", "quick = true"]
        self.path("levels.toml").write_text("\n".join(job))
        run = Run([self.ppan, "curve", self.path("levels.toml"), "--out", self.path("levels"), "--quiet", "--threads", "1"])
        self.say("a category of 100,000 levels, 300,000 rows, one point trained and audited",
                 f"{run.megabytes:.0f} MB, {run.processor:.0f} s of processor time", True, None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--part", action="append", choices=["parquet", "csv", "postgres", "wide", "levels"])
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that a server is stopped
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(arguments, scratch)
        for part in arguments.part or ["parquet", "csv", "postgres", "wide", "levels"]:
            getattr(bench, part)()
    sys.exit(1 if bench.missed else 0)


if __name__ == "__main__":
    main()
