#!/usr/bin/env python3
"""Nothing but the tests needs training in double, so that the library links where PPAN_DOUBLE_TRAINING is off.

    double_training.py SOURCES NM BUILD [ARCHIVE ...]

SOURCES is src/ppan, NM the program that lists symbols, BUILD the build directory, whose Python bindings are looked at as well. What is
instantiated only under `#ifdef PPAN_DOUBLE_TRAINING` must not be undefined in an object that holds no such block. An object that does hold
one may refer to the others from its own block; those of nn, game and model are linked without double by tests/consumer/add_subdirectory.
"""

import re
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"^#ifdef PPAN_DOUBLE_TRAINING\n(.*?)^#endif", re.MULTILINE | re.DOTALL)
CLASS = re.compile(r"template (?:class|struct) (\w+)<double>;")
FUNCTION = re.compile(r"template [^;(]*?\b(\w+)\(")
UNITY_INCLUDE = re.compile(r'#include "(.*)"')


def guarded_names(text):
    """Classes and functions that a source instantiates for double under the option."""
    names = set()
    for block in BLOCK.findall(text):
        names |= set(CLASS.findall(block)) | set(FUNCTION.findall(CLASS.sub("", block)))
    return names


def uses(symbols, names):
    """Those of the demangled symbols that belong to one of the names, instantiated for double."""
    pattern = re.compile(rf"\bppan::(?:{'|'.join(sorted(names))})<double>(?:::|\()|^vtable for ppan::(?:{'|'.join(sorted(names))})<double>$")
    return [symbol for symbol in symbols if pattern.search(symbol)]


def undefined(nm, file):
    """Pairs of an object's name and a symbol that it needs from another."""
    listing = subprocess.run([nm, "--demangle", "--undefined-only", file], check=True, capture_output=True, text=True).stdout
    member = Path(file).name
    for line in listing.splitlines():
        if line.endswith(":") and " U " not in line:
            member = line[:-1]
        elif match := re.match(r"\s+U (.*)", line):
            yield member, match[1]


def sources_of(member, archive, build):
    """Names of the files that an object was compiled from: several for one of a unity build."""
    if match := re.fullmatch(r"(unity_\d+_cxx\.cxx)\.o", member):
        target = Path(archive).stem.removeprefix("lib")
        unity = next(Path(build).glob(f"src/ppan/**/CMakeFiles/{target}.dir/Unity/{match[1]}"), None)
        return {Path(name).name for name in UNITY_INCLUDE.findall(unity.read_text())} if unity else set()
    return {member.removesuffix(".o")}


def problems(sources, nm, build, archives):
    guarded = {path.name: names for path in Path(sources).glob("*/*.cc") if (names := guarded_names(path.read_text()))}
    if not guarded:
        yield f"{sources}: no source instantiates anything under PPAN_DOUBLE_TRAINING"
        return
    every_name = set().union(*guarded.values())
    bindings = [str(path) for path in Path(build).glob("python/CMakeFiles/_core.dir/**/*.o")]
    for file in [*archives, *bindings]:
        for member, symbol in undefined(nm, file):
            if not sources_of(member, file, build) & guarded.keys() and uses([symbol], every_name):
                yield f"{Path(file).name}, {member}: needs {symbol}, which is compiled only with PPAN_DOUBLE_TRAINING"


def main():
    sources, nm, build, *archives = sys.argv[1:]
    found = list(problems(sources, nm, build, archives))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
