"""Functions that are too long.

usage: function_length.py DIRECTORY ...

Prints a line per function of more than 80 lines in the C++ files below; the exit status says whether there was one.
The code is formatted by clang-format, so a function is what begins at the margin of its namespace or class with a line
ending in "{" behind a ")" and ends with "}" at the same margin.
"""

import pathlib
import re
import sys

MOST_LINES = 80
# The last line of a signature: a closing parenthesis, perhaps qualifiers or an initialiser, and the brace.
OPENS = re.compile(r"^(\s*)\S.*\{$")
NOT_FUNCTIONS = re.compile(r"^\s*(namespace|inline namespace|class|struct|enum|union|extern|template <|public|private)\b|=\s*\{$|\[.*\].*\{$")


def functions(text):
    """(name, first line, lines) of every function-like block, by indentation."""
    lines = text.splitlines()
    for start, line in enumerate(lines):
        match = OPENS.match(line)
        if not match or NOT_FUNCTIONS.search(line):
            continue
        margin = match.group(1)
        if len(margin) > 2:
            # Signatures may break over lines; what opens deeper is a block, unless it ends a broken signature.
            if not re.search(r"\)( const)?( noexcept)?( override)?( try)? \{$", line) or re.match(
                    r"\s*(if|for|while|switch|} else|do|catch|else)\b", line):
                continue
            first = start
            while first > 0 and len(lines[first]) - len(lines[first].lstrip()) > 2 and not lines[first - 1].rstrip().endswith(
                    ("{", "}", ";")):
                first -= 1
            margin = re.match(r"\s*", lines[first]).group()
            if len(margin) > 2:
                continue
        elif ")" not in line or re.match(r"\s*(if|for|while|switch|} else|do|catch|else)\b", line):
            continue
        for end in range(start + 1, len(lines)):
            if lines[end].startswith(margin + "}"):
                yield lines[start].strip(), start + 1, end - start + 1
                break


def long_functions(root):
    """Lines about long functions, by file."""
    found = {}
    for file in sorted(p for p in root.rglob("*") if p.suffix in (".h", ".cc")):
        name = str(file.relative_to(root))
        for signature, line, length in functions(file.read_text()):
            if length > MOST_LINES:
                found.setdefault(name, []).append(f"{name}:{line}: {length} lines: {signature}")
    return found


def main():
    found = {}
    for root in sys.argv[1:]:
        found |= long_functions(pathlib.Path(root))
    lines = [line for file in found.values() for line in file]
    print(*lines, sep="\n")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
