"""ppan pick"""

import csv
import io
import json
import os
import shutil
import unittest

from table_support import RunTest, ppan


class Pick(RunTest):
    def pick(self, *arguments, name="picked.ppan"):
        target = self.path(name)
        if os.path.exists(target):
            os.remove(target)
        text = self.succeed("pick", self.path("run"), *arguments, "-o", target)
        return text, json.loads(self.succeed("show", target, "--json"))

    def rows(self):
        return list(csv.DictReader(io.StringIO(self.read("run", "curve.csv"))))

    def test_a_point_by_number_is_that_model(self):
        text, model = self.pick("--point", "2", "--accept-inconclusive")
        self.assertIn("point 2\n  distortion ", text)
        original = json.loads(self.succeed("show", self.path("run", "point-02.ppan"), "--json"))
        self.assertEqual(model, original)

    def test_any_budget_between_the_ends_is_served(self):
        most = max(float(row["distortion"]) for row in self.rows() if row["model"])
        for share in (0.1, 0.5, 0.9):
            with self.subTest(share=share):
                _, model = self.pick("--budget", str(share * most), "--accept-inconclusive")
                self.assertLessEqual(model["origin"]["distortion"], share * most + 1e-9)
                weights = [component["weight"] for component in model["model"]["components"]]
                self.assertAlmostEqual(sum(weights), 1, places=9)
        self.assertGreater(len(model["model"]["components"]), 0)

    def test_any_measure_can_be_limited(self):
        rows = [row for row in self.rows() if row["series"] == "ppan/table"]
        values = sorted(float(row["bayes-vulnerability_high"]) for row in rows)
        for limit in (values[0], values[-1]):
            text, model = self.pick("--measure", "bayes-vulnerability", "--at-most", str(limit), "--accept-inconclusive")
            allowed = [row for row in self.rows() if row["model"] and row["series"] not in ("ppan/hull", "reference/constant")
                       and row["bayes-vulnerability_high"] and float(row["bayes-vulnerability_high"]) <= limit]
            self.assertAlmostEqual(model["origin"]["distortion"], min(float(row["distortion"]) for row in allowed))
        self.pick("--measure", "bayes-security", "--at-least", "0", "--accept-inconclusive")
        out = self.path("no.ppan")
        self.assertIn("did you mean 'bayes-vulnerability'", self.refuse(2, "pick", self.path("run"), "--measure", "bayes-vulnerabilty",
                                                       "--at-most", "1", "-o", out))
        for limit in ("nan", "inf"):  # every point would pass, the unchanged table first
            self.assertIn("which is none", self.refuse(2, "pick", self.path("run"), "--measure", "bayes-vulnerability",
                                                       "--at-most", limit, "-o", self.path("none.ppan")))
        self.assertIn("needs --at-least", self.refuse(2, "pick", self.path("run"), "--measure", "bayes-security",
                                                      "--at-most", "1", "-o", out))
        self.assertIn("no point has", self.refuse(2, "pick", self.path("run"), "--measure", "bayes-vulnerability",
                                                  "--at-most", "0", "-o", out, "--accept-inconclusive"))
        self.assertFalse(os.path.exists(out))

    def test_a_mixture_releases(self):
        unchanged = next(row for row in self.rows() if row["series"] == "reference/unchanged")
        limit = float(unchanged["leakage"]) * 0.9
        _, model = self.pick("--leakage", str(limit), "--found", "--accept-inconclusive", name="mixed.ppan")
        self.assertEqual(len(model["model"]["components"]), 2)
        self.assertIn("mixture of ", model["origin"]["label"])
        self.assertLessEqual(model["origin"]["leakage"]["nats"], limit + 1e-9)
        self.succeed("release", self.path("mixed.ppan"), self.path("people.csv"), "-o", self.path("mixed.csv"), "--quiet")
        self.assertEqual(self.read("mixed.csv").count("\n"), 801)

    def test_the_ends_of_the_curve(self):
        unchanged = next(row for row in self.rows() if row["series"] == "reference/unchanged")
        # A point that was hardly trained may change nothing either.
        _, model = self.pick("--budget", unchanged["distortion"], "--accept-inconclusive")
        self.assertAlmostEqual(model["origin"]["distortion"], float(unchanged["distortion"]))
        least = min(max(0, float(row["leakage"])) for row in self.rows() if row["model"])
        self.assertIn("leakage ", self.pick("--leakage", str(least + 1e-9), "--found", "--accept-inconclusive")[0])

    def test_points_are_judged_by_what_their_audit_allows_for(self):
        unchanged = next(row for row in self.rows() if row["series"] == "reference/unchanged")
        limit = (float(unchanged["leakage"]) + float(unchanged["leakage_high"])) / 2
        self.assertIn("unchanged\n", self.pick("--leakage", str(limit), "--found", "--accept-inconclusive")[0])
        text, model = self.pick("--leakage", str(limit), "--accept-inconclusive")
        self.assertIn("upper end", text)
        self.assertLessEqual(model["origin"]["upper_end"], limit + 1e-9)
        self.assertGreater(model["origin"]["distortion"], float(unchanged["distortion"]))

    def test_points_whose_audit_was_inconclusive_are_left_out(self):
        table = self.rows()
        for row in table:
            row["inconclusive"] = "yes" if row["point"] == "1" else "no"
            if row["point"] == "1":  # the one worth having, if it were sure
                row.update(leakage="0.0005", leakage_high="0.001", leakage_upper_end="0.001", leakage_upper="", leakage_10x_rows="")
        os.makedirs(self.path("doubtful"), exist_ok=True)
        for name in os.listdir(self.path("run")):
            if name.endswith(".ppan"):
                shutil.copy(self.path("run", name), self.path("doubtful", name))
        with open(self.path("doubtful", "curve.csv"), "w", newline="") as file:
            writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)
        out = self.path("doubtful.ppan")
        self.assertIn("was inconclusive", self.refuse(2, "pick", self.path("doubtful"), "--point", "1", "-o", out))
        self.assertIn("left out as inconclusive: point 1", self.succeed("pick", self.path("doubtful"), "--point", "2", "-o", out))
        self.succeed("pick", self.path("doubtful"), "--point", "1", "--accept-inconclusive", "-o", out, "--force")
        sure = [float(row["leakage_upper_end"]) for row in table if row["model"] and row["point"] != "1" and row["leakage_upper_end"]]
        by_leakage = ["pick", self.path("doubtful"), "--leakage", str(1.05 * min(sure)), "-o", out, "--force"]
        self.assertIn("--accept-inconclusive would give a distortion of", self.succeed(*by_leakage))
        self.assertNotIn("would give", self.succeed(*by_leakage, "--accept-inconclusive"))
        by_leakage[3] = "0.01"
        self.assertIn("point 1 was left out as inconclusive: --accept-inconclusive", self.refuse(2, *by_leakage))
        self.succeed(*by_leakage, "--accept-inconclusive")

    def test_bits(self):
        self.assertIn(" bits (", self.pick("--leakage", "1", "--unit", "bits", "--accept-inconclusive")[0])

    def test_what_cannot_be_picked(self):
        run, out = self.path("run"), self.path("none.ppan")
        self.assertIn("exactly one of", self.refuse(2, "pick", run, "-o", out))
        self.assertIn("exactly one of", self.refuse(2, "pick", run, "--point", "1", "--budget", "1", "-o", out))
        self.assertIn("there is no point 99; the last one is 2", self.refuse(2, "pick", run, "--point", "99", "-o", out))
        self.assertIn("there is no point 0", self.refuse(2, "pick", run, "--point", "0", "-o", out))
        self.assertIn("--budget: -1", self.refuse(2, "pick", run, "--budget", "-1", "-o", out))
        self.assertIn("no curve.csv", self.refuse(2, "pick", self.directory.name, "--point", "1", "-o", out))
        self.assertFalse(os.path.exists(out))
        self.write("mine.ppan", "mine")
        self.assertIn("exists", self.refuse(2, "pick", run, "--point", "1", "-o", self.path("mine.ppan")))
        self.assertEqual(ppan("pick", run, "--point", "1", "-o", "/dev/full").returncode, 2)
        self.refuse(4, "pick", run, "--point", "2", "--accept-inconclusive", "-o", self.path("absent", "m.ppan"))


if __name__ == "__main__":
    unittest.main()
