"""ppan audit"""

import csv
import json
import math
import os
import random
import tempfile
import unittest

from support import CommandTest, ppan


class Audit(CommandTest):
    """Tables of 3,000 people whose illness shows in one released column, flipped one time in five."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        source = random.Random(7)
        cls.people = []
        for number in range(3000):
            ill = source.random() < 0.5
            mark = ill if source.random() < 0.8 else not ill
            cls.people.append({"id": f"p{number}", "illness": "yes" if ill else "no", "mark": int(mark),
                               "income": f"{source.gauss(30000, 8000):.2f}", "hobby": source.choice("abc"),
                               "copy": int(mark)})

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def write(self, name, columns, rows=None):
        with open(self.path(name), "w", newline="") as file:
            writer = csv.DictWriter(file, columns, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(self.people if rows is None else rows)
        return self.path(name)

    def tables(self):
        return ("audit", "--quick", "--original", self.write("original.csv", list(self.people[0])),
                "--released", self.write("released.csv", ["mark", "income"]))

    def test_text_says_what_was_found_and_where(self):
        text = self.succeed(*self.tables(), "--sensitive", "illness")
        self.assertIn('leak found: leakage of', text)
        self.assertIn('leakage of "illness" is at least', text)
        self.assertIn('given away by "mark", its value', text)
        for word in ("anonym", "safe"):
            self.assertNotIn(word, text)

    def test_measures_agree_with_the_channel(self):
        # Illness is a fair coin, the mark is wrong one time in five. Who may pass for 0.6 gets 0.6 without the release and 0.8 with it.
        with open(self.path("gain.csv"), "w") as file:
            file.write("guess,yes,no\nyes,1,0\nno,0,1\npass,0.6,0.6\n")
        report = json.loads(self.succeed(*self.tables(), "--sensitive", "illness", "--alpha", "3", "--gain", self.path("gain.csv"), "--json", "-"))
        found = {m["name"]: m for m in report["attributes"][0]["measures"]}
        truth = {"prior-vulnerability": 0.5, "bayes-vulnerability": 0.8, "additive-leakage": 0.3, "min-entropy-leakage": math.log(1.6),
                 "bayes-security": 0.4, "alpha-leakage-3": 0.5 * math.log(0.52 / 0.25), "maximal-leakage": math.log(1.6), "gain-leakage": math.log(0.8 / 0.6)}
        for name, value in truth.items():
            low, high = found[name]["interval95"]
            # Two and a half half-widths, 4.9 standard deviations: one false alarm in a million for each.
            self.assertAlmostEqual(found[name]["value"], value, delta=1.25 * (high - low), msg=name)
            self.assertLess(high - low, 0.2, name)
        self.assertEqual(found["bayes-security"]["bound"], "upper bound")
        self.assertEqual(found["alpha-leakage-3"]["bound"], "lower bound")

    def test_bad_orders_and_gains(self):
        text = self.refuse(2, *self.tables(), "--sensitive", "illness", "--alpha", "0.5", "--alpha", "-1")
        self.assertIn("alpha: 0.5 is not allowed", text)
        self.assertIn("alpha: -1 is not allowed", text)
        for content, words in (("guess,yes,no\nyes,1,-3\n", "a gain must be a number of at least 0"), ("guess,yes\nyes,1\n", "no column for no")):
            with open(self.path("gain.csv"), "w") as file:
                file.write(content)
            self.assertIn(words, self.refuse(3, *self.tables(), "--sensitive", "illness", "--gain", self.path("gain.csv")))

    def test_json_agrees_with_the_channel(self):
        report = json.loads(self.succeed(*self.tables(), "--sensitive", "illness", "--json", "-"))
        leakage = report["attributes"][0]["leakage"]
        truth = math.log(2) + 0.2 * math.log(0.2) + 0.8 * math.log(0.8)  # 0.1927
        self.assertAlmostEqual(leakage["nats"], truth, delta=0.07)  # half-width of the interval 0.045
        self.assertEqual(leakage["bound"], "lower bound")
        self.assertEqual(report["rows"], 3000)

    def test_json_to_a_file_beside_the_text(self):
        target = self.path("report.json")
        text = self.succeed(*self.tables(), "--sensitive", "illness", "--json", target, "--unit", "bits")
        self.assertIn(" bits (95 % interval ", text)
        with open(target) as file:
            self.assertEqual(json.load(file)["format"], "ppan-audit")

    def test_a_limit_is_a_gate(self):
        arguments = (*self.tables(), "--sensitive", "illness", "--unit", "bits")
        over = ppan(*arguments, "--limit", "0.05")
        self.assertEqual(over.returncode, 6)
        self.assertIn("not shown to be within the limit of 0.05 bits: illness", over.stderr)
        self.assertIn("leakage of", over.stdout)
        self.succeed(*arguments, "--limit", "0.9")

    def test_scan_finds_what_nobody_declared(self):
        report = json.loads(self.succeed(*self.tables(), "--sensitive", "illness", "--scan", "--json", "-"))
        scanned = {column["name"]: column["given_away"] for column in report["undeclared"]}
        self.assertEqual(scanned, {"copy": True, "hobby": False})
        self.assertTrue(report["not_audited"][0].startswith("id: "))

    def test_several_columns_and_side_information(self):
        report = json.loads(self.succeed(*self.tables(), "--sensitive", "illness", "--sensitive", "hobby", "--side", "copy",
                                         "--json", "-"))
        self.assertEqual(report["joint"]["names"], ["illness", "hobby"])
        side = report["attributes"][0]["side_information"]
        # The side column is the mark itself: the release adds nothing.
        self.assertAlmostEqual(side["additional_nats"]["value"], 0, delta=0.02)

    def test_rows_of_one_person_stay_together(self):
        source = random.Random(9)
        visits = []
        for number in range(250):
            ill, trait = source.choice(["yes", "no"]), f"{source.random():.6f}"
            visits += [{"person": f"v{number}", "illness": ill, "trait": trait}] * 8
        arguments = ("audit", "--quick", "--original", self.write("visits.csv", ["person", "illness", "trait"], visits),
                     "--released", self.write("traits.csv", ["trait"], visits), "--sensitive", "illness", "--json", "-")
        apart = json.loads(self.succeed(*arguments))["attributes"][0]["leakage"]
        together = json.loads(self.succeed(*arguments, "--together", "person"))
        self.assertGreater(apart["interval95"][0], 0.2)  # persons are recognised
        self.assertEqual(together["attributes"][0]["leakage"]["interval95"][0], 0)
        self.assertEqual((together["together"], together["units"]), ("person", 250))
        self.assertIn("--together", self.refuse(3, *arguments, "--group", "person"))
        self.assertIn("at least 100", self.refuse(3, *arguments, "--together", "illness"))

    def test_a_directory_with_a_report(self):
        out = self.path("audit-run")
        text = self.succeed(*self.tables(), "--sensitive", "illness", "--sensitive", "hobby", "--out", out)
        self.assertIn("report: " + os.path.join(out, "report.html"), text)
        with open(os.path.join(out, "report.html")) as file:
            page = file.read()
        for words in ("Audit of released.csv", "What an attacker gains about illness", "logistic regression", "together"):
            self.assertIn(words, page)
        with open(os.path.join(out, "curve.csv"), newline="") as file:
            row = next(csv.DictReader(file))
        with open(os.path.join(out, "findings.json")) as file:
            joint = json.load(file)["joint"]["leakage"]["nats"]
        self.assertAlmostEqual(float(row["leakage"]), joint, places=12)
        self.assertEqual(float(row["distortion"]), 0)  # what is released is as it was
        self.succeed("report", out)
        self.assertIn("not empty", self.refuse(2, *self.tables(), "--sensitive", "illness", "--out", out))
        self.refuse(3, *self.tables(), "--sensitive", "id", "--out", self.path("never"))
        self.assertFalse(os.path.exists(self.path("never")))

    def test_bad_input_is_refused_with_the_reason(self):
        arguments = self.tables()
        self.assertIn("did you mean 'illness'", self.refuse(3, *arguments, "--sensitive", "ilness"))
        self.assertIn("is named twice", self.refuse(2, *arguments, "--sensitive", "illness", "--side", "illness"))
        self.assertIn("--sensitive", self.refuse(2, *arguments))
        self.assertIn("identifier", self.refuse(3, *arguments, "--sensitive", "id"))
        self.assertIn("limit", self.refuse(2, *arguments, "--sensitive", "illness", "--limit", "-1"))
        short = self.write("short.csv", ["mark"], self.people[:2999])
        message = self.refuse(3, "audit", "--original", self.path("original.csv"), "--released", short, "--sensitive",
                              "illness")
        self.assertIn("has 3000 rows", message)
        few = self.write("few.csv", list(self.people[0]), self.people[:50])
        message = self.refuse(3, "audit", "--original", few, "--released", few, "--sensitive", "illness")
        self.assertIn("at least 300 are needed", message)
        self.refuse(4, "audit", "--original", self.path("absent.csv"), "--released", few, "--sensitive", "illness")


if __name__ == "__main__":
    unittest.main()
