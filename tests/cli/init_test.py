"""ppan init"""

import gzip
import os
import unittest

from table_support import TableTest, ppan


class Init(TableTest):
    def test_the_draft_marks_what_is_left_to_do(self):
        text = self.succeed("init", self.path("people.csv"))
        self.assertIn("# 800 rows, 8 columns.\n", text)
        self.assertIn("# To do: move what must stay secret from roles.useful to roles.sensitive", text)
        self.assertIn("\nsensitive = []\n", text)
        self.assertIn('\nid = "identifier"', text)
        self.assertRegex(text, r'\nage = "integer" +# whole numbers\n')
        self.assertRegex(text, r'\npay = "real" .*; \d+ missing\n')

    def test_a_draft_without_roles_is_refused_with_what_is_missing(self):
        self.write("draft.toml", self.succeed("init", self.path("people.csv")))
        message = self.refuse(2, "curve", self.path("draft.toml"), "--out", self.path("draft-run"))
        self.assertIn("roles.sensitive: names nothing to hide", message)
        self.assertFalse(os.path.exists(self.path("draft-run")))

    def test_roles_are_filled_in(self):
        text = self.succeed("init", self.path("people.csv"), "--sensitive", "ill", "--useful", "age,job", "--observed",
                            "age,job,pay", "--keep", "id", "--side", "town", "--group", "note")
        for line in ('sensitive = ["ill"]', 'useful = ["age", "job"]', 'observed = ["age", "job", "pay"]', 'keep = ["id"]', 'side = ["town"]', 'group = "note"'):
            self.assertIn(f"\n{line}\n", text)
        self.assertNotIn("To do", text)

    def test_without_useful_columns_all_others_are_useful(self):
        text = self.succeed("init", self.path("people.csv"), "--sensitive", "ill", "--keep", "id", "--side", "town")
        self.assertIn('\nuseful = ["age", "job", "pay", "hours", "note"]\n', text)

    def test_everything_observed(self):
        self.assertIn('\nsensitive = "everything observed"\n',
                      self.succeed("init", self.path("people.csv"), "--sensitive", "everything observed"))

    def test_roles_that_cannot_be(self):
        table = self.path("people.csv")
        self.assertIn("unknown column 'illl' (did you mean 'ill'?)", self.refuse(2, "init", table, "--sensitive", "illl"))
        self.assertIn("'ill' is also sensitive", self.refuse(2, "init", table, "--sensitive", "ill", "--keep", "ill"))
        message = self.refuse(2, "init", table, "--sensitive", "il", "--useful", "ag", "--group", "a,b")
        for part in ("sensitive: ", "useful: ", "group: "):
            self.assertIn(part, message)

    def test_an_existing_file_is_kept(self):
        target = self.write("mine.toml", "mine")
        self.assertIn("exists", self.refuse(2, "init", self.path("people.csv"), "-o", target))
        self.assertEqual(self.read("mine.toml"), "mine")
        self.succeed("init", self.path("people.csv"), "-o", target, "--force")
        self.assertIn("[roles]", self.read("mine.toml"))

    def test_the_job_finds_the_table_from_its_own_directory(self):
        os.makedirs(self.path("jobs"), exist_ok=True)
        result = ppan("init", "people.csv", "-o", "jobs/job.toml", cwd=self.directory.name)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn('\nsource = "../people.csv"\n', self.read("jobs", "job.toml"))

    def test_gzip_and_other_dialects(self):
        with gzip.open(self.path("small.csv.gz"), "wt") as file:
            file.write("\ufeffa;b\r\n1,5;x\r\n2,5;y\r\n")
        text = self.succeed("init", self.path("small.csv.gz"))
        self.assertIn('\ndelimiter = ";"\n', text)
        self.assertIn('\ndecimal = ","\n', text)

    def test_what_is_no_table_is_refused(self):
        for name, text, part in (("empty.csv", "", "is empty"), ("ragged.csv", "a,b\n1,2\n3\n", "line 3"),
                                 ("twice.csv", "a,a\n1,2\n", "a"), ("quote.csv", 'a,b\n"1,2\n', "quote")):
            with self.subTest(name=name):
                self.assertIn(part, self.refuse(3, "init", self.write(name, text)))
        with open(self.path("binary.csv"), "wb") as file:
            file.write(bytes(range(256)) * 40)
        self.refuse(3, "init", self.path("binary.csv"))
        self.assertIn("standard input", self.refuse(2, "init", "-"))
        self.refuse(4, "init", self.path("absent.csv"))


if __name__ == "__main__":
    unittest.main()
