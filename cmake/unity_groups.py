#!/usr/bin/env python3
"""Groups the files of a stage for a unity build (PPAN_UNITY). Files whose unnamed namespaces declare the same name go into different
groups, and a group has at most a few thousand lines. Prints the group number of each file, in order, separated by semicolons.
Overloads do not clash, except with --by-name, which is for files where implicit conversions could select the wrong one.

    unity_groups.py [--by-name] FILE ...
"""

import re
import sys
from pathlib import Path

# Declarations begin in the first column, as clang-format has it; a wrapped one is joined up to its first brace or semicolon.
VALUE = re.compile(r"^(?:static |inline )*(?:constexpr|const)\b[^(=;{]*?\b(k[A-Z]\w*)\s*[\[{=;]")
TYPE = re.compile(r"^(?:struct|class|enum class|enum|union)\s+(\w+)(?!.*;\s*$)|^using\s+(\w+)\s*=")
FUNCTION = re.compile(r"^[A-Za-z_][\w:<>,&*\s\[\]()]*?\b(\w+)\((.*)\)\s*(?:const\s*)?(?:noexcept\s*)?\{")


def unnamed_parts(text):
    """Lines inside unnamed namespaces."""
    inside = False
    for line in text.splitlines():
        if line.startswith("namespace {"):
            inside = True
        elif line.startswith("}  // namespace"):
            inside = False
        elif inside:
            yield line


def parameter_types(parameters):
    """Parameters without their names and defaults, roughly; a value and a reference to it are the same to a caller."""
    types = []
    for one in parameters.split(","):
        one = re.sub(r"=.*", "", one).strip()
        types.append(re.sub(r"\s+\w+$", "", one) if re.search(r"[\w>&*]\s+\w+$", one) else re.sub(r"([&*>])\s*\w+$", r"\1", one))
    return ", ".join(re.sub(r"\bconst\b|[&\s]", "", one) for one in types)


def names_in(text, by_name=False):
    lines = list(unnamed_parts(text))
    found = set()
    for number, line in enumerate(lines):
        line = re.sub(r"^(\[\[\w+\]\]|template <.*>) ?", "", line)
        if not line or line[0] in " }#/":
            continue
        if match := VALUE.match(line):
            found.add(match[1])
        elif match := TYPE.match(line):
            found.add(match[1] or match[2])
        else:
            whole = line
            for more in lines[number + 1 : number + 12]:
                if "{" in whole or ";" in whole:
                    break
                whole += " " + more.strip()
            if match := FUNCTION.match(whole):
                found.add(match[1] if by_name else f"{match[1]}({parameter_types(match[2])})")
    return found


def groups_of(texts, most_lines=4000, by_name=False):
    """The number of the group of each text, from 0: the first that has room and none of its names."""
    groups = []  # [names, lines]
    chosen = []
    for text in texts:
        names = names_in(text, by_name)
        lines = text.count("\n")
        for number, group in enumerate(groups):
            if not names & group[0] and group[1] + lines <= most_lines:
                break
        else:
            number = len(groups)
            groups.append([set(), 0])
        groups[number][0] |= names
        groups[number][1] += lines
        chosen.append(number)
    return chosen


if __name__ == "__main__":
    by_name = sys.argv[1:2] == ["--by-name"]
    texts = [Path(name).read_text() for name in sys.argv[2 if by_name else 1 :]]
    print(";".join(str(number) for number in groups_of(texts, by_name=by_name)))
