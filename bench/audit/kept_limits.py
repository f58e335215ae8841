#!/usr/bin/env python3
"""Whether what `ppan pick --leakage L` hands out keeps L.

For every table `ppan curve` learns from few rows, `ppan pick` takes a point for several limits, `ppan release` releases many
fresh rows by it, and attackers of scikit-learn, which share nothing with ppan, learn the secret from those. They are chosen on one part of
the fresh rows and scored on another: what they find is a lower bound of the leakage. A limit is broken if the lower end of its
95 % interval is above the limit, and an upper end is broken if that, or the truth where it is known, is above what `curve.csv` allows for, for the
table as it is and, with --trained, at every trained point.
    bench/audit/kept_limits.py --ppan build/ppan [--seeds 1,2] [--only NAME,..] [--fresh 30000] [--points 3] [--trained] [--set KEY=VALUE ..]
    bench/audit/kept_limits.py --ppan build/ppan --csv TABLE.csv --secret COLUMN [--rows 3000]
The tables are generated; a table of one's own is split into rows for the curve and fresh ones. A lower end of 95 % is above the truth once in 40
times by chance. Needs numpy, pandas and scikit-learn."""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SECRET_BINS = 10  # of a numeric secret; what is found about the bin is found about the number
MOST_LEVELS = 40  # of a text column, one by one
# What a table as it is tells, nats, where it can be worked out: of `curved` by its densities, summed on a grid.
TRUTH = {"curved": 0.15612}
SHARES = (0.5, 0.1)  # of the leakage of the table as it is: limits that are asked for

TABLES = {}


def table(rows):
    def keep(function):
        TABLES[function.__name__] = (rows, function)
        return function
    return keep


def words(prefix, codes):
    return np.char.add(prefix, np.asarray(codes).astype(str))


@table(2000)
def clinic(rng, n):
    """Two classes: amounts with a spike at 0, text categories, dates, missing cells, incomes rounded more often in one class."""
    x = (rng.random(n) < 0.4).astype(int)
    age = np.clip(rng.normal(48 + 6 * x, 15, n), 18, 95).astype(int)
    income = rng.lognormal(10.2 - 0.2 * x, 0.5, n)
    income = np.where(rng.random(n) < 0.6 - 0.3 * x, 100 * np.round(income / 100), np.round(income))
    paid = np.where(rng.random(n) < 0.5 + 0.2 * x, 0, np.round(rng.gamma(2, 150, n), 2))
    job = np.array(["clerk", "worker", "teacher", "farmer", "none", "nurse"])[(rng.integers(6, size=n) + (x * (rng.random(n) < 0.3))) % 6]
    day = np.datetime64("2021-01-01") + (rng.integers(0, 700, n) // np.where((x == 1) & (rng.random(n) < 0.4), 7, 1) *
                                         np.where(x == 1, 1, 1)).astype("timedelta64[D]")
    sugar = np.round(rng.normal(5.3 + 0.7 * x * (age > 50), 0.8, n), 1).astype(object)
    sugar[rng.random(n) < 0.25 - 0.15 * x] = None
    return {"age": age, "income": income.astype(int), "paid": paid, "job": job, "day": day.astype(str), "sugar": sugar}, words("c", x)


@table(3000)
def survey(rng, n):
    """Five classes of unequal share: answers of one kind, an interaction of two, a number that depends on both."""
    x = rng.choice(5, n, p=[0.4, 0.25, 0.2, 0.1, 0.05])
    answers = {f"q{k}": words("a", np.where(rng.random(n) < 0.25, (x + k) % 5, rng.integers(5, size=n))) for k in range(6)}
    turn = rng.integers(5, size=n)
    other = np.where(rng.random(n) < 0.35, (x + turn) % 5, rng.integers(5, size=n))
    score = np.round(rng.normal(50 + 4 * x, 10, n)).astype(int)
    hours = np.where(rng.random(n) < 0.3, 40, np.clip(rng.normal(36, 9, n), 0, 80).round()).astype(int)
    return {**answers, "turn": words("t", turn), "other": words("o", other), "score": score, "hours": hours}, words("group ", x)


@table(4000)
def sensors(rng, n):
    """36 users by 18 correlated readings."""
    own = np.random.default_rng(41)
    mean, mixing = own.normal(0, 0.55, (36, 18)), own.normal(size=(18, 18)) / 5
    x = rng.integers(36, size=n)
    noise = rng.normal(size=(n, 18))
    value = mean[x] + noise + noise @ mixing
    return {f"s{k:02}": np.round(value[:, k], 3) for k in range(18)}, words("u", x)


@table(2500)
def salary(rng, n):
    """A numeric secret: years, grade, a bonus that is 0 for many, a region, a rounded rent."""
    years = rng.integers(0, 40, n)
    grade = np.clip((years / 8 + rng.normal(0, 1, n)).astype(int), 0, 6)
    pay = 20000 + 700 * years + 4000 * grade + rng.normal(0, 5000, n)
    bonus = np.where(rng.random(n) < 0.6, 0, np.round(0.1 * pay * rng.random(n), -2))
    rent = np.round(0.012 * pay + rng.normal(0, 120, n), -1)
    return {"years": years, "grade": words("g", grade), "bonus": bonus.astype(int), "region": words("r", rng.integers(9, size=n)),
            "rent": rent.astype(int)}, np.round(pay).astype(int)


@table(3000)
def wide(rng, n):
    """70 numbers and categories, most of them weak; one pair tells together."""
    x = rng.integers(3, size=n)
    out = {f"n{k:02}": np.round(rng.normal(0.1 * ((x + k) % 3), 1, n), 2) for k in range(50)}
    out |= {f"k{k:02}": words("v", np.where(rng.random(n) < 0.06, (x + k) % 4, rng.integers(4, size=n))) for k in range(20)}
    out["n07"] = np.round(np.abs(out["n07"]) * np.sign(out["n31"]) * np.where(rng.random(n) < 0.3, np.where(x == 0, 1, -1), rng.choice([-1, 1], n)), 2)
    return out, words("k", x)


@table(5000)
def rare(rng, n):
    """A class of one row in thirty; it is told by a rare level and by a range of a number."""
    x = (rng.random(n) < 1 / 30).astype(int)
    ward = np.where((x == 1) & (rng.random(n) < 0.5), "ward 9", words("ward ", rng.integers(10, size=n)))
    dose = np.where((x == 1) & (rng.random(n) < 0.6), rng.uniform(70, 75, n), rng.uniform(0, 100, n)).round(1)
    return {"ward": ward, "dose": dose, "height": rng.normal(172, 9, n).round().astype(int), "sex": rng.choice(["f", "m"], n)}, words("x", x)


@table(1500)
def postcodes(rng, n):
    """Two classes by 240 places in a text column, and streets of many different names."""
    mostly = np.random.default_rng(8).random(240)
    place = (240 * rng.random(n) ** 1.5).astype(int)
    x = (rng.random(n) < mostly[place]).astype(int)
    street = [f"{a} {b}" for a, b in zip(rng.choice(["Long", "High", "Mill", "Church", "North"], n), words("road ", rng.integers(300, size=n)))]
    return {"place": words("place ", place), "street": street, "rooms": rng.integers(1, 7, n) + x * (rng.random(n) < 0.3)}, words("x", x)


@table(1000)
def curved(rng, n):
    """Two classes: a ring within a disc, and the sign of a product."""
    x = (rng.random(n) < 0.5).astype(int)
    radius = np.where(rng.random(n) < 0.5, np.where(x == 1, rng.normal(2, 0.25, n), rng.normal(1.2, 0.5, n)), rng.uniform(0, 3, n))
    angle = rng.uniform(0, 2 * np.pi, n)
    a = rng.normal(size=n)
    b = np.abs(rng.normal(size=n)) * np.where(rng.random(n) < 0.4, np.sign(a) * (2 * x - 1), rng.choice([-1, 1], n))
    return {"u": (radius * np.cos(angle)).round(2), "v": (radius * np.sin(angle)).round(2), "a": a.round(3), "b": b.round(3)}, words("x", x)


def as_number(cells):
    number = pd.to_numeric(cells, errors="coerce")
    return number if number.notna().sum() >= 0.9 * (cells != "").sum() and (cells != "").any() else None


def features(released, traces):
    """Plain cells; with traces also their last digits, how often a cell occurs, and parts of dates."""
    out = []
    for name in released.columns:
        cells = released[name]
        number = as_number(cells)
        date = None if number is not None else pd.to_datetime(cells, errors="coerce", format="%Y-%m-%d")
        if date is not None and date.notna().mean() > 0.5:
            days = (date - pd.Timestamp("2000-01-01")).dt.days
            out += [days.fillna(days.mean()), date.isna()]
            out += [(date.dt.day_of_week == k) for k in range(7)] if traces else []
        elif number is not None:
            out.append(number.fillna(number.median()))
            if number.isna().any():
                out.append(number.isna())
            if traces:
                digits = cells.str.replace(".", "", regex=False)
                out += [digits.str.endswith("0"), digits.str.endswith("00"), cells.str.len(), number == 0]
                out.append((pd.to_numeric(digits.str[-1:], errors="coerce").fillna(0) % 2))
        else:
            levels = cells.value_counts().index[:MOST_LEVELS]
            out += [cells == level for level in levels]
        if traces:
            out.append(np.log(cells.map(cells.value_counts())))
    return np.column_stack([np.asarray(c, float) for c in out])


def shares_by_level(released, x, learned, levels):
    """Smoothed shares of the classes by the levels of text columns with many: what a lookup knows. From the rows learned from alone, each without itself."""
    out = []
    prior = np.bincount(x[learned], minlength=levels) / len(learned)
    inside = np.zeros(len(x), bool)
    inside[learned] = True
    for name in released.columns:
        if as_number(released[name]) is not None or not MOST_LEVELS < released[name].nunique() < len(x) / 3:
            continue
        code = released[name].astype("category").cat.codes.to_numpy()
        count = np.zeros((code.max() + 1, levels))
        np.add.at(count, (code[learned], x[learned]), 1)
        own = np.zeros((len(x), levels))
        own[learned, x[learned]] = 1
        here = count[code] - own + 2 * prior
        out.append(here / here.sum(axis=1, keepdims=True))
    return np.hstack(out) if out else np.zeros((len(x), 0))


def attackers(levels):
    few = levels <= 8
    boosted = dict(max_iter=150 if few else 40, learning_rate=0.08 if few else 0.1, early_stopping=True, random_state=1)
    return [("boosted trees", 0, HistGradientBoostingClassifier(**boosted)), ("boosted trees on traces", 1, HistGradientBoostingClassifier(**boosted)),
            ("random forest", 0, RandomForestClassifier(80, min_samples_leaf=10, random_state=1)),
            ("extra trees", 1, ExtraTreesClassifier(80, min_samples_leaf=10, random_state=1)),
            ("logistic regression", 1, make_pipeline(StandardScaler(), LogisticRegression(C=0.3, max_iter=200))),
            ("network", 0, make_pipeline(StandardScaler(), MLPClassifier((64,), alpha=1e-3, batch_size=500, early_stopping=True, n_iter_no_change=5, max_iter=30, random_state=1))),
            ("neighbours", 0, make_pipeline(StandardScaler(), KNeighborsClassifier(60))), ("naive Bayes", 0, GaussianNB())]


def found(released, x):
    """(leakage, standard error, who): six tenths of the rows are learned from, two chosen on, two scored on."""
    levels = int(x.max()) + 1
    n = len(x)
    train, choose, test = np.arange(int(0.6 * n)), np.arange(int(0.6 * n), int(0.8 * n)), np.arange(int(0.8 * n), n)
    lookup = shares_by_level(released, x, train, levels)
    views = [np.hstack([features(released, traces), lookup]) for traces in (False, True)]
    prior = np.bincount(x[train], minlength=levels) / len(train)
    share = np.bincount(x[test], minlength=levels) / len(test)

    def beliefs(attacker, rows, view):
        p = np.zeros((len(rows), levels))
        p[:, attacker.classes_] = attacker.predict_proba(views[view][rows])
        return p

    candidates = []
    for name, view, attacker in attackers(levels):
        attacker.fit(views[view][train], x[train])
        candidates.append((name, beliefs(attacker, choose, view), beliefs(attacker, test, view)))
    candidates.append(("mean of all", np.mean([c[1] for c in candidates], axis=0), np.mean([c[2] for c in candidates], axis=0)))
    best = (-np.inf, None, None, None)
    for name, on_choose, on_test in candidates:
        for doubt in (1e-3, 0.01, 0.05, 0.2, 0.5):
            mixed = (1 - doubt) * on_choose + doubt * prior
            score = np.log(mixed[np.arange(len(choose)), x[choose]]).mean()
            if score > best[0]:
                best = (score, name, doubt, on_test)
    _, name, doubt, on_test = best
    mixed = (1 - doubt) * on_test + doubt * prior
    gain = np.log(mixed[np.arange(len(test)), x[test]]) - np.log(share[x[test]])
    return gain.mean(), gain.std() / np.sqrt(len(gain)), name


def secret_codes(secret):
    number = as_number(secret)
    if number is not None and secret.nunique() > 40:
        return np.digitize(number, np.unique(np.quantile(number, np.linspace(0, 1, SECRET_BINS + 1)[1:-1])))
    return secret.astype("category").cat.codes.to_numpy().astype(int)


def check(given, name, people, fresh, secret, seed, directory):
    """Lines of the table, how many limits were asked for and broken."""
    def path(file):
        return os.path.join(directory, file)

    def call(*arguments, may_fail=False):
        done = subprocess.run([given.ppan, *arguments], capture_output=True, text=True)
        if done.returncode != 0 and not may_fail:
            sys.exit(f"{' '.join(arguments)}: {done.stderr}")
        return done.returncode == 0

    people.to_csv(path("people.csv"), index=False)
    fresh.to_csv(path("fresh.csv"), index=False)
    call("init", path("people.csv"), "--sensitive", secret, "-o", path("job.toml"), "--force")
    further = [a for s in given.set for a in ("--set", s)]
    call("curve", path("job.toml"), "--out", path("run"), "--points", str(given.points), "--seed", str(seed), "--quiet", "--force", "--threads",
         str(given.threads), *further)
    curve = pd.read_csv(path("run/curve.csv"))
    x = secret_codes(fresh[secret].astype(str))
    seen = {}

    def attacked(model):
        with open(model, "rb") as file:
            key = file.read()
        if key not in seen:
            call("release", model, path("fresh.csv"), "-o", path("released.csv"), "--quiet", "--force")
            released = pd.read_csv(path("released.csv"), dtype=str, keep_default_na=False)
            seen[key] = found(released.drop(columns=[secret], errors="ignore"), x)
        return seen[key]

    asked = broken = 0
    unchanged = curve[curve.series == "reference/unchanged"].iloc[0]
    mean, error, who = attacked(path("run/unchanged.ppan"))
    bad = max(mean - 1.96 * error, TRUTH.get(name, 0)) > unchanged.leakage_upper_end
    print(f"| {name} | {seed} | unchanged{f' (truth {TRUTH[name]:.4f})' if name in TRUTH else ''} | {unchanged.leakage:.4f} | {unchanged.leakage_upper_end:.4f} | {mean:.4f} ± {1.96 * error:.4f} | {who} |"
          f"{' **above the upper end**' if bad else ''} |", flush=True)
    asked, broken = asked + 1, broken + bad
    whole = max(mean, 0.02)
    for row in curve[curve.series == "ppan/table"].itertuples() if given.trained else ():
        mean, error, who = attacked(path(f"run/{row.model}"))
        bad = mean - 1.96 * error > row.leakage_upper_end and row.inconclusive != "yes"
        print(f"| {name} | {seed} | point {row.point:.0f}{' (inconclusive)' if row.inconclusive == 'yes' else ''} | {row.leakage:.4f} | {row.leakage_upper_end:.4f} | "
              f"{mean:.4f} ± {1.96 * error:.4f} | {who} |{' **above the upper end**' if bad else ''} |", flush=True)
        asked, broken = asked + 1, broken + bad
    for share in SHARES:
        limit = share * whole
        if not call("pick", path("run"), "--leakage", f"{limit:.5f}", "-o", path("picked.ppan"), "--force", may_fail=True):
            print(f"| {name} | {seed} | pick --leakage {limit:.4f} | | refused | | | |", flush=True)
            continue
        mean, error, who = attacked(path("picked.ppan"))
        bad = mean - 1.96 * error > limit
        print(f"| {name} | {seed} | pick --leakage {limit:.4f} | | | {mean:.4f} ± {1.96 * error:.4f} | {who} |{' **limit broken**' if bad else ''} |", flush=True)
        asked, broken = asked + 1, broken + bad
    return asked, broken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ppan", required=True)
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--only")
    parser.add_argument("--fresh", type=int, default=30_000)
    parser.add_argument("--points", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--trained", action="store_true", help="attack every trained point as well")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--csv")
    parser.add_argument("--secret")
    parser.add_argument("--drop", default="", help="columns of --csv that are left out, such as row numbers")
    parser.add_argument("--rows", type=int, default=3000)
    given = parser.parse_args()
    given.ppan = os.path.abspath(given.ppan)
    print("| table | seed | release | found | allows for | scikit-learn finds | by | |\n|---|---|---|---|---|---|---|---|", flush=True)
    asked = broken = 0
    for seed in (int(s) for s in given.seeds.split(",")):
        rng = np.random.default_rng(1000 + seed)
        with tempfile.TemporaryDirectory() as directory:
            if given.csv:
                data = pd.read_csv(given.csv).drop(columns=[c for c in given.drop.split(",") if c])
                data = data[data[given.secret].notna()].iloc[rng.permutation(data[given.secret].notna().sum())]
                parts = [(os.path.basename(given.csv), data[:given.rows], data[given.rows:given.rows + given.fresh], given.secret)]
            else:
                parts = []
                for name in given.only.split(",") if given.only else TABLES:
                    rows, draw = TABLES[name]
                    both = []
                    for count in (rows, given.fresh):
                        columns, secret = draw(rng, count)
                        both.append(pd.DataFrame({**columns, "secret": secret}))
                    parts.append((name, *both, "secret"))
            for part in parts:
                one, wrong = check(given, *part, seed, directory)
                asked, broken = asked + one, broken + wrong
    print(f"{asked} upper ends and limits, {broken} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
