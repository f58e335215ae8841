"""Runs what the documentation shows.

usage: blocks.py shell DOCUMENT...            runs the shell blocks, with the directory of PPAN_BINARY first in PATH
       blocks.py cpp PREFIX BUILD DOCUMENT... compiles the C++ blocks against the library installed at PREFIX

A block fenced ```sh is run by bash in an empty directory, which the later blocks of the same document find as it was
left; a failing command fails the test. A block fenced ```console shows commands behind "$ " and what they print, which
is compared to the letter. A block fenced ```cpp is a whole program. Blocks with any other fence (```text, ```sh norun,
```cpp norun) are shown only.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^(?P<indent> *)```(?P<kind>[^`\n]*)\n(?P<body>.*?)^(?P=indent)``` *$", re.MULTILINE | re.DOTALL)


def blocks(text):
    """(line number, fence, body) of each fenced block."""
    for match in FENCE.finditer(text):
        indent = match.group("indent")
        lines = match.group("body").splitlines()
        body = "".join(line.removeprefix(indent) + "\n" for line in lines)
        yield text.count("\n", 0, match.start()) + 1, match.group("kind").strip(), body


def console_steps(body):
    """(command, expected output) of each step of a console block."""
    steps = []
    for line in body.splitlines(keepends=True):
        if line.startswith("$ "):
            steps.append([line[2:], ""])
        elif line.startswith("> ") and steps and not steps[-1][1]:
            steps[-1][0] += line[2:]
        elif steps:
            steps[-1][1] += line
        else:
            raise ValueError("a console block begins with a command behind '$ '")
    return steps


def run_shell(command, directory):
    environment = dict(os.environ, LC_ALL="C.UTF-8", TERM="dumb")
    binary = os.environ.get("PPAN_BINARY")
    if binary:
        environment["PATH"] = os.path.dirname(binary) + os.pathsep + environment["PATH"]
    return subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=directory, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)


def shell_failures(name, text):
    """Runs the shell blocks of one document; what went wrong, and how many blocks ran."""
    failures, count = [], 0
    with tempfile.TemporaryDirectory() as directory:
        for line, kind, body in blocks(text):
            if kind == "sh":
                count += 1
                result = run_shell(body, directory)
                if result.returncode != 0:
                    failures.append(f"{name}:{line}: exit status {result.returncode}\n{result.stdout}")
            elif kind == "console":
                count += 1
                for command, expected in console_steps(body):
                    output = run_shell(command, directory).stdout
                    if output != expected:
                        failures.append(f"{name}:{line}: $ {command}prints\n{output}but is shown as\n{expected}")
    return failures, count


CMAKE = """cmake_minimum_required(VERSION 3.25)
project(documentation LANGUAGES CXX)
find_package(ppan REQUIRED)
"""


def write_cpp_project(directory, documents):
    """A project with an executable per C++ block; how many there are."""
    lists, count = CMAKE, 0
    for document in documents:
        for line, kind, body in blocks(document.read_text()):
            if kind == "cpp":
                count += 1
                (directory / f"block_{count}.cc").write_text(f'#line {line + 1} "{document}"\n{body}')
                lists += f"add_executable(block_{count} block_{count}.cc)\n"
                lists += f"target_link_libraries(block_{count} PRIVATE ppan::ppan)\n"
    (directory / "CMakeLists.txt").write_text(lists)
    return count


def main():
    kind, arguments = sys.argv[1], sys.argv[2:]
    if kind == "shell":
        failed, total = [], 0
        for document in arguments:
            failures, count = shell_failures(document, pathlib.Path(document).read_text())
            failed += failures
            total += count
        print(f"{total} blocks run", *failed, sep="\n")
        return 1 if failed or total == 0 else 0
    prefix, build, *documents = arguments
    source = pathlib.Path(build) / "source"
    source.mkdir(parents=True, exist_ok=True)
    count = write_cpp_project(source, [pathlib.Path(d) for d in documents])
    print(f"{count} programs", flush=True)
    if count == 0:
        return 0
    configure = ["cmake", "-G", "Ninja", "-S", source, "-B", build, f"-Dppan_ROOT={prefix}", "-DCMAKE_BUILD_TYPE=Debug"]
    if subprocess.run(configure).returncode or subprocess.run(["cmake", "--build", build]).returncode:
        return 1
    for number in range(1, count + 1):
        if subprocess.run([pathlib.Path(build) / f"block_{number}"], timeout=300).returncode:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
