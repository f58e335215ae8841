#!/usr/bin/env python3
"""Every public header compiles alone: a file that includes nothing else is checked by the compiler.

    check_headers.py LIST SOURCES WORK COMPILER [FLAG ...]

LIST is a file with the names of public headers, SOURCES the directory that they are relative to, WORK one for temporary files. Most of the time of such a file goes into
Eigen; where a header includes core/matrix.h, directly or through others, that header is precompiled: it hides nothing that the
header would not see anyway.
"""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

INCLUDE = re.compile(r'^#include "(ppan/[^"]+)"', re.MULTILINE)
SHARED = "ppan/core/matrix.h"


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


def compile_alone(header, shared, work, command):
    """What the compiler says of the header, after the precompiled one that is shared, if any; None if it compiles."""
    file = Path(work) / (header.replace("/", "_") + ".cc")
    file.write_text(f'#include "{header}"\n')
    precompiled = ["-include", str(shared)] if shared else []
    run = subprocess.run([*command, *precompiled, "-fsyntax-only", str(file)], capture_output=True, text=True)
    return None if run.returncode == 0 else run.stderr


def problems_of(headers, sources, work, compiler):
    """What is wrong with the headers; compiler is a command with flags."""
    sources, work = Path(sources), Path(work)
    includes = includes_of(sources)
    reaches = reaching(includes, SHARED)
    command = [*compiler, f"-I{sources}"]
    shared = work / "shared.h"
    shared.write_text(f'#include "{SHARED}"\n')
    subprocess.run([*command, "-x", "c++-header", str(shared)], check=True)
    with ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda header: compile_alone(header, shared if header in reaches else None, work, command), headers)
        return [text for text in results if text is not None]


def main():
    names, sources, work, *compiler = sys.argv[1:]
    found = problems_of(Path(names).read_text().split(), sources, work, compiler)
    for text in found:
        print(text)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
