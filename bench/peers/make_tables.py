#!/usr/bin/env python3
"""Two generated tables for comparisons: usage: make_tables.py adult|interactions ROWS SEED > table.csv

adult          after the census table: ages, work, schooling, spikes at zero and at round hours; hidden `sex` shows in most columns, the
               task `income` depends on schooling, age and hours
interactions   hidden `secret` shows in no column and in no pair with the task, only in the exclusive or of two pairs of columns, beside weak
               main effects; the task `bought` depends on other combinations. What looks at columns one by one misses most of it
"""

import csv
import sys

import numpy as np


def adult(random, n):
    sex = random.random(n) < 0.67
    age = np.clip(random.gamma(6, 5, n) + 17, 17, 90).astype(int)
    schooling = np.clip(random.normal(10 + 0.3 * sex, 2.5, n), 1, 16).astype(int)
    married = random.random(n) < 1 / (1 + np.exp(-(0.06 * (age - 38) + 0.9 * sex - 0.6)))
    kinds = np.array(["clerical", "craft", "professional", "sales", "service", "transport"])
    taste = np.column_stack([0.9 - 1.1 * sex, -1.2 + 2.0 * sex, 0.35 * (schooling - 11), 0 * sex, 0.8 - 0.9 * sex, -1.6 + 2.1 * sex])
    work = kinds[np.argmax(taste + random.gumbel(size=taste.shape), 1)]
    hours = np.where(random.random(n) < 0.48, 40, np.clip(random.normal(36 + 6 * sex + 0.5 * (schooling - 10), 9, n), 1, 99)).astype(int)
    gain = np.where(random.random(n) < 0.06 + 0.01 * schooling, (np.exp(random.normal(8.2, 0.9, n)) // 10 * 10), 0).astype(int)
    logit = 0.35 * (schooling - 10) + 0.05 * (age - 38) - 0.0012 * (age - 45) ** 2 + 0.05 * (hours - 40) + 1.1 * married + 0.0002 * gain - 1.9
    income = np.where(random.random(n) < 1 / (1 + np.exp(-logit)), ">50K", "<=50K")
    region = random.choice(["north", "south", "east", "west"], n, p=[0.4, 0.3, 0.2, 0.1])
    return {"age": age, "schooling": schooling, "married": np.where(married, "yes", "no"), "work": work, "hours": hours, "gain": gain,
            "region": region, "sex": np.where(sex, "male", "female"), "income": income}


def interactions(random, n):
    flags = random.random((n, 6)) < 0.5
    a, b, c, d, e, f = flags.T
    amount = np.exp(random.normal(3, 0.8, n)).round(2)
    visits = random.poisson(3, n)
    logit = 1.6 * ((a ^ b) * 2.0 - 1) + 1.0 * ((c ^ d) * 2.0 - 1) + 0.25 * (visits - 3)
    secret = random.random(n) < 1 / (1 + np.exp(-logit))
    logit = 1.5 * ((b ^ e) * 2.0 - 1) + 0.8 * (np.log(amount) - 3) + 0.9 * ((d & f) * 2.0 - 1)
    bought = random.random(n) < 1 / (1 + np.exp(-logit))
    words = {name: np.where(flag, f"{name}1", f"{name}0") for name, flag in zip("abcdef", (a, b, c, d, e, f))}
    return {**words, "amount": amount, "visits": visits, "secret": np.where(secret, "yes", "no"), "bought": np.where(bought, "yes", "no")}


def main():
    name, rows, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    table = {"adult": adult, "interactions": interactions}[name](np.random.default_rng(seed), rows)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*(v.tolist() for v in table.values())))


if __name__ == "__main__":
    main()
