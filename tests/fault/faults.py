"""Fails the n-th allocation or the n-th write of a command, and looks at what is left.

What is asked of every n: the command ends, with status 0 or 4; an output file is what it was before,
or whole; no temporary file is left; and an input is never touched."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

BINARY = os.environ["PPAN_BINARY"]
LIBRARY = os.environ["PPAN_FAULT_LIBRARY"]
HANG_SECONDS = int(os.environ.get("PPAN_HANG_SECONDS", "120"))  # a loaded machine may take long

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from table_support import people, write_csv  # noqa: E402


def read(path):
    with open(path, "rb") as file:
        return file.read()


def ppan(directory, *arguments, **environment):
    return subprocess.run([BINARY, *arguments], cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, timeout=HANG_SECONDS if environment else 300,
                          env={**os.environ, **environment})


class Command:
    """One command with what it reads and writes."""

    def __init__(self, name, arguments, output, reference=None):
        self.name = name
        self.arguments = arguments
        self.output = output  # file that it replaces; None: it prints only
        self.reference = reference  # bytes of a good output, where there is only one


def prepare(directory):
    """The files that commands work on, and the commands."""
    write_csv(os.path.join(directory, "people.csv"), people(300))
    write_csv(os.path.join(directory, "few.csv"), people(60, seed=3))

    def run(*arguments):
        result = ppan(directory, *arguments)
        assert result.returncode == 0, result.stderr

    run("init", "people.csv", "--sensitive", "ill", "--useful", "age,job,pay,hours", "--keep", "id", "-o", "job.toml")
    run("curve", "job.toml", "--out", "run", "--points", "2", "--epochs", "1", "--set", "audit.quick=true", "--quiet")
    shutil.copy(os.path.join(directory, "run", "point-01.ppan"), os.path.join(directory, "model.ppan"))
    commands = [
        Command("release", ["release", "model.ppan", "few.csv", "-o", "out.csv", "--threads", "2"], "out.csv"),
        Command("show", ["show", "model.ppan"], None),
        Command("pick", ["pick", "run", "--budget", "0.1", "-o", "picked.ppan", "--force"], "picked.ppan"),
        Command("audit", ["audit", "model.ppan", "--data", "people.csv", "--quick", "--save", "--threads", "1"], "model.ppan"),
    ]
    for command in commands:
        if command.output and command.name != "release":
            before = read(os.path.join(directory, command.output)) if command.name == "audit" else None
            run(*command.arguments)
            command.reference = read(os.path.join(directory, command.output))
            if before is not None:
                with open(os.path.join(directory, command.output), "wb") as file:
                    file.write(before)
    return commands


def close(a, b):
    """Whether two JSON values are the same but for the last digits of numbers, and for digests."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(key in ("sha256", "checksum") or close(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(close(x, y) for x, y in zip(a, b))
    if isinstance(a, float) or isinstance(b, float):
        return abs(a - b) <= 1e-5 * max(1, abs(a), abs(b))
    return a == b


def same_model(a, b):
    """Without room for a buffer XGBoost adds numbers up in another order: an audit may differ in its last digits."""
    parts = []
    for contents in (a, b):
        end = 8 + int.from_bytes(contents[:8], "little")
        header = json.loads(contents[8:end])
        parts.append((header.pop("__metadata__"), header, contents[end:]))
    (a_data, *a_rest), (b_data, *b_rest) = parts
    return a_rest == b_rest and close(*({**data, "description": json.loads(data["description"])} for data in (a_data, b_data)))


def whole(command, contents):
    """Whether an output is one that the command makes."""
    if command.name == "audit" and contents != command.reference:
        with tempfile.NamedTemporaryFile(suffix=".ppan") as file:
            file.write(contents)
            file.flush()
            if ppan(os.path.dirname(file.name), "show", file.name).returncode != 0:
                return False
        return same_model(contents, command.reference)
    if command.reference is not None:
        return contents == command.reference
    lines = contents.decode().split("\n")
    return lines[0] == "id,age,job,pay,hours" and len(lines) == 62 and lines[-1] == "" and lines[60].startswith("p00059,")


def calls(directory, command, kind):
    """How many allocations or writes the command makes."""
    state = Snapshot(directory, command)
    count = os.path.join(directory, "..", "count")
    ppan(directory, *command.arguments, LD_PRELOAD=LIBRARY, PPAN_FAULT_KIND=kind, PPAN_FAULT_AT="0", PPAN_FAULT_COUNT=count)
    state.restore()
    return int(read(count))


class Snapshot:
    """The directory as it was, with an old file where the output goes."""

    def __init__(self, directory, command):
        self.directory = directory
        self.output = command.output and os.path.join(directory, command.output)
        if self.output and command.name != "audit":
            with open(self.output, "wb") as file:
                file.write(b"old")
        self.old = self.output and read(self.output)
        self.others = self.digests()

    def digests(self):
        found = {}
        for folder, _, names in os.walk(self.directory):
            for name in names:
                path = os.path.join(folder, name)
                if path != self.output:
                    found[path] = hashlib.sha256(read(path)).hexdigest()
        return found

    def restore(self):
        if self.output:
            with open(self.output, "wb") as file:
                file.write(self.old)


def faults_of(directory, command, kind, at, all_after=False):
    """What is wrong after the command ran with one fault; an empty list if nothing is."""
    state = Snapshot(directory, command)
    wrong = []
    try:
        result = ppan(directory, *command.arguments, LD_PRELOAD=LIBRARY, PPAN_FAULT_KIND=kind, PPAN_FAULT_AT=str(at),
                      PPAN_FAULT_ALL="1" if all_after else "0")
        if result.returncode not in (0, 4):
            wrong.append(f"status {result.returncode}: {result.stderr.decode(errors='replace')[-300:]}")
        if result.returncode == 4 and kind == "allocation" and b"memory" not in result.stderr:
            wrong.append(f"no word of memory: {result.stderr.decode(errors='replace')[-300:]}")
        if state.output:
            now = read(state.output) if os.path.exists(state.output) else None
            if now is None:
                wrong.append("the old file is lost")
            elif not whole(command, now) and now != state.old:
                wrong.append("the output is damaged")
            elif result.returncode == 0 and not whole(command, now):
                wrong.append("status 0 without an output")
    except subprocess.TimeoutExpired:
        wrong.append("it hangs")
    others = state.digests()
    if others != state.others:
        changed = {path for path in set(others) | set(state.others) if others.get(path) != state.others.get(path)}
        wrong.append(f"other files: {sorted(os.path.basename(path) for path in changed)}")
        for path in changed - set(state.others):
            os.remove(path)
    state.restore()
    return wrong
