#!/usr/bin/env python3
"""What others see of the releases of a run, and of the best they could get by dropping columns.

    table_recipient.py references --fit FIT.csv --use USE.csv --hide sex --task income --out references.json
    table_recipient.py run        --fit FIT.csv --use USE.csv --hide sex --task income --ppan PPAN --run RUN --out run.json

FIT are the rows that the run was trained on, USE rows it never saw. Every point of the run releases both, USE three times, and so do models that
`ppan pick --leakage` gives at --shares of what the run found in the table itself: judged by what an audit allows for (pick-0.1) and by what it
found (pick-found-0.1). --shares "" leaves picks out, --picks-only the points. Status 77 without scikit-learn. All numbers are about the released
columns without the task, which a job may release as it is; `leakage_with_task` counts it in.

leakage       nats: entropy of the hidden column less the held-out log loss of the better of boosted trees and logistic regression, learned from
              releases of one half of USE (three draws each), scored on the other half; the attacker is chosen on rows of the first half
auc           boosted trees learned from released rows of FIT, tested on original rows of USE; auc_released: tested on released ones
associations  mean absolute difference of Cramer's V of all pairs of columns, numbers in tenths
spikes        greatest change of the share of a value that at least 5 % of the rows of a column of numbers have
changed       share of the cells that differ
copied        released rows of USE that equal a row of FIT in all columns; copied_independent: original rows of USE that do
told_apart    AUC of boosted trees that tell released from original rows, learned on one half of USE and tested on the other
broken        greatest share of rows that break a dependency that holds in at least 99.5 % of the original rows
new_pairs     released rows of USE with two values (of columns with few) that no row of FIT has together; new_pairs_independent: original rows of USE
"""

import argparse
import csv
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("OMP_NUM_THREADS", "1")  # more than the cores that are free makes it far slower

try:
    import numpy as np
    import pandas as pd
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
except ImportError:
    sys.exit(77)

SPIKE = 0.05
DRAWS = 3
HOLDS = 0.995  # of the rows: then a column follows from another
MOST_LEVELS = 60
MOST_DROPPED = 6
CANDIDATES = 8
SEARCH_ROWS = 6000


class Table:
    """FIT and USE, and how released tables are read beside them."""

    def __init__(self, given):
        self.fit, self.use = (pd.read_csv(path, keep_default_na=False) for path in (given.fit, given.use))
        self.hide, self.task = given.hide, given.task
        # `ppan init` leaves out what has one value everywhere.
        self.columns = [c for c in self.fit.columns if c not in (self.hide, self.task) and self.fit[c].nunique() > 1]
        both = pd.concat([self.fit, self.use])
        self.words = {c: {str(v): i for i, v in enumerate(both[c].unique())} for c in self.columns
                      if not pd.api.types.is_numeric_dtype(both[c])}
        self.edges = {c: np.unique(np.quantile(both[c], np.linspace(0.1, 0.9, 9))) for c in self.columns if c not in self.words}
        order = {v: i for i, v in enumerate(sorted(both[self.hide].astype(str).unique()))}
        self.x = self.use[self.hide].astype(str).map(order).to_numpy()
        last = sorted(both[self.task].astype(str).unique())[-1]
        self.y_fit, self.y_use = ((t[self.task].astype(str) == last).to_numpy().astype(int) for t in (self.fit, self.use))
        self.binary = both[self.task].nunique() == 2
        self.mine = np.random.default_rng(0).random(len(self.use)) < 0.5
        self.categorical = [c in self.words and len(self.words[c]) <= 255 for c in self.columns]
        self.dependencies = self.found_dependencies()
        self.pairs = {(a, b): set(keys(self.fit, [a, b])) for a, b in itertools.combinations(self.few(), 2)}

    def few(self):
        return [c for c in self.columns if self.fit[c].nunique() <= MOST_LEVELS]

    def new_pairs(self, table):
        new = np.zeros(len(table), bool)
        for (a, b), known in self.pairs.items():
            new |= ~np.isin(keys(table, [a, b]), list(known))
        return float(new.mean())

    def matrix(self, table):
        return np.column_stack([table[c].astype(str).map(self.words[c]).fillna(len(self.words[c])) if c in self.words
                                else pd.to_numeric(table[c], errors="coerce") for c in self.columns]).astype(float)

    def coded(self, table):
        m = self.matrix(table)
        return [m[:, i].astype(int) if c in self.words else np.searchsorted(self.edges[c], m[:, i]) for i, c in enumerate(self.columns)]

    def found_dependencies(self):
        """(from, to, mapping) of columns of few values."""
        out = []
        for a in self.few():
            for b in self.few():
                if a == b or self.fit[b].nunique() < 2:
                    continue
                most = self.fit.groupby(a, observed=True)[b].agg(lambda v: v.value_counts().index[0])
                if (self.fit[a].map(most) == self.fit[b]).mean() >= HOLDS and self.fit[b].value_counts(normalize=True).iloc[0] < 0.9:
                    out.append((a, b, most))
        return out


def trees(categorical, rounds=150):
    return HistGradientBoostingClassifier(max_iter=rounds, learning_rate=0.06, max_leaf_nodes=15, categorical_features=categorical, early_stopping=True,
                                          random_state=0)


def small_trees(categorical):
    return HistGradientBoostingClassifier(max_iter=30, learning_rate=0.15, max_leaf_nodes=8, categorical_features=categorical, random_state=0)


class Logistic:
    """On numbers in deviations with their squares and categories one-hot."""

    def __init__(self, categorical):
        self.categorical = categorical

    def features(self, z, first=False):
        if first:
            self.most = z.max(0).astype(int) + 1
            self.mean, self.deviation = z.mean(0), z.std(0) + 1e-9
        parts = []
        for i, is_category in enumerate(self.categorical):
            if is_category:
                parts.append(np.eye(self.most[i] + 1)[np.minimum(z[:, i].astype(int), self.most[i])])
            else:
                v = np.clip((z[:, i] - self.mean[i]) / self.deviation[i], -5, 5)
                parts += [v[:, None], v[:, None] ** 2]
        return np.column_stack(parts)

    def fit(self, z, x):
        self.model = LogisticRegression(max_iter=300, C=0.3).fit(self.features(np.nan_to_num(z), True), x)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, z):
        return self.model.predict_proba(self.features(np.nan_to_num(z)))


def gains(model, learn, x_learn, test, x_test, prior):
    model.fit(learn, x_learn)
    p = np.full((len(test), len(prior)), 1e-9)
    p[:, model.classes_] = model.predict_proba(test)
    return np.log(np.maximum(p[np.arange(len(p)), x_test], 1e-9)) - np.log(prior[x_test])


def leakage(draws, x, mine, categorical, attackers=None):
    """(nats, half of the 95 % interval) of releases of the same rows, by the better attacker."""
    prior = np.maximum(np.bincount(x[mine], minlength=x.max() + 1) / mine.sum(), 1e-9)
    quarter = mine & (np.arange(len(x)) % 4 != 0)

    def scored(model, of, learn, test):
        every = gains(model, np.concatenate([z[learn] for z in of]), np.tile(x[learn], len(of)),
                      np.concatenate([z[test] for z in of]), np.tile(x[test], len(of)), prior)
        return np.mean(np.split(every, len(of)), axis=0)

    attackers = attackers or [lambda: trees(categorical), lambda: Logistic(categorical)]
    chosen = max(attackers, key=lambda make: scored(make(), draws[:1], quarter, mine & ~quarter).mean()) if len(attackers) > 1 else attackers[0]
    each = scored(chosen(), draws, mine, ~mine)
    return float(max(0.0, each.mean())), float(1.96 * each.std() / np.sqrt(len(each)))


def quick_leakage(z, x, categorical):
    half = np.arange(len(x)) % 2 == 0
    prior = np.maximum(np.bincount(x[half], minlength=x.max() + 1) / half.sum(), 1e-9)
    return float(gains(small_trees(categorical), z[half], x[half], z[~half], x[~half], prior).mean())


def auc(model, z, y):
    score = model.predict_proba(z)[:, 1]
    value = roc_auc_score(y, score)
    q1, q2, ones, zeros = value / (2 - value), 2 * value**2 / (1 + value), y.sum(), (1 - y).sum()
    error = np.sqrt((value * (1 - value) + (ones - 1) * (q1 - value**2) + (zeros - 1) * (q2 - value**2)) / max(1, ones * zeros))
    return float(value), float(1.96 * error)  # Hanley and McNeil


def associations(codes):
    """Cramer's V of every pair."""
    out = []
    for i in range(len(codes)):
        for j in range(i):
            table = np.zeros((codes[i].max() + 1, codes[j].max() + 1))
            np.add.at(table, (codes[i], codes[j]), 1)
            table = table[table.sum(1) > 0][:, table.sum(0) > 0]
            expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
            out.append(np.sqrt(((table - expected) ** 2 / expected).sum() / table.sum() / max(1, min(table.shape) - 1)))
    return np.array(out)


def keys(table, columns):
    return table[columns].astype(str).agg("|".join, axis=1).to_numpy()


def seen(table, fit, uses):
    """Everything about one release: of FIT, and of USE several times."""
    use, columns, categorical, mine = uses[0], table.columns, table.categorical, table.mine
    draws = [table.matrix(u) for u in uses]
    out = {}
    out["leakage"], out["leakage_error"] = leakage(draws, table.x, mine, categorical)
    with_task = [np.column_stack([z, table.y_use]) for z in draws]
    out["leakage_with_task"], _ = leakage(with_task, table.x, mine, [*categorical, False], [lambda: Logistic([*categorical, False])])
    if table.binary:
        model = trees(categorical).fit(table.matrix(fit), table.y_fit)
        out["auc"], out["auc_error"] = auc(model, table.matrix(table.use), table.y_use)
        out["auc_released"], out["auc_released_error"] = auc(model, draws[0], table.y_use)
    before, after = pd.concat([table.fit, table.use]), pd.concat([fit, use])
    out["associations"] = float(np.abs(associations(table.coded(before)) - associations(table.coded(after))).mean())
    out["changed"] = float(np.mean([(before[c].astype(str).to_numpy() != after[c].astype(str).to_numpy()).mean() for c in columns]))
    out["spike_columns"] = {}
    for c in columns:
        if c not in table.words:
            share = before[c].value_counts(normalize=True)
            off = [abs(s - (after[c] == v).mean()) for v, s in share[share > SPIKE].items()]
            if off:
                out["spike_columns"][c] = float(max(off))
    out["spikes"] = max(out["spike_columns"].values(), default=0.0)
    known = set(keys(table.fit, columns))
    out["copied"] = float(np.mean([k in known for u in uses for k in keys(u, columns)]))
    out["copied_independent"] = float(np.mean([k in known for k in keys(table.use, columns)]))
    own = np.r_[mine, mine]
    both, label = np.r_[table.matrix(table.use), draws[0]], np.r_[np.zeros(len(use)), np.ones(len(use))]
    apart = trees(categorical).fit(both[own], label[own])
    out["told_apart"] = float(roc_auc_score(label[~own], apart.predict_proba(both[~own])[:, 1]))
    broken = {f"{a} -> {b}": float((after[a].map(most) != after[b]).mean() - (before[a].map(most) != before[b]).mean())
              for a, b, most in table.dependencies}
    out["broken"], out["dependencies"] = max(broken.values(), default=0.0), broken
    out["new_pairs"], out["new_pairs_independent"] = table.new_pairs(use), table.new_pairs(table.use)
    return out


def read(path):
    return pd.read_csv(path, keep_default_na=False)


def picked(given, scratch):
    """Models as a user gets them, (name, file): by the leakage that the run found in the table itself."""
    with open(pathlib.Path(given.run) / "curve.csv", newline="") as file:
        unchanged = [float(row["leakage"]) for row in csv.DictReader(file) if row["series"] == "reference/unchanged"]
    for share in [float(s) for s in given.shares.split(",") if s and unchanged]:
        for name, more in (("pick", []), ("pick-found", ["--found", "--accept-inconclusive"])):
            to = scratch / f"{name}-{share:g}.ppan"
            done = subprocess.run([given.ppan, "pick", given.run, "--leakage", f"{share * unchanged[0]:.6g}", *more, "-o", str(to)],
                                  capture_output=True, text=True)
            if done.returncode == 0:
                yield to.stem, to
            else:
                print(f"{to.stem}: {done.stderr.strip()}", file=sys.stderr, flush=True)


def of_run(table, given):
    fit = pathlib.Path(given.fit)

    def release(model, source, to):
        subprocess.run([given.ppan, "release", str(model), str(source), "-o", str(to), "--quiet", "--force"], check=True, capture_output=True)
        return read(to)

    def looked_at(name, model, to):
        out = {"label": name, **seen(table, release(model, fit, to), [release(model, given.use, to) for _ in range(DRAWS)])}
        print(json.dumps({k: v for k, v in out.items() if not isinstance(v, dict)}), file=sys.stderr, flush=True)
        return out

    models = [] if given.picks_only else sorted(pathlib.Path(given.run).glob("point-*.ppan"))
    with tempfile.TemporaryDirectory() as scratch:
        to = pathlib.Path(scratch) / "released.csv"
        points = [looked_at(model.stem, model, to) for model in models]
        picks = [looked_at(name, model, to) for name, model in picked(given, pathlib.Path(scratch))]
    return {"points": points, "picks": picks}


def references(table, given):
    """The table as it is, and columns dropped greedily: by leakage saved, and by leakage saved for the AUC lost."""
    fit, use = table.matrix(table.fit), table.matrix(table.use)
    index = {c: i for i, c in enumerate(table.columns)}

    def measure(gone):
        left = [i for c, i in index.items() if c not in gone]
        categorical = [table.categorical[i] for i in left]
        nats, error = leakage([use[:, left]], table.x, table.mine, categorical)
        value = auc(trees(categorical).fit(fit[:, left], table.y_fit), use[:, left], table.y_use) if table.binary else (0.0, 0.0)
        return {"without": sorted(gone), "leakage": nats, "leakage_error": error, "auc": value[0], "auc_error": value[1],
                "changed": len(gone) / len(index)}

    some = np.random.default_rng(1).permutation(len(use))[:SEARCH_ROWS]
    alone = {c: quick_leakage(use[some][:, [i]], table.x[some], [table.categorical[i]]) for c, i in index.items()}
    candidates = sorted(alone, key=alone.get, reverse=True)[:CANDIDATES]
    quick = {}

    def found(gone):
        """Leakage and AUC by small trees on some of the rows: good enough to walk by."""
        key = tuple(sorted(gone))
        if key not in quick:
            left = [i for c, i in index.items() if c not in gone]
            categorical = [table.categorical[i] for i in left]
            z, half = use[some][:, left], np.arange(len(some)) % 2 == 0
            y = table.y_use[some]
            value = roc_auc_score(y[~half], small_trees(categorical).fit(z[half], y[half]).predict_proba(z[~half])[:, 1]) if table.binary else 0.0
            quick[key] = {"without": key, "leakage": quick_leakage(z, table.x[some], categorical), "auc": value}
        return quick[key]

    def walk(rate):
        now = found(())
        for _ in range(MOST_DROPPED):
            left = [c for c in candidates if c not in now["without"]]
            if not left or now["leakage"] < 0.002:
                break
            now = max((found((*now["without"], c)) for c in left), key=lambda then: rate(now, then))
            yield now["without"]

    walked = set(walk(lambda now, then: now["leakage"] - then["leakage"]))
    if table.binary:
        walked |= set(walk(lambda now, then: (now["leakage"] - then["leakage"]) / max(now["auc"] - then["auc"], 0.001)))
    dropped = [measure(list(gone)) for gone in sorted(walked, key=lambda gone: (len(gone), gone))]
    return {"original": seen(table, table.fit, [table.use]), "dropped": dropped, "rows": [len(fit), len(use)]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["references", "run"])
    for name in ("fit", "use", "hide", "task", "ppan", "run", "out"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--shares", default="0.1")
    parser.add_argument("--picks-only", action="store_true")
    given = parser.parse_args()
    table = Table(given)
    result = references(table, given) if given.what == "references" else of_run(table, given)
    pathlib.Path(given.out).write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
