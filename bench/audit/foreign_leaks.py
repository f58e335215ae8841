#!/usr/bin/env python3
"""What `ppan audit` says of leaks that were thought of after its attackers were made.

Every situation draws an original and a released table whose information about the secret is known in nats (worked out
from the distribution, or as the mean log ratio of the exact posterior over 400,000 fresh draws). The whole and the quick audit
are run with a limit of half of it; a line says what was found, what the audit allows for and whether the limit passed, beside
what scikit-learn's attackers find on plain one-hot and numeric cells.
    bench/audit/foreign_leaks.py --ppan build/ppan [--seeds 1,2] [--only NAME,..] [--whole] [--no-sklearn]
"ALL CLEAR" marks an upper end below the truth by more than 2 % of it, or a limit of half the truth that passes.
Needs numpy; scikit-learn unless --no-sklearn."""

import argparse
import csv
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

LN2 = math.log(2)


class Leak:
    """Tables as {column: list of text}; `truth` nats; further arguments of the audit."""

    def __init__(self, secret, released, truth, original=None, arguments=(), sensitive=("secret",)):
        self.original = {"secret": secret} if not isinstance(secret, dict) else secret
        self.original.update(original or {})
        self.released, self.truth, self.arguments, self.sensitive = released, truth, list(arguments), list(sensitive)


def text(values, form="{}"):
    return [form.format(v) for v in values]


def bits(rng, n, p=0.5):
    return (rng.random(n) < p).astype(int)


def noise(rng, n):
    return {"age": text(rng.integers(18, 90, n)), "town": text(rng.integers(7, size=n), "town {}")}


def entropy(p):
    return 0 if p <= 0 or p >= 1 else -p * math.log(p) - (1 - p) * math.log(1 - p)


def flipped(right):
    """Information of a fair bit told rightly with this probability."""
    return LN2 - entropy(right)


def say(rng, x, right):
    """The bit, flipped with probability 1 - right."""
    return np.where(rng.random(len(x)) < right, x, 1 - x)


def event(p0, p1, prior=0.5):
    """Information of an event of these probabilities given 0 and 1."""
    return entropy((1 - prior) * p0 + prior * p1) - (1 - prior) * entropy(p0) - prior * entropy(p1)


def by_density(draw, log_density, levels=2, count=400_000):
    """I(X;Z) for equally likely levels: mean of log p(z|x) - log mean p(z|x')."""
    rng = np.random.default_rng(12345)
    x = rng.integers(levels, size=count)
    z = draw(rng, x)
    scores = np.stack([log_density(z, np.full(count, level)) for level in range(levels)])
    top = scores.max(axis=0)
    mean = top + np.log(np.exp(scores - top).mean(axis=0))
    return float(np.mean(scores[x, np.arange(count)] - mean))


def normal_log(z, mean, deviation=1.0):
    return -0.5 * ((z - mean) / deviation) ** 2 - np.log(deviation)


LEAKS = {}


def leak(function):
    LEAKS[function.__name__] = function
    return function


@leak
def rare_subgroup(rng, n=8000):
    """Three rows of a hundred, those of one town, tell it in a second column."""
    x = bits(rng, n)
    inside = rng.random(n) < 0.03
    town = np.where(inside, "Xanten", np.char.add("town ", rng.integers(6, size=n).astype(str)))
    mark = np.where(inside, x, bits(rng, n))
    return Leak(text(x), {"town": list(town), "mark": text(mark), "age": text(rng.integers(18, 90, n))}, 0.03 * LN2)


@leak
def subgroup_by_number(rng, n=6000):
    """Ages 40 to 42 tell it by the sign of a number."""
    x = bits(rng, n)
    age = rng.integers(18, 90, n)
    inside = (age >= 40) & (age <= 42)
    value = np.abs(rng.normal(size=n)) * np.where(inside, 2 * x - 1, 2 * bits(rng, n) - 1)
    return Leak(text(x), {"age": text(age), "value": text(value, "{:.2f}")}, 3 / 72 * LN2)


@leak
def only_with_side(rng, n=4000):
    """The release is the secret, enciphered by a column that attackers know."""
    x, key = bits(rng, n), bits(rng, n)
    told = say(rng, x, 0.85)
    return Leak(text(x), {"mark": text(told ^ key), **noise(rng, n)}, flipped(0.85), {"sex": text(key, "s{}")}, ["--side", "sex"])


@leak
def many_classes(rng, n=1500):
    """40 classes, 1,500 rows: told with probability 0.5 in a category."""
    m, s = 40, 0.5
    x = rng.integers(m, size=n)
    said = np.where(rng.random(n) < s, x, rng.integers(m, size=n))
    own, other = s + (1 - s) / m, (1 - s) / m
    return Leak(text(x, "c{}"), {"code": text(said, "k{}"), **noise(rng, n)}, own * math.log(m * own) + (m - 1) * other * math.log(m * other))


@leak
def numeric_secret(rng, n=2000):
    """A number, released as a monotone curve of it with noise: 0.5 log(1 + 4)."""
    x = rng.normal(size=n)
    z = np.exp((x + 0.5 * rng.normal(size=n)) / 2)
    return Leak(text(100 * x, "{:.1f}"), {"score": text(z, "{:.4f}"), **noise(rng, n)}, 0.5 * math.log(1 + 4))


@leak
def numeric_secret_fine(rng, n=1000):
    """A number released with little noise: 0.5 log(1 + 10^4) is more than 20 bins can hold."""
    x = rng.normal(size=n)
    z = x + 0.01 * rng.normal(size=n)
    return Leak(text(100 * x, "{:.3f}"), {"score": text(z, "{:.4f}"), **noise(rng, n)}, 0.5 * math.log(1 + 1e4))


@leak
def variance_of_number(rng, n=3000):
    """The secret, a number, sets the spread of the release (8 levels of it for the exact sum)."""
    m = 8
    x = rng.integers(m, size=n)
    spread = 1.25 ** np.arange(m)
    truth = by_density(lambda r, k: r.normal(size=len(k)) * spread[k], lambda z, k: normal_log(z, 0, spread[k]), m)
    return Leak(text(10.5 * x), {"value": text(rng.normal(size=n) * spread[x], "{:.3f}"), **noise(rng, n)}, truth)


@leak
def skewed_secret(rng, n=8000):
    """One in a hundred; nine of ten of them have a mark that one in a hundred others has."""
    x = bits(rng, n, 0.01)
    mark = rng.random(n) < np.where(x == 1, 0.9, 0.01)
    return Leak(text(x), {"mark": text(mark.astype(int)), **noise(rng, n)}, event(0.01, 0.9, 0.01))


@leak
def heavy_tail(rng, n=3000):
    """Cauchy numbers whose scale depends on it."""
    x = bits(rng, n)
    scale = np.array([1.0, 2.5])
    draw = lambda r, k: r.standard_cauchy(len(k)) * scale[k]
    truth = by_density(draw, lambda z, k: -np.log(scale[k]) - np.log1p((z / scale[k]) ** 2))
    return Leak(text(x), {"amount": text(draw(rng, x), "{:.3f}"), **noise(rng, n)}, truth)


def stamps(seconds, form):
    return [str(np.datetime_as_string(np.datetime64("2023-01-01T00:00:00") + np.timedelta64(int(s), "s"))) if form == "iso" else
            (np.datetime64("2023-01-01T00:00:00") + np.timedelta64(int(s), "s")).astype(object).strftime(form) for s in seconds]


@leak
def seconds_parity(rng, n=4000):
    x = bits(rng, n)
    second = rng.integers(0, 365 * 43200, n) * 2 + say(rng, x, 0.85)
    return Leak(text(x), {"at": stamps(second, "iso"), **noise(rng, n)}, flipped(0.85))


@leak
def quarter_hours(rng, n=4000):
    """Appointments of one group begin at a quarter of an hour."""
    x = bits(rng, n)
    minute = rng.integers(0, 365 * 1440, n)
    minute = np.where((x == 1) & (rng.random(n) < 0.6), 15 * (minute // 15), minute)
    return Leak(text(x), {"at": stamps(60 * minute, "%Y-%m-%d %H:%M"), **noise(rng, n)}, event(1 / 15, 0.6 + 0.4 / 15))


@leak
def european_dates(rng, n=4000):
    """Dates as 31.12.2023; one group comes on Mondays."""
    x = bits(rng, n)
    day = rng.integers(0, 3650, n)
    monday = 7 * (day // 7) + 1  # 2023-01-01 is a Sunday
    day = np.where((x == 1) & (rng.random(n) < 0.5), monday, day)
    return Leak(text(x), {"day": stamps(86400 * day, "%d.%m.%Y"), **noise(rng, n)}, event(1 / 7, 0.5 + 0.5 / 7))


@leak
def american_dates(rng, n=4000):
    x = bits(rng, n)
    day = rng.integers(0, 3650, n)
    day = np.where((x == 1) & (rng.random(n) < 0.5), 7 * (day // 7) + 1, day)
    return Leak(text(x), {"day": stamps(86400 * day, "%m/%d/%Y"), **noise(rng, n)}, event(1 / 7, 0.5 + 0.5 / 7))


@leak
def unix_seconds(rng, n=4000):
    """Seconds since 1970; one group calls between 8 and 9."""
    x = bits(rng, n)
    second = 1672531200 + rng.integers(0, 365, n) * 86400
    hour = np.where((x == 1) & (rng.random(n) < 0.5), 8, rng.integers(24, size=n))
    return Leak(text(x), {"at": text(second + 3600 * hour + rng.integers(3600, size=n)), **noise(rng, n)}, event(1 / 24, 0.5 + 0.5 / 24))


WORDS = [a + b for a in ("ba", "ko", "li", "mu", "ne", "po", "ru", "sa", "ti", "ve") for b in ("nd", "rt", "sk", "lm", "x", "ng", "ck", "ss")]


@leak
def word_in_text(rng, n=4000):
    """Texts of 20 to 40 words; one word in half of those of one group."""
    x = bits(rng, n)
    rows = []
    for i in range(n):
        words = list(rng.choice(WORDS, rng.integers(20, 41)))
        if x[i] and rng.random() < 0.5:
            words[rng.integers(len(words))] = "insulin"
        rows.append(" ".join(words))
    return Leak(text(x), {"note": rows, **noise(rng, n)}, event(0, 0.5))


@leak
def length_of_text(rng, n=4000):
    """Lengths of texts: 20 to 40 words, 26 to 46 in the other group."""
    x = bits(rng, n)
    rows = [" ".join(rng.choice(WORDS, rng.integers(20, 41) + 6 * k)) for k in x]
    return Leak(text(x), {"note": rows, **noise(rng, n)}, 12 / 42 * LN2)


@leak
def two_words(rng, n=5000):
    """Two words, each as frequent in both groups; both or none of them in one."""
    x = bits(rng, n)
    told = say(rng, x, 0.9)
    first = bits(rng, n)
    second = first ^ told
    rows = []
    for i in range(n):
        words = list(rng.choice(WORDS, 6)) + (["fever"] if first[i] else ["cough"]) + (["north"] if second[i] else ["south"])
        rng.shuffle(words)
        rows.append(" ".join(words))
    return Leak(text(x), {"note": rows, **noise(rng, n)}, flipped(0.9))


@leak
def many_places(rng, n=6000):
    """1,500 places, each with its own share of the secret: four rows each."""
    m = 1500
    mostly = np.random.default_rng(5).integers(2, size=m)
    place = rng.integers(m, size=n)
    x = say(rng, mostly[place], 0.9)
    return Leak(text(x), {"place": text(place, "p{}"), **noise(rng, n)}, flipped(0.9))


@leak
def many_places_few_rows(rng, n=2000):
    """1,000 places, two rows each."""
    m = 1000
    mostly = np.random.default_rng(6).integers(2, size=m)
    place = rng.integers(m, size=n)
    x = say(rng, mostly[place], 0.95)
    return Leak(text(x), {"place": text(place, "p{}"), **noise(rng, n)}, flipped(0.95))


@leak
def place_numbers(rng, n=4000):
    """The same with 300 places that look like numbers."""
    m = 300
    mostly = np.random.default_rng(7).integers(2, size=m)
    place = rng.integers(m, size=n)
    x = say(rng, mostly[place], 0.9)
    return Leak(text(x), {"place": text(10000 + 37 * place), **noise(rng, n)}, flipped(0.9))


@leak
def missing_pair(rng, n=4000):
    """Twelve columns with a fifth of the cells missing; two of them are missing together or not at all."""
    x = bits(rng, n)
    told = say(rng, x, 0.9)
    first = bits(rng, n)
    gaps = rng.random((n, 12)) < 0.2
    gaps[:, 3], gaps[:, 8] = first, first ^ told
    columns = {f"c{c}": ["" if gaps[i, c] else str(v) for i, v in enumerate(rng.integers(100, size=n))] for c in range(12)}
    return Leak(text(x), columns, flipped(0.9))


@leak
def wide_pair(rng, n=3000):
    """120 numbers; the signs of two of them together."""
    x = bits(rng, n)
    value = rng.normal(size=(n, 120))
    value[:, 77] = np.abs(value[:, 77]) * np.sign(value[:, 31]) * (2 * say(rng, x, 0.9) - 1)
    return Leak(text(x), {f"c{c}": text(value[:, c], "{:.2f}") for c in range(120)}, flipped(0.9))


@leak
def wide_categories(rng, n=3000):
    """90 categories of four levels; two of them together."""
    x = bits(rng, n)
    value = rng.integers(4, size=(n, 90))
    value[:, 60] = (say(rng, x, 0.9) + value[:, 11]) % 2 + 2 * rng.integers(2, size=n)
    return Leak(text(x), {f"c{c}": text(value[:, c], "v{}") for c in range(90)}, flipped(0.9))


@leak
def many_weak_columns(rng, n=2000):
    """100 numbers, each shifted by 0.12 deviations: 0.15 nats that no column shows."""
    x = bits(rng, n)
    size = 0.12
    value = rng.normal(size=(n, 100)) + size * (x[:, None] - 0.5)
    distance = size * 10
    truth = by_density(lambda r, k: r.normal(size=len(k)) + distance * k, lambda z, k: normal_log(z, distance * k))
    return Leak(text(x), {f"c{c}": text(value[:, c], "{:.2f}") for c in range(100)}, truth)


@leak
def two_secrets(rng, n=4000):
    """Two secrets; their exclusive or is released."""
    a, b = bits(rng, n), bits(rng, n)
    return Leak({"ill": text(a), "poor": text(b)}, {"mark": text(say(rng, a ^ b, 0.85)), **noise(rng, n)}, flipped(0.85), sensitive=("ill", "poor"))


@leak
def small_table(rng, n=300):
    x = bits(rng, n)
    return Leak(text(x), {"mark": text(say(rng, x, 0.75)), **noise(rng, n)}, flipped(0.75))


@leak
def small_spread(rng, n=400):
    """400 rows, 20 numbers, each shifted a little."""
    x = bits(rng, n)
    size = 0.25
    value = rng.normal(size=(n, 20)) + size * (x[:, None] - 0.5)
    distance = size * math.sqrt(20)
    truth = by_density(lambda r, k: r.normal(size=len(k)) + distance * k, lambda z, k: normal_log(z, distance * k))
    return Leak(text(x), {f"c{c}": text(value[:, c], "{:.2f}") for c in range(20)}, truth)


@leak
def small_interaction(rng, n=800):
    """800 rows, three levels, two categories that tell it together."""
    m, s = 3, 0.7
    x = rng.integers(m, size=n)
    said = np.where(rng.random(n) < s, x, rng.integers(m, size=n))
    a = rng.integers(m, size=n)
    own, other = s + (1 - s) / m, (1 - s) / m
    return Leak(text(x), {"a": text(a, "a{}"), "b": text((said + a) % m, "b{}"), **noise(rng, n)},
                own * math.log(m * own) + (m - 1) * other * math.log(m * other))


@leak
def rows_by_turns(rng, n=4000):
    """Every fourth row of the file is of the other group."""
    x = ((np.arange(n) % 4) == 0).astype(int)
    x = np.where(rng.random(n) < 0.8, x, bits(rng, n, 0.25))
    truth = 0.0
    for place, share in ((0, 0.25), (1, 0.75)):
        p = 0.8 * (1 - place) + 0.2 * 0.25
        truth += share * -entropy(p)
    return Leak(text(x), noise(rng, n), truth + entropy(0.25), arguments=["--aligned"])


@leak
def hex_digit(rng, n=4000):
    """Identifiers of 32 hexadecimal digits; the tenth is even for one group."""
    x = bits(rng, n)
    told = say(rng, x, 0.9)
    ids = []
    for i in range(n):
        digest = hashlib.md5(rng.bytes(8)).hexdigest()
        ids.append(digest[:9] + "0123456789abcdef"[2 * rng.integers(8) + told[i]] + digest[10:])
    return Leak(text(x), {"id": ids, **noise(rng, n)}, flipped(0.9))


@leak
def check_digit(rng, n=4000):
    """Eight-digit numbers whose digits add up to a multiple of ten in one group."""
    x = bits(rng, n)
    ids = []
    for k in x:
        digits = rng.integers(10, size=8)
        digits[0] = max(1, digits[0])
        if k and rng.random() < 0.6:
            digits[7] = -digits[:7].sum() % 10
        ids.append("".join(map(str, digits)))
    return Leak(text(x), {"card": ids, **noise(rng, n)}, event(0.1, 0.6 + 0.4 * 0.1))


@leak
def prefixed_numbers(rng, n=4000):
    """Identifiers A-000123-Z: whoever is registered late is of one group."""
    x = bits(rng, n)
    told = say(rng, x, 0.85)
    number = rng.permutation(100_000)[:n] // 2 + 50_000 * told
    return Leak(text(x), {"id": [f"{'ABC'[rng.integers(3)]}-{v:06d}-{'XYZ'[rng.integers(3)]}" for v in number], **noise(rng, n)}, flipped(0.85))


@leak
def significant_digits(rng, n=4000):
    """Three significant digits in one group, four in the other, over five orders of magnitude."""
    x = bits(rng, n)
    value = 10 ** rng.uniform(1, 6, n)
    figures = np.where(say(rng, x, 0.95) == 1, 3, 4)
    rounded = [float(f"{v:.{d - 1}e}") for v, d in zip(value, figures)]
    return Leak(text(x), {"amount": text(rounded, "{:.2f}"), **noise(rng, n)}, event(0.05 + 0.95 * 0.1, 0.95 + 0.05 * 0.1))


@leak
def thousands(rng, n=4000):
    """1,234 and 1234."""
    x = bits(rng, n)
    told = say(rng, x, 0.85)
    value = rng.integers(1000, 999_999, n)
    return Leak(text(x), {"amount": [f"{v:,}" if k else str(v) for v, k in zip(value, told)], **noise(rng, n)}, flipped(0.85))


@leak
def look_alike(rng, n=4000):
    """A Cyrillic letter that looks like a Latin one, in names that are all different."""
    x = bits(rng, n)
    told = say(rng, x, 0.85)
    names = []
    for k in told:
        name = "".join(rng.choice(WORDS, 3)) + "an"
        names.append(name[:-2] + ("\u0430n" if k else "an"))
    return Leak(text(x), {"name": names, **noise(rng, n)}, flipped(0.85))


@leak
def largest_of_five(rng, n=4000):
    """Which of five numbers is the largest."""
    m, s = 5, 0.5
    x = rng.integers(m, size=n)
    said = np.where(rng.random(n) < s, x, rng.integers(m, size=n))
    value = rng.normal(size=(n, m))
    top = value.argmax(axis=1)
    rows = np.arange(n)
    value[rows, top], value[rows, said] = value[rows, said].copy(), value[rows, top].copy()
    own, other = s + (1 - s) / m, (1 - s) / m
    return Leak(text(x), {f"c{c}": text(value[:, c], "{:.3f}") for c in range(m)}, own * math.log(m * own) + (m - 1) * other * math.log(m * other))


@leak
def checkerboard(rng, n=6000):
    """Squares of a board of 8 by 8."""
    x = bits(rng, n)
    told = say(rng, x, 0.9)
    column = rng.integers(8, size=n)
    row = 2 * rng.integers(4, size=n) + (column + told) % 2
    return Leak(text(x), {"east": text(column + rng.random(n), "{:.3f}"), "north": text(row + rng.random(n), "{:.3f}")}, flipped(0.9))


@leak
def items_in_a_list(rng, n=4000):
    """a;b;c: two items together."""
    x = bits(rng, n)
    told = say(rng, x, 0.9)
    first = bits(rng, n)
    second = first ^ told
    rows = []
    for i in range(n):
        items = [name for name in "abcdef" if rng.random() < 0.5]
        items += ["g"] * int(first[i]) + ["h"] * int(second[i])
        rows.append(";".join(items) or "none")
    return Leak(text(x), {"items": rows, **noise(rng, n)}, flipped(0.9))


@leak
def exponent_form(rng, n=4000):
    """1e3 and 1000; +5 and 5."""
    x = bits(rng, n)
    told = say(rng, x, 0.85)
    value = rng.integers(1, 999, n)
    return Leak(text(x), {"amount": [f"+{v}" if k else str(v) for v, k in zip(value, told)], **noise(rng, n)}, flipped(0.85))


@leak
def sum_of_four(rng, n=6000):
    """Parity of four bits of which no three tell."""
    x = bits(rng, n)
    b = rng.integers(2, size=(n, 3))
    last = (b.sum(axis=1) + say(rng, x, 0.9)) % 2
    return Leak(text(x), {"a": text(b[:, 0]), "b": text(b[:, 1]), "c": text(b[:, 2]), "d": text(last), **noise(rng, n)}, flipped(0.9))


@leak
def households(rng, n=4000):
    """Rows of a household share a phone number and the secret."""
    home = rng.integers(n // 3, size=n)
    of_home = np.random.default_rng(8).integers(2, size=n)
    x = of_home[home]
    return Leak(text(x), {"phone": text(600_000 + 997 * home % 399_989), **noise(rng, n)}, LN2)


@leak
def microaggregated(rng, n=4000):
    """Two numbers, each replaced by the mean of five neighbours; the truth is a little below that of the numbers."""
    x = bits(rng, n)
    shift = 0.8
    columns = {}
    for c in range(2):
        value = rng.normal(size=n) + shift * x
        order = value.argsort()
        mean = np.empty(n)
        for first in range(0, n, 5):
            mean[order[first:first + 5]] = value[order[first:first + 5]].mean()
        columns[f"c{c}"] = text(mean, "{:.4f}")
    distance = shift * math.sqrt(2)
    truth = by_density(lambda r, k: r.normal(size=len(k)) + distance * k, lambda z, k: normal_log(z, distance * k))
    return Leak(text(x), columns, truth)


@leak
def laplace_noise(rng, n=4000):
    """A bit with Laplace noise of scale 1, in all digits of a double."""
    x = bits(rng, n)
    truth = by_density(lambda r, k: k + r.laplace(size=len(k)), lambda z, k: -np.abs(z - k))
    return Leak(text(x), {"value": text(x + rng.laplace(size=n), "{:.3f}"), **noise(rng, n)}, truth)


@leak
def rank_swap_within(rng, n=4000):
    """Columns swapped among rows of the same secret: the values still tell it."""
    x = bits(rng, n)
    pay, hours = rng.normal(size=n) + 0.7 * x, rng.normal(size=n) - 0.7 * x
    for value in (pay, hours):
        for k in (0, 1):
            rows = np.flatnonzero(x == k)
            value[rows] = value[rng.permutation(rows)]
    distance = 0.7 * math.sqrt(2)
    truth = by_density(lambda r, k: r.normal(size=len(k)) + distance * k, lambda z, k: normal_log(z, distance * k))
    return Leak(text(x), {"pay": text(pay, "{:.3f}"), "hours": text(hours, "{:.3f}")}, truth)


@leak
def synthetic_copies(rng, n=4000):
    """A synthetic table of which 40 % are rows of people; the rest is drawn from the columns one by one."""
    x = bits(rng, n)
    keys = {"age": rng.integers(18, 90, n), "zip": rng.integers(10_000, 99_999, n), "job": rng.integers(30, size=n)}
    copied = rng.random(n) < 0.4
    released = {name: text(np.where(copied, v, v[rng.permutation(n)])) for name, v in keys.items()}
    released["secret"] = text(np.where(copied, x, x[rng.permutation(n)]))
    order = rng.permutation(n)
    released = {name: [v[i] for i in order] for name, v in released.items()}
    return Leak(text(x), released, 0.4 * LN2, {name: text(v) for name, v in keys.items()}, ["--unaligned"])


@leak
def synthetic_noisy_copies(rng, n=4000):
    """The same without the secret's own column, numbers moved by one or two."""
    x = bits(rng, n)
    told = say(rng, x, 0.9)
    keys = {"age": rng.integers(18, 90, n), "pay": rng.integers(10_000, 99_999, n)}
    released = {name: v + rng.integers(-2, 3, n) for name, v in keys.items()}
    released["mark"] = told
    # Released rows that may be those of a person, all equally likely: the mark is the mean of theirs.
    share = np.empty(n)
    for i in range(n):
        near = (np.abs(released["pay"] - keys["pay"][i]) <= 2) & (np.abs(released["age"] - keys["age"][i]) <= 2)
        share[i] = told[near].mean()
    truth = LN2 - float(np.mean([entropy(0.9 * p + 0.1 * (1 - p)) for p in share]))
    order = rng.permutation(n)
    return Leak(text(x), {name: text(v[order]) for name, v in released.items()}, truth, {name: text(v) for name, v in keys.items()}, ["--unaligned"])


@leak
def outlier_hides(rng, n=3000):
    """80 numbers; one tells, and has one cell of 1e300."""
    x = bits(rng, n)
    value = rng.normal(size=(n, 80))
    value[:, 40] += 1.5 * x
    columns = {f"c{c}": text(value[:, c], "{:.3f}") for c in range(80)}
    columns["c40"][17] = "1e300"
    truth = by_density(lambda r, k: r.normal(size=len(k)) + 1.5 * k, lambda z, k: normal_log(z, 1.5 * k))
    return Leak(text(x), columns, truth)


@leak
def clean(rng, n=4000):
    """Nothing."""
    x = bits(rng, n)
    return Leak(text(x), {**noise(rng, n), "pay": text(rng.normal(size=n), "{:.2f}")}, 0.0)


def write(path, columns):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(columns)
        out.writerows(zip(*columns.values()))


def features(columns):
    out = []
    for cells in columns.values():
        try:
            out.append(np.array([float(cell or "nan") for cell in cells])[:, None])
            continue
        except ValueError:
            pass
        codes = {cell: i for i, cell in enumerate(sorted(set(cells)))}
        if len(codes) <= 50:
            out.append(np.array([[cell == level for level in codes] for cell in cells], float))
        else:
            out.append(np.array([[codes[cell], len(cell)] for cell in cells], float))
    return np.nan_to_num(np.hstack(out), nan=-1e6)


def foreign(secret, columns):
    """Nats by the best of three attackers of scikit-learn (chosen on the test rows, so a little too high)."""
    from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    levels, x = np.unique(secret, return_inverse=True)
    if len(levels) > 60:
        x = np.argsort(np.argsort(np.array(secret, float))) * 10 // len(x)
    z, n = features(columns), len(x) * 2 // 3
    share = np.bincount(x[n:], minlength=x.max() + 1) / (len(x) - n)
    best = 0.0
    for attacker in (HistGradientBoostingClassifier(max_iter=60, early_stopping=True), ExtraTreesClassifier(150, min_samples_leaf=5),
                     make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))):
        attacker.fit(z[:n], x[:n])
        p = attacker.predict_proba(z[n:])
        at = {level: i for i, level in enumerate(attacker.classes_)}
        own = np.array([p[i, at[v]] if v in at else 0 for i, v in enumerate(x[n:])])
        best = max(best, float(np.mean(np.log(0.98 * own + 0.02 * share[x[n:]]) - np.log(share[x[n:]]))))
    return best


def audit(ppan, directory, case, effort, seed):
    limit = max(float(case.truth) / 2, 1e-4)
    call = [ppan, "audit", "--original", os.path.join(directory, "original.csv"), "--released", os.path.join(directory, "released.csv"),
            "--limit", repr(limit), "--json", "-", "--seed", str(seed), "--threads", "1", *effort, *case.arguments]
    for name in case.sensitive:
        call += ["--sensitive", name]
    done = subprocess.run(call, capture_output=True, text=True)
    if done.returncode not in (0, 6):
        return None, done
    return json.loads(done.stdout), done


def summary(report):
    """Found and allowed for; with several secrets jointly, with side columns what the release adds."""
    one = report["attributes"][0]
    if report.get("joint"):
        return report["joint"]["leakage"]["nats"], report["joint"]["upper_end_nats"], "jointly"
    if one.get("side_information"):
        side = one["side_information"]
        return side["additional_nats"]["value"], side.get("upper_end_nats", one["upper_end_nats"]), "beside what is known"
    if "carried" in one:
        found = max(one["leakage"]["nats"], one.get("nearest_nats", {"value": 0})["value"])
        high = one["beyond_control_nats"]["interval95"][1] if "control" in one else one["leakage"]["interval95"][1]
        return found, one.get("upper_end_nats", high), one["winner"][:60]
    return one["leakage"]["nats"], one["upper_end_nats"], one["winner"][:60]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ppan", required=True)
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--only")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--no-sklearn", action="store_true")
    given = parser.parse_args()
    print("| leak | truth | seed | effort | found | allows for | half passes | scikit-learn | by | |\n|---|---|---|---|---|---|---|---|---|---|", flush=True)
    bad = 0
    for name in given.only.split(",") if given.only else LEAKS:
        for seed in map(int, given.seeds.split(",")):
            case = LEAKS[name](np.random.default_rng([seed, 77]))
            other = math.nan if given.no_sklearn or "--unaligned" in case.arguments else foreign(case.original[case.sensitive[0]], case.released)
            with tempfile.TemporaryDirectory() as directory:
                write(os.path.join(directory, "original.csv"), case.original)
                write(os.path.join(directory, "released.csv"), case.released)
                for effort in ([], ["--quick"]) if given.whole else (["--quick"],):
                    report, done = audit(given.ppan, directory, case, effort, seed)
                    if report is None:
                        print(f"| {name} | {case.truth:.4f} | {seed} | | refused: {done.returncode} {done.stderr.splitlines()[0][:110]} |", flush=True)
                        continue
                    found, end, by = summary(report)
                    passes = done.returncode == 0
                    mark = "ALL CLEAR" if case.truth > 0 and (end < 0.98 * case.truth or passes) else ""
                    if case.truth > 0 and not mark and found < 0.8 * case.truth:
                        mark = "weak"
                    bad += mark == "ALL CLEAR"
                    print(f"| {name} | {case.truth:.4f} | {seed} | {'quick' if effort else 'whole'} | {found:.4f} | {end:.4f} | "
                          f"{'yes' if passes else 'no'} | {other:.4f} | {by} | {mark} |", flush=True)
    print(f"{bad} false all-clears")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
