#!/usr/bin/env python3
"""Every public header compiles alone: a file that includes nothing else is checked by the compiler.

    check_headers.py LIST SOURCES WORK COMPILER [FLAG ...]

LIST is a file with the names of public headers, SOURCES the directory that they are relative to, WORK one for temporary files.

Reading what a header includes takes most of the time, so headers share it in two ways. A few headers of ours and a few sets of system headers are
precompiled, and a header is checked with one that it includes anyway, directly or through others. Of the headers that share a precompiled one, a
header follows another in the same file if it includes that one anyway. Neither hides anything: what a header finds before it is what it would
bring itself.
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
PRECOMPILE = 3.5  # times the reading


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


def system_headers(sources, names):
    """That these headers include directly."""
    files = (Path(sources) / name for name in names)
    return {name for file in files if file.exists() for name in SYSTEM.findall(file.read_text())}


def system_seconds(system):
    """To read these system headers together."""
    return sum(SECONDS.get(name, OTHER) for name in system)


def estimated_seconds(sources, names):
    """To read these headers together, with the system headers that they include."""
    files = (Path(sources) / name for name in names)
    lines = sum(file.read_text().count("\n") for file in files if file.exists())
    return system_seconds(system_headers(sources, names)) + LINE * lines


def include_lines(names):
    return "".join(f'#include "{name}"\n' if name.startswith("ppan/") else f"#include <{name}>\n" for name in names)


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


def candidates_of(headers, includes, sources):
    """What may be precompiled: headers of ours, and all that a header includes of the system; as tuples of names, with the seconds to read them
    and the headers that include them anyway."""
    system = {name: frozenset(system_headers(sources, closure(includes, name))) for name in includes}
    found = {(name,): (estimated_seconds(sources, closure(includes, name)), reaching(includes, name) & set(headers)) for name in includes}
    for names in set(system.values()) - {frozenset()}:
        found[tuple(sorted(names))] = (system_seconds(names), {name for name in headers if names <= system[name]})
    return found


def choose_shared(headers, includes, sources):
    """For each header what it is checked with in precompiled form, or None. That is chosen one at a time, while it saves more than it
    costs."""
    candidates = candidates_of(headers, includes, sources)
    chosen = dict.fromkeys(headers)

    def seconds_of(header):
        return candidates[chosen[header]][0] if chosen[header] else 0

    def saved(names):
        seconds, users = candidates[names]
        return sum(max(0, seconds - seconds_of(user)) for user in users) - PRECOMPILE * seconds

    while candidates and saved(best := max(sorted(candidates), key=saved)) > 0:
        seconds, users = candidates[best]
        for user in users:
            if seconds_of(user) < seconds:
                chosen[user] = best
    return chosen


def compile_chain(chain, shared, work, command):
    """What the compiler says of the headers, after the precompiled one that is shared, if any; None if they compile."""
    file = Path(work) / (chain[0].replace("/", "_") + ".cc")
    file.write_text(include_lines(chain))
    precompiled = ["-include", str(shared)] if shared else []
    run = subprocess.run([*command, *precompiled, "-fsyntax-only", str(file)], capture_output=True, text=True)
    return None if run.returncode == 0 else run.stderr


def precompile(names, number, work, command):
    """The file to include in place of these headers; None if they do not compile, which their own check then reports."""
    shared = Path(work) / f"shared_{number}.h"
    shared.write_text(include_lines(names))
    run = subprocess.run([*command, "-x", "c++-header", str(shared)], capture_output=True)
    return shared if run.returncode == 0 else None


def problems_of(headers, sources, work, compiler):
    """What is wrong with the headers; compiler is a command with flags."""
    sources, work = Path(sources), Path(work)
    includes = includes_of(sources)
    chosen = choose_shared(headers, includes, sources)
    command = [*compiler, f"-I{sources}"]
    found = []
    for number, base in enumerate(sorted(set(chosen.values()), key=str)):
        shared = precompile(base, number, work, command) if base else None
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
