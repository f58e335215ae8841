"""How the suite measures: processes with their time and memory, interleaved repeats, ratios of medians, verdicts."""

import dataclasses
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile


class Refused(Exception):
    """A comparison that would not be fair, or a run that failed."""


@dataclasses.dataclass
class Run:
    """One finished process."""

    seconds: float  # wall clock
    cpu_seconds: float
    peak_megabytes: float
    out: str

    def json(self):
        return json.loads(self.out)


# A process begins with the peak memory of the one that started it, which here has PyTorch and tables in it. So a small one
# starts and measures the command.
LAUNCHER = """
import json, os, sys, time
start = time.perf_counter()
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
seconds = time.perf_counter() - start
with os.fdopen(int(sys.argv[1]), "w") as out:
    json.dump([seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)], out)
"""


def run(command, environment=None):
    """Runs a command to its end; raises Refused with what it said if it fails."""
    command = [str(word) for word in command]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err, tempfile.TemporaryFile("w+") as measured:
        launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, str(measured.fileno()), *command]
        started = subprocess.run(launcher, stdin=subprocess.DEVNULL, stdout=out, stderr=err, check=False,
                                 pass_fds=[measured.fileno()], env={**os.environ, **(environment or {})})
        for file in (out, err, measured):
            file.seek(0)
        if started.returncode != 0:
            raise Refused(f"'{' '.join(command)}' could not be started: {err.read().strip()[-2000:]}")
        seconds, processor_seconds, megabytes, status = json.load(measured)
        if status != 0:
            raise Refused(f"'{' '.join(command)}' ended with status {status}: {err.read().strip()[-2000:]}")
        return Run(seconds, processor_seconds, megabytes, out.read())


def interleaved(repeats, jobs):
    """{name: [result of each repeat]}; every repeat runs each job once, so that a change of the machine's load meets them all."""
    results = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            results[name].append(job())
    return results


@dataclasses.dataclass
class Figure:
    """One line of the table. `bar` is what it has to reach: at least, or with `at_most` at most."""

    part: str
    what: str
    value: float
    unit: str
    spread: tuple = None  # least and greatest over the repeats
    bar: float = None
    at_most: bool = False
    note: str = ""
    missing: bool = False  # a peer that could not be installed or run: neither met nor missed

    def met(self):
        if self.bar is None or self.missing:
            return None
        return self.value <= self.bar if self.at_most else self.value >= self.bar

    def as_json(self):
        return {**dataclasses.asdict(self), "met": self.met()}


def ratio(part, what, slow, fast, **more):
    """How many times longer `slow` took than `fast`: ratio of medians; spread over the repeats, pair by pair."""
    each = [a / b for a, b in zip(slow, fast)]
    return Figure(part, what, statistics.median(slow) / statistics.median(fast), "×", (min(each), max(each)), **more)


def require_openblas(who, libraries):
    """Reference BLAS is many times slower: whoever uses it is no fair side of a comparison."""
    if any("openblas" in name.lower() for name in libraries):
        return
    raise Refused(f"{who} does not use OpenBLAS but {', '.join(libraries) or 'no BLAS that can be seen'}; nothing is compared\n"
                  "  fix: install libopenblas0-pthread and choose it: update-alternatives --config libblas.so.3-x86_64-linux-gnu")


def kernels_of(description):
    """The kernels OpenBLAS has chosen, from its description: 'OpenBLAS 0.3.21 ... SkylakeX MAX_THREADS=64'."""
    words = [word for word in description.split()[2:] if "=" not in word and word != word.upper()]
    return words[-1] if words else ""


def machine():
    names = [line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
             if line.startswith("model name")]
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    vectors = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "SSE"
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"cpu": names[0] if names else platform.processor(), "cores": os.cpu_count(), "vectors": vectors,
            "memory_gib": round(memory), "system": platform.platform(terse=True), "load_before": os.getloadavg()[0]}


def number(value):
    """Three digits, without an exponent."""
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{digits}f}"


def heading(machine_description):
    m = machine_description
    load = f", load {m['load_before']:.1f} before and {m['load_after']:.1f} after" if "load_after" in m else ""
    clock = ("Times are processor time over the threads in use, because others kept the machine busy"
             if m.get("clock") == "processor" else "Times are wall-clock time")
    return (f"{m['cpu']}, {m['cores']} cores, {m['vectors']}, {m['memory_gib']} GiB{load}. {clock}. Ratios are of medians over interleaved "
            "repeats; in brackets the least and the greatest of the repeats.")


def line(figure):
    spread = f" [{number(figure.spread[0])}–{number(figure.spread[1])}]" if figure.spread else ""
    bar = "" if figure.bar is None else f"{'≤' if figure.at_most else '≥'} {number(figure.bar)}"
    verdict = {None: "", True: "met", False: "MISSED"}[figure.met()]
    if figure.missing:
        return f"| {figure.what} | missing | {bar} | {figure.note} |"
    note = " ".join(filter(None, [verdict, f"({figure.note})" if verdict and figure.note else figure.note]))
    return f"| {figure.what} | {number(figure.value)} {figure.unit}{spread} | {bar} | {note} |"


def markdown(machine_description, figures):
    """A table for each part."""
    lines = [heading(machine_description), ""]
    for part in dict.fromkeys(figure.part for figure in figures):
        lines += [f"| {part} | measured | bar | |", "|---|---|---|---|"]
        lines += [line(figure) for figure in figures if figure.part == part] + [""]
    return "\n".join(lines)


BEGIN, END = "<!-- script/bench --readme writes from here -->", "<!-- to here -->"


def into_page(page, machine_description, figures):
    """The page with every figure that has a bar between its two marks."""
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(END) < page.index(BEGIN):
        raise Refused(f"the page has no place for the table: a line '{BEGIN}' and behind it a line '{END}'")
    head, rest = page.split(BEGIN)
    table = [heading(machine_description), "", "| | measured | bar | |", "|---|---|---|---|"]
    judged = [figure for figure in figures if figure.bar is not None]
    for part in dict.fromkeys(figure.part for figure in judged):
        table += [f"| **{part}** | | | |", *(line(figure) for figure in judged if figure.part == part)]
    return "\n".join([head + BEGIN, *table, END + rest.split(END)[1]])


def write(path, text):
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".part")
    beside.write_text(text)
    beside.replace(path)


def say(text):
    print(text, file=sys.stderr, flush=True)
