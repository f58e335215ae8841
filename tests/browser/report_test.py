"""Opens a report in a real browser: what it shows are the numbers of curve.csv, it loads nothing, it says nothing on the console.

usage: report_test.py MAKE_RUN [unittest arguments]
"""

import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import webdriver

SKIPPED = 77
MAKE_RUN = None


def make_run(directory, *sizes):
    subprocess.run([MAKE_RUN, directory, *map(str, sizes)], check=True)
    with open(os.path.join(directory, "curve.csv"), newline="") as file:
        return list(csv.DictReader(file))


class ReportInBrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="ppan-report-")
        cls.rows = make_run(cls.directory.name)
        cls.page = pathlib.Path(cls.directory.name, "report.html")
        cls.browser = webdriver.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.directory.cleanup()

    def setUp(self):
        self.browser.open("about:blank")
        self.browser.console()
        self.browser.requests()
        self.browser.open(self.page.as_uri())

    def tearDown(self):
        self.assertEqual(self.browser.console(), [])
        outside = [url for url in self.browser.requests() if url != self.page.as_uri() and not url.startswith("data:")]
        self.assertEqual(outside, [])

    def chosen(self):
        """Keys of the parts about a point that can be seen."""
        return self.browser.run("return [...document.querySelectorAll('[data-point]')].filter(e => e.offsetParent)"
                                ".map(e => e.dataset.point)")

    def assert_shows(self, key):
        self.assertEqual(self.chosen(), [str(key)] * 2)  # beside the curve, and below it
        numbers = self.browser.run("return [...document.querySelectorAll('.brief:not([hidden]) data')].map(e => [e.value, e.textContent])")
        exact = [value for value, _ in numbers]
        row = self.rows[key]
        for column in ("distortion", "leakage", "leakage_low", "leakage_high"):
            self.assertIn(row[column], exact, column)
        for value, shown in numbers:
            self.assertAlmostEqual(float(shown.replace("\u2212", "-")), float(value), delta=6e-3 * abs(float(value)) + 1e-12)

    def test_starts_with_one_point_and_marks_it_everywhere(self):
        start = int(self.browser.run("return document.getElementById('point-list').value"))
        self.assert_shows(start)
        marked = self.browser.run("return [...document.querySelectorAll('.plot.wide .target.chosen')].map(e => e.dataset.key)")
        self.assertEqual(marked, [str(start)])

    def test_choosing_by_pointer_shows_the_numbers_of_the_curve(self):
        for key in (0, 3, 11, len(self.rows) - 1):
            self.browser.click(f".plot.wide .target[data-key='{key}']")
            self.assert_shows(key)

    def test_a_number_that_is_not_in_the_curve_would_be_seen(self):
        self.browser.click(".plot.wide .target[data-key='3']")
        honest = self.rows
        self.rows = [dict(row, leakage=row["leakage"] + "1") for row in honest]
        with self.assertRaises(AssertionError):
            self.assert_shows(3)
        self.rows = honest

    def test_hovering_shows_distortion_and_leakage_with_its_provenance(self):
        self.browser.hover(".plot.wide .target[data-key='5']")
        tip = self.browser.run("const t = document.getElementById('tip'); return t.hidden ? '' : t.innerText")
        shown = [float(n) for n in re.findall(r"\d+\.\d+", tip)]
        self.assertAlmostEqual(shown[0], float(self.rows[5]["distortion"]), delta=5e-5)
        self.assertAlmostEqual(shown[1], float(self.rows[5]["leakage"]), delta=5e-5)
        self.assertIn("lower bound, 95 % interval", tip.replace("\u00a0", " "))
        self.assertIn(self.rows[5]["leakage_method"], tip)

    def test_choosing_by_keyboard_list_button_and_address(self):
        self.browser.run("document.querySelector('.plot.wide .target[data-key=\"2\"]').focus()")
        self.browser.keys(".plot.wide .target[data-key='2']", "\ue014")  # right arrow: focus moves
        focused = self.browser.run("return document.activeElement.dataset.key")
        self.assertEqual(focused, "3")
        self.browser.keys(".plot.wide .target[data-key='3']", "\ue007")  # Enter
        self.assert_shows(3)
        self.browser.click("#next")
        self.assert_shows(4)
        self.browser.click("#previous")
        self.assert_shows(3)
        self.browser.click(".picks button")
        self.assert_shows(int(self.browser.run("return document.querySelector('.picks button').dataset.choose")))
        self.browser.run("location.hash = '#point-9'")
        self.browser.run("return new Promise(done => setTimeout(done, 50))")
        self.assert_shows(9)
        self.browser.run("location.hash = '#point-nonsense'")
        self.assert_shows(9)

    def test_the_table_holds_every_cell_of_the_curve(self):
        cells = self.browser.run(
            "return [...document.querySelectorAll('#curve-table tbody tr')].map(r => [...r.cells].slice(1, 8)"
            ".map(c => c.querySelector('data') ? c.querySelector('data').value : c.textContent))")
        expected = [[row[c] for c in ("series", "budget", "weight", "distortion", "leakage", "optimum", "excess")] for row in self.rows]
        self.assertEqual(cells, expected)

    def test_names_are_only_names(self):
        self.assertEqual(self.browser.run("return document.scripts.length"), 1)
        heading = self.browser.run("return [...document.querySelectorAll('.panels h4')].map(e => e.textContent)")
        self.assertIn("<script>alert('x')</script>&\"", heading)

    def test_an_injected_script_or_style_is_refused(self):
        ran = self.browser.run("const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
                               "document.body.append(s); return window.ran === 1")
        self.assertFalse(ran)
        refused = self.browser.console()
        self.assertEqual(len(refused), 1)
        self.assertIn("Content Security Policy", refused[0])


class NarrowReport(unittest.TestCase):
    def test_fits_a_phone_without_scrolling_sideways(self):
        # Chromium's windows are at least 500 wide, so the page is put into a frame of a phone's width.
        with tempfile.TemporaryDirectory(prefix="ppan-report-") as directory:
            make_run(directory, 5, 8)
            frame = pathlib.Path(directory, "frame.html")
            frame.write_text("<body style='margin:0'><iframe src='report.html' width='360' height='780' style='border:0'></iframe>")
            browser = webdriver.Browser()
            try:
                browser.open(frame.as_uri())
                page = pathlib.Path(directory, "report.html").as_uri()
                browser._call("POST", browser._session + "/frame", {"id": 0})
                self.assertEqual(browser.run("return location.href"), page)
                self.assertEqual(browser.run("return innerWidth"), 360)
                self.assertLessEqual(browser.run("return document.documentElement.scrollWidth"), 360)
                self.assertEqual(browser.run("return [...document.querySelectorAll('.plot')].filter(e => e.offsetParent).map(e => e.className)"),
                                 ["plot narrow"])
                browser.click(".plot.narrow .target[data-key='2']")
                self.assertEqual(browser.run("return document.getElementById('point-list').value"), "2")
            finally:
                browser.close()


class SmallReports(unittest.TestCase):
    def test_one_point_and_many(self):
        for points, columns in ((1, 2), (200, 3)):
            with self.subTest(points=points), tempfile.TemporaryDirectory(prefix="ppan-report-") as directory:
                rows = make_run(directory, points, columns)
                browser = webdriver.Browser()
                try:
                    browser.open(pathlib.Path(directory, "report.html").as_uri())
                    options = browser.run("return document.querySelectorAll('#point-list option').length")
                    self.assertEqual(options, len(rows))
                    self.assertEqual(browser.console(), [])
                finally:
                    browser.close()


if __name__ == "__main__":
    if not (webdriver.CHROMIUM and webdriver.DRIVER):
        print("skipped: the packages chromium and chromium-driver are not installed")
        sys.exit(SKIPPED)
    MAKE_RUN = sys.argv.pop(1)
    unittest.main()
