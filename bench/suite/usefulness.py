"""What recipients of a table get at equal leakage: task AUC, associations, spikes, copied rows, the certificate.

Tables: generated ones, and the CSV files named in PPAN_TABLES (comma-separated JOB files whose roles.task names one category).
Attackers and recipients are scikit-learn's where it is installed (PPAN_PYTHON names the interpreter); otherwise the figures of the run alone are shown.
"""

import csv
import json
import os
import pathlib
import subprocess
import tempfile

from measure import Figure, say

PART = "Tables for recipients"
RECIPIENT = pathlib.Path(__file__).resolve().parent.parent / "peers" / "table_recipient.py"
BEST_LOSS = 0.02         # AUC, at a tenth of the original's leakage
LEAST_GAIN = 0.02        # AUC, over the best subset of dropped columns at no more leakage
ASSOCIATIONS = 0.01
SPIKES = 0.03
CERTIFICATE_GAP = 0.03   # nats, on 20,000 rows or more


def generated_job(context, rows, seed):
    """An invented table of people with a task: their sport; hidden: their condition."""
    data = context.scratch / f"useful-{rows}-{seed}.csv"
    data.write_text(context.run([context.executable("make_people"), rows, seed]).out)
    job = context.scratch / f"useful-{rows}-{seed}.toml"
    context.run([context.executable("ppan"), "init", data, "--sensitive", "condition", "--task", "sport", "-o", job, "--force"])
    return job


def curve(context, job, points, seed, *more):
    run = context.scratch / f"{pathlib.Path(job).stem}-run-{seed}"
    context.run([context.executable("ppan"), "curve", job, "--out", run, "--force", "--quiet", "--points", points, "--seed", seed,
                 "--set", "mechanism.family=codebook", *more])
    with open(run / "curve.csv", newline="") as file:
        return run, list(csv.DictReader(file))


def number(row, column):
    return float(row[column]) if row.get(column) else None


def at_tenth(rows):
    """The unchanged table, the point nearest below a tenth of its leakage, and the best dropped subset that leaks no more than that point."""
    unchanged = next(row for row in rows if row["series"] == "reference/unchanged")
    limit = 0.1 * number(unchanged, "leakage")
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
    jobs.append(generated_job(context, rows, 1))
    points, more = (1, ["--epochs", 2, "--set", "audit.quick=true"]) if context.smoke else (8, [])
    for job in jobs:
        for seed in (1,) if context.smoke else (1, 2, 3):
            say(f"tables: {job.stem}, seed {seed}")
            run, found = curve(context, job, points, seed, *more)
            yield from of_run(context, run, found, job, f"{job.stem}, seed {seed}")


def of_run(context, run, rows, job, name):
    unchanged, point, dropped = at_tenth(rows)
    leakage, original, score = number(point, "leakage"), number(unchanged, "task_score"), number(point, "task_score")
    yield Figure(PART, f"{name}: task score lost at a tenth of the leakage", original - score, "", bar=BEST_LOSS, at_most=True,
                 note=f"{score:.3f} against {original:.3f}, at {leakage:.4f} nats of {number(unchanged, 'leakage'):.4f}")
    if dropped is not None:
        yield Figure(PART, f"{name}: above the best subset of dropped columns", score - number(dropped, "task_score"), "", bar=LEAST_GAIN,
                     note=dropped["label"])
    upper = number(point, "leakage_upper")
    if upper is not None:
        yield Figure(PART, f"{name}: certificate above what was found", upper - leakage, "nats", bar=CERTIFICATE_GAP, at_most=True,
                     note=f"{upper:.4f}; for every distribution {number(point, 'leakage_upper_any_distribution') or 0:.4f}")
    seen = recipient(context, run, point, job)
    if seen is None:
        return
    yield Figure(PART, f"{name}: associations, mean difference", seen["associations"], "", bar=ASSOCIATIONS, at_most=True)
    yield Figure(PART, f"{name}: greatest change of a spike's share", seen["spikes"], "", bar=SPIKES, at_most=True)
    yield Figure(PART, f"{name}: leakage by scikit-learn", seen["leakage"], "nats", note=f"of {seen['leakage_original']:.4f}")
    yield Figure(PART, f"{name}: rows equal to another person's, beyond independent samples", seen["copied"] - seen["copied_independent"], "",
                 bar=0.0, at_most=True, note=f"{seen['copied']:.4f} against {seen['copied_independent']:.4f}")
    yield Figure(PART, f"{name}: real against released rows, AUC of a classifier", seen["distinguished"], "")
    yield Figure(PART, f"{name}: cells changed", seen["changed"], "")
