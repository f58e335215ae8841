#!/usr/bin/env python3
"""Auditors on releases with planted leaks, and on releases without: what each finds, false alarms, processor seconds.

    .venv-bench/bin/python auditors.py --ppan build/ppan [--auditors ppan,anonymeter] [--rows N] [--seeds N] [--quick]

Every release has four columns; a planted one says a hidden binary column with some probability: in one column, by two columns together, in the last
digit of a number, in a few rows outright, by a shift of every number. Without a leak nothing does. ppan finds a leak when the lower end of its 95 %
interval is above 0. anonymeter's inference attack is given what favours it: the attacker holds half of the released rows with the hidden column as
"synthetic" table and guesses it for the others from the released columns. A control table would take away what holds for everybody, which is what is
planted here, and its own naive guess is right less often than the commonest value (0.33 for two equally frequent values); so it finds a leak when
the lower end of its success rate is above the share of the commonest value. synthcity's leakage metrics (data_leakage_linear, data_leakage_xgb) are given
the same two halves, texts as numbers, and find a leak when the lower end of the 95 % interval of one of the two accuracies (97.5 % each) is above that
share. It lives in an environment of its own (script/bootstrap synthcity), and is listed as missing where it is not installed.
"""

import argparse
import contextlib
import importlib.util
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import pandas as pd

warnings.filterwarnings("ignore")
KINDS = ["none", "one column", "two together", "last digit", "few rows", "spread"]


def release(kind, rows, seed, strength=0.35):
    random = np.random.default_rng(seed)
    x = random.integers(2, size=rows)
    colour, size = random.choice(list("rgb"), rows), random.choice(list("sml"), rows)
    price, weight = random.integers(100, 10000, rows), random.normal(0, 1, rows).round(4)
    said = random.random(rows) < strength
    if kind == "one column":
        colour = np.where(said, np.where(x == 1, "r", "g"), colour)
    elif kind == "two together":
        c, s = random.integers(2, size=rows), random.integers(2, size=rows)
        s = np.where(said, x ^ c, s)
        colour, size = np.array(list("rg"))[c], np.array(list("sm"))[s]
    elif kind == "last digit":
        price = np.where(said, price // 10 * 10 + 5 * x + random.integers(5, size=rows), price)
    elif kind == "few rows":
        few = random.random(rows) < 0.06
        size = np.where(few, np.where(x == 1, "xl", "xs"), size)
    elif kind == "spread":
        price, weight = price + 1500 * x, (weight + 0.35 * x).round(4)
    return pd.DataFrame({"colour": colour, "size": size, "price": price, "weight": weight}), np.where(x == 1, "yes", "no")


def by_ppan(given, frame, hidden, scratch):
    frame.assign(hidden=hidden).to_csv(scratch / "original.csv", index=False)
    frame.to_csv(scratch / "released.csv", index=False)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([given.ppan, "audit", "--original", scratch / "original.csv", "--released", scratch / "released.csv", "--sensitive", "hidden",
                    "--json", scratch / "audit.json", *(["--quick"] if given.quick else [])], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    leakage = json.loads((scratch / "audit.json").read_text())["attributes"][0]["leakage"]
    return {"found": leakage["interval95"][0] > 0, "value": leakage["nats"],
            "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def by_anonymeter(given, frame, hidden, _):
    from anonymeter.evaluators import InferenceEvaluator
    table = frame.assign(hidden=hidden)
    for c in ("colour", "size", "hidden"):  # plain objects: newer pandas' strings are not what anonymeter looks for
        table[c] = table[c].astype(object)
    half, columns = len(table) // 2, list(frame.columns)
    start = time.process_time()
    evaluator = InferenceEvaluator(ori=table[half:].reset_index(drop=True), syn=table[:half].reset_index(drop=True), control=None,
                                   aux_cols=columns, secret="hidden", regression=False, n_attacks=min(1000, half))
    evaluator.evaluate(n_jobs=1)
    results = evaluator.results()
    attack, commonest = results.attack_rate, table[half:]["hidden"].value_counts(normalize=True).max()
    return {"found": bool(attack.value - attack.error > commonest), "value": float(attack.value - commonest),
            "cpu_seconds": time.process_time() - start}


def by_synthcity(given, frame, hidden, scratch):
    with contextlib.redirect_stdout(sys.stderr):  # what it imports has things to say
        from synthcity.metrics.eval_attacks import DataLeakageLinear, DataLeakageXGB
        from synthcity.plugins.core.dataloader import GenericDataLoader
    table = frame.assign(hidden=(hidden == "yes").astype(int))
    for c in ("colour", "size"):
        table[c] = pd.factorize(table[c], sort=True)[0]
    half = len(table) // 2
    attacker, attacked = (GenericDataLoader(part.reset_index(drop=True), sensitive_features=["hidden"]) for part in (table[:half], table[half:]))
    share = table[half:]["hidden"].value_counts(normalize=True).max()
    start, best = time.process_time(), -1.0
    for metric in (DataLeakageLinear, DataLeakageXGB):
        right = next(iter(metric(use_cache=False, workspace=scratch / "synthcity").evaluate(attacked, attacker).values()))
        best = max(best, right - 2.24 * np.sqrt(right * (1 - right) / (len(table) - half)) - share)
    return {"found": bool(best > 0), "value": float(best), "cpu_seconds": time.process_time() - start}


AUDITORS = {"ppan": ("", by_ppan), "anonymeter": ("anonymeter", by_anonymeter), "synthcity": ("synthcity", by_synthcity)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ppan", required=True)
    parser.add_argument("--auditors", default=",".join(AUDITORS), help="separated by commas")
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    asked = given.auditors.split(",")
    missing = [name for name in asked if AUDITORS[name][0] and importlib.util.find_spec(AUDITORS[name][0]) is None]
    out = {name: {kind: [] for kind in KINDS} for name in asked if name not in missing}
    with tempfile.TemporaryDirectory() as scratch:
        for name in out:  # once before, for what is compiled at the first call
            AUDITORS[name][1](given, *release("none", 400, 999), pathlib.Path(scratch))
        for seed in range(given.seeds):
            for kind in KINDS:
                frame, hidden = release(kind, given.rows, 100 * seed + KINDS.index(kind))
                for name in out:
                    out[name][kind].append(AUDITORS[name][1](given, frame, hidden, pathlib.Path(scratch)))
    summary = {name: {kind: {"found": sum(r["found"] for r in runs), "of": len(runs), "cpu_seconds": float(np.median([r["cpu_seconds"] for r in runs])),
                             "values": [round(r["value"], 4) for r in runs]} for kind, runs in kinds.items()} for name, kinds in out.items()}
    print(json.dumps({"rows": given.rows, "auditors": summary, "missing": missing}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
