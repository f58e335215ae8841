#!/usr/bin/env python3
"""Attackers of other packages on the same rows as `ppan audit`: processor seconds, and what each finds.

    .venv-bench/bin/python attackers.py TABLE.csv --sensitive marital --ppan build/ppan [--drop y] [--rows N]

The release is the table without the sensitive column. As in an audit, half of the rows are learned from, a fifth chooses (rounds of boosting, by early
stopping) and the rest is tested. `held_out_nats` is entropy less log loss there. Two questions: how long until a peer's attacker finds as much as
ours of the same kind did (boosted trees; logistic regression), and how long all of them take together, which is what the audit does. The audit's
seconds are of the whole command: eight attackers, learning curve, power by planted leaks, groups, sources.
"""

import argparse
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
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

warnings.filterwarnings("ignore")


def audit(ppan, frame, released, sensitive, quick, scratch):
    frame.to_csv(scratch / "original.csv", index=False)
    released.to_csv(scratch / "released.csv", index=False)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run([ppan, "audit", "--original", scratch / "original.csv", "--released", scratch / "released.csv", "--sensitive", sensitive, "--json",
                    scratch / "audit.json", "--ignore-order", *(["--quick"] if quick else [])], check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = json.loads((scratch / "audit.json").read_text())["attributes"][0]
    return {"cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, "seconds": wall, "held_out_nats": found["leakage"]["nats"],
            "attackers": {a["name"]: a["leakage"]["nats"] for a in found["attackers"]}}


def peers(released):
    """{name: (pipeline, missing)}; each is what its documentation would have one write."""
    words = [c for c in released if not pd.api.types.is_numeric_dtype(released[c])]
    numbers = [c for c in released if c not in words]

    def encoded(model, one_hot):
        category = OneHotEncoder(handle_unknown="ignore") if one_hot else OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        return make_pipeline(make_column_transformer((category, words), (StandardScaler(), numbers), sparse_threshold=0), model)

    out = {"scikit-learn logistic regression": encoded(LogisticRegression(max_iter=500), True),
           "scikit-learn boosted trees": encoded(HistGradientBoostingClassifier(learning_rate=0.1, max_iter=200, early_stopping=True, random_state=0), False),
           "scikit-learn random forest": encoded(RandomForestClassifier(200, min_samples_leaf=5, n_jobs=1, random_state=0), False),
           "scikit-learn network": encoded(MLPClassifier((64, 64), early_stopping=True, max_iter=100, random_state=0), True)}
    missing = []
    try:
        from xgboost import XGBClassifier
        out["XGBoost"] = encoded(XGBClassifier(n_estimators=100, max_depth=4, learning_rate=0.1, tree_method="hist", n_jobs=1), False)
    except ImportError:
        missing.append("XGBoost")
    try:
        from lightgbm import LGBMClassifier
        out["LightGBM"] = encoded(LGBMClassifier(n_estimators=100, num_leaves=15, learning_rate=0.1, n_jobs=1, verbose=-1), False)
    except ImportError:
        missing.append("LightGBM")
    return out, missing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--sensitive", required=True)
    parser.add_argument("--drop", default="", help="columns not released, separated by commas")
    parser.add_argument("--ppan", required=True)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--quick", action="store_true", help="ppan audit --quick")
    given = parser.parse_args()
    frame = pd.read_csv(given.table, keep_default_na=False).sample(frac=1, random_state=1)[:given.rows].reset_index(drop=True)
    released = frame.drop(columns=[given.sensitive, *filter(None, given.drop.split(","))])
    with tempfile.TemporaryDirectory() as scratch:
        ours = audit(given.ppan, frame, released, given.sensitive, given.quick, pathlib.Path(scratch))
    x = pd.factorize(frame[given.sensitive], sort=True)[0]
    n = len(frame)
    learn, test = np.arange(n) < 0.7 * n, np.arange(n) >= 0.7 * n  # the peers hold out for early stopping within theirs
    prior = np.bincount(x[learn], minlength=x.max() + 1) / learn.sum()
    models, missing = peers(released)
    found = {}
    for name, model in models.items():
        start, wall = time.process_time(), time.perf_counter()
        model.fit(released[learn], x[learn])
        p = model.predict_proba(released[test])
        seconds = time.process_time() - start
        own = np.log(np.maximum(p[np.arange(len(p)), x[test]], 1e-12)) - np.log(prior[x[test]])
        found[name] = {"cpu_seconds": seconds, "seconds": time.perf_counter() - wall, "held_out_nats": float(own.mean()),
                       "error": float(2 * own.std() / np.sqrt(len(own)))}
    best = max(f["held_out_nats"] for f in found.values())
    print(json.dumps({"rows": n, "ours": ours, "peers": found, "missing": missing, "best_peer_nats": best,
                      "all_peers_cpu_seconds": sum(f["cpu_seconds"] for f in found.values())}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
