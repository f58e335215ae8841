"""Tables: release against pandas with PyTorch and against parsing and writing alone; memory as files grow; audits as rows grow."""

import os
import shutil
import statistics

from measure import Figure, ratio, say

COLUMNS = ["age", "education", "job", "region", "income", "hours", "car", "sport"]
HIDDEN = "64,64"  # the default of a table mechanism


def people(context, rows, seed):
    """An invented table of the example's columns."""
    path = context.scratch / f"people-{rows}-{seed}.csv"
    if not path.exists():
        path.write_text(context.run([context.executable("make_people"), rows, seed]).out)
    return path


def repeated(context, path, times):
    """The same rows over and over, under one header."""
    grown = context.scratch / f"{path.stem}-x{times}.csv"
    header, rows = path.read_bytes().split(b"\n", 1)
    with open(grown, "wb") as file:
        file.write(header + b"\n")
        for _ in range(times):
            file.write(rows)
    return grown


def model(context):
    """A trained mechanism for the table, made once."""
    run = context.scratch / "run"
    if not run.exists():
        say("tables: training a model")
        job = context.scratch / "job.toml"
        context.run([context.executable("ppan"), "init", people(context, 4000, 1), "--sensitive", "condition", "-o", job, "--force"])
        more = ["--epochs", 2] if context.smoke else []
        context.run([context.executable("ppan"), "curve", job, "--out", run, "--points", 1, "--quiet", *more])
    return run / "point-01.ppan"


def release_command(context, table, out, *more):
    return [context.executable("ppan"), "release", model(context), table, "-o", out, "--quiet", *more]


def release(context):
    trained, learn = model(context), people(context, 4000, 1)
    table = people(context, 2000 if context.smoke else 1_000_000, 2)
    megabytes, rows = table.stat().st_size / 1e6, table.read_bytes().count(b"\n") - 1
    out = context.scratch / "released.csv"
    say("release")

    # Processor time says nothing about threads that wait for one another: then everybody gets one.
    cores = os.cpu_count() if context.clock == "wall" else 1

    def ours():
        return context.run(release_command(context, table, out, "--threads", cores))

    def copy():
        return context.run([context.executable("bench_csv_copy"), table, out, *COLUMNS, "--threads", cores])

    jobs = {"ours": ours, "copy": copy}

    def theirs(threads):
        return context.peer("release_peer.py", learn, table, out, "--columns", ",".join(COLUMNS), "--hidden", HIDDEN, "--threads", threads)

    if context.peers:
        threads = context.faster_threads("release", lambda threads: context.seconds(theirs(threads)))
        jobs["theirs"] = lambda: theirs(threads if context.clock == "wall" else 1)
    results = context.interleaved(jobs, most=3)
    mine = [context.seconds(r) for r in results["ours"]]
    middle = statistics.median(mine)
    yield Figure("Release, CSV to CSV", f"{rows:,} rows, {megabytes:.1f} MB in", megabytes / middle, "MB/s",
                 (megabytes / max(mine), megabytes / min(mine)), note=f"{rows / middle:,.0f} rows/s")
    if context.peers:
        peer = [context.seconds(r) for r in results["theirs"]]
        # The bar is for the cores there are; what one core each does is only told.
        yield ratio("Release, CSV to CSV", f"pandas + PyTorch, without its start and imports; {cores} of {os.cpu_count()} cores", peer, mine,
                    bar=10 if cores == os.cpu_count() and not context.smoke else None,
                    note=f"{middle:.2f} against {statistics.median(peer):.2f} s")
    copied = [context.seconds(r) for r in results["copy"]]
    share = [100 * c / m for c, m in zip(copied, mine)]
    yield Figure("Release, CSV to CSV", "share of the speed of only parsing and writing", 100 * statistics.median(copied) / middle, "%",
                 (min(share), max(share)), bar=None if context.smoke else 40, note=f"{statistics.median(copied):.2f} s alone")
    yield from memory(context, trained)


def memory(context, trained):
    """Peak memory as the table grows 10 and 100 times."""
    say("release: memory")
    base = people(context, 200 if context.smoke else 20_000, 2)
    out = context.scratch / "released.csv"
    peaks = {}
    for times in (1, 10, 100):
        table = repeated(context, base, times)
        peaks[times] = context.run(release_command(context, table, out)).peak_megabytes
        table.unlink()
    yield Figure("Release, CSV to CSV", "peak memory at 100 times the rows", peaks[100] / peaks[1], "× that at 1",
                 bar=None if context.smoke else 1.5, at_most=True,
                 note=", ".join(f"{base.stat().st_size * t / 1e6:.0f} MB: {peak:.0f} MB" for t, peak in peaks.items()))


def audit(context):
    """The whole attack suite on a release, as the rows grow."""
    say("audit")
    sizes = (400, 800) if context.smoke else (2000, 8000, 32000)
    commands = {}
    for rows in sizes:
        table, out = people(context, rows, 3), context.scratch / f"released-{rows}.csv"
        context.run(release_command(context, table, out))
        commands[rows] = [context.executable("ppan"), "audit", "--aligned", "--original", table, "--released", out, "--sensitive", "condition",
                          "--json", "-"]
    results = context.interleaved({rows: lambda c=c: context.run(c) for rows, c in commands.items()}, most=3)
    seconds = {rows: statistics.median(context.seconds(r, os.cpu_count()) for r in runs) for rows, runs in results.items()}
    peak = {rows: max(r.peak_megabytes for r in runs) for rows, runs in results.items()}
    growth = seconds[sizes[-1]] / seconds[sizes[0]]
    yield Figure("Audit", f"time at {sizes[-1] / sizes[0]:.0f} times the rows", growth, f"× that at {sizes[0]:,}",
                 note=", ".join(f"{rows:,} rows: {s:.1f} s, {peak[rows]:.0f} MB" for rows, s in seconds.items()))


def start(context):
    """How long the command takes to say something, against a bare process and against importing PyTorch."""
    say("start")
    trained, binary = model(context), context.executable("ppan")
    commands = {"true": [shutil.which("true")], "version": [binary, "--version"], "show": [binary, "show", trained]}
    repeats = 2 if context.smoke else 21
    results = context.interleaved({name: lambda c=c: context.run(c) for name, c in commands.items()}, exactly=repeats)
    times = {name: [1e3 * context.seconds(r) for r in runs] for name, runs in results.items()}
    if context.peers:
        imports = context.interleaved({"torch": lambda: context.run([context.python, "-c", "import torch"])}, most=3)["torch"]
    for name, words in (("version", "ppan --version"), ("show", "ppan show MODEL")):
        middle = statistics.median(times[name])
        note = f"an empty process: {statistics.median(times['true']):.1f} ms"
        if context.peers:
            note += f"; importing PyTorch: {1e3 * statistics.median(map(context.seconds, imports)):,.0f} ms"
        yield Figure("Start", words, middle, "ms", (min(times[name]), max(times[name])), note=note)

