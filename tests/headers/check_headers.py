#!/usr/bin/env python3
"""Every public header compiles alone: a file that includes nothing else is checked by the compiler.

    check_headers.py LIST SOURCES WORK COMPILER [FLAG ...]

LIST is a file with the names of public headers, SOURCES the directory that they are relative to, WORK one for temporary files.

Reading what a header includes takes most of the time, so headers share it in two ways. A few headers are precompiled, and a header is checked
with one that it includes anyway, directly or through others. Of the headers that share a precompiled one, a header follows another in the
same file if it includes that one anyway. Neither hides anything: what a header finds before it is what it would bring itself.
"""

import re
import subprocess
import sys
from pathlib import Path

INCLUDE = re.compile(r'^#include "(ppan/[^"]+)"', re.MULTILINE)
SYSTEM = re.compile(r"^#include <([^>]+)>", re.MULTILINE)
SECONDS = {"Eigen/Core": 1.0, "nlohmann/json.hpp": 0.5}  # to read a system header, roughly; others take OTHER
OTHER = 0.05
LINE = 0.0002  # to read a line of our own
PRECOMPILE = 1.5  # times the reading


def includes_of(sources):
    """Headers and what they include directly, by names relative to the sources."""
    return {
        str(path.relative_to(sources)): INCLUDE.findall(path.read_text()) for path in sorted(Path(sources).glob("ppan/**/*.h"))
    }


def reaching(includes, target):
    """Headers that include the target, directly or through others."""
    found = set()
    while more := {name for name, direct in includes.items() if name not in found and (target in direct or found & set(direct))}:
        found |= more
    return found


def closure(includes, header):
    """The header and all that it includes, directly or through others."""
    found, unread = set(), [header]
    while unread:
        name = unread.pop()
        if name not in found:
            found.add(name)
            unread += includes.get(name, [])
    return found


def estimated_seconds(sources, names):
    """To read these headers together."""
    texts = [text for name in names if (path := Path(sources) / name).exists() for text in [path.read_text()]]
    system = {name for text in texts for name in SYSTEM.findall(text)}
    return sum(SECONDS.get(name, OTHER) for name in system) + LINE * sum(text.count("\n") for text in texts)


def chains_of(headers, includes):
    """The headers in as few chains as possible, in each of which every header includes the one before it, directly or through others: a
    largest matching of headers with those that may follow them."""
    followers = {name: sorted(reaching(includes, name) & set(headers)) for name in headers}
    before = {}  # of a header that follows another: that one

    def follow(name, tried):
        for other in followers[name]:
            if other not in tried:
                tried.add(other)
                if other not in before or follow(before[other], tried):
                    before[other] = name
                    return True
        return False

    for name in headers:
        follow(name, set())
    after = {first: second for second, first in before.items()}
    chains = []
    for name in headers:
        if name not in before:
            chains.append([name])
            while name := after.get(name):
                chains[-1].append(name)
    return chains


def choose_shared(headers, includes, sources):
    """For each header the one whose precompiled form it is checked with, or None. Those to precompile are chosen one at a time, while
    they save more than they cost."""
    seconds = {name: estimated_seconds(sources, closure(includes, name)) for name in includes}
    users = {name: reaching(includes, name) & set(headers) for name in includes}
    chosen = dict.fromkeys(headers)

    def saved(name):
        already = (seconds[chosen[user]] if chosen[user] else 0 for user in users[name])
        return sum(max(0, seconds[name] - before) for before in already) - PRECOMPILE * seconds[name]

    while includes and saved(best := max(sorted(includes), key=saved)) > 0:
        for user in users[best]:
            if chosen[user] is None or seconds[chosen[user]] < seconds[best]:
                chosen[user] = best
    return chosen


def compile_chain(chain, shared, work, command):
    """What the compiler says of the headers, after the precompiled one that is shared, if any; None if they compile."""
    file = Path(work) / (chain[0].replace("/", "_") + ".cc")
    file.write_text("".join(f'#include "{header}"\n' for header in chain))
    precompiled = ["-include", str(shared)] if shared else []
    run = subprocess.run([*command, *precompiled, "-fsyntax-only", str(file)], capture_output=True, text=True)
    return None if run.returncode == 0 else run.stderr


def precompile(header, work, command):
    """The file to include in place of the header; None if it does not compile, which its own check then reports."""
    shared = Path(work) / ("shared_" + header.replace("/", "_"))
    shared.write_text(f'#include "{header}"\n')
    run = subprocess.run([*command, "-x", "c++-header", str(shared)], capture_output=True)
    return shared if run.returncode == 0 else None


def problems_of(headers, sources, work, compiler):
    """What is wrong with the headers; compiler is a command with flags."""
    sources, work = Path(sources), Path(work)
    includes = includes_of(sources)
    chosen = choose_shared(headers, includes, sources)
    command = [*compiler, f"-I{sources}"]
    found = []
    for base in sorted(set(chosen.values()), key=str):
        shared = precompile(base, work, command) if base else None
        for chain in chains_of([name for name in headers if chosen[name] == base], includes):
            found.append(compile_chain(chain, shared, work, command))
    return [text for text in found if text is not None]


def main():
    names, sources, work, *compiler = sys.argv[1:]
    found = problems_of(Path(names).read_text().split(), sources, work, compiler)
    for text in found:
        print(text)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
