"""Records the numbers of small runs, to compare one build with another on one machine, bit for bit.

usage: bits.py record BUILD_DIRECTORY OUT.json    runs ppan and make_people of a build; about a minute
       bits.py compare BEFORE.json AFTER.json     prints what differs; status 1 if anything does

Results are the same for the same seed on one machine, so a change that is not meant to touch the numbers leaves every
value as it is. Values differ between processors: keep no record in the repository.
"""

import csv
import hashlib
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

# Times are measured anew in every run.
VOLATILE_COLUMNS = {"seconds"}

PAPER = {
    "discrete": ["--points", "2", "--epochs", "20"],
    "scalar-gaussian": ["--points", "2", "--epochs", "3"],
    "vector-gaussian": ["--points", "2", "--epochs", "2"],
    "rate-distortion": ["--points", "2", "--epochs", "2"],
    "scatter": ["--epochs", "2"],
}

TABLE_JOBS = {
    "auto": [],
    "noisy-code": ["--set", 'mechanism.family=noisy-code'],
}

IMAGE_JOB = """[data]
images = "bars-idx3-ubyte"
labels = "bars-idx1-ubyte"
[mechanism]
hidden = [24]
code_size = 4
[privacy]
points = 2
[train]
epochs = 10
batch = 50
[audit]
quick = true
"""
SIDE = 8


def write_bars(directory, count=400):
    """Images of a bar that lies or stands, which is the label."""
    source = random.Random(1)
    images, labels = [], []
    for _ in range(count):
        standing, at = source.randrange(2), source.randrange(2, SIDE - 2)
        rows = [[source.randrange(8) for _ in range(SIDE)] for _ in range(SIDE)]
        for i in range(SIDE):
            rows[i if standing else at][at if standing else i] = source.randrange(160, 256)
        images.append(bytes(value for row in rows for value in row))
        labels.append(standing)
    (directory / "bars-idx3-ubyte").write_bytes(struct.pack(">IIII", 0x803, count, SIDE, SIDE) + b"".join(images))
    (directory / "bars-idx1-ubyte").write_bytes(struct.pack(">II", 0x801, count) + bytes(labels))
    (directory / "images.toml").write_text(IMAGE_JOB)


def curve_numbers(path):
    """The rows of a curve.csv, as text, without what is measured by the clock."""
    with open(path, newline="") as file:
        return [{k: v for k, v in row.items() if k not in VOLATILE_COLUMNS} for row in csv.DictReader(file)]


def model_hashes(path):
    """SHA-256 of the parameters alone, and of the whole file with its description."""
    data = path.read_bytes()
    header = struct.unpack("<Q", data[:8])[0]
    return {"tensors": hashlib.sha256(data[8 + header:]).hexdigest(), "file": hashlib.sha256(data).hexdigest()}


def run_numbers(directory):
    out = {"curve": curve_numbers(directory / "curve.csv")}
    models = {path.name: model_hashes(path) for path in sorted(directory.glob("*.ppan"))}
    return out | ({"models": models} if models else {})


def record(build):
    ppan, make_people = str(build / "ppan"), str(build / "make_people")
    out = {}

    def run(name, *arguments):
        subprocess.run([ppan, *arguments, "--out", name, "--quiet"], cwd=work, check=True, stdout=subprocess.DEVNULL)
        out[name] = run_numbers(work / name)

    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        for name, options in PAPER.items():
            for preset in ("paper", "best"):
                run(f"{name}-{preset}", "paper", name, "--preset", preset, "--seed", "3", *options)
        with open(work / "people.csv", "wb") as file:
            subprocess.run([make_people, "800", "1"], check=True, stdout=file)
        subprocess.run([ppan, "init", "people.csv", "--sensitive", "condition", "-o", "job.toml"], cwd=work, check=True)
        for name, options in TABLE_JOBS.items():
            run(f"table-{name}", "curve", "job.toml", "--points", "3", "--epochs", "3", "--seed", "5", *options)
        write_bars(work)
        run("images", "curve", "images.toml")
    return out


def differences(before, after, path=""):
    """Lines that say where two records differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            yield from differences(before.get(key), after.get(key), f"{path}/{key}")
    elif isinstance(before, list) and isinstance(after, list):
        for i in range(max(len(before), len(after))):
            yield from differences(before[i] if i < len(before) else None, after[i] if i < len(after) else None,
                                   f"{path}/{i}")
    elif before != after:
        yield f"{path}: {before} -> {after}"


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("record", "compare"):
        print(__doc__, file=sys.stderr)
        return 2
    if sys.argv[1] == "record":
        result = record(pathlib.Path(sys.argv[2]).resolve())
        pathlib.Path(sys.argv[3]).write_text(json.dumps(result, indent=1))
        return 0
    before, after = (json.loads(pathlib.Path(p).read_text()) for p in sys.argv[2:])
    found = list(differences(before, after))
    print("\n".join(found) if found else "every number and every model is the same")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
