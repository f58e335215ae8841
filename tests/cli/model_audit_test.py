"""ppan audit of a model"""

import json
import shutil
import unittest

from table_support import RunTest, people, ppan, read_csv, write_csv


class ModelAudit(RunTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = write_csv(cls.path("holdout.csv"), people(900, seed=41))

    def audit(self, model, *arguments):
        return json.loads(self.succeed("audit", model, "--data", self.data, "--quick", "--json", "-", *arguments))

    def test_the_model_releases_the_rows_itself(self):
        report = self.audit(self.model)
        self.assertEqual(report["rows"], 900)
        self.assertEqual([attribute["name"] for attribute in report["attributes"]], ["ill"])
        self.assertEqual(report, self.audit(self.model))  # an audit can be repeated

    def test_a_table_left_as_it_is_gives_the_condition_away_and_a_constant_one_does_not(self):
        open_book = self.audit(self.path("run", "unchanged.ppan"))["attributes"][0]["leakage"]
        closed = self.audit(self.path("run", "constant.ppan"))["attributes"][0]["leakage"]
        self.assertGreater(open_book["nats"], 0.2)
        self.assertLess(closed["nats"], 0.05)

    def test_a_limit_is_a_gate(self):
        result = ppan("audit", self.path("run", "unchanged.ppan"), "--data", self.data, "--quick", "--limit", "0.05")
        self.assertEqual(result.returncode, 6, result.stderr)

    def test_a_mixture_is_unaudited_until_it_is_audited(self):
        model = self.path("mixture.ppan")
        distortion = [float(row["distortion"]) for row in read_csv(self.path("run", "curve.csv")) if row["series"] == "ppan/hull"]
        text = self.succeed("pick", self.path("run"), "--budget", str((distortion[0] + distortion[1]) / 2), "-o", model)
        self.assertIn("UNAUDITED", text)
        self.assertIn("audit      UNAUDITED", self.succeed("show", model))
        self.audit(model, "--save")
        self.assertNotIn("UNAUDITED", self.succeed("show", model))

    def test_findings_are_kept_in_the_model(self):
        model = shutil.copy(self.model, self.path("audited.ppan"))
        self.audit(model, "--save")
        text = self.succeed("show", model)
        self.assertNotIn("UNAUDITED", text)
        self.assertIn("audit      900 rows, quick\n", text)
        kept = json.loads(self.succeed("show", model, "--json"))
        self.assertEqual((kept["audited"], kept["audit"]["attributes"][0]["name"]), (True, "ill"))
        self.succeed("release", model, self.path("people.csv"), "-o", self.path("audited.csv"), "--quiet")

    def test_findings_are_shown_in_the_report_of_the_run(self):
        shutil.copytree(self.path("run"), self.path("audited-run"))
        model = self.path("audited-run", "point-02.ppan")
        for _ in range(2):  # the second audit takes the place of the first
            text = self.succeed("audit", model, "--data", self.data, "--quick", "--save")
            self.assertIn("report: ", text)
        details = json.loads(self.read("audited-run", "audit.json"))
        self.assertEqual([(p["series"], p["number"], len(p["audits"])) for p in details["points"]], [("ppan/table", 2, 1)])
        self.assertIn("ppan audit --quick", self.read("audited-run", "report.html"))
        rows = [row for row in read_csv(self.path("audited-run", "curve.csv")) if row["series"] == "ppan/table"]
        before = [row for row in read_csv(self.path("run", "curve.csv")) if row["series"] == "ppan/table"]
        self.assertEqual(rows[0]["audit"], before[0]["audit"])
        self.assertIn("900 rows, quick", rows[1]["audit"])
        self.assertNotIn("900 rows", before[1]["audit"])
        self.assertEqual({key: value for key, value in rows[1].items() if key != "audit"},
                         {key: value for key, value in before[1].items() if key != "audit"})
        self.assertNotIn("ppan audit --quick", self.read("run", "report.html"))

    def test_what_does_not_go_together(self):
        self.assertIn("--data", self.refuse(2, "audit", self.model))
        self.assertIn("--data", self.refuse(2, "audit", self.model, "--data", self.data, "--original", self.data))
        self.assertIn("go with a model", self.refuse(2, "audit", "--data", self.data))
        self.assertIn("unknown column 'il'", self.refuse(3, "audit", self.model, "--data", self.data, "--sensitive", "il"))
        self.refuse(3, "audit", self.data, "--data", self.data)


if __name__ == "__main__":
    unittest.main()
