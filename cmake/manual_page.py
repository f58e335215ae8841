#!/usr/bin/env python3
"""Writes the manual page of the command from what its own --help says, so that there is one place to change.

  manual_page.py COMMAND PAGE
"""

import re
import subprocess
import sys

COLUMN = 32  # where help begins to describe (apps/ppan/command_line.cc)
INTRODUCTION = """Given records with something useful and something sensitive in them, ppan trains randomised mechanisms that hand on the useful
part while telling as little as possible about the sensitive one, for a stated loss of usefulness. It attacks each on records that
neither the mechanism nor the attacker has seen, and shows the whole trade-off, so that a person can choose a point on it."""
WORKFLOW = """ppan init people.csv > job.toml
ppan curve job.toml --out run
ppan pick run --leakage 0.05 -o model.ppan
ppan release model.ppan new.csv -o released.csv"""


def output(command, *arguments):
    return subprocess.run([command, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


class Help:
    """The parts of a help text: what it is, usage, groups of (term, text), and the free text behind them."""

    def __init__(self, text):
        before, usage, after = re.fullmatch(r"(.*?)^Usage: (.*?)\n(.*)", text, re.DOTALL | re.MULTILINE).groups()
        self.what = before.strip()
        self.usage = usage
        self.groups = []
        lines = after.split("\n")
        for number, line in enumerate(lines):
            if not line.strip():
                continue
            if line.startswith(" " * COLUMN):
                terms = self.groups[-1][1]
                terms[-1] = (terms[-1][0], line.strip())
            elif line.startswith("  "):
                self.groups[-1][1].append(self._entry(line, lines[number + 1]))
            elif line.endswith(":") and not line.startswith("Example"):
                self.groups.append((line[:-1], []))
            else:
                self.rest = "\n".join(lines[number:]).rstrip()
                return
        self.rest = ""

    @staticmethod
    def _entry(line, following):
        """A term that reaches into the second column has its description below it."""
        if following.startswith(" " * COLUMN):
            return line.strip(), ""
        return line[:COLUMN].strip(), line[COLUMN:].strip()


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti")
    return re.sub(r"^\.", r"\\&.", text, flags=re.MULTILINE)


def group(title, terms):
    if not terms:
        return []
    made = [".PP", f"{escape(title)}:"]
    for term, text in terms:
        made += [".TP", f".B {escape(term)}", escape(text) or "\\&"]
    return made


def free_text(text):
    """As it stands: its lines are already broken, and its examples are commands."""
    return [".PP", ".nf", escape(text), ".fi"] if text else []


def chapter(command, path):
    """A command, and below it those that it has."""
    text = Help(output(command, *path, "--help"))
    made = [f".SS {escape('ppan ' + ' '.join(path))}", escape(text.what) + ".", ".PP", f".B {escape(text.usage)}"]
    nested = []
    for title, terms in text.groups:
        made += group(title, [(term, words) for term, words in terms if term != "-h,--help"])
        if title in ("Commands", "Curves"):
            nested += [term for term, _ in terms]
    made += free_text(text.rest)
    for name in nested:
        made += chapter(command, [*path, name])
    return made


def page(command):
    version = output(command, "--version").split("\n")[0]
    text = Help(output(command, "--help"))
    names = [term for title, terms in text.groups for term, _ in terms if title == "Commands"]
    made = [
        f'.TH PPAN 1 "" "{version}" "User Commands"',
        ".SH NAME", "ppan \\- " + escape(text.what[0].lower() + text.what[1:].rstrip(".")),
        ".SH SYNOPSIS", ".B ppan", ".I COMMAND", ".RI [ OPTIONS ]",
        ".SH DESCRIPTION", escape(INTRODUCTION), ".SH EXAMPLE", ".nf", escape(WORKFLOW), ".fi", ".SH OPTIONS",
    ]  # fmt: skip
    for title, terms in text.groups:
        made += group(title, terms)
    made += free_text(text.rest) + [".SH COMMANDS"]
    for name in names:
        made += chapter(command, [name])
    made += [".SH SEE ALSO", "/usr/share/doc/ppan: the guide, file formats, what attackers are assumed to know, and the Python package."]
    return "\n".join(made) + "\n"


if __name__ == "__main__":
    written = page(sys.argv[1])
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(written)
