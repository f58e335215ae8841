#!/usr/bin/env python3
"""More leaks of known size, thought of after those of foreign_leaks.py were found; run and read in the same way.
    bench/audit/stranger_leaks.py --ppan build/ppan [--seeds 1,2] [--only NAME,..] [--whole] [--no-sklearn]"""

import math
import sys
import unicodedata

import numpy as np

import foreign_leaks
from foreign_leaks import LN2, WORDS, Leak, bits, by_density, entropy, event, flipped, noise, normal_log, say, stamps, text

LEAKS = {}


def leak(function):
    LEAKS[function.__name__] = function
    return function


def spoken(m, s):
    """Information of one of m equally likely levels, told with probability s and otherwise drawn anew."""
    own, other = s + (1 - s) / m, (1 - s) / m
    return own * math.log(m * own) + (m - 1) * other * math.log(m * other)


def spell(words, said):
    """One of two spellings for each cell."""
    return [pair[k] for pair, k in zip(words, said)]


# Several columns together.


@leak
def three_names(rng, n=6000):
    """Three categories of ten levels; their sum is even or odd."""
    x = bits(rng, n)
    a, b = rng.integers(10, size=n), rng.integers(10, size=n)
    c = 2 * rng.integers(5, size=n) + (a + b + say(rng, x, 0.9)) % 2
    return Leak(text(x), {"a": text(a, "a{}"), "b": text(b, "b{}"), "c": text(c, "c{}")}, flipped(0.9))


@leak
def two_names_of_twelve(rng, n=4000):
    """Two categories of twelve levels; their sum is even or odd."""
    x = bits(rng, n)
    a = rng.integers(12, size=n)
    b = 2 * rng.integers(6, size=n) + (a + say(rng, x, 0.9)) % 2
    return Leak(text(x), {"a": text(a, "a{}"), "b": text(b, "b{}"), **noise(rng, n)}, flipped(0.9))


@leak
def two_names_random(rng, n=6000):
    """Two categories of fifteen levels; a random table says which pairs are of which group."""
    x = bits(rng, n)
    table = np.random.default_rng(3).permuted(np.tile([0, 1], (15, 8))[:, :15], axis=1)
    a, b = rng.integers(15, size=n), rng.integers(15, size=n)
    want = say(rng, x, 0.9)
    for _ in range(60):
        wrong = table[a, b] != want
        a[wrong], b[wrong] = rng.integers(15, size=wrong.sum()), rng.integers(15, size=wrong.sum())
    return Leak(text(x), {"a": text(a, "a{}"), "b": text(b, "b{}"), **noise(rng, n)}, flipped(0.9))


@leak
def sign_by_town(rng, n=6000):
    """A number tells it, with a sign that depends on one of 30 towns."""
    x = bits(rng, n)
    sign = np.where(np.random.default_rng(4).random(30) < 0.5, -1, 1)
    town = rng.integers(30, size=n)
    value = rng.normal(size=n) + sign[town] * (2 * x - 1)
    truth = by_density(lambda r, k: r.normal(size=len(k)) + 2 * k - 1, lambda z, k: normal_log(z, 2 * k - 1))
    return Leak(text(x), {"town": text(town, "t{}"), "value": text(value, "{:.2f}"), "age": text(rng.integers(18, 90, n))}, truth)


@leak
def order_within_group(rng, n=5000):
    """Which of two numbers stands higher among those of the same town; towns have their own scales."""
    x = bits(rng, n)
    town = rng.integers(8, size=n)
    own = np.random.default_rng(9)
    base, size = own.normal(size=(2, 8)) * 30, np.exp(own.normal(size=(2, 8)))
    high, low = np.sort(rng.random((n, 2)), axis=1)[:, ::-1].T
    told = say(rng, x, 0.9)
    u, v = np.where(told, high, low), np.where(told, low, high)
    return Leak(text(x), {"town": text(town, "t{}"), "pay": text(base[0, town] + size[0, town] * u, "{:.3f}"),
                          "rent": text(base[1, town] + size[1, town] * v, "{:.3f}")}, flipped(0.9))


@leak
def plane_of_three(rng, n=4000):
    """c = 2a - 3b, exactly enough in one group, nearly in the other."""
    x = bits(rng, n)
    a, b = rng.normal(size=n), rng.normal(size=n)
    spread = np.array([1.0, 0.2])
    truth = by_density(lambda r, k: r.normal(size=len(k)) * spread[k], lambda z, k: normal_log(z, 0, spread[k]))
    return Leak(text(x), {"a": text(a, "{:.4f}"), "b": text(b, "{:.4f}"), "c": text(2 * a - 3 * b + spread[x] * rng.normal(size=n), "{:.4f}")}, truth)


@leak
def plane_of_six(rng, n=5000):
    """The same of six numbers, with one more that has nothing to do with it."""
    x = bits(rng, n)
    part = rng.normal(size=(n, 5))
    weight = np.array([1.0, -0.7, 1.8, 0.4, -1.2])
    spread = np.array([0.8, 0.15])
    truth = by_density(lambda r, k: r.normal(size=len(k)) * spread[k], lambda z, k: normal_log(z, 0, spread[k]))
    columns = {f"c{i}": text(part[:, i], "{:.4f}") for i in range(5)}
    columns["total"] = text(part @ weight + spread[x] * rng.normal(size=n), "{:.4f}")
    columns["other"] = text(rng.normal(size=n), "{:.4f}")
    return Leak(text(x), columns, truth)


@leak
def body_mass(rng, n=4000):
    """Weight by the square of height, right to 1 % in one group and to 8 % in the other."""
    x = bits(rng, n)
    height, mass = rng.normal(1.7, 0.1, n), rng.lognormal(4.3, 0.2, n)
    spread = np.array([0.08, 0.01])
    truth = by_density(lambda r, k: r.normal(size=len(k)) * spread[k], lambda z, k: normal_log(z, 0, spread[k]))
    index = mass / height**2 * np.exp(spread[x] * rng.normal(size=n))
    return Leak(text(x), {"height": text(height, "{:.3f}"), "mass": text(mass, "{:.2f}"), "index": text(index, "{:.3f}")}, truth)


@leak
def covariances(rng, n=5000):
    """Ten numbers of equal means and variances; how they go together depends on it."""
    own = np.random.default_rng(11)
    turn, _ = np.linalg.qr(own.normal(size=(10, 10)))
    roots = []
    for share in (1, -1):
        c = turn @ np.diag(1 + share * 0.75 * np.tile([1, -1], 5)) @ turn.T
        d = np.sqrt(np.diag(c))
        roots.append(c / np.outer(d, d))
    root = [np.linalg.cholesky(c) for c in roots]
    inverse, log_det = [np.linalg.inv(c) for c in roots], [np.linalg.slogdet(c)[1] for c in roots]

    def draw(r, k):
        z = r.normal(size=(len(k), 10))
        return np.where(k[:, None] == 0, z @ root[0].T, z @ root[1].T)

    def density(z, k):
        return -0.5 * np.einsum("ij,jk,ik->i", z, inverse[k[0]], z) - 0.5 * log_det[k[0]]

    x = bits(rng, n)
    z = draw(rng, x)
    return Leak(text(x), {f"c{i}": text(z[:, i], "{:.3f}") for i in range(10)}, by_density(draw, density))


@leak
def hidden_centre(rng, n=6000):
    """Near a point in five dimensions, or not."""
    x = bits(rng, n)
    told = say(rng, x, 0.9)
    z = np.empty((n, 5))
    todo = np.arange(n)
    while len(todo):
        draw = rng.random((len(todo), 5))
        near = np.linalg.norm(draw - np.array([0.3, 0.6, 0.5, 0.7, 0.4]), axis=1) < 0.58
        good = near == (told[todo] == 1)
        z[todo[good]] = draw[good]
        todo = todo[~good]
    return Leak(text(x), {f"c{i}": text(z[:, i], "{:.3f}") for i in range(5)}, flipped(0.9))


@leak
def rings(rng, n=6000):
    """Rings about the middle, by turns."""
    x = bits(rng, n)
    r = 2 * rng.integers(3, size=n) + say(rng, x, 0.9) + rng.random(n)
    angle = rng.random(n) * 2 * np.pi
    return Leak(text(x), {"east": text(r * np.cos(angle), "{:.3f}"), "north": text(r * np.sin(angle), "{:.3f}"), **noise(rng, n)}, flipped(0.9))


@leak
def sectors(rng, n=6000):
    """Ten sectors about a place off the middle, by turns."""
    x = bits(rng, n)
    angle = (2 * rng.integers(5, size=n) + say(rng, x, 0.9) + rng.random(n)) * 2 * np.pi / 10
    r = 1 + 3 * rng.random(n)
    return Leak(text(x), {"east": text(50 + r * np.cos(angle), "{:.3f}"), "north": text(7 + r * np.sin(angle), "{:.3f}")}, flipped(0.9))


@leak
def clusters(rng, n=6000):
    """Sixty clusters in four dimensions, each of one group."""
    own = np.random.default_rng(12)
    middle, group = own.normal(size=(60, 4)) * 3, np.arange(60) % 2
    x = bits(rng, n)
    cluster = 2 * rng.integers(30, size=n) + say(rng, x, 0.9)
    assert (group[cluster] == cluster % 2).all()
    z = middle[cluster] + 0.3 * rng.normal(size=(n, 4))
    return Leak(text(x), {f"c{i}": text(z[:, i], "{:.3f}") for i in range(4)}, flipped(0.9))


@leak
def range_of_eight(rng, n=5000):
    """Whether the largest of eight numbers is far from the least."""
    x = bits(rng, n)
    told = say(rng, x, 0.9)
    z = rng.normal(size=(n, 8))
    wide = np.ptp(z, axis=1)
    cut = np.median(wide)
    bad = (wide > cut) != (told == 1)
    while bad.any():
        z[bad] = rng.normal(size=(bad.sum(), 8))
        bad = (np.ptp(z, axis=1) > cut) != (told == 1)
    return Leak(text(x), {f"c{i}": text(z[:, i], "{:.3f}") for i in range(8)}, flipped(0.9))


@leak
def equal_cells(rng, n=5000):
    """Ten answers A to E; one group gives the same answer again and again (two neighbours are alike more often)."""
    x = bits(rng, n)
    z = rng.integers(5, size=(n, 10))
    same = np.array([0.0, 0.15])
    for c in range(1, 10):
        z[:, c] = np.where(rng.random(n) < same[x], z[:, c - 1], z[:, c])

    def draw(r, k):
        return (r.random((len(k), 9)) < (0.2 + 0.8 * same[k])[:, None]).sum(axis=1)

    truth = by_density(draw, lambda c, k: c * np.log(0.2 + 0.8 * same[k]) + (9 - c) * np.log(0.8 - 0.8 * same[k]))
    return Leak(text(x), {f"q{i}": ["ABCDE"[v] for v in z[:, i]] for i in range(10)}, truth)


@leak
def straight_lining(rng, n=4000):
    """Six of ten answers of 1 to 7 are alike, wherever they stand, in half of one group."""
    x = bits(rng, n)
    z = rng.integers(1, 8, size=(n, 10))
    for i in np.flatnonzero((x == 1) & (rng.random(n) < 0.5)):
        z[i, rng.permutation(10)[:6]] = rng.integers(1, 8)
    # The chance that six or more of ten uniform answers are alike is below 0.003.
    return Leak(text(x), {f"q{i}": text(z[:, i]) for i in range(10)}, event(0.003, 0.5))


@leak
def zeros_in_a_row(rng, n=4000):
    """Twelve amounts, a third of them 0; how many are is even or odd."""
    x = bits(rng, n)
    zero = rng.random((n, 12)) < 0.33
    wrong = zero.sum(axis=1) % 2 != say(rng, x, 0.9)
    zero[wrong, 5] = ~zero[wrong, 5]
    value = np.where(zero, 0, rng.integers(1, 500, (n, 12)))
    return Leak(text(x), {f"m{i}": text(value[:, i]) for i in range(12)}, flipped(0.9))


@leak
def missing_three(rng, n=5000):
    """Three of eight columns are missing an even or an odd number of times."""
    x = bits(rng, n)
    gaps = rng.random((n, 8)) < 0.3
    gaps[:, [1, 4, 6]] = rng.integers(2, size=(n, 3)) == 1
    gaps[:, 6] = (gaps[:, 1].astype(int) + gaps[:, 4] + say(rng, x, 0.9)) % 2 == 1
    value = rng.integers(100, size=(n, 8))
    return Leak(text(x), {f"c{c}": ["" if g else str(v) for g, v in zip(gaps[:, c], value[:, c])] for c in range(8)}, flipped(0.9))


@leak
def missing_run(rng, n=4000):
    """Four of ten cells are missing in all rows; in one group they stand beside each other."""
    x = bits(rng, n)
    told = say(rng, x, 0.9)
    gaps = np.zeros((n, 10), bool)
    for i in range(n):
        if told[i]:
            first = rng.integers(7)
            gaps[i, first:first + 4] = True
        else:
            while True:
                gaps[i] = False
                gaps[i, rng.permutation(10)[:4]] = True
                at = np.flatnonzero(gaps[i])
                if at[-1] - at[0] != 3:
                    break
    value = rng.integers(100, size=(n, 10))
    return Leak(text(x), {f"c{c}": ["" if g else str(v) for g, v in zip(gaps[:, c], value[:, c])] for c in range(10)}, flipped(0.9))


# How things are written.


@leak
def unicode_forms(rng, n=4000):
    """Letters with accents, composed or not."""
    x = bits(rng, n)
    names = ["José", "Zoë", "René", "André", "Noël", "Chloé", "Anaïs", "Jürgen"]
    name = rng.integers(8, size=n)
    told = say(rng, x, 0.85)
    cells = [unicodedata.normalize("NFD" if k else "NFC", names[i]) for i, k in zip(name, told)]
    return Leak(text(x), {"name": cells, **noise(rng, n)}, flipped(0.85))


@leak
def hard_spaces(rng, n=4000):
    """Names that are all different, with one kind of space or another."""
    x = bits(rng, n)
    told = say(rng, x, 0.85)
    cells = [f"{rng.choice(WORDS).title()}{chr(0xa0) if k else ' '}{rng.choice(WORDS)}{rng.integers(10_000)}" for k in told]
    return Leak(text(x), {"name": cells, **noise(rng, n)}, flipped(0.85))


@leak
def two_spaces(rng, n=4000):
    """One space or two in texts of many words, somewhere."""
    x = bits(rng, n)
    cells = []
    for k in say(rng, x, 0.85):
        words = list(rng.choice(WORDS, rng.integers(5, 12)))
        words[rng.integers(1, len(words))] += " " if k else ""
        cells.append(" ".join(words))
    return Leak(text(x), {"note": cells, **noise(rng, n)}, flipped(0.85))


@leak
def case_inside(rng, n=4000):
    """One word of many begins with a capital, in one group."""
    x = bits(rng, n)
    cells = []
    for k in say(rng, x, 0.85):
        words = list(rng.choice(WORDS, rng.integers(5, 12)))
        at = rng.integers(len(words))
        words[at] = words[at].title() if k else words[at]
        cells.append(" ".join(words))
    return Leak(text(x), {"note": cells, **noise(rng, n)}, flipped(0.85))


@leak
def words_in_order(rng, n=5000):
    """Two words in one order or the other, in texts of eight others."""
    x = bits(rng, n)
    cells = []
    for k in say(rng, x, 0.9):
        words = list(rng.choice(WORDS, 8))
        pair = ["fever", "cough"] if k else ["cough", "fever"]
        at = sorted(rng.choice(9, 2, replace=False))
        words.insert(at[0], pair[0])
        words.insert(at[1] + 1, pair[1])
        cells.append(" ".join(words))
    return Leak(text(x), {"note": cells, **noise(rng, n)}, flipped(0.9))


@leak
def letters_inside(rng, n=5000):
    """Random letters with "qx" somewhere."""
    x = bits(rng, n)
    letters = np.array(list("abcdefghijklmnoprstuvwyz"))
    cells = []
    for k in say(rng, x, 0.9):
        word = "".join(rng.choice(letters, 12))
        at = rng.integers(1, 12)
        cells.append(word[:at] + ("qx" if k else "xq") + word[at:])
    return Leak(text(x), {"code": cells, **noise(rng, n)}, flipped(0.9))


@leak
def email_domain(rng, n=4000):
    """Two hundred domains, each mostly of one group; names are all different."""
    x = bits(rng, n)
    domain = 2 * rng.integers(100, size=n) + say(rng, x, 0.9)
    shuffled = np.random.default_rng(13).permutation(200)
    return Leak(text(x), {"mail": [f"{rng.choice(WORDS)}{rng.integers(10**6)}@{WORDS[shuffled[d] % 80]}{shuffled[d]}.org" for d in domain],
                          **noise(rng, n)}, flipped(0.9))


@leak
def network_address(rng, n=5000):
    """Third part of an address of four: 256 networks, each of one group."""
    x = bits(rng, n)
    net = np.random.default_rng(14).permutation(256)[2 * rng.integers(128, size=n) + say(rng, x, 0.9)]
    return Leak(text(x), {"address": [f"10.{rng.integers(256)}.{v}.{rng.integers(256)}" for v in net], **noise(rng, n)}, flipped(0.9))


@leak
def postal_prefix(rng, n=6000):
    """Five digits; the first three are of one group or the other (300 of them)."""
    x = bits(rng, n)
    prefix = 100 + 3 * np.random.default_rng(15).permutation(300)[2 * rng.integers(150, size=n) + say(rng, x, 0.9)]
    return Leak(text(x), {"post": text(100 * prefix + rng.integers(100, size=n)), **noise(rng, n)}, flipped(0.9))


@leak
def middle_digits(rng, n=5000):
    """Nine-digit numbers; the fourth and fifth tell it together (even sum)."""
    x = bits(rng, n)
    digit = rng.integers(10, size=(n, 9))
    digit[:, 0] = rng.integers(1, 10, n)
    digit[:, 4] = 2 * rng.integers(5, size=n) + (digit[:, 3] + say(rng, x, 0.9)) % 2
    return Leak(text(x), {"number": ["".join(map(str, row)) for row in digit], **noise(rng, n)}, flipped(0.9))


@leak
def leading_zeros(rng, n=4000):
    x = bits(rng, n)
    return Leak(text(x), {"number": [f"{v:05d}" if k else str(v) for v, k in zip(rng.integers(1, 9999, n), say(rng, x, 0.85))], **noise(rng, n)},
                flipped(0.85))


@leak
def powers(rng, n=4000):
    """1e3 or 1000, 2E3 or 2e3: only in round numbers, a fifth of all."""
    x = bits(rng, n)
    told = say(rng, x, 0.95)
    value = rng.integers(1, 99, n)
    round_one = rng.random(n) < 0.2
    cells = [(f"{v}e3" if k else f"{v}000") if r else str(v * 1000 + w)
             for v, k, r, w in zip(value, told, round_one, rng.integers(1, 999, n))]
    return Leak(text(x), {"amount": cells, **noise(rng, n)}, 0.2 * flipped(0.95))


@leak
def negative_zero(rng, n=4000):
    """-0.0 and 0.0, three of ten cells."""
    x = bits(rng, n)
    told = say(rng, x, 0.95)
    cells = [("-0.0" if k else "0.0") if z else f"{v:.1f}" for k, z, v in zip(told, rng.random(n) < 0.3, rng.normal(size=n) * 9 + 50)]
    return Leak(text(x), {"balance": cells, **noise(rng, n)}, 0.3 * flipped(0.95))


@leak
def bare_point(rng, n=4000):
    """.5 and 0.5; 1. and 1.0."""
    x = bits(rng, n)
    cells = [f"{v:.2f}"[1:] if k else f"{v:.2f}" for v, k in zip(0.01 + 0.98 * rng.random(n), say(rng, x, 0.85))]
    return Leak(text(x), {"share": cells, **noise(rng, n)}, flipped(0.85))


@leak
def zone_marks(rng, n=4000):
    """Times with Z or +00:00."""
    x = bits(rng, n)
    cells = [at + ("Z" if k else "+00:00") for at, k in zip(stamps(rng.integers(0, 365 * 86400, n), "iso"), say(rng, x, 0.85))]
    return Leak(text(x), {"at": cells, **noise(rng, n)}, flipped(0.85))


@leak
def weekend(rng, n=4000):
    """One group comes on weekdays only."""
    x = bits(rng, n)
    day = rng.integers(0, 3650, n)
    day = np.where((x == 1) & np.isin(day % 7, [0, 6]), 7 * (day // 7) + 1 + rng.integers(5, size=n), day)  # day 0 is a Sunday
    return Leak(text(x), {"day": stamps(86400 * day, "%Y-%m-%d"), **noise(rng, n)}, event(2 / 7, 0))


@leak
def twelve_hours(rng, n=4000):
    """08:15 PM: one group in the evening."""
    x = bits(rng, n)
    minute = np.where((x == 1) & (rng.random(n) < 0.5), 19 * 60 + rng.integers(120, size=n), rng.integers(1440, size=n))
    return Leak(text(x), {"at": stamps(60 * minute, "%I:%M %p"), **noise(rng, n)}, event(1 / 12, 0.5 + 0.5 / 12))


@leak
def month_names(rng, n=4000):
    """3 Mar 2021: one group on the first days of a month."""
    x = bits(rng, n)
    day = rng.integers(0, 3650, n)
    cells = []
    for d, k in zip(day, x):
        at = (np.datetime64("2013-01-01") + np.timedelta64(int(d), "D")).astype(object)
        if k and rng.random() < 0.5:
            at = at.replace(day=1)
        cells.append(f"{at.day} {at:%b} {at.year}")
    return Leak(text(x), {"day": cells, **noise(rng, n)}, event(120 / 3650, 0.5 + 0.5 * 120 / 3650))


@leak
def days_between(rng, n=4000):
    """Two dates; a whole number of weeks apart in one group."""
    x = bits(rng, n)
    first = rng.integers(0, 3650, n)
    apart = rng.integers(1, 400, n)
    apart = np.where((x == 1) & (rng.random(n) < 0.6), 7 * (1 + apart // 7), apart)
    return Leak(text(x), {"in": stamps(86400 * first, "%Y-%m-%d"), "out": stamps(86400 * (first + apart), "%Y-%m-%d"), **noise(rng, n)},
                event(1 / 7, 0.6 + 0.4 / 7))


@leak
def json_order(rng, n=4000):
    """Members of an object in one order or the other."""
    x = bits(rng, n)
    cells = [f'{{"age": {a}, "kg": {b}}}' if k else f'{{"kg": {b}, "age": {a}}}'
             for a, b, k in zip(rng.integers(18, 90, n), rng.integers(40, 120, n), say(rng, x, 0.85))]
    return Leak(text(x), {"data": cells, **noise(rng, n)}, flipped(0.85))


@leak
def number_in_json(rng, n=4000):
    """A number inside an object tells it."""
    x = bits(rng, n)
    age = rng.normal(size=n) * 10 + 50 + 12 * x
    truth = by_density(lambda r, k: r.normal(size=len(k)) + 1.2 * k, lambda z, k: normal_log(z, 1.2 * k))
    cells = [f'{{"kg": {b}, "age": {a:.1f}}}' for a, b in zip(age, rng.integers(40, 120, n))]
    return Leak(text(x), {"data": cells, **noise(rng, n)}, truth)


@leak
def number_with_unit(rng, n=4000):
    """'72.5 kg': the number tells it."""
    x = bits(rng, n)
    truth = by_density(lambda r, k: r.normal(size=len(k)) + 1.2 * k, lambda z, k: normal_log(z, 1.2 * k))
    return Leak(text(x), {"mass": text(rng.normal(size=n) * 10 + 70 + 12 * x, "{:.1f} kg"), **noise(rng, n)}, truth)


@leak
def range_cells(rng, n=4000):
    """'30-39': ranges as k-anonymous tables have them, of ten, five and three years."""
    x = bits(rng, n)
    age = np.clip(rng.normal(size=n) * 12 + 45 + 14 * x, 18, 89).astype(int)
    width = rng.choice([10, 5, 3], n)
    low = age // width * width
    truth = by_density(lambda r, k: r.normal(size=len(k)) * 12 + 14 * k, lambda z, k: normal_log(z, 14 * k, 12)) * 0.93
    return Leak(text(x), {"age": [f"{a}-{a + w - 1}" for a, w in zip(low, width)], "town": text(rng.integers(7, size=n), "town {}")}, truth)


# Arithmetic.


@leak
def sum_by_three(rng, n=5000):
    """Two whole numbers whose sum is a multiple of three or not."""
    x = bits(rng, n)
    a, b = rng.integers(10, 500, n), rng.integers(10, 500, n)
    third = say(rng, x, 0.9)
    b = b - (a + b) % 3 + np.where(third, 0, rng.integers(1, 3, n))
    return Leak(text(x), {"a": text(a), "b": text(b), **noise(rng, n)}, flipped(0.9))


@leak
def second_bits(rng, n=5000):
    """The second binary digits of two numbers."""
    x = bits(rng, n)
    a, b = rng.integers(10, 500, n), rng.integers(10, 500, n)
    b = (b & ~2) | ((a & 2) ^ (2 * say(rng, x, 0.9)))
    return Leak(text(x), {"a": text(a), "b": text(b), **noise(rng, n)}, flipped(0.9))


@leak
def weighted_rest(rng, n=5000):
    """a + 2b by five."""
    x = bits(rng, n)
    a, b = rng.integers(10, 500, n), rng.integers(10, 500, n)
    want = say(rng, x, 0.9)
    a = a - (a + 2 * b) % 5 + np.where(want, rng.integers(2, size=n), rng.integers(2, 5, n))
    return Leak(text(x), {"a": text(a), "b": text(b), **noise(rng, n)}, flipped(0.9))


@leak
def multiples_of_dozen(rng, n=4000):
    """Multiples of 144, half of one group."""
    x = bits(rng, n)
    value = rng.integers(1000, 99_999, n)
    value = np.where((x == 1) & (rng.random(n) < 0.5), value - value % 144, value)
    return Leak(text(x), {"pieces": text(value), **noise(rng, n)}, event(1 / 144, 0.5 + 0.5 / 144))


@leak
def converted_units(rng, n=4000):
    """One group was measured in inches: whole multiples of 2.54, rounded to 0.1."""
    x = bits(rng, n)
    told = say(rng, x, 0.9)
    cm = 140 + 60 * rng.random(n)
    cm = np.where(told, np.round(cm / 2.54) * 2.54, cm)
    return Leak(text(x), {"height": text(np.round(cm, 1), "{:.1f}"), **noise(rng, n)}, event(1 / 25.4 * 0.9, 1, 0.5) * 0.55)


@leak
def fahrenheit(rng, n=4000):
    """Temperatures of one group were whole degrees of the other scale."""
    x = bits(rng, n)
    c = np.round(rng.normal(37, 1, n), 2)
    c = np.where((x == 1) & (rng.random(n) < 0.7), np.round((np.round(c * 1.8 + 32) - 32) / 1.8, 2), c)
    return Leak(text(x), {"degrees": text(c, "{:.2f}"), **noise(rng, n)}, event(0.018, 0.7 + 0.3 * 0.018))


# Rows.


@leak
def doubled_rows(rng, n=4000):
    """A fifth of one group stands twice in the file, far apart and but for one column."""
    x = bits(rng, n)
    columns = {"age": rng.integers(18, 90, n), "post": rng.integers(1000, 9999, n), "pay": rng.integers(9000, 99_999, n)}
    ones = rng.permutation(np.flatnonzero(x == 1))
    pairs = len(ones) // 5
    for column in columns.values():
        column[ones[pairs:2 * pairs]] = column[ones[:pairs]]
    columns["call"] = rng.integers(10**6, size=n)
    return Leak(text(x), {name: text(v) for name, v in columns.items()}, event(0, 0.4))


@leak
def next_row(rng, n=4000):
    """The mark of a row is about the row after it."""
    x = bits(rng, n)
    mark = np.roll(say(rng, x, 0.85), -1)
    return Leak(text(x), {"mark": text(mark), **noise(rng, n)}, flipped(0.85), arguments=["--aligned"])


@leak
def rise_since(rng, n=4000):
    """Whether a number is greater than that of the row before."""
    x = bits(rng, n)
    step = np.abs(rng.normal(size=n)) * (2 * say(rng, x, 0.9) - 1)
    value = np.empty(n)
    now = 0.0
    for i in range(n):
        now = 0.98 * now + step[i]
        value[i] = now
    return Leak(text(x), {"level": text(value, "{:.3f}"), **noise(rng, n)}, flipped(0.9) * 0.9, arguments=["--aligned"])


@leak
def first_visits(rng, n=4000):
    """Whether a person stands in the file for the first time."""
    person = rng.integers(n // 2, size=n)
    seen, first = set(), np.zeros(n, int)
    for i, p in enumerate(person):
        first[i] = p not in seen
        seen.add(p)
    told = say(rng, first, 0.9)
    x = told
    p = float(first.mean())
    # The rank of a person's row depends on the place as well; the event alone is what is planted.
    truth = entropy(p * 0.9 + (1 - p) * 0.1) - entropy(0.9)
    return Leak(text(x), {"person": text(person, "p{}"), "age": text(rng.integers(18, 90, n))}, truth, arguments=["--aligned"])


@leak
def long_blocks(rng, n=6000):
    """Blocks of 500 rows, by turns."""
    x = say(rng, (np.arange(n) // 500) % 2, 0.9)
    return Leak(text(x), noise(rng, n), flipped(0.9), arguments=["--aligned"])


@leak
def sorted_within(rng, n=4000):
    """The file is sorted by town, and within a town by the secret."""
    town = np.sort(rng.integers(40, size=n))
    x = bits(rng, n)
    told = say(rng, x, 0.9)
    order = np.lexsort((told, town))
    return Leak(text(x[order]), {"town": text(town[order], "town {}"), "age": text(rng.integers(18, 90, n))}, flipped(0.9), arguments=["--aligned"])


# Few rows, many classes, numbers.


@leak
def two_in_a_hundred(rng, n=8000):
    """Two rows of a hundred are released as they were: a digit that is noise elsewhere, marked by the length of another cell."""
    x = bits(rng, n)
    inside = rng.random(n) < 0.02
    mark = np.where(inside, x, bits(rng, n))
    code = np.where(inside, rng.integers(10**6, 10**7, n), rng.integers(10**4, 10**6, n))
    return Leak(text(x), {"code": text(code), "mark": text(mark), **noise(rng, n)}, 0.02 * LN2)


@leak
def one_of_thirty(rng, n=6000):
    """One rare class of thirty (2 %) has a mark that others have in one row of a hundred."""
    share = np.full(30, 0.98 / 29)
    share[17] = 0.02
    x = rng.choice(30, n, p=share)
    mark = rng.random(n) < np.where(x == 17, 0.9, 0.01)
    return Leak(text(x, "c{}"), {"mark": text(mark.astype(int)), **noise(rng, n)}, event(0.01, 0.9, 0.02))


@leak
def spread_by_number(rng, n=4000):
    """A number sets only the spread of the release."""
    def truth():
        r = np.random.default_rng(5)
        s = r.normal(size=4000)
        z = r.normal(size=4000) * np.exp(s)
        grid = r.normal(size=4000)
        own = normal_log(z, 0, np.exp(s))
        mix = np.log(np.mean(np.exp(normal_log(z[:, None], 0, np.exp(grid)[None, :])), axis=1))
        return float(np.mean(own - mix))
    s = rng.normal(size=n)
    return Leak(text(100 * s, "{:.1f}"), {"value": text(rng.normal(size=n) * np.exp(s), "{:.4f}"), **noise(rng, n)}, truth())


@leak
def circle_by_number(rng, n=4000):
    """A number sets the angle of two others: no straight line between them."""
    s = rng.random(n)
    z = 2 * np.pi * s
    r = 1 + 0.3 * rng.normal(size=n)

    def truth():
        own = np.random.default_rng(6)
        k = own.random(3000)
        east, north = np.cos(2 * np.pi * k) + 0.4 * own.normal(size=3000), np.sin(2 * np.pi * k) + 0.4 * own.normal(size=3000)
        grid = 2 * np.pi * (np.arange(400) + 0.5) / 400
        at = lambda g: np.exp(-((east[:, None] - np.cos(g)) ** 2 + (north[:, None] - np.sin(g)) ** 2) / 0.32)
        return float(np.mean(np.log(np.diag(at(2 * np.pi * k[None, :])) / at(grid[None, :]).mean(axis=1))))
    east, north = np.cos(z) + 0.4 * rng.normal(size=n), np.sin(z) + 0.4 * rng.normal(size=n)
    return Leak(text(1000 * s, "{:.1f}"), {"east": text(east, "{:.3f}"), "north": text(north, "{:.3f}"), **noise(rng, n)}, truth())


@leak
def hundred_classes_number(rng, n=1500):
    """100 classes, fifteen rows of each: a number about the place of the class, with noise of four places."""
    x = rng.integers(100, size=n)
    order = np.random.default_rng(16).permutation(100)
    truth = by_density(lambda r, k: order[k] + 4 * r.normal(size=len(k)), lambda z, k: normal_log(z, order[k], 4.0), 100, 40_000)
    return Leak(text(x, "c{}"), {"value": text(order[x] + 4 * rng.normal(size=n), "{:.2f}"), **noise(rng, n)}, truth)


@leak
def hundred_classes_name(rng, n=1500):
    """100 classes, told by a name in four rows of ten."""
    x = rng.integers(100, size=n)
    said = np.where(rng.random(n) < 0.4, x, rng.integers(100, size=n))
    return Leak(text(x, "c{}"), {"code": text(np.random.default_rng(2).permutation(100)[said], "k{}"), **noise(rng, n)}, spoken(100, 0.4))


@leak
def hundred_classes_digits(rng, n=3000):
    """100 classes, told by the last two digits of a number in half of the rows."""
    x = rng.integers(100, size=n)
    said = np.where(rng.random(n) < 0.5, x, rng.integers(100, size=n))
    return Leak(text(x, "c{}"), {"pay": text(100 * rng.integers(90, 900, n) + said), **noise(rng, n)}, spoken(100, 0.5))


@leak
def side_together(rng, n=5000):
    """A side column goes with the secret; the release tells it only where the side column is one of two values."""
    x = bits(rng, n)
    side = np.where(rng.random(n) < 0.5, x, rng.integers(4, size=n))
    told = np.where(side < 2, say(rng, x, 0.9), bits(rng, n))

    def truth():
        r = np.random.default_rng(7)
        count = np.zeros((2, 4, 2))
        for v in (0, 1):
            for u in range(4):
                p = 0.5 * (0.5 * (u == v) + 0.5 / 4)
                for t in (0, 1):
                    count[v, u, t] = p * ((0.9 if t == v else 0.1) if u < 2 else 0.5)
        given = count / count.sum(axis=(0, 2), keepdims=True)
        total = 0.0
        for u in range(4):
            joint = given[:, u, :]
            total += count[:, u].sum() * np.sum(joint * np.log(joint / np.outer(joint.sum(1), joint.sum(0))))
        return float(total)
    return Leak(text(x), {"mark": text(told), **noise(rng, n)}, truth(), {"region": text(side, "r{}")}, ["--side", "region"])


@leak
def side_number(rng, n=5000):
    """The release is a number that attackers know, plus the secret and noise."""
    x = bits(rng, n)
    base = rng.normal(size=n) * 30
    value = base + 1.5 * x + rng.normal(size=n)
    truth = by_density(lambda r, k: r.normal(size=len(k)) + 1.5 * k, lambda z, k: normal_log(z, 1.5 * k))
    return Leak(text(x), {"pay": text(value, "{:.2f}"), **noise(rng, n)}, truth, {"before": text(base, "{:.2f}")}, ["--side", "before"])


# Tables joined with others.


def generalised(rng, n):
    """People by age, postal code and sex; ranges and prefixes of these, with the secret in a table of its own order."""
    x = bits(rng, n)
    age, post, sex = rng.integers(18, 90, n), rng.integers(100, 1000, n), bits(rng, n)
    return x, age, post, sex


@leak
def k_anonymous_synthetic(rng, n=4000):
    """Ages as ranges of ten years, codes as 12*: classes of some 25 rows, half of them of nearly one secret."""
    x, age, post, sex = generalised(rng, n)
    key = (age // 10) * 100 + (post // 100) * 2 + sex
    share = np.random.default_rng(17).choice([0.5, 0.95, 0.05], 2000, p=[0.5, 0.25, 0.25])
    x = (rng.random(n) < share[key]).astype(int)
    order = rng.permutation(n)
    mean = np.zeros(n)
    for k in np.unique(key):
        mean[key == k] = x[key == k].mean()
    prior = x.mean()
    truth = entropy(prior) - float(np.mean([entropy(p) for p in share[key]]))
    released = {"age": [f"{a // 10 * 10}-{a // 10 * 10 + 9}" for a in age[order]], "post": [f"{p // 100}**" for p in post[order]],
                "sex": text(sex[order], "s{}"), "secret": text(x[order])}
    return Leak(text(x), released, truth, {"age": text(age), "post": text(post), "sex": text(sex, "s{}")}, ["--unaligned"])


@leak
def joined_codes(rng, n=4000):
    """Rows in another order, without the secret: a diagnosis that tells it, beside exact age, code and sex."""
    x, age, post, sex = generalised(rng, n)
    told = say(rng, x, 0.95)
    order = rng.permutation(n)
    # About one other row has the same age, code and sex in thirty; the loss is small.
    return Leak(text(x), {"age": text(age[order]), "post": text(post[order]), "sex": text(sex[order], "s{}"), "drug": text(told[order], "d{}")},
                flipped(0.95) * 0.95, {"age": text(age), "post": text(post), "sex": text(sex, "s{}")}, ["--unaligned"])


if __name__ == "__main__":
    foreign_leaks.LEAKS = LEAKS
    foreign_leaks.__doc__ = __doc__
    sys.exit(foreign_leaks.main())
