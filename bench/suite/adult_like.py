"""An invented census table with what makes real ones hard: spikes (hours of 40, gains of 0), a number that follows from a category
(education_num), categories that exclude each other (relationship and marital status), rare levels, a secret that shows in many columns a little
and in one a lot, and a task (income) that depends on most of them. No person is behind any row.

usage: adult_like.py ROWS SEED > table.csv
"""

import bisect
import csv
import math
import random
import sys

COLUMNS = ["age", "workclass", "education", "education_num", "marital", "occupation", "relationship", "race", "capital_gain", "capital_loss",
           "hours", "country", "sex", "income"]
EDUCATION = [("primary", 3, 4), ("some-school", 7, 9), ("school", 9, 32), ("some-college", 10, 22), ("vocational", 11, 8), ("bachelors", 13, 16),
             ("masters", 14, 6), ("doctorate", 16, 3)]
# Share among women and men.
OCCUPATION = {"clerical": (30, 9), "service": (18, 8), "sales": (12, 11), "professional": (16, 12), "executive": (11, 14), "craft": (2, 19),
              "transport": (1, 8), "machine": (5, 8), "farming": (1, 5), "protective": (1, 3), "technical": (3, 3)}
WORKCLASS = {"private": 72, "self-employed": 11, "government": 14, "unpaid": 0.3, "unknown": 3}
GAINS = [(594, 3), (3103, 9), (4064, 6), (5178, 8), (7298, 22), (7688, 24), (14084, 8), (15024, 30), (99999, 12)]
LOSSES = [(1485, 10), (1590, 8), (1672, 9), (1740, 9), (1887, 22), (1902, 25), (1977, 17)]


class Shares:
    """Draws from weighted choices."""

    def __init__(self, choices):
        self.values, total, self.ends = [], 0.0, []
        for value, weight in choices:
            total += weight
            self.values.append(value)
            self.ends.append(total)

    def draw(self, source):
        return self.values[bisect.bisect_right(self.ends, source.random() * self.ends[-1], hi=len(self.ends) - 1)]


BY_SEX = {sex: Shares([(name, share[i]) for name, share in OCCUPATION.items()]) for i, sex in enumerate(("Female", "Male"))}
SCHOOLS = Shares([((name, number), share) for name, number, share in EDUCATION])
CLASSES, ALL_GAINS, ALL_LOSSES = Shares(list(WORKCLASS.items())), Shares(GAINS), Shares(LOSSES)
RACES = Shares([("a", 85), ("b", 9.5), ("c", 3), ("d", 1), ("e", 0.8)])
COUNTRIES = Shares([("home", 90), ("south", 4), ("east", 2), ("north", 1.5), ("other", 2.5)])


def person(source):
    male = source.random() < 0.67
    age = min(90, max(17, round(source.gammavariate(8, 3) + 15)))
    married_share = (0.62 if male else 0.16) * min(1.0, max(0.03, (age - 18) / 14))
    if source.random() < married_share:
        marital = "married"
        relationship = ("husband" if male else "wife") if source.random() < 0.97 else "other-relative"
    else:
        marital = Shares([("never", max(4, 60 - age)), ("divorced", age - 14), ("separated", 0.2 * (age - 12)),
                          ("widowed", (0.4 if male else 2.0) * max(0, age - 40))]).draw(source)
        relationship = Shares([("not-in-family", 50), ("own-child", 45 if age < 30 else 6), ("unmarried", 12 if male else 34),
                               ("other-relative", 5)]).draw(source)
    education, number = SCHOOLS.draw(source)
    occupation = BY_SEX["Male" if male else "Female"].draw(source)
    if number >= 13 and source.random() < 0.45:
        occupation = source.choice(["professional", "executive"])
    hours = 40 if source.random() < 0.47 else min(99, max(1, round(source.gauss(44 if male else 34, 13))))
    gain = ALL_GAINS.draw(source) if source.random() < 0.04 + 0.012 * max(0, number - 9) else 0
    loss = ALL_LOSSES.draw(source) if gain == 0 and source.random() < 0.045 else 0
    score = (-7.2 + 0.32 * (number - 9) + 0.045 * min(age, 55) + 2.1 * (marital == "married") + 0.03 * (hours - 40)
             + 0.9 * (occupation in ("executive", "professional")) - 0.7 * (occupation in ("service", "farming")) + 0.15 * male
             + (3.5 if gain > 6000 else -1 if gain > 0 else 0) + (1.2 if loss > 1800 else 0) + 2.2)
    rich = source.random() < 1 / (1 + math.exp(-score))
    return [age, CLASSES.draw(source), education, number, marital, occupation, relationship, RACES.draw(source), gain, loss, hours,
            COUNTRIES.draw(source), "Male" if male else "Female", ">50K" if rich else "<=50K"]


def write(file, rows, seed):
    source = random.Random(seed)
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for _ in range(rows):
        writer.writerow(person(source))


if __name__ == "__main__":
    write(sys.stdout, int(sys.argv[1]), int(sys.argv[2]))
