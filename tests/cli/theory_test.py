"""ppan theory"""

import csv
import io
import json
import math
import tempfile
import unittest
from pathlib import Path

from support import CommandTest

CURVES = ("symmetric-pair", "gaussian-scalar", "gaussian-vector", "rate-distortion", "bottleneck-gaussian",
          "bottleneck-binary")


class Theory(CommandTest):
    def rows(self, *arguments):
        return [(float(x), float(y)) for x, y in list(csv.reader(io.StringIO(self.succeed("theory", *arguments))))[1:]]

    def test_list_describes_every_curve(self):
        text = self.succeed("theory", "--list")
        for name in CURVES:
            self.assertIn(name + "\n", text)
        self.assertIn("--rho", text)

    def test_every_curve_prints_with_its_defaults(self):
        for name in CURVES:
            with self.subTest(name=name):
                rows = self.rows(name)
                self.assertEqual(len(rows), 21)
                self.assertTrue(all(y >= 0 for _, y in rows))

    def test_csv_is_exactly_this(self):
        # I = 1/2 log 1/(1 - rho^2 + rho^2 d) at rho = 1/2: 1/2 log 4/3, 1/2 log 8/7, 0.
        self.assertEqual(self.succeed("theory", "gaussian-scalar", "--rho", "0.5", "--points", "3"),
                         "distortion,leakage_nats\n0,0.143841036226\n0.5,0.0667656963123\n1,0\n")

    def test_bits_are_nats_over_log_two(self):
        nats = self.rows("gaussian-scalar", "--points", "5")
        bits = self.rows("gaussian-scalar", "--points", "5", "--unit", "bits")
        for (x, a), (same_x, b) in zip(nats, bits):
            self.assertEqual(x, same_x)
            self.assertAlmostEqual(a / math.log(2), b, places=10)
        self.assertTrue(self.succeed("theory", "gaussian-scalar", "--unit", "bits").startswith("distortion,leakage_bits\n"))

    def test_a_bottleneck_converts_both_columns(self):
        arguments = ("bottleneck-binary", "--p", "0.1", "--points", "4")
        for (a, b), (c, d) in zip(self.rows(*arguments), self.rows(*arguments, "--unit", "bits")):
            self.assertAlmostEqual(a / math.log(2), c, places=10)
            self.assertAlmostEqual(b / math.log(2), d, places=10)

    def test_json_says_what_was_computed(self):
        document = json.loads(self.succeed("theory", "symmetric-pair", "--m", "4", "--observation", "full-data",
                                           "--points", "3", "--format", "json"))
        self.assertEqual(document["curve"], "symmetric-pair")
        self.assertEqual(document["unit"], "nats")
        self.assertEqual(document["parameters"], {"m": "4", "observation": "full-data", "p": "0.4"})
        self.assertEqual([point["distortion"] for point in document["points"]], [0, 0.5, 1])

    def test_an_infinite_rate_is_inf_in_csv_and_null_in_json(self):
        self.assertEqual(self.rows("rate-distortion", "--at", "0"), [(0, math.inf)])
        document = json.loads(self.succeed("theory", "rate-distortion", "--at", "0", "--format", "json"))
        self.assertIsNone(document["points"][0]["leakage_nats"])

    def test_options_may_stand_before_or_after_the_name(self):
        self.assertEqual(self.succeed("theory", "--points", "3", "gaussian-scalar"),
                         self.succeed("theory", "gaussian-scalar", "--points", "3"))

    def test_range_and_places(self):
        self.assertEqual([x for x, _ in self.rows("gaussian-scalar", "--from", "0.2", "--to", "0.4", "--points", "3")],
                         [0.2, 0.3, 0.4])
        self.assertEqual([x for x, _ in self.rows("gaussian-scalar", "--at", "0.7,0.1")], [0.7, 0.1])

    def test_negative_and_listed_values(self):
        self.assertEqual(self.rows("gaussian-scalar", "--rho", "-0.5"), self.rows("gaussian-scalar", "--rho=0.5"))
        self.assertEqual(len(self.rows("gaussian-vector", "--rho", "-0.5,0.2")), 21)

    def test_dashes_and_underscores_name_the_same_parameter(self):
        self.assertEqual(self.succeed("theory", "gaussian-scalar", "--variance-y", "2"),
                         self.succeed("theory", "gaussian-scalar", "--variance_y", "2"))

    def test_help_of_a_curve_shows_its_parameters(self):
        text = self.succeed("theory", "symmetric-pair", "--help")
        for word in ("--m", "--p", "--observation", "full-data"):
            self.assertIn(word, text)

    def test_no_curve(self):
        self.assertIn("--list", self.refuse(2, "theory"))

    def test_unknown_curve(self):
        self.assertIn("'gausian-scalar' (did you mean 'gaussian-scalar'?)", self.refuse(2, "theory", "gausian-scalar"))

    def test_unknown_parameter(self):
        text = self.refuse(2, "theory", "gaussian-scalar", "--rh", "0.5")
        self.assertIn("unknown option '--rh' (did you mean '--rho'?)", text)
        self.assertIn("'--pionts' (did you mean '--points'?)", self.refuse(2, "theory", "gaussian-scalar", "--pionts=3"))

    def test_every_problem_at_once(self):
        text = self.refuse(2, "theory", "symmetric-pair", "--m", "1", "--p", "1.5", "--points", "0")
        for field in ("  m: ", "  p: ", "  points: "):
            self.assertIn(field, text)

    def test_values_that_cannot_be(self):
        for arguments in (("gaussian-scalar", "--rho", "1"), ("gaussian-scalar", "--rho", "-1"),
                          ("gaussian-scalar", "--rho", "nan"), ("gaussian-scalar", "--rho", "x"),
                          ("gaussian-scalar", "--rho", ""), ("gaussian-scalar", "--at", "-0.1"),
                          ("symmetric-pair", "--m", "2.5"), ("symmetric-pair", "--observation", "half"),
                          ("rate-distortion", "--variances", "1,,2"), ("gaussian-scalar", "--points", "x"),
                          ("gaussian-scalar", "--points", "99999999999999999999"), ("gaussian-scalar", "--rho"),
                          ("gaussian-scalar", "--from", "0.5", "--to", "0.2"), ("gaussian-scalar", "more")):
            with self.subTest(arguments=arguments):
                self.refuse(2, "theory", *arguments)

    def test_unknown_choices_suggest_the_nearest(self):
        self.assertIn("'bit' (did you mean 'bits'", self.refuse(2, "theory", "gaussian-scalar", "--unit", "bit"))
        self.assertIn("'jsn' (did you mean 'json'?)", self.refuse(2, "theory", "gaussian-scalar", "--format", "jsn"))


class Finite(CommandTest):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.pmf = Path(self.directory.name) / "pmf.csv"
        cells = [(x, y, 0.6 / 4 if x == y else 0.4 / 12) for x in range(4) for y in range(4)]
        self.pmf.write_text("x,y,probability\n" + "".join(f"{x},{y},{p!r}\n" for x, y, p in cells))

    def table(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.succeed("theory", *arguments))))

    def test_agrees_with_the_closed_form_and_certifies_it(self):
        for observation in ("useful-only", "full-data"):
            solved = self.table("finite", "--pmf", str(self.pmf), "--observation", observation, "--at", "0.1,0.2,0.3")
            closed = self.table("symmetric-pair", "--m", "4", "--p", "0.4", "--observation", observation, "--at",
                                "0.1,0.2,0.3")
            for s, c in zip(solved, closed):
                self.assertAlmostEqual(float(s["leakage_nats"]), float(c["leakage_nats"]), places=6)
                self.assertLess(float(s["gap_nats"]), 2e-7)

    def test_the_least_chance_to_guess_is_certified_by_a_linear_program(self):
        # Useful data only: guessing Z names X with probability 1 - (p + D (1 - p m / (m - 1))), m = 4, p = 0.4.
        for row, distortion in zip(self.table("finite", "--pmf", str(self.pmf), "--measure", "bayes-vulnerability",
                                              "--at", "0,0.1,0.3"), (0, 0.1, 0.3)):
            self.assertAlmostEqual(float(row["bayes_vulnerability"]), 0.6 - distortion * (1 - 0.4 * 4 / 3), places=7)
            self.assertLess(float(row["gap"]), 1e-8)
        rows = self.table("finite", "--pmf", str(self.pmf), "--measure", "min-entropy-leakage", "--at", "0.1", "--unit", "bits")
        self.assertAlmostEqual(float(rows[0]["min_entropy_leakage_bits"]), math.log2(4 * (0.6 - 0.1 * (1 - 1.6 / 3))), places=6)
        self.assertIn("did you mean", self.refuse(2, "theory", "finite", "--pmf", str(self.pmf), "--measure", "bayes-vulnerabilty"))

    def test_prints_the_mechanism(self):
        rows = self.table("finite", "--pmf", str(self.pmf), "--at", "0.2", "--release")
        self.assertEqual(len(rows), 16)
        for w in range(4):
            self.assertAlmostEqual(sum(float(r["probability"]) for r in rows if r["w"] == str(w)), 1, places=6)
        text = self.succeed("theory", "gaussian-scalar", "--at", "0.5", "--release")
        self.assertTrue(text.startswith("distortion,leakage_nats,from_x,from_y,noise_variance\n"), text)

    def test_symbols_have_their_names(self):
        named = Path(self.directory.name) / "named.csv"
        named.write_text("x,y,w,probability\nno,5,s,0.3\nno,1,t,0.2\nyes,5,s,0.1\nyes,1,t,0.4\n")
        rows = self.table("finite", "--pmf", str(named), "--at", "0.2", "--release")
        self.assertEqual([(r["w"], r["z"]) for r in rows], [("s", "5"), ("s", "1"), ("t", "5"), ("t", "1")])
        rows = self.table("finite", "--pmf", str(named), "--at", "0.2", "--release", "--observation", "full-data")
        self.assertEqual({r["w"] for r in rows}, {"no 5", "no 1", "yes 5", "yes 1"})

    def test_squared_error_is_of_the_numbers(self):
        # Y = 5 or 1: an error costs 16, so a budget of 1.6 buys what 0.1 buys of errors.
        named = Path(self.directory.name) / "numbers.csv"
        named.write_text("x,y,probability\nno,5,0.3\nno,1,0.2\nyes,5,0.1\nyes,1,0.4\n")
        squared = self.table("finite", "--pmf", str(named), "--distortion", "squared", "--at", "1.6")
        errors = self.table("finite", "--pmf", str(named), "--distortion", "error", "--at", "0.1")
        self.assertAlmostEqual(float(squared[0]["leakage_nats"]), float(errors[0]["leakage_nats"]), places=6)
        named.write_text("x,y,probability\nno,a,0.3\nno,1,0.2\nyes,a,0.1\nyes,1,0.4\n")
        self.assertIn("symbol 'a' of y is none", self.refuse(3, "theory", "finite", "--pmf", str(named), "--distortion", "squared"))

    def test_any_distortion_matrix(self):
        matrix = Path(self.directory.name) / "d.csv"
        matrix.write_text("0,1,1,1\n1,0,1,1\n1,1,0,1\n1,1,1,0\n")
        by_file = self.table("finite", "--pmf", str(self.pmf), "--distortion", str(matrix), "--at", "0.2")
        by_name = self.table("finite", "--pmf", str(self.pmf), "--distortion", "error", "--at", "0.2")
        self.assertEqual(by_file, by_name)
        self.assertEqual(len(self.table("finite", "--pmf", str(self.pmf), "--distortion", "squared", "--points", "4")), 4)
        matrix.write_text("0,1\n1,0\n")
        self.assertIn("4 symbols", self.refuse(3, "theory", "finite", "--pmf", str(self.pmf), "--distortion", str(matrix)))

    def test_bad_input(self):
        self.assertIn("--pmf", self.refuse(2, "theory", "finite"))
        self.assertIn("least", self.refuse(2, "theory", "finite", "--pmf", str(self.pmf), "--observation", "noisy",
                                           "--flip", "0.2", "--at", "0.01"))
        bad = Path(self.directory.name) / "bad.csv"
        bad.write_text("x,y,probability\na,b,-1\n")
        text = self.refuse(2, "theory", "finite", "--pmf", str(bad), "--flip", "1.2", "--points", "0")
        for part in ("line 2: probability -1", "flip: needs --observation noisy", "points: 0"):
            self.assertIn(part, text)
        self.assertIn("flip: 1.2", self.refuse(2, "theory", "finite", "--pmf", str(self.pmf), "--observation", "noisy",
                                               "--flip", "1.2"))
        self.refuse(3, "theory", "finite", "--pmf", str(bad))


if __name__ == "__main__":
    unittest.main()
