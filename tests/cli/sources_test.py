"""Tables by address: patterns of files, SQLite, Parquet, JSON lines, SQL."""

import gzip
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import unittest

from support import BINARY, ppan
from typed_support import COLUMNS, TypedTest, typed_people, write_csv

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = os.path.join(ROOT, ".deps", "duckdb", "libduckdb.so")


class Files(TypedTest):
    def test_a_pattern_names_one_table(self):
        os.makedirs(self.path("parts"))
        for part in range(3):
            plain = write_csv(self.path("part.csv"), self.rows[part * 200:part * 200 + 200], COLUMNS)
            with open(plain, "rb") as bytes_, gzip.open(self.path("parts", f"{part}.csv.gz"), "wb") as packed:
                packed.write(bytes_.read())
        drafted = self.succeed("init", self.path("parts", "*.csv.gz"), "--sensitive", "ill")
        self.assertIn("# 600 rows, 9 columns.", drafted)
        released = self.released_csv(self.path("parts", "*.csv.gz"))
        self.assertEqual(released.count("\n"), 601)
        self.assertEqual([line.split(",")[0] for line in released.splitlines()[1:]], [str(i) for i in range(600)])

    def test_files_of_other_columns_are_refused(self):
        os.makedirs(self.path("unequal"))
        write_csv(self.path("unequal", "1.csv"), self.rows[:9], COLUMNS)
        write_csv(self.path("unequal", "2.csv"), self.rows[:9], list(reversed(COLUMNS)))
        message = self.release(self.path("unequal", "*.csv"), self.path("none.csv"), status=3)
        self.assertIn("2.csv has other columns than", message)
        self.assertFalse(os.path.exists(self.path("none.csv")))

    def test_booleans_are_known_however_a_program_writes_them(self):
        rows = [{**row, "member": row["member"].capitalize()} for row in self.rows]
        write_csv(self.path("capital.csv"), rows, COLUMNS)
        self.assertEqual(self.released_csv(self.path("capital.csv")), self.released_csv(self.path("people.csv")))
        write_csv(self.path("yes.csv"), [{**row, "member": "yes"} for row in self.rows], COLUMNS)
        self.assertIn('column "member": the cell is an unknown level', self.release(self.path("yes.csv"), self.path("none.csv"), status=3))

    def test_an_output_is_none_of_the_files_of_a_pattern(self):
        """Otherwise the next release would take this one for people."""
        os.makedirs(self.path("own", "below"))
        write_csv(self.path("own", "1.csv"), self.rows[:9], COLUMNS)
        for pattern in ("*.csv", "?.csv"):
            self.release(self.path("own", pattern), self.path("own", "10.csv"), status=2 if pattern == "*.csv" else 0)
        os.remove(self.path("own", "10.csv"))
        message = self.release(self.path("own", "*.csv"), self.path("own", "below", "..", "out.csv"), status=2)
        self.assertIn("is one of the files that", message)
        self.release(self.path("own", "*.csv"), self.path("out.csv"), "--rejects", self.path("own", "bad.csv"), "--unknown", "reject", status=2)
        self.release(self.path("own", "**", "*.parquet"), self.path("own", "below", "out.parquet"), status=2)
        self.release(self.path("own", "**", "*.parquet"), self.path("own", "out.parquet"), status=2)
        self.release(self.path("own", "*.csv"), self.path("own", "below", "out.csv"))
        self.assertEqual(sorted(os.listdir(self.path("own"))), ["1.csv", "below"])

    def test_no_such_files(self):
        self.assertIn("no file is named", self.release(self.path("nowhere", "*.csv"), self.path("none.csv"), status=4))


class Sqlite(TypedTest):
    def table(self, name, path="shop.db"):
        database = sqlite3.connect(self.path(path))
        try:
            return database.execute(f"select * from {name}").fetchall()
        finally:
            database.close()

    def tables(self):
        return {name for (name,) in self.table("(select name from sqlite_master)")}

    def address(self, rest):
        return f"sqlite:{self.path('shop.db')}?{rest}"

    def test_numbers_from_a_database_and_from_text_are_the_same_release(self):
        from_text = self.released_csv(self.path("people.csv"))
        self.assertEqual(self.released_csv(self.address("table=people")), from_text)
        self.assertRegex(from_text.splitlines()[1], r"\A0,\d+,.+,\d*\.?\d*,\d+\.?\d*,\d{4}-\d\d-\d\d,\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,(true|false)\Z")

    def test_init_takes_types_from_the_table(self):
        drafted = self.succeed("init", self.address("table=people"), "--sensitive", "ill")
        for line in ['age = "integer"', 'pay = "real"', 'born = "date"', 'seen = "timestamp"', 'member = "category"',
                     'id = "identifier"']:
            self.assertIn(line, drafted)
        self.assertNotIn("UNSURE:", drafted)

    def test_a_release_is_a_new_table_with_the_types_of_the_old(self):
        self.release(self.address("table=people"), self.address("table=released"))
        rows = self.table("released")
        self.assertEqual(len(rows), 600)
        self.assertEqual([row[0] for row in rows], list(range(600)))
        self.assertEqual([type(cell).__name__ for cell in rows[0]], ["int", "int", "str", "float", "float", "str", "str", "int"])
        self.assertTrue(any(row[3] is None for row in rows))
        message = self.release(self.address("table=people"), self.address("table=released"), status=2)
        self.assertIn("the table exists already", message)
        self.release(self.address("query=select * from people limit 5"), self.address("table=released"), "--force")
        self.assertEqual(len(self.table("released")), 5)

    def test_a_release_that_fails_leaves_nothing(self):
        before = self.tables()
        bad = "query=select id, age, case when id = 590 then 'pilot' else job end as job, pay, tax, born, seen, member from people"
        message = self.release(self.address(bad), self.address("table=half"), status=3)
        self.assertIn('row 591, column "job": ', message)
        self.assertIn("is an unknown level", message)
        self.assertEqual(self.tables(), before)
        target = f"sqlite:{self.path('fresh.db')}?table=half"
        self.release(self.address(bad), target, status=3)
        self.assertFalse(os.path.exists(self.path("fresh.db")))
        self.release(self.address(bad), self.address("table=most"), "--unknown", "reject", "--rejects", self.path("bad.csv"))
        self.assertEqual(len(self.table("most")), 599)
        with open(self.path("bad.csv")) as file:
            self.assertIn('591,"job: ""pilot""', file.read())

    def test_a_new_file_that_cannot_be_finished_leaves_nothing(self):
        before = sorted(os.listdir(self.directory.name))

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

        target = f"sqlite:{self.path('small.db')}?table=half"
        result = subprocess.run([BINARY, "release", self.model, self.path("people.csv"), "-o", target], preexec_fn=limit,
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertEqual(sorted(os.listdir(self.directory.name)), before)
        self.release(self.path("people.csv"), target)
        self.assertEqual(len(self.table("half", "small.db")), 600)
        os.remove(self.path("small.db"))

    def test_what_cannot_be_read(self):
        for rest, status, words in [("table=nobody", 3, "no such table: nobody"), ("query=select nobody from people", 3, "no such column"),
                                    ("query=select", 3, "incomplete input"), ("query=delete from people", 2, "does not read"),
                                    ("query=select 1; select 2", 2, "not one statement"), ("", 2, "names no table")]:
            message = self.release(self.address(rest), self.path("none.csv"), status=status)
            self.assertIn(words, message)
        self.assertIn("unable to open", self.release("sqlite:/nowhere/x.db?table=t", self.path("none.csv"), status=4))
        os.makedirs(self.path("directory.db"))
        message = self.release(f"sqlite:{self.path('directory.db')}?table=t", self.path("none.csv"), status=4)
        self.assertIn("directory.db is a directory", message)
        with open(self.path("not.db"), "w") as file:
            file.write("this is no database, whatever its name says" * 100)
        self.assertIn("not a database", self.release(f"sqlite:{self.path('not.db')}?table=t", self.path("none.csv"), status=3))
        self.assertEqual(len(self.table("people")), 600)

    def test_a_column_whose_type_changed(self):
        message = self.release(self.address("query=select id, born as age, job, pay, tax, born, seen, member from people"),
                               self.path("none.csv"), status=3)
        self.assertIn("age: holds dates, but its type is integer", message)

    def test_curve_and_audit(self):
        result = ppan("audit", self.model, "--data", self.address("query=select * from people where id < 400"), "--quick")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("400 rows", result.stdout)
        with open(self.path("run", "summary.json")) as file:
            self.assertIn('"people"', file.read())


class Duckdb(TypedTest):
    TYPED = ("select id::integer id, age::smallint age, job, pay, tax::decimal(10,2) tax, born::date born, seen::timestamp seen, "
             "member::boolean member, ill from read_csv('{}')")

    def setUp(self):
        self.require_duckdb()
        self.query = self.TYPED.format(self.path("people.csv"))

    def make_parquet(self, name, query):
        """A Parquet file of the unchanged columns of a query, by the model that changes nothing."""
        result = ppan("release", self.path("run", "unchanged.ppan"), query, "-o", self.path(name), "--quiet")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return self.path(name)

    def test_types_survive_and_values_are_those_of_the_text(self):
        self.release(self.query, self.path("typed.parquet"))
        types = ("typeof(id) = 'INTEGER' and typeof(age) = 'SMALLINT' and typeof(job) = 'VARCHAR' and typeof(pay) = 'DOUBLE' and "
                 "typeof(tax) = 'DECIMAL(10,2)' and typeof(born) = 'DATE' and typeof(seen) = 'TIMESTAMP' and typeof(member) = 'BOOLEAN'")
        self.assertEqual(self.rows_where(types, self.path("typed.parquet")), 600)
        same = (f"exists (select * from read_csv('{self.path('text.csv')}') t where t.id = id and t.age = age and t.job = job and "
                "t.pay is not distinct from pay and t.tax = tax and t.born = born and t.seen = seen and t.member = member)")
        # A chunk of a query may have other rows than one of a file, so the seeded noise may differ: by the unchanged model.
        unchanged = self.make_parquet("unchanged.parquet", self.query)
        ppan("release", self.path("run", "unchanged.ppan"), self.path("people.csv"), "-o", self.path("text.csv"))
        self.assertEqual(self.rows_where(same, unchanged), 600)

    def test_types_that_are_cast_on_the_way_come_back(self):
        query = (f"select * replace ((id + 100000000000000000)::decimal(38,0) as id, age::utinyint as age, tax::decimal(38,2) as tax, "
                 f"pay::decimal(38,10) as pay, seen::timestamp_ns as seen) from ({self.query})")
        parquet = self.make_parquet("wide.parquet", query)
        types = ("typeof(id) = 'DECIMAL(38,0)' and typeof(age) = 'UTINYINT' and typeof(tax) = 'DECIMAL(38,2)' and "
                 "typeof(pay) = 'DECIMAL(38,10)' and typeof(seen) = 'TIMESTAMP_NS'")
        self.assertEqual(self.rows_where(types, parquet), 600)
        self.release(parquet, self.path("wide-out.parquet"))
        self.assertEqual(self.rows_where(types + " and id between 100000000000000000 and 100000000000000599", self.path("wide-out.parquet")), 600)
        drafted = self.succeed("init", parquet, "--sensitive", "job")
        self.assertIn('id = "integer"', drafted)
        # Beyond what 64 bits hold the engine's words end the release, without the value.
        for far in ("select * replace (18446744073709551615::ubigint as age)", "select * replace (1e30::decimal(38,2) as tax)"):
            message = self.release(f"{far} from ({self.query})", self.path("none.parquet"), status=3)
            self.assertNotIn("18446744073709551615", message)
            self.assertNotIn("000000000000", message)
            self.assertFalse(os.path.exists(self.path("none.parquet")))

    def test_row_groups_are_those_of_the_input(self):
        write_csv(self.path("many.csv"), typed_people(20000, seed=8), COLUMNS)
        many = self.path("groups.parquet")
        done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "bench", "sources", "duckdb_sql.py"), LIBRARY,
                               f"copy ({self.TYPED.format(self.path('many.csv'))}) to '{many}' (format parquet, row_group_size 4096)"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.release(many, self.path("groups-out.parquet"), "--unknown", "nearest")
        counts = "select distinct row_group_id, row_group_num_rows from parquet_metadata('{}') where row_group_num_rows = 4096"
        for file in (many, self.path("groups-out.parquet")):
            self.assertIn("# 4 rows, 2 columns.", self.succeed("init", counts.format(file)))

    def test_parquet_to_parquet_json_and_text(self):
        parquet = self.make_parquet("in.parquet", self.query)
        self.release(parquet, self.path("out.parquet"))
        self.assertEqual(self.rows_where("age between 18 and 80", self.path("out.parquet")), 600)
        self.release(parquet, self.path("out.jsonl"))
        with open(self.path("out.jsonl")) as file:
            lines = file.read().splitlines()
        self.assertEqual(len(lines), 600)
        self.assertRegex(lines[0], r'"age":\d+,"job":"[^"]+"')
        self.assertIn("600 rows", self.succeed("init", self.path("out.jsonl")))
        self.assertEqual(self.released_csv(parquet).count("\n"), 601)

    def test_values_that_the_type_cannot_hold_leave_no_file(self):
        query = f"select * replace (pay % 1000 as pay) from ({self.query})"
        constant = self.path("run", "constant.ppan")  # pays everybody the mean, which is above 999
        for kind, status in [("decimal(7,2)", 0), ("decimal(5,2)", 3)]:
            result = ppan("release", constant, query.replace("pay % 1000", f"(pay % 1000)::{kind}"), "-o", self.path("narrow.parquet"))
            self.assertEqual(result.returncode, status, result.stderr)
            self.assertEqual(os.path.exists(self.path("narrow.parquet")), status == 0)
            if status == 0:
                self.assertEqual(self.rows_where("typeof(pay) = 'DECIMAL(7,2)' and pay > 999", self.path("narrow.parquet")), 600)
                os.remove(self.path("narrow.parquet"))
        self.assertIn('column "pay" does not fit in DECIMAL(5,2)', result.stderr)

    def test_order_is_kept(self):
        write_csv(self.path("many.csv"), typed_people(20000, seed=8), COLUMNS)
        self.release(self.TYPED.format(self.path("many.csv")), self.path("many.parquet"), "--unknown", "nearest")
        ids = [line.split(",")[0] for line in self.released_csv(self.path("many.parquet"), "--unknown", "nearest").splitlines()[1:]]
        self.assertEqual(ids, [str(i) for i in range(20000)])

    def test_a_directory_of_files(self):
        """As Spark leaves one."""
        os.makedirs(self.path("spark.parquet"))
        for part in range(2):
            os.rename(self.make_parquet("part.parquet", f"select * from ({self.query}) where id % 2 = {part}"), self.path("spark.parquet", f"{part}.parquet"))
        message = self.release(self.path("spark.parquet"), self.path("none.parquet"), status=4)
        self.assertIn("spark.parquet is a directory\n  fix: name its files: '", message)
        pattern = message.split("'")[1]
        self.release(pattern, self.path("gathered.parquet"))
        self.assertEqual(self.rows_where("true", self.path("gathered.parquet")), 600)

    def test_a_file_may_have_the_name_of_a_pattern(self):
        self.make_parquet("year1.parquet", f"select * from ({self.query}) limit 7")
        os.rename(self.make_parquet("ten.parquet", f"select * from ({self.query}) limit 10"), self.path("year[1].parquet"))
        self.release(self.path("year[1].parquet"), self.path("ten-out.parquet"))
        self.assertEqual(self.rows_where("true", self.path("ten-out.parquet")), 10)
        self.release(self.path("year[12].parquet"), self.path("seven-out.parquet"))
        self.assertEqual(self.rows_where("true", self.path("seven-out.parquet")), 7)

    def test_columns_that_no_model_looks_at_are_not_needed(self):
        """They may hold what cannot even be worked out, unless the row is written to the rejects."""
        query = f"select *, if(id = 500, error('this cell fails'), 'x') as more from ({self.query})"
        self.release(query, self.path("seen.parquet"))
        self.assertEqual(self.rows_where("true", self.path("seen.parquet")), 600)
        message = self.release(query, self.path("none.parquet"), "--unknown", "reject", "--rejects", self.path("bad.csv"), status=3)
        self.assertIn("this cell fails", message)
        self.assertFalse(os.path.exists(self.path("none.parquet")))

    def test_lists_are_refused(self):
        message = self.release(f"select *, [1, 2] as visits from read_csv('{self.path('people.csv')}')", self.path("none.parquet"), status=3)
        self.assertIn('column "visits" holds lists', message)
        self.assertFalse(os.path.exists(self.path("none.parquet")))

    def test_damaged_files_and_failing_queries_leave_nothing(self):
        parquet = self.make_parquet("whole.parquet", self.query)
        with open(parquet, "rb") as file:
            whole = file.read()
        with open(self.path("cut.parquet"), "wb") as file:
            file.write(whole[:len(whole) // 2])
        middle = len(whole) // 3
        with open(self.path("corrupt.parquet"), "wb") as file:
            file.write(whole[:middle] + bytes(255 - b for b in whole[middle:middle + 400]) + whole[middle + 400:])
        before = sorted(os.listdir(self.directory.name))
        for source, statuses in [(self.path("cut.parquet"), (3,)), (self.path("corrupt.parquet"), (3, 4)),
                                 (self.path("absent.parquet"), (3, 4)), ("select * from nobody", (3,)), ("select 1 +", (3,)),
                                 (f"select cast(job as integer) as age from read_csv('{self.path('people.csv')}')", (3,))]:
            result = ppan("release", self.model, source, "-o", self.path("none.parquet"))
            self.assertIn(result.returncode, statuses, f"{source}: {result.stderr}")
            self.assertRegex(result.stderr, r"\Appan: .+")
            self.assertNotIn("clerk", result.stderr)  # a value, which the engine quotes
            self.assertEqual(sorted(os.listdir(self.directory.name)), before)

    def test_a_column_whose_type_changed(self):
        self.make_parquet("typed.parquet", self.query)
        query = f"select * replace (born as age) from read_parquet('{self.path('typed.parquet')}')"
        self.assertIn("age: holds dates, but its type is integer", self.release(query, self.path("none.parquet"), status=3))
        self.assertFalse(os.path.exists(self.path("none.parquet")))

    def test_a_row_that_cannot_be_released_leaves_no_file(self):
        query = f"select * replace (case when id = 500 then 'pilot' else job end as job) from ({self.query})"
        message = self.release(query, self.path("none.parquet"), status=3)
        self.assertIn('row 501, column "job"', message)
        self.assertFalse(os.path.exists(self.path("none.parquet")))

    def test_a_model_of_a_query_releases_text(self):
        job = self.path("query.toml")
        with open(self.path("job.toml")) as file:
            text = file.read()
        source = f"select * from read_csv('{self.path('people.csv')}') where age < 70"
        with open(job, "w") as file:
            file.write(text.replace("sqlite:shop.db?table=people", source.replace('"', '\\"')))
        result = ppan("curve", job, "--out", self.path("run-query"), "--quiet", "--points", "1")
        self.assertEqual(result.returncode, 0, result.stderr)
        result = ppan("release", self.path("run-query", "point-01.ppan"), self.path("people.csv"), "-o", self.path("x.csv"))
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_network_and_extensions_are_out_of_reach(self):
        for source in ["select * from read_parquet('https://example.org/x.parquet')", "select * from 's3://bucket/x.parquet'"]:
            result = ppan("init", source)
            self.assertIn(result.returncode, (3, 4), result.stderr)


class Missing(TypedTest):
    def test_addresses_that_cannot_be_written(self):
        for target in ["select 1", self.path("*.parquet"), self.path("*.csv")]:
            self.assertIn("no single table to write", self.release(self.path("people.csv"), target, status=2))


if __name__ == "__main__":
    unittest.main()
