"""The manual page holds every command and option that the command knows, and renders without a warning."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import BINARY, CommandTest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "cmake"))
import manual_page  # noqa: E402


def commands(run, path=()):
    """Every command with its help, found by what help lists; not by the reader that the page is made with."""
    text = run(*path, "--help")
    yield path, text
    listed = re.search(r"^(?:Commands|Curves):\n((?:  .*\n)+)", text, re.MULTILINE)
    for name in re.findall(r"^  (\S+)", listed.group(1), re.MULTILINE) if listed else ():
        yield from commands(run, (*path, name))


def missing(page, helps):
    """(command, option) of what the page lacks. A page is cut at its headings, so that one command's option does not stand in for another's."""
    plain = page.replace("\\-", "-").replace("\\(aq", "'")
    parts = {tuple(heading.split()[1:]): text for heading, text in re.findall(r"^\.SS (.*)\n((?:(?!\.S[SH]).*\n)*)", plain, re.MULTILINE)}
    parts[()] = plain.partition(".SH COMMANDS")[0]
    lacking = []
    for path, text in helps:
        for names in re.findall(r"^  ((?:-\w,)?--[\w-]+)", text, re.MULTILINE):
            if names == "-h,--help" and path:
                continue
            if not re.search(rf"^\.B {re.escape(names)}\b", parts.get(path, ""), re.MULTILINE):
                lacking.append((path, names))
    return lacking


class ManualTest(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.page = manual_page.page(BINARY)

    def helps(self):
        return list(commands(self.succeed))

    def test_every_option_of_every_command_is_there(self):
        helps = self.helps()
        self.assertGreater(len(helps), 15)
        self.assertIn(("theory", "finite"), dict(helps))
        self.assertEqual(missing(self.page, helps), [])

    def test_what_is_left_out_is_found(self):
        without = self.page.replace(".TP\n.B \\-\\-adversary\\-hidden", ".TP\n.B \\-\\-other")
        self.assertEqual(missing(without, self.helps()), [(("paper",), "--adversary-hidden")])
        # Of one command, though another has an option of the same name.
        head, release, tail = self.page.partition(".SS ppan release\n")
        without = head + release + tail.replace(".B \\-\\-quiet\n", ".B \\-\\-silent\n", 1)
        self.assertEqual(missing(without, self.helps()), [(("release",), "--quiet")])

    def test_descriptions_and_examples_are_whole(self):
        plain = self.page.replace("\\-", "-").replace("\\(aq", "'")
        for path, text in self.helps():
            for example in re.findall(r"^  (ppan .*)$", text, re.MULTILINE):
                self.assertIn(example, plain)
            for line in text.split("\n"):
                if line.startswith("  -") and line[31:32] == " " and len(line) > 32 and "--help" not in line:
                    self.assertIn(line[32:].strip(), plain, f"ppan {' '.join(path)}")

    @unittest.skipUnless(shutil.which("groff"), "groff shows manual pages")
    def test_it_renders(self):
        with tempfile.TemporaryDirectory() as directory:
            file = os.path.join(directory, "ppan.1")
            Path(file).write_text(self.page, encoding="utf-8")
            done = subprocess.run(["groff", "-man", "-Tutf8", "-Kutf8", "-ww", file], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, check=True)
        self.assertEqual(done.stderr, "")
        shown = re.sub("\x1b\\[[0-9;]*m|.\x08", "", done.stdout)
        self.assertIn("ppan - learned release mechanisms", shown)
        self.assertIn("--accept-inconclusive", shown)
        self.assertIn("ppan release model.ppan new.csv -o released.csv", shown)


if __name__ == "__main__":
    unittest.main()
