"""Tables of a real PostgreSQL server, in and out."""

import os
import unittest

from postgres_server import PASSWORD, Server, programs
from support import ppan
from typed_support import TypedTest


@unittest.skipUnless(programs(), "needs postgresql")
class Postgres(TypedTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if "without PostgreSQL" in ppan("--version").stdout:
            raise unittest.SkipTest("built without libpq")
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)
        cls.server.sql("create table people (id integer, age smallint, job text, pay double precision, tax numeric(10,2), born date, "
                       "seen timestamp, member boolean, ill varchar(5))")
        with open(cls.path("people.csv")) as table:
            cls.server.sql("copy people from stdin (format csv, header)", stdin=table.read())
        cls.server.sql("create type mood as enum ('good', 'bad'); create table odd as select id, age::numeric as age, job::char(20) as job, "
                       "pay::real as pay, tax, born, seen at time zone 'UTC' as seen, member, gen_random_uuid() as key, 'good'::mood as mood, "
                       "array[1,2] as visits from people")
        os.environ["PGPASSWORD"] = PASSWORD
        cls.addClassCleanup(os.environ.pop, "PGPASSWORD")

    def tables(self):
        return self.server.sql("select string_agg(tablename, ' ' order by tablename) from pg_tables where schemaname = 'public'")

    def test_the_release_is_that_of_the_text(self):
        self.assertEqual(self.released_csv(self.server.address("table=people")), self.tax_with_its_decimals())

    def tax_with_its_decimals(self):
        # The column is numeric(10,2): it has two decimals as text too, where the model's own table had none to show.
        lines = self.released_csv(self.path("people.csv")).splitlines()
        out = lines[:1]
        for line in lines[1:]:
            head, tax, *rest = line.rsplit(",", 4)
            out.append(",".join([head, f"{float(tax):.2f}", *rest]))
        return "\n".join(out) + "\n"

    def test_into_a_new_table_with_the_types_of_the_old(self):
        self.release(self.server.address("table=people"), self.server.address("table=public.released"))
        self.assertEqual(self.server.sql("select count(*), count(pay) < 600, min(id), max(id) from released"), "600|t|0|599")
        types = self.server.sql("select string_agg(format_type(atttypid, atttypmod), ', ' order by attnum) from pg_attribute where attrelid = "
                                "'released'::regclass and attnum > 0")
        self.assertEqual(types, "integer, smallint, text, double precision, numeric(10,2), date, timestamp without time zone, boolean")
        # Row for row what the text of the same release says.
        text = self.released_csv(self.server.address("table=people"))
        self.server.sql("create table as_text (like released)")
        self.server.sql("copy as_text from stdin (format csv, header)", stdin=text)
        self.assertEqual(self.server.sql("select count(*) from (select * from released except all select * from as_text) d"), "0")
        self.assertIn("exists already", self.release(self.server.address("table=people"), self.server.address("table=released"), status=2))
        self.release(self.server.address("query=select * from people where id < 7;"), self.server.address("table=released"), "--force")
        self.assertEqual(self.server.sql("select count(*) from released"), "7")
        self.server.sql("drop table released, as_text")

    def test_init_and_audit(self):
        drafted = self.succeed("init", self.server.address("table=people"), "--sensitive", "ill")
        for line in ['age = "integer"', 'tax = "real"', 'born = "date"', 'seen = "timestamp"', 'member = "category"']:
            self.assertIn(line, drafted)
        self.assertNotIn(PASSWORD, drafted)
        result = ppan("audit", self.model, "--data", self.server.address("table=people"), "--quick")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_other_types(self):
        query = "query=select id, age, job, pay, tax, born, seen, member, key, mood from odd order by id"
        self.release(self.server.address(query), self.server.address("table=from_odd"), "--unknown", "nearest")
        self.assertEqual(self.server.sql("select count(*) from from_odd"), "600")
        self.server.sql("drop table from_odd")
        message = self.release(self.server.address("table=odd"), self.path("none.csv"), status=3)
        self.assertIn('column "visits" holds lists or records (integer[])', message)

    def test_what_fails_leaves_nothing_and_says_why(self):
        before = self.tables()
        half = self.server.address("table=half")
        cases = [("table=nobody", 3, 'relation "nobody" does not exist'), ("query=select nothing", 3, 'column "nothing" does not exist'),
                 ("query=delete from people", 2, "does not read a table"),
                 ("query=select id, born as age, job, pay, tax, born, seen, member from people", 3, "age: holds dates, but its type is integer"),
                 ("query=select *, 1 / (id - 300) as x from people", 3, "division by zero"),
                 ("query=select id, age, case id when 550 then 'pilot' else job end as job, pay, tax, born, seen, member from people", 3,
                  'row 551, column "job"')]
        for rest, status, words in cases:
            self.assertIn(words, self.release(self.server.address(rest), half, status=status))
            self.assertEqual(self.tables(), before)

    def test_a_connection_that_is_lost_midway(self):
        before = self.tables()
        lost = ("query=select id, age, job, pay, tax, born, seen, member, case when id = 400 then pg_terminate_backend(pg_backend_pid()) end "
                "as gone from people")
        message = self.release(self.server.address(lost), self.server.address("table=half"), status=4)
        self.assertRegex(message, "terminating connection|lost|closed")
        self.assertEqual(self.tables(), before)
        # The other way round: the session that writes.
        self.server.sql("create or replace function reap() returns int language sql as $$ select count(pg_terminate_backend(pid))::int from "
                        "pg_stat_activity where query like 'copy%half%' and pid <> pg_backend_pid() $$")
        reaped = ("query=select id, age, job, pay, tax, born, seen, member, case when id = 599 and g = 300 then reap() end "
                  "as gone from generate_series(1, 300) g, people")
        message = self.release(self.server.address(reaped), self.server.address("table=half"), status=4)
        self.assertEqual(self.tables(), before)

    def test_passwords_stay_out_of_sight(self):
        for address in [f"postgresql://tester:hunter2@127.0.0.1:{self.server.port}/postgres?table=people",
                        self.server.address("password=hunter2&table=people")]:
            message = self.release(address, self.path("none.csv"), status=2)
            self.assertIn("holds a password", message)
            self.assertNotIn("hunter2", message)
        os.environ["PGPASSWORD"] = "hunter2"
        try:
            message = self.release(self.server.address("table=people"), self.path("none.csv"), status=4)
        finally:
            os.environ["PGPASSWORD"] = PASSWORD
        self.assertIn("password authentication failed", message)
        self.assertNotIn("hunter2", message)
        self.assertIn("Connection refused", self.release("postgresql://127.0.0.1:1/x?table=t", self.path("none.csv"), status=4))


if __name__ == "__main__":
    unittest.main()
