"""What recipients of a table get at equal leakage, from each family of mechanisms, beside dropped columns: task AUC, associations, spikes, copied rows, the
certificate. Every number but the certificate and the time is taken by attackers and recipients of scikit-learn (bench/peers/table_recipient.py). What is said
"at a tenth" is said of what a user gets: `ppan pick --leakage` at a tenth of what the run found in the table itself, by what was found (--found), and beside
it by what the audit allows for, which is the default.

Tables: generated ones, and those of the job files in PPAN_TABLES (comma-separated, each with one category of two levels as roles.task). A third of the rows is
kept from the run. PPAN_FAMILIES names the families (comma-separated), PPAN_SEEDS how many seeds, PPAN_POINTS how many points. The last figure is the processor
time of a default curve of the first table over that of the noise-input family (PPAN_TIME=no leaves it out). PPAN_PYTHON names an interpreter with scikit-learn.
PPAN_CENSUS is how many rows the generated table has (30,000; 0: it is left out), PPAN_QUICK=yes takes small attackers for the runs' own audits. With
PPAN_TABLES_DIR=DIR what is finished stays in DIR, and a call with the same settings goes on from there: the whole takes hours.
"""

import csv
import hashlib
import json
import os
import pathlib
import random
import tomllib

import adult_like
from measure import Figure, say

PART = "Tables for recipients"
RECIPIENT = pathlib.Path(__file__).resolve().parent.parent / "peers" / "table_recipient.py"
BEST_LOSS = 0.02         # AUC, at a tenth of the original's leakage
LEAST_GAIN = 0.02        # AUC, over the best subset of dropped columns at no more leakage
ASSOCIATIONS = {"heads": 0.02, "codebook": 0.01}
CELLS = {"heads": 0.2}   # changed
SPIKES = 0.03            # at every point but the last two
BROKEN = 0.005           # rows that break a dependency
CERTIFICATE_GAP = 0.03   # nats, on 20,000 rows or more
CERTIFIED_ROWS = 20000
TOLD_APART = 0.75        # AUC, at half of the original's leakage
FAMILIES = ["heads", "codebook", "noise-input"]
MOST_TIME = 1.5          # of the noise-input family


class Task:
    """A table cut in two, with the job for the first part."""

    def __init__(self, context, name, rows, hide, task, more=()):
        self.name, self.hide, self.task = name, hide, task
        header, body = rows[0], list(rows[1:])
        random.Random(1).shuffle(body)
        cut = 2 * len(body) // 3
        self.fit, self.use, self.job = (context.scratch / f"{name}-{part}" for part in ("fit.csv", "use.csv", "job.toml"))
        for path, part in ((self.fit, body[:cut]), (self.use, body[cut:])):
            with open(path, "w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([header, *part])
        self.rows = cut
        context.run([context.executable("ppan"), "init", self.fit, "--sensitive", hide, "--task", task, "-o", self.job, "--force", *more])

    def arguments(self):
        return ["--fit", self.fit, "--use", self.use, "--hide", self.hide, "--task", self.task]


def given_table(context, path):
    job = tomllib.loads(path.read_text())
    with open((path.parent / job["data"]["source"]).resolve(), newline="") as file:
        return Task(context, path.stem, list(csv.reader(file)), job["roles"]["sensitive"][0], job["roles"]["task"][0])


def census(context, rows, seed):
    """An invented census; hidden: sex; task: income."""
    data = context.scratch / f"census-{rows}-{seed}.csv"
    with open(data, "w") as file:
        adult_like.write(file, rows, seed)
    with open(data, newline="") as file:
        return Task(context, "census", list(csv.reader(file)), "sex", "income")


def python(context):
    return os.environ.get("PPAN_PYTHON", context.python)


def curve(context, task, family, points, seed, *more):
    run = context.scratch / f"{task.name}-{family}-{seed}"
    context.run([context.executable("ppan"), "curve", task.job, "--out", run, "--force", "--quiet", "--points", points, "--seed", seed,
                 "--set", f"mechanism.family={family}", *more])
    out = context.scratch / f"{run.name}.json"
    context.run([python(context), RECIPIENT, "run", *task.arguments(), "--ppan", context.executable("ppan"), "--run", run, "--out", out])
    with open(run / "curve.csv", newline="") as file:
        certified = {row["label"]: row for row in csv.DictReader(file) if row["series"] == "ppan/table"} if family == "codebook" else {}
    found = json.loads(out.read_text())
    return [found["points"], found["picks"], list(certified.values())]


def once(context, name, of, work):
    """What `work` gives, as JSON; from PPAN_TABLES_DIR if it is there, by the same program and with the same settings `of`."""
    keep = os.environ.get("PPAN_TABLES_DIR")
    if not keep:
        return work()
    made_by = hashlib.sha256(pathlib.Path(context.executable("ppan")).read_bytes() + RECIPIENT.read_bytes() + repr(of).encode()).hexdigest()[:16]
    path = pathlib.Path(keep) / f"{name}-{made_by}.json"
    if not path.exists():
        result = work()
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(result))
        part.replace(path)
    return json.loads(path.read_text())


def dropped_columns(context, task):
    out = context.scratch / f"{task.name}-references.json"
    context.run([python(context), RECIPIENT, "references", *task.arguments(), "--out", out])
    return json.loads(out.read_text())


def figures(context):
    tables = [given_table(context, pathlib.Path(path)) for path in os.environ.get("PPAN_TABLES", "").split(",") if path]
    rows = 600 if context.smoke else int(os.environ.get("PPAN_CENSUS", "30000"))
    if rows > 0:
        tables.append(census(context, rows, 1))
    quick = ["--set", "audit.quick=true"]
    points, more = (2, ["--epochs", 2, *quick]) if context.smoke else (int(os.environ.get("PPAN_POINTS", "8")),
                                                                        quick if os.environ.get("PPAN_QUICK") == "yes" else [])
    families = [name for name in os.environ.get("PPAN_FAMILIES", ",".join(FAMILIES)).split(",") if name]
    seeds = 1 if context.smoke else int(os.environ.get("PPAN_SEEDS", "3"))
    for task in tables:
        say(f"tables: {task.name}, dropped columns")
        references = once(context, f"{task.name}-references", task.rows, lambda task=task: dropped_columns(context, task))
        for family in families:
            for seed in range(1, seeds + 1):
                say(f"tables: {task.name}, {family}, seed {seed}")
                found, picks, certified = once(context, f"{task.name}-{family}-{seed}", [task.rows, points, more],
                                        lambda task=task, family=family, seed=seed: curve(context, task, family, points, seed, *more))
                yield from of_run(found, picks, certified, references, task, family, f"{task.name}, {family}, seed {seed}")
    if tables and os.environ.get("PPAN_TIME", "yes") != "no":
        yield from time(context, tables[0], more)


def time(context, task, more):
    """Processor time of the default curve, against the family that was the default before."""
    seconds = {}
    for family in ("auto", "noise-input"):
        say(f"tables: time, {family}")
        run = context.scratch / f"time-{family}"
        done = context.run([context.executable("ppan"), "curve", task.job, "--out", run, "--force", "--quiet", "--set", f"mechanism.family={family}", *more])
        seconds[family] = done.cpu_seconds
    yield Figure(PART, f"{task.name}: processor time of the default curve, over that of noise-input", seconds["auto"] / max(seconds["noise-input"], 1e-9), "×",
                 bar=None if context.smoke else MOST_TIME, at_most=True, note=f"{seconds['auto']:.0f} against {seconds['noise-input']:.0f} s")


def at_share(points, original, share):
    """The point of the best AUC that leaks at most so much of the original; if there is none, the one that leaks least."""
    below = [p for p in points if p["leakage"] <= share * original["leakage"]]
    return max(below, key=lambda p: p["auc"]) if below else min(points, key=lambda p: p["leakage"])


def of_run(points, picks, certified, references, task, family, name):
    original, half = references["original"], at_share(points, references["original"], 0.5)
    labelled = {pick["label"]: pick for pick in picks}
    point = labelled.get("pick-found-0.1") or at_share(points, original, 0.1)
    at = f"{point['leakage']:.4f} ± {point['leakage_error']:.4f} nats of {original['leakage']:.4f}"
    yield Figure(PART, f"{name}: leakage of the pick", point["leakage"], "nats", bar=0.1 * original["leakage"] + point["leakage_error"], at_most=True,
                 note="the bar is a tenth of the original's and the interval")
    if "pick-0.1" in labelled:
        sure = labelled["pick-0.1"]
        yield Figure(PART, f"{name}: AUC lost by the pick that the audit vouches for", original["auc"] - sure["auc"], "",
                     note=f"{sure['leakage']:.4f} nats, {100 * sure['changed']:.1f} % of the cells changed, on released rows {sure['auc_released']:.4f}")
    yield Figure(PART, f"{name}: AUC lost at a tenth of the leakage", original["auc"] - point["auc"], "", bar=BEST_LOSS, at_most=True,
                 note=f"{point['auc']:.4f} against {original['auc']:.4f}, at {at}")
    allowed = max(point["leakage"], 0.1 * original["leakage"])
    dropped = max((d for d in references["dropped"] if d["leakage"] <= allowed), key=lambda d: d["auc"], default=None)
    if dropped is not None:
        yield Figure(PART, f"{name}: AUC above the best subset of dropped columns", point["auc"] - dropped["auc"], "", bar=LEAST_GAIN,
                     note=f"without {', '.join(dropped['without'])}: {dropped['auc']:.4f} at {dropped['leakage']:.4f} nats")
    inflated = max(p["auc_released"] - original["auc"] - p["auc_released_error"] for p in points)
    yield Figure(PART, f"{name}: AUC on released rows above the original's and the interval, at most", inflated, "", bar=0.0, at_most=True)
    falls = sorted(points, key=lambda p: p["leakage"])
    rises = max((a["auc"] - b["auc"] - a["auc_error"] for a, b in zip(falls, falls[1:])), default=0.0)
    yield Figure(PART, f"{name}: AUC lost where more leaks, beyond the interval", rises, "", bar=0.0, at_most=True)
    yield Figure(PART, f"{name}: associations, mean difference", point["associations"], "", bar=ASSOCIATIONS.get(family), at_most=True)
    yield Figure(PART, f"{name}: cells changed", point["changed"], "", bar=CELLS.get(family), at_most=True)
    yield Figure(PART, f"{name}: greatest change of a spike's share, all points but two", max((p["spikes"] for p in points[:-2]), default=0.0), "", bar=SPIKES,
                 at_most=True)
    yield Figure(PART, f"{name}: rows that break a dependency, at most", max(p["broken"] for p in points), "", bar=BROKEN, at_most=True)
    more = point["copied"] - point["copied_independent"]
    chance = 1.96 * (2 * point["copied_independent"] * (1 - point["copied_independent"]) / references["rows"][1]) ** 0.5
    yield Figure(PART, f"{name}: rows equal to a training row, beyond independent ones", more, "", bar=chance, at_most=True,
                 note=f"{point['copied']:.4f} against {point['copied_independent']:.4f}; the bar is what chance allows for")
    yield Figure(PART, f"{name}: rows with two values that no training row has together, beyond independent ones",
                 point["new_pairs"] - point["new_pairs_independent"], "", note=f"{point['new_pairs']:.4f} against {point['new_pairs_independent']:.4f}")
    yield Figure(PART, f"{name}: real against released rows at half of the leakage, AUC", half["told_apart"], "", bar=TOLD_APART, at_most=True)
    if certified:
        gaps = [float(row["leakage_upper"]) - float(row["leakage"]) for row in certified if row.get("leakage_upper")]
        if gaps:
            yield Figure(PART, f"{name}: certificate above what was found, at most", max(gaps), "nats",
                         bar=CERTIFICATE_GAP if task.rows >= CERTIFIED_ROWS else None, at_most=True)
