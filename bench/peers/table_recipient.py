#!/usr/bin/env python3
"""What others see of a release: usage: table_recipient.py PPAN MODEL JOB SCRATCH. Prints JSON; status 77 without scikit-learn.

Half of the rows are the recipient's and the attacker's own, the other half tests them. The rows that trained the model are among both, as they
are for a custodian who releases the table the model was trained on.
"""

import json
import pathlib
import subprocess
import sys
import tomllib

try:
    import numpy as np
    import pandas as pd
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score
except ImportError:
    sys.exit(77)

SPIKE = 0.05  # share of the rows that makes a value a spike


def trees(categorical):
    return HistGradientBoostingClassifier(max_iter=150, learning_rate=0.06, categorical_features=categorical, random_state=0)


def leakage(features, categorical, x, mine):
    model = trees(categorical).fit(features[mine], x[mine])
    share = np.bincount(x[~mine], minlength=x.max() + 1) / (~mine).sum()
    scores = np.log(np.maximum(model.predict_proba(features[~mine]), 1e-12))
    order = {level: i for i, level in enumerate(model.classes_)}
    own = scores[np.arange(len(scores)), [order[level] for level in x[~mine]]]
    return float(own.mean() - np.log(share[x[~mine]]).mean())


def associations(codes):
    """Cramer's V of every pair."""
    out = []
    for i in range(len(codes)):
        for j in range(i):
            table = pd.crosstab(codes[i], codes[j]).to_numpy().astype(float)
            expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
            out.append(np.sqrt(((table - expected) ** 2 / expected).sum() / table.sum() / max(1, min(table.shape) - 1)))
    return np.array(out)


def main():
    ppan, model, job_path, scratch = sys.argv[1:5]
    job = tomllib.loads(pathlib.Path(job_path).read_text())
    source = (pathlib.Path(job_path).parent / job["data"]["source"]).resolve()
    released_path = pathlib.Path(scratch) / "released.csv"
    subprocess.run([ppan, "release", model, str(source), "-o", str(released_path), "--quiet", "--force"], check=True)
    delimiter = job.get("read", {}).get("delimiter", ",")
    before = pd.read_csv(source, sep="\t" if delimiter == "tab" else delimiter, keep_default_na=False)
    after = pd.read_csv(released_path, sep="\t" if delimiter == "tab" else delimiter, keep_default_na=False)
    task, hidden = job["roles"]["task"][0], job["roles"]["sensitive"][0]
    columns = [name for name in after.columns if name in job["roles"]["useful"]]
    words = {name: {v: i for i, v in enumerate(pd.concat([before[name], after[name]]).unique())}
             for name in columns if not pd.api.types.is_numeric_dtype(before[name])}

    def matrix(table):
        return np.column_stack([table[c].map(words[c]) if c in words else table[c] for c in columns]).astype(float)

    categorical = [c in words and len(words[c]) <= 255 for c in columns]
    mine = np.random.default_rng(0).random(len(before)) < 0.5
    a, b = matrix(before), matrix(after)
    x = before[hidden].astype("category").cat.codes.to_numpy()
    edges = {c: np.unique(np.quantile(before[c], np.linspace(0.1, 0.9, 9))) for c in columns if c not in words}

    def coded(table):
        return [table[c].map(words[c]).to_numpy() if c in words else np.searchsorted(edges[c], table[c]) for c in columns]

    spikes = [0.0]
    for c in columns:
        if c not in words:
            share = before[c].value_counts(normalize=True)
            spikes += [abs(s - (after[c] == v).mean()) for v, s in share[share > SPIKE].items()]
    key_before, key_after = (t[columns].astype(str).agg("|".join, axis=1).to_numpy() for t in (before, after))
    known = set(key_before[mine])
    both, label = np.r_[a, b], np.r_[np.zeros(len(a)), np.ones(len(b))]
    own = np.r_[mine, mine]
    result = {"associations": float(np.abs(associations(coded(before)) - associations(coded(after))).mean()),
              "spikes": float(max(spikes)), "changed": float(np.mean([(before[c] != after[c]).mean() for c in columns])),
              "leakage": leakage(b, categorical, x, mine), "leakage_original": leakage(a, categorical, x, mine),
              "copied": float(np.mean([k in known for k in key_after[~mine]])),
              "copied_independent": float(np.mean([k in known for k in key_before[~mine]])),
              "distinguished": float(roc_auc_score(label[~own], trees(categorical).fit(both[own], label[own]).predict_proba(both[~own])[:, 1]))}
    levels = before[task].unique()
    if len(levels) == 2:
        y = (before[task] == levels[1]).to_numpy().astype(int)
        result["auc"] = float(roc_auc_score(y[~mine], trees(categorical).fit(b[mine], y[mine]).predict_proba(a[~mine])[:, 1]))
        result["auc_original"] = float(roc_auc_score(y[~mine], trees(categorical).fit(a[mine], y[mine]).predict_proba(a[~mine])[:, 1]))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
