"""`ppan report`: rebuilds the page of a run from the files of the run."""

import os
import pathlib
import tempfile
import unittest

from support import CommandTest

HEADER = "series,budget,weight,distortion,leakage,optimum,excess,leakage_kind,leakage_method\n"
CURVE = HEADER + "ppan/useful-only,0.1,,0.11,0.5,0.4,0.1,estimate,Gaussian plug-in\nppan/useful-only,0.5,,0.52,0.2,0.15,0.05,estimate,Gaussian plug-in\n"


class ReportTest(CommandTest):
    def setUp(self):
        self._directory = tempfile.TemporaryDirectory(prefix="ppan-report-")
        self.addCleanup(self._directory.cleanup)
        self.path = pathlib.Path(self._directory.name, "run")
        self.path.mkdir()

    def write(self, name, text):
        (self.path / name).write_text(text)

    def test_writes_page_and_drawing_and_says_where(self):
        self.write("curve.csv", CURVE)
        self.assertEqual(self.succeed("report", str(self.path)), f"{self.path}/report.html\n")
        page = (self.path / "report.html").read_text()
        self.assertIn('<data value="0.11">', page)
        self.assertIn("Gaussian plug-in", page)
        self.assertTrue((self.path / "curve.svg").read_text().startswith("<svg "))
        self.succeed("report", str(self.path))
        self.assertEqual((self.path / "report.html").read_text(), page)

    def test_links_are_neither_read_nor_written_through(self):
        secret = self.path.parent / "key"
        secret.write_text("<svg>SECRET KEY</svg>")
        self.write("curve.csv", CURVE)
        for name in ("figure.svg", "details.json", "curve.svg", "report.html"):
            (self.path / name).symlink_to(secret)
        os.mkfifo(self.path / "summary.json")
        self.succeed("report", str(self.path))
        page = (self.path / "report.html").read_text()
        self.assertNotIn("SECRET", page)
        self.assertNotIn("figure.svg", page)
        self.assertEqual(secret.read_text(), "<svg>SECRET KEY</svg>")
        self.assertFalse((self.path / "report.html").is_symlink())
        (self.path / "curve.csv").unlink()
        (self.path / "curve.csv").symlink_to(secret)
        self.assertIn("has no curve.csv", self.refuse(2, "report", str(self.path)))

    def test_writes_elsewhere(self):
        self.write("curve.csv", CURVE)
        other = self.path / "other.html"
        self.assertEqual(self.succeed("report", str(self.path), "-o", str(other)), f"{other}\n")
        self.assertTrue(other.exists())
        self.assertFalse((self.path / "report.html").exists())
        self.assertTrue(self.succeed("report", str(self.path), "-o", "-").startswith("<!DOCTYPE html>"))

    def test_prints_plot_and_table(self):
        self.write("curve.csv", CURVE)
        text = self.succeed("report", str(self.path), "--text", "--unit", "bits")
        self.assertIn("A ppan/useful-only", text)
        self.assertIn("information in bits", text)
        self.assertIn("0.7213", text)
        self.assertEqual(os.listdir(self.path), ["curve.csv"])

    def test_damaged_runs(self):
        self.assertIn("curve.csv", self.refuse(2, "report", str(self.path)))
        self.write("curve.csv", HEADER + "ppan/useful-only,much,,,,,,,\n")
        self.assertIn("line 2", self.refuse(3, "report", str(self.path)))
        self.write("curve.csv", CURVE)
        self.write("summary.json", '{"format": 1, ')
        self.assertIn("summary.json", self.refuse(3, "report", str(self.path)))
        self.assertFalse((self.path / "report.html").exists())
        self.refuse(2, "report")
        self.refuse(2, "report", str(self.path), "--unit", "bits")


if __name__ == "__main__":
    unittest.main()
