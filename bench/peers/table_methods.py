#!/usr/bin/env python3
"""What people use instead of ppan on a table, and ppan, at equal leakage: the same fresh attackers, the same recipient.

    .venv-bench/bin/python table_methods.py TABLE.csv --hide marital --task y --ppan build/ppan --out DIR [--methods ppan:auto,dropping,...]

Half of the rows (`fit`) are the custodian's, to fit a method on; the other half is released by it. Attackers and recipients learn on one half
of the release and are tested on the other. Everything is seen in the same encoding: numbers in standard deviations, categories one-hot.

leakage      nats: entropy of the hidden column less the held-out log loss of the better of two attackers (boosted trees, logistic
             regression), chosen on rows that are not tested; interval: two standard errors of the mean gain of a row
auc          of a recipient's boosted trees for the task, learned and tested on released rows; interval: two standard errors by Hanley and McNeil
auc_original the same trees tested on the original rows of the same people
distortion   mean over columns of the distance from the original, 1: as far as another person's row

Methods: ppan:FAMILY (auto, noisy-code, codebook, ... as far as the binary knows them), ppan-columns:FAMILY and ppan-task:FAMILY (privacy.usefulness =
"columns", "task", the latter of codebooks only; without: "both", what `ppan init --task` writes). Released are the trained points, the releases that redraw
some columns (of heads), and what `ppan pick --leakage --found` makes of the run for shares from 1 to 90 % of the leakage that the same attackers find in the custodian's own rows (mixtures of two points),
unchanged, dropping (columns one after the other, greedily by leakage saved per AUC lost), randomised (categories by randomised response,
numbers replaced by another row's, each with a probability), gaussian (noise on the encoding, categories by the largest), mdav (microaggregation
to groups of k; our own plain implementation), correlation-remover (fairlearn), disparate-impact (AIF360), lfr (AIF360's learned fair
representations), residuals (what boosted trees predict of each column from the hidden one and the others is taken out, by a share), sdv-copula, sdv-ctgan, sdv-tvae (SDV's
synthesizers, learned without the hidden column; a new row belongs to nobody, so it is given to anybody, with the label it came with).
A method whose package is missing is listed under `missing`.
Prints one JSON object; with --out also table.json and two figures.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time
import traceback
import warnings

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

warnings.filterwarnings("ignore")


class Missing(Exception):
    """A peer that is not installed, or a family that this ppan does not know."""


class Table:
    """The rows, split, and their common encoding."""

    def __init__(self, path, hide, task, rows, seed):
        frame = pd.read_csv(path, keep_default_na=False)
        random = np.random.default_rng(seed)
        order = random.permutation(len(frame))[:rows or len(frame)]
        self.frame, self.hide, self.task = frame.iloc[order].reset_index(drop=True), hide, task
        self.columns = [c for c in frame.columns if c not in (hide, task)]
        self.numeric = {c: pd.api.types.is_numeric_dtype(frame[c]) for c in self.columns}
        self.levels = {c: sorted(frame[c].astype(str).unique()) for c in self.columns if not self.numeric[c]}
        self.scale = {c: (self.frame[c].mean(), self.frame[c].std() or 1.0) for c in self.columns if self.numeric[c]}
        self.spans, at = {}, 0
        for c in self.columns:
            width = 1 if self.numeric[c] else len(self.levels[c])
            self.spans[c] = slice(at, at + width)
            at += width
        self.width = at
        self.x = pd.factorize(self.frame[hide], sort=True)[0]
        labels, known = pd.factorize(self.frame[task], sort=True)
        self.y, self.positive = (labels == len(known) - 1).astype(int), str(known[-1])
        n = len(self.frame)
        self.fit, self.use = np.arange(n) < n // 2, np.arange(n) >= n // 2
        part = random.permutation(n - n // 2)
        self.mine, self.test = part < len(part) // 2, part >= len(part) // 2  # of the released half
        self.encoded = self.encode(self.frame)

    def encode(self, frame):
        out = np.zeros((len(frame), self.width), np.float32)
        for c in self.columns:
            if self.numeric[c]:
                mean, deviation = self.scale[c]
                out[:, self.spans[c]] = ((pd.to_numeric(frame[c]).to_numpy() - mean) / deviation)[:, None]
            else:
                code = pd.Categorical(frame[c].astype(str), categories=self.levels[c]).codes
                known = code >= 0
                out[np.flatnonzero(known), self.spans[c].start + code[known]] = 1
        return out

    def distortion(self, released):
        before = self.encoded[self.use]
        other = before[np.random.default_rng(0).permutation(len(before))]

        def far(a, b, c):
            return np.abs(a[:, self.spans[c]] - b[:, self.spans[c]]).sum(1).mean()

        return float(np.mean([far(released, before, c) / max(far(other, before, c), 1e-9) for c in self.columns]))


# --- attackers and recipients ---------------------------------------------------------------------------------------


def trees():
    return HistGradientBoostingClassifier(max_iter=80, learning_rate=0.1, max_leaf_nodes=15, early_stopping=True, random_state=0)


def gains(model, z, x, mine, test, prior):
    model.fit(z[mine], x[mine])
    p = np.full((test.sum(), len(prior)), 1e-9)
    p[:, model.classes_] = model.predict_proba(z[test])
    return np.log(np.maximum(p[np.arange(len(p)), x[test]], 1e-9)) - np.log(prior[x[test]])


def leakage(z, x, mine, test):
    """(nats, two standard errors)"""
    prior = np.bincount(x[mine], minlength=x.max() + 1) / mine.sum()
    prior = np.maximum(prior, 1e-9)
    half = mine & (np.arange(len(x)) % 4 != 0)
    attackers = [trees, lambda: LogisticRegression(max_iter=300)]
    chosen = max(attackers, key=lambda make: gains(make(), z, x, half, mine & ~half, prior).mean())
    each = gains(chosen(), z, x, mine, test, prior)
    return float(max(0.0, each.mean())), float(2 * each.std() / np.sqrt(len(each)))


def auc(model, z, y):
    """(area, two standard errors) of a fitted model on these rows."""
    score, truth = model.predict_proba(z)[:, 1], y
    value = roc_auc_score(truth, score)
    # Hanley and McNeil's standard error
    q1, q2, ones, zeros = value / (2 - value), 2 * value**2 / (1 + value), truth.sum(), (1 - truth).sum()
    error = np.sqrt((value * (1 - value) + (ones - 1) * (q1 - value**2) + (zeros - 1) * (q2 - value**2)) / max(1, ones * zeros))
    return float(value), float(2 * error)


def measured(table, released, label, labels=None, seconds=0.0):
    """`labels`: of the released rows, where they are not those of the people."""
    x, y = table.x[table.use], table.y[table.use]
    labels = y if labels is None else labels
    nats, nats_error = leakage(released, x, table.mine, table.test)
    recipient = trees().fit(released[table.mine], labels[table.mine])
    value, value_error = auc(recipient, released[table.test], labels[table.test])
    original, original_error = auc(recipient, table.encoded[table.use][table.test], y[table.test])
    return {"label": label, "leakage": nats, "leakage_error": nats_error, "auc": value, "auc_error": value_error,
            "auc_original": original, "auc_original_error": original_error, "distortion": table.distortion(released), "seconds": seconds}


# --- methods: each yields (label, encoded release of the second half[, labels of its rows]) --------------------------------------------------


def unchanged(table, given):
    yield "unchanged", table.encoded[table.use]


def constant(table, released, dropped):
    out = released.copy()
    for c in dropped:
        out[:, table.spans[c]] = 0 if table.numeric[c] else table.encoded[table.fit][:, table.spans[c]].mean(0)
    return out


def dropping(table, given):
    """Greedy on the custodian's rows: the column whose loss costs the least AUC for the leakage it saves."""
    z, x, y = table.encoded[table.fit], table.x[table.fit], table.y[table.fit]
    mine = np.arange(len(z)) % 2 == 0

    def of_recipient(z):
        return auc(trees().fit(z[mine], y[mine]), z[~mine], y[~mine])[0]

    gone, now_leak, now_auc = [], leakage(z, x, mine, ~mine)[0], of_recipient(z)
    # Only columns that tell something by themselves are candidates: the search is greedy anyway.
    alone = {c: leakage(z[:, table.spans[c]], x, mine, ~mine)[0] for c in table.columns}
    candidates = sorted(alone, key=alone.get, reverse=True)[:given.candidates]
    for _ in range(given.points):
        best = None
        for c in (c for c in candidates if c not in gone):
            less = constant(table, z, [*gone, c])
            leak, value = leakage(less, x, mine, ~mine)[0], of_recipient(less)
            rate = (now_leak - leak) / max(now_auc - value, 0.002)
            if best is None or rate > best[0]:
                best = (rate, c, leak, value)
        if best is None:
            return
        gone.append(best[1])
        now_leak, now_auc = best[2:]
        yield "without " + ", ".join(gone), constant(table, table.encoded[table.use], gone)


def randomised(table, given):
    original = table.encoded[table.use]
    random = np.random.default_rng(1)
    for share in np.linspace(0, 1, given.points + 2)[1:-1]:
        out = original.copy()
        for c in table.columns:
            hit = random.random(len(out)) < share
            source = table.encoded[table.fit][random.integers(table.fit.sum(), size=hit.sum())][:, table.spans[c]] if table.numeric[c] else \
                np.eye(len(table.levels[c]))[random.integers(len(table.levels[c]), size=hit.sum())]
            out[hit, table.spans[c]] = source
        yield f"probability {share:.2f}", out


def gaussian(table, given):
    original = table.encoded[table.use]
    random = np.random.default_rng(1)
    for deviation in np.geomspace(0.3, 5, given.points):
        out = original + random.normal(0, deviation, original.shape).astype(np.float32)
        for c in table.levels:
            out[:, table.spans[c]] = np.eye(len(table.levels[c]))[out[:, table.spans[c]].argmax(1)]
        yield f"deviation {deviation:.2f}", out


def mdav(table, given):
    """Maximum distance to average vector: groups of k nearest rows around the two extremes, replaced by their means (most frequent level)."""
    original = table.encoded[table.use]
    for k in (3, 10, 50, 200)[:given.points]:
        out, left = original.copy(), np.arange(len(original))
        while len(left) >= 2 * k:
            center = original[left].mean(0)
            for _ in range(2 if len(left) >= 3 * k else 1):
                far = left[np.square(original[left] - center).sum(1).argmax()]
                near = np.argpartition(np.square(original[left] - original[far]).sum(1), k - 1)[:k]
                out[left[near]] = original[left[near]].mean(0)
                center, left = original[far], np.delete(left, near)
        if len(left):
            out[left] = original[left].mean(0)
        for c in table.levels:
            out[:, table.spans[c]] = np.eye(len(table.levels[c]))[out[:, table.spans[c]].argmax(1)]
        yield f"k = {k}", out


def correlation_remover(table, given):
    try:
        from fairlearn.preprocessing import CorrelationRemover
    except ImportError as error:
        raise Missing(f"fairlearn: {error}") from error
    hidden = np.eye(table.x.max() + 1)[table.x][:, 1:]
    both = np.column_stack([table.encoded, hidden])
    ids = list(range(table.width, both.shape[1]))
    for alpha in np.linspace(0, 1, given.points + 1)[1:]:
        remover = CorrelationRemover(sensitive_feature_ids=ids, alpha=alpha).fit(both[table.fit])
        yield f"alpha {alpha:.2f}", remover.transform(both[table.use]).astype(np.float32)


def aif_data(table, which):
    from aif360.datasets import BinaryLabelDataset
    names = [f"f{i}" for i in range(table.width)]
    frame = pd.DataFrame(table.encoded[which].astype(float), columns=names)
    frame["hidden"], frame["task"] = (table.x[which] > 0).astype(float), table.y[which].astype(float)
    return BinaryLabelDataset(df=frame, label_names=["task"], protected_attribute_names=["hidden"])


def disparate_impact(table, given):
    try:
        import BlackBoxAuditing  # noqa: F401
        from aif360.algorithms.preprocessing import DisparateImpactRemover
        data = aif_data(table, table.use)
    except ImportError as error:
        raise Missing(f"aif360: {error}") from error
    for level in np.linspace(0, 1, given.points + 1)[1:]:
        done = DisparateImpactRemover(repair_level=level, sensitive_attribute="hidden").fit_transform(data)
        names = list(done.feature_names)
        yield f"repair {level:.2f}", done.features[:, [names.index(f"f{i}") for i in range(table.width)]].astype(np.float32)


def lfr(table, given):
    try:
        from aif360.algorithms.preprocessing import LFR
        learn, use = aif_data(table, table.fit), aif_data(table, table.use)
    except ImportError as error:
        raise Missing(f"aif360: {error}") from error
    groups = {"unprivileged_groups": [{"hidden": 0.0}], "privileged_groups": [{"hidden": 1.0}]}
    for weight in (0.1, 2.0, 50.0)[:given.points]:
        model = LFR(k=10, Ax=0.1, Ay=1.0, Az=weight, verbose=0, seed=1, **groups)
        model.fit(learn, maxiter=1000, maxfun=1000)
        done = model.transform(use)
        names = list(done.feature_names)
        yield f"Az {weight}", done.features[:, [names.index(f"f{i}") for i in range(table.width)]].astype(np.float32)


def residuals(table, given):
    """What boosted trees know of each encoded column from the hidden one together with two thirds of the row is replaced by the mean over the hidden one."""
    z, x = table.encoded, table.x
    hidden, prior = np.eye(x.max() + 1)[x], np.bincount(x[table.fit], minlength=x.max() + 1) / table.fit.sum()
    expected, neutral = np.empty_like(z[table.use]), np.empty_like(z[table.use])
    previous = [np.zeros((len(z), 0))]
    for c in table.columns:  # each from the hidden column and those before it: a chain, so that combinations are taken out too
        before = np.column_stack(previous)
        for j in range(table.spans[c].start, table.spans[c].stop):
            model = HistGradientBoostingRegressor(max_iter=40, max_leaf_nodes=15, random_state=0).fit(np.column_stack([before, hidden])[table.fit], z[table.fit, j])
            rows = before[table.use]
            expected[:, j] = model.predict(np.column_stack([rows, hidden[table.use]]))
            neutral[:, j] = sum(p * model.predict(np.column_stack([rows, np.tile(np.eye(len(prior))[k], (len(rows), 1))]))
                                for k, p in enumerate(prior))
        previous.append(z[:, table.spans[c]])
    for share in np.linspace(0, 1, given.points + 1)[1:]:
        yield f"share {share:.2f}", (z[table.use] - share * (expected - neutral)).astype(np.float32)


def ppan(table, given, family, usefulness):
    work = pathlib.Path(given.out) / f"ppan-{family}-{usefulness}"
    work.mkdir(parents=True, exist_ok=True)
    table.frame[table.fit].to_csv(work / "fit.csv", index=False)
    table.frame[table.use].to_csv(work / "use.csv", index=False)

    def run(*words):
        done = subprocess.run([given.ppan, *map(str, words)], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 6):
            raise Missing(f"ppan {words[0]}: {done.stderr.strip()[-300:]}")

    run("init", work / "fit.csv", "--sensitive", table.hide, "--task", table.task, "-o", work / "job.toml", "--force")
    more = ["--epochs", given.epochs] if given.epochs else []
    again = given.again and (work / "run").is_dir()
    run("curve", work / "job.toml", "--out", work / "run", "--resume" if again else "--force", "--quiet", "--points", given.points, *more, "--set", f"mechanism.family={family}",
        *(["--set", f"privacy.usefulness={usefulness}"] if usefulness else []), "--set", "audit.quick=true", "--set", "release.unknown=nearest")
    half = np.arange(table.fit.sum()) % 2 == 0
    own = leakage(table.encoded[table.fit], table.x[table.fit], half, ~half)[0]
    models = [*sorted((work / "run").glob("point-*.ppan")), *sorted((work / "run").glob("redrawn-*.ppan"))]
    for percent in PICKED:
        picked = work / f"picked-{percent}.ppan"
        wanted = ["pick", work / "run", "--leakage", own * percent / 100, "--found", "--accept-inconclusive", "-o", picked, "--force"]
        if subprocess.run([given.ppan, *map(str, wanted)], capture_output=True, check=False).returncode == 0:  # otherwise no point leaks so little
            models.append(picked)
    for model in models:
        run("release", model, work / "use.csv", "-o", work / "released.csv", "--quiet")
        yield model.stem, table.encode(pd.read_csv(work / "released.csv", keep_default_na=False))


def synthesizer(table, given, kind):
    if not given.torch:
        raise Missing("SDV: no interpreter that has it (--torch)")
    work = pathlib.Path(given.out) / f"sdv-{kind}"
    work.mkdir(parents=True, exist_ok=True)
    table.frame[table.fit].drop(columns=table.hide).to_csv(work / "fit.csv", index=False)
    words = [given.torch, "-B", pathlib.Path(__file__).with_name("synthesize.py"), kind, work / "fit.csv", table.use.sum(), given.epochs or 0, work / "new.csv"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Missing(f"SDV: {done.stderr.strip()[-300:]}")
    new = pd.read_csv(work / "new.csv", keep_default_na=False)
    yield f"{kind}, its own settings", table.encode(new), (new[table.task].astype(str) == table.positive).to_numpy(int)


METHODS = {"unchanged": unchanged, "dropping": dropping, "randomised": randomised, "gaussian": gaussian, "mdav": mdav,
           "correlation-remover": correlation_remover, "disparate-impact": disparate_impact, "lfr": lfr, "residuals": residuals}
USUAL = ("unchanged,ppan:auto,ppan-columns:auto,ppan:codebook,dropping,randomised,gaussian,mdav,correlation-remover,disparate-impact,lfr,residuals,"
         "sdv-copula,sdv-ctgan")
LEVELS = (10, 25, 50, 75, 90)  # percent of the leakage of the table itself: where methods are compared
PICKED = (1, 2, 4, 8, 15, 25, 40, 60, 90)  # the same: what is asked of ppan pick


def method(name, table, given):
    if name in METHODS:
        return METHODS[name](table, given)
    if name.startswith("sdv-"):
        return synthesizer(table, given, name.removeprefix("sdv-"))
    kind, _, family = name.partition(":")
    usefulness = {"ppan": "", "ppan-columns": "columns", "ppan-task": "task"}
    if kind not in usefulness or not given.ppan:
        raise Missing(f"there is no method {name}")
    return ppan(table, given, family or "auto", usefulness[kind])


# --- figures and verdicts ---------------------------------------------------------------------------------------------


def figure(rows, ordinate, title):
    """Leakage to the right, AUC or distortion upwards, with intervals: an SVG."""
    wide, high, edge = 720, 440, 50
    points = [(r["leakage"], r[ordinate]) for r in rows]
    right = max(p[0] for p in points) * 1.08 + 1e-9
    low, top = min(p[1] for p in points), max(p[1] for p in points)
    low, top = low - 0.08 * (top - low) - 1e-9, top + 0.08 * (top - low) + 1e-9
    names = list(dict.fromkeys(r["method"] for r in rows))
    colours = {n: f"hsl({(i * 137) % 360},70%,{35 + 15 * (i % 2)}%)" for i, n in enumerate(names)}

    def at(leak, value):
        return edge + (wide - 250 - edge) * leak / right, high - edge - (high - 2 * edge) * (value - low) / (top - low)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="sans-serif" font-size="12">',
           f'<title>{title}</title><rect width="{wide}" height="{high}" fill="white"/>',
           f'<text x="{edge}" y="24" font-size="14">{title}</text>']
    for k in range(5):
        x, y = at(right * k / 4, low)[0], at(0, low + (top - low) * k / 4)[1]
        out.append(f'<text x="{x:.0f}" y="{high - edge + 18}" text-anchor="middle">{right * k / 4:.3f}</text>'
                   f'<text x="{edge - 6}" y="{y + 4:.0f}" text-anchor="end">{low + (top - low) * k / 4:.2f}</text>'
                   f'<path d="M{x:.0f} {edge - 14}V{high - edge}M{edge} {y:.0f}H{wide - 250}" stroke="#ddd"/>')
    out.append(f'<text x="{edge}" y="{high - 10}">leakage, nats (fresh attackers)</text>')
    for i, name in enumerate(names):
        mine = sorted((r for r in rows if r["method"] == name), key=lambda r: r["leakage"])
        path = " ".join("{:.1f},{:.1f}".format(*at(r["leakage"], r[ordinate])) for r in mine)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colours[name]}" stroke-width="{2.5 if name.startswith("ppan") else 1}"/>')
        for r in mine:
            x, y = at(r["leakage"], r[ordinate])
            left, end = at(max(0, r["leakage"] - r["leakage_error"]), low)[0], at(min(right, r["leakage"] + r["leakage_error"]), low)[0]
            out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colours[name]}"><title>{name}: {r["label"]}</title></circle>'
                       f'<path d="M{left:.1f} {y:.1f}H{end:.1f}" stroke="{colours[name]}" stroke-opacity=".5"/>')
            if f"{ordinate}_error" in r:
                above, below = (at(0, r[ordinate] + s * r[f"{ordinate}_error"])[1] for s in (1, -1))
                out.append(f'<path d="M{x:.1f} {above:.1f}V{below:.1f}" stroke="{colours[name]}" stroke-opacity=".5"/>')
        out.append(f'<text x="{wide - 240}" y="{60 + 18 * i}" fill="{colours[name]}">● {name}</text>')
    return "\n".join([*out, "</svg>", ""])


def best_at(rows, level, ordinate, better):
    """The best of a method at no more leakage than the level."""
    allowed = [r for r in rows if r["leakage"] <= level]
    return better(allowed, key=lambda r: r[ordinate]) if allowed else None


def verdicts(rows):
    """At 10 to 90 % of the original's leakage: the best of ppan against the best of the others."""
    original = next(r["leakage"] for r in rows if r["method"] == "unchanged")
    ours, others = ([r for r in rows if r["method"].startswith("ppan") == mine and r["method"] != "unchanged"] for mine in (True, False))
    out = []
    for percent in LEVELS:
        level = original * percent / 100
        line = {"percent": percent, "leakage": level}
        for ordinate, better, sign in (("auc", max, 1), ("auc_original", max, 1), ("distortion", min, -1)):
            a, b = best_at(ours, level, ordinate, better), best_at(others, level, ordinate, better)
            if a and b:
                line[ordinate] = {"ours": a[ordinate], "by": a["method"], "theirs": b[ordinate], "peer": f"{b['method']}: {b['label']}",
                                  "interval": b.get(f"{ordinate}_error", 0.0), "ahead": sign * (a[ordinate] - b[ordinate])}
            else:
                line[ordinate] = {"ours": a and a[ordinate], "theirs": b and b[ordinate], "peer": b and f"{b['method']}: {b['label']}", "ahead": None}
        out.append(line)
    return out


def written(given, table, rows, missing):
    """Everything so far, to files: a long run that is stopped keeps what it has."""
    result = {"table": given.table.name, "hide": given.hide, "task": given.task, "rows": len(table.frame), "results": rows, "missing": missing}
    if any(r["method"] == "unchanged" for r in rows):
        result["verdicts"] = verdicts(rows)
    text = json.dumps(result, indent=1)
    (given.out / "table.json").write_text(text + "\n")
    if rows:
        name = f"{given.table.stem}: {given.hide} hidden"
        (given.out / "auc.svg").write_text(figure(rows, "auc", f"{name}; AUC for {given.task}"))
        (given.out / "auc_original.svg").write_text(figure(rows, "auc_original", f"{name}; AUC for {given.task} on original rows"))
        (given.out / "distortion.svg").write_text(figure(rows, "distortion", f"{name}; distortion"))
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("--hide", required=True)
    parser.add_argument("--task", required=True)
    parser.add_argument("--ppan", help="the executable")
    parser.add_argument("--torch", help="the interpreter that has SDV")
    parser.add_argument("--methods", default=USUAL)
    parser.add_argument("--points", type=int, default=6)
    parser.add_argument("--candidates", type=int, default=6, help="columns that greedy dropping tries")
    parser.add_argument("--epochs", type=int, help="of ppan; default: its own")
    parser.add_argument("--again", action="store_true", help="go on with the runs of ppan that --out holds")
    parser.add_argument("--rows", type=int, help="rows taken of the table; default: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    table = Table(given.table, given.hide, given.task, given.rows, given.seed)
    rows, missing = [], {}
    for name in given.methods.split(","):
        start = time.process_time()
        try:
            for label, released, *labels in method(name, table, given):
                rows.append({"method": name, **measured(table, released, label, *labels, seconds=time.process_time() - start)})
                print(f"{name}: {label}: {rows[-1]['leakage']:.4f} nats, AUC {rows[-1]['auc']:.3f}, on original rows {rows[-1]['auc_original']:.3f}, distortion {rows[-1]['distortion']:.3f}", file=sys.stderr, flush=True)
        except Missing as error:
            missing[name] = str(error)
        except Exception as error:  # a peer that fails is no peer that passed
            missing[name] = f"failed: {error}"
            traceback.print_exc()
        print(f"{name}: {missing.get(name, 'done')}", file=sys.stderr, flush=True)
        text = written(given, table, rows, missing)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
