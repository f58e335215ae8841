#!/usr/bin/env python3
"""Attackers of other packages on the same rows as those of `ppan audit`: processor seconds, and what each finds.

    .venv-bench/bin/python attackers.py TABLE.csv --sensitive marital --ppan build/ppan --attack build/bench/kernels/bench_attack_file [--drop y] [--rows N]

The release is the table without the sensitive column. Half of the rows are learned from, a fifth chooses (rounds of boosting, by early stopping) and the
rest is tested. `held_out_nats` is entropy less log loss there. `same`: each kind of attacker by ppan and by the peers, on the same matrix (numbers
standardised, categories one-hot), processor seconds of fitting and answering alone. `audit`: the whole command, which fits nine kinds, some of them
several times, for learning curve, power by planted leaks, groups and sources.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # one thread each; waiting ones would be counted as work
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from sklearn.compose import make_column_transformer  # noqa: E402
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.neural_network import MLPClassifier  # noqa: E402
from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: E402

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


def encoded(released):
    """Numbers standardised, categories one-hot: what all attackers are given."""
    words = [c for c in released if not pd.api.types.is_numeric_dtype(released[c])]
    numbers = [c for c in released if c not in words]
    transform = make_column_transformer((OneHotEncoder(), words), (StandardScaler(), numbers), sparse_threshold=0)
    return np.ascontiguousarray(transform.fit_transform(released), dtype=np.float32)


def peers():
    """{name: (kind, model, whether it stops early by rows it is given)}, each as its documentation would have one write it, and what is missing."""
    out = {"scikit-learn LogisticRegression": ("logistic regression", LogisticRegression(max_iter=500), False),
           "scikit-learn HistGradientBoosting": ("boosted trees", HistGradientBoostingClassifier(learning_rate=0.1, max_iter=500, early_stopping=True, random_state=0), False),
           "scikit-learn RandomForest": ("random forest", RandomForestClassifier(200, min_samples_leaf=5, n_jobs=1, random_state=0), False),
           "scikit-learn MLP": ("small network", MLPClassifier((64,), early_stopping=True, max_iter=100, random_state=0), False)}
    missing = []
    try:
        from xgboost import XGBClassifier
        out["XGBoost"] = ("boosted trees", XGBClassifier(n_estimators=500, max_depth=4, learning_rate=0.1, tree_method="hist", n_jobs=1, early_stopping_rounds=10), True)
    except ImportError:
        missing.append("XGBoost")
    try:
        from lightgbm import LGBMClassifier, early_stopping
        model = LGBMClassifier(n_estimators=500, num_leaves=15, learning_rate=0.1, n_jobs=1, verbose=-1)
        out["LightGBM"] = ("boosted trees", model, {"callbacks": [early_stopping(10, verbose=False)]})
    except ImportError:
        missing.append("LightGBM")
    return out, missing


def fitted(model, stops, z, x, parts):
    learn, choose, test = parts
    start = time.process_time()
    if stops is False:  # holds rows out by itself, or needs none
        model.fit(z[learn | choose], x[learn | choose])
    else:
        more = {"verbose": False} if stops is True else stops
        model.fit(z[learn], x[learn], eval_set=[(z[choose], x[choose])], **more)
    p = model.predict_proba(z[test])
    seconds = time.process_time() - start
    share = np.bincount(x[test], minlength=x.max() + 1) / test.sum()
    gain = np.log(np.maximum(p[np.arange(len(p)), x[test]], 1e-12)) - np.log(share[x[test]])
    return {"cpu_seconds": seconds, "held_out_nats": float(gain.mean()), "error": float(2 * gain.std() / np.sqrt(len(gain)))}


def ours(executable, z, x, parts, scratch):
    learn, choose, _ = parts
    np.column_stack([z, x]).astype(np.float32).tofile(scratch / "rows")
    words = [executable, scratch / "rows", z.shape[1], x.max() + 1, learn.sum(), choose.sum()]
    return json.loads(subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--sensitive", required=True)
    parser.add_argument("--drop", default="", help="columns not released, separated by commas")
    parser.add_argument("--ppan", required=True)
    parser.add_argument("--attack", required=True, help="the executable bench_attack_file")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="ppan audit --quick")
    given = parser.parse_args()
    frame = pd.read_csv(given.table, keep_default_na=False).sample(frac=1, random_state=1)[:given.rows].reset_index(drop=True)
    released = frame.drop(columns=[given.sensitive, *filter(None, given.drop.split(","))])
    z, x, n = encoded(released), pd.factorize(frame[given.sensitive], sort=True)[0], len(frame)
    at = np.arange(n)
    parts = at < n // 2, (at >= n // 2) & (at < 7 * n // 10), at >= 7 * n // 10
    models, missing = peers()
    same = {kind: {} for kind in dict.fromkeys(kind for kind, *_ in models.values())}
    with tempfile.TemporaryDirectory() as scratch:
        whole = audit(given.ppan, frame, released, given.sensitive, given.quick, pathlib.Path(scratch))
        for _ in range(given.repeats):
            mine = ours(given.attack, z, x, parts, pathlib.Path(scratch))
            for kind in same:
                same[kind].setdefault("ppan", []).append(mine[kind])
            for name, (kind, model, stops) in models.items():
                same[kind].setdefault(name, []).append(fitted(model, stops, z, x, parts))
    together = sum(float(np.median([r["cpu_seconds"] for r in runs])) for kind in same.values() for name, runs in kind.items() if name != "ppan")
    print(json.dumps({"rows": n, "features": z.shape[1], "audit": whole, "same": same, "missing": missing, "all_peers_cpu_seconds": together}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
