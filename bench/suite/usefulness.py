"""What recipients of a table get at equal leakage, from each family of mechanisms: task AUC, associations, spikes, copied rows, the certificate.

Tables: generated ones, and those of the job files in PPAN_TABLES (comma-separated, each with one category as roles.task). PPAN_FAMILIES names the families
(comma-separated), PPAN_SEEDS how many seeds. The last figure is the processor time of a default curve of the first table over that of the noise-input family.
Attackers and recipients are scikit-learn's where it is installed (PPAN_PYTHON names the interpreter); otherwise the figures of the run alone are shown.
"""

import csv
import json
import os
import pathlib
import subprocess
import tempfile

import adult_like
from measure import Figure, say

PART = "Tables for recipients"
RECIPIENT = pathlib.Path(__file__).resolve().parent.parent / "peers" / "table_recipient.py"
BEST_LOSS = 0.02         # AUC, at a tenth of the original's leakage
LEAST_GAIN = 0.02        # AUC, over the best subset of dropped columns at no more leakage
ASSOCIATIONS = {"heads": 0.02, "codebook": 0.01}
CELLS = {"heads": 0.2}   # changed
SPIKES = 0.03
CERTIFICATE_GAP = 0.03   # nats, on 20,000 rows or more
TOLD_APART = 0.75        # AUC, at half of the original's leakage
FAMILIES = ["heads", "codebook", "noise-input"]
MOST_TIME = 1.5          # of today's default


def generated_job(context, rows, seed):
    """An invented table of people with a task: their sport; hidden: their condition."""
    data = context.scratch / f"useful-{rows}-{seed}.csv"
    data.write_text(context.run([context.executable("make_people"), rows, seed]).out)
    job = context.scratch / f"useful-{rows}-{seed}.toml"
    context.run([context.executable("ppan"), "init", data, "--sensitive", "condition", "--task", "sport", "-o", job, "--force"])
    return job


def census_job(context, rows, seed):
    """An invented census; hidden: sex; task: income."""
    data, job = context.scratch / f"census-{rows}-{seed}.csv", context.scratch / f"census-{rows}-{seed}.toml"
    with open(data, "w") as file:
        adult_like.write(file, rows, seed)
    context.run([context.executable("ppan"), "init", data, "--sensitive", "sex", "--task", "income", "-o", job, "--force"])
    return job


def curve(context, job, family, points, seed, *more):
    run = context.scratch / f"{pathlib.Path(job).stem}-{family}-{seed}"
    context.run([context.executable("ppan"), "curve", job, "--out", run, "--force", "--quiet", "--points", points, "--seed", seed,
                 "--set", f"mechanism.family={family}", *more])
    with open(run / "curve.csv", newline="") as file:
        return run, list(csv.DictReader(file))


def number(row, column):
    return float(row[column]) if row.get(column) else None


def at_share(rows, share):
    """The unchanged table, the best point below so much of its leakage, and the best dropped subset that leaks no more than that point."""
    unchanged = next(row for row in rows if row["series"] == "reference/unchanged")
    limit = share * number(unchanged, "leakage")
    points = [row for row in rows if row["series"] == "ppan/table"]
    below = [row for row in points if number(row, "leakage") <= limit] or [min(points, key=lambda row: number(row, "leakage"))]
    point = max(below, key=lambda row: number(row, "task_score") or 0)
    allowed = max(number(point, "leakage_high"), limit)
    dropped = [row for row in rows if row["series"] == "reference/dropped" and number(row, "leakage") <= allowed]
    return unchanged, point, max(dropped, key=lambda row: number(row, "task_score"), default=None)


def recipient(context, run, point, job):
    """Measured by others, if scikit-learn is there."""
    python = os.environ.get("PPAN_PYTHON", context.python)
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run([python, str(RECIPIENT), str(context.executable("ppan")), str(run / point["model"]), str(job), scratch],
                              capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    return json.loads(done.stdout)


def figures(context):
    jobs = [pathlib.Path(path) for path in os.environ.get("PPAN_TABLES", "").split(",") if path]
    rows = 400 if context.smoke else 20000
    jobs += [generated_job(context, rows, 1), census_job(context, rows, 1)]
    points, more = (1, ["--epochs", 2, "--set", "audit.quick=true"]) if context.smoke else (8, [])
    families = [name for name in os.environ.get("PPAN_FAMILIES", ",".join(FAMILIES)).split(",") if name]
    seeds = 1 if context.smoke else int(os.environ.get("PPAN_SEEDS", "3"))
    for job in jobs:
        for family in families:
            for seed in range(1, seeds + 1):
                say(f"tables: {job.stem}, {family}, seed {seed}")
                run, found = curve(context, job, family, points, seed, *more)
                yield from of_run(context, run, found, job, family, f"{job.stem}, {family}, seed {seed}")
    yield from time(context, jobs[0], more)


def time(context, job, more):
    """Processor time of the default curve, against the family that was the default before."""
    seconds = {}
    for family in ("auto", "noise-input"):
        say(f"tables: time, {family}")
        run = context.scratch / f"time-{family}"
        done = context.run([context.executable("ppan"), "curve", job, "--out", run, "--force", "--quiet", "--set", f"mechanism.family={family}", *more])
        seconds[family] = done.cpu_seconds
    yield Figure(PART, f"{job.stem}: processor time of the default curve, over that of noise-input", seconds["auto"] / max(seconds["noise-input"], 1e-9), "×",
                 bar=None if context.smoke else MOST_TIME, at_most=True, note=f"{seconds['auto']:.0f} against {seconds['noise-input']:.0f} s")


def of_run(context, run, rows, job, family, name):
    unchanged, point, dropped = at_share(rows, 0.1)
    leakage, original, score = number(point, "leakage"), number(unchanged, "task_score"), number(point, "task_score")
    yield Figure(PART, f"{name}: task score lost at a tenth of the leakage", original - score, "", bar=BEST_LOSS, at_most=True,
                 note=f"{score:.3f} against {original:.3f}, at {leakage:.4f} nats of {number(unchanged, 'leakage'):.4f}")
    if dropped is not None:
        yield Figure(PART, f"{name}: above the best subset of dropped columns", score - number(dropped, "task_score"), "", bar=LEAST_GAIN,
                     note=dropped["label"])
    upper = number(point, "leakage_upper")
    if upper is not None and family == "codebook":
        yield Figure(PART, f"{name}: certificate above what was found", upper - leakage, "nats", bar=CERTIFICATE_GAP, at_most=True,
                     note=f"{upper:.4f}; for every distribution {number(point, 'leakage_upper_any_distribution') or 0:.4f}")
    seen = recipient(context, run, point, job)
    if seen is None:
        return
    yield Figure(PART, f"{name}: associations, mean difference", seen["associations"], "", bar=ASSOCIATIONS.get(family), at_most=True)
    yield Figure(PART, f"{name}: greatest change of a spike's share", seen["spikes"], "", bar=SPIKES, at_most=True)
    yield Figure(PART, f"{name}: leakage by scikit-learn", seen["leakage"], "nats", note=f"of {seen['leakage_original']:.4f}")
    yield Figure(PART, f"{name}: rows equal to another person's, beyond independent samples", seen["copied"] - seen["copied_independent"], "",
                 bar=0.0, at_most=True, note=f"{seen['copied']:.4f} against {seen['copied_independent']:.4f}")
    yield Figure(PART, f"{name}: real against released rows, AUC of a classifier", seen["distinguished"], "")
    yield Figure(PART, f"{name}: cells changed", seen["changed"], "", bar=CELLS.get(family), at_most=True)
    _, half, _ = at_share(rows, 0.5)
    seen = recipient(context, run, half, job)
    if seen is not None:
        yield Figure(PART, f"{name}: real against released rows at half of the leakage, AUC", seen["distinguished"], "", bar=TOLD_APART, at_most=True)
