"""Which stage may include which: compares every `#include "ppan/<stage>/..."` with the stage's USES.

usage: check_layers.py SOURCE_ROOT LAYERS [NAME=DIRECTORY ...]

SOURCE_ROOT holds a directory per stage, and the files of the stage "facade" itself; LAYERS has a line
"stage: used used ..." per stage, lowest first, as CMake writes it. NAME=DIRECTORY is a program that declares what it
uses as a stage does (its own headers are "ppan/<file>"). Prints a line per violation; the exit status says whether
there was one.
"""

import pathlib
import re
import sys

# What a program of the command line has no business with: the library turns its own types into JSON, computes, and learns.
NOT_IN_PROGRAMS = ("nlohmann/", "Eigen/", "xgboost/", "openssl/", "toml++/", "sqlite3", "libpq")
# A command line that grows beyond this has library in it.
MOST_LINES_OF_A_PROGRAM = 2000
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def read_layers(text):
    layers = {}
    for line in filter(None, text.splitlines()):
        stage, _, uses = line.partition(":")
        layers[stage.strip()] = uses.split()
    return layers


def check_order(layers):
    """A stage may use only stages declared before it, so there is no circle."""
    seen = set()
    for stage, uses in layers.items():
        for used in uses:
            if used not in seen:
                yield f"stage {stage} uses {used}, which does not come before it"
        seen.add(stage)


def check_file(file, where, stage, layers):
    if stage not in layers:
        yield f"{where}: stage {stage} is not declared with ppan_stage()"
        return
    allowed = {stage, *layers[stage]}
    for number, line in enumerate(file.read_text().splitlines(), start=1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted, path = match.group(1) == '"', match.group(2)
        parts = path.split("/")
        if parts[0] == "ppan" and len(parts) > 2:
            if parts[1] not in allowed:
                yield f"{where}:{number}: {stage} includes {path}, but does not declare USES {parts[1]}"
        elif path == "ppan/ppan.h" and stage in layers and "facade" not in allowed:
            yield f"{where}:{number}: {stage} includes {path}, but does not declare USES facade"
        # In angle brackets a name that a neighbour has too, such as <png.h>, is the system's.
        elif parts[0] != "ppan" and ((quoted and (file.parent / path).exists()) or path.startswith("..")):
            yield f'{where}:{number}: write "{path}" from the root, as "ppan/<stage>/<file>"'


def sources(directory, pattern):
    return sorted(p for p in directory.glob(pattern) if p.suffix in (".h", ".cc"))


def check_includes(root, layers):
    for file in sources(root, "*"):
        yield from check_file(file, file.relative_to(root), "facade", layers)
    for directory in sorted(p for p in root.iterdir() if p.is_dir()):
        for file in sources(directory, "**/*"):
            yield from check_file(file, file.relative_to(root), directory.name, layers)


def check_program(name, directory, layers):
    lines = sum(len(file.read_text().splitlines()) for file in sources(directory, "**/*"))
    if lines > MOST_LINES_OF_A_PROGRAM:
        yield f"{name}: {lines} lines; more than {MOST_LINES_OF_A_PROGRAM} are library that went astray"
    for file in sources(directory, "**/*"):
        where = f"{name}/{file.relative_to(directory)}"
        yield from check_file(file, where, name, layers)
        for number, line in enumerate(file.read_text().splitlines(), start=1):
            match = INCLUDE.match(line)
            if match and match.group(2).startswith(NOT_IN_PROGRAMS):
                yield f"{where}:{number}: a program includes {match.group(2)}; that is for the library to do"


def violations(root, layers):
    return [*check_order(layers), *check_includes(root, layers)]


def main():
    root, layers = pathlib.Path(sys.argv[1]), read_layers(pathlib.Path(sys.argv[2]).read_text())
    found = violations(root, layers)
    for program in sys.argv[3:]:
        name, _, directory = program.partition("=")
        found += check_program(name, pathlib.Path(directory), layers)
    for line in found:
        print(line)
    if not layers:
        print("no stage is declared")
    return 1 if found or not layers else 0


if __name__ == "__main__":
    sys.exit(main())
