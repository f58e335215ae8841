#!/usr/bin/env python3
"""Does the audit agree with other people's code on the same files?

usage: sklearn_agreement.py PPAN [--rows N] [--seed S]

Writes tables of known leakage, audits them with the given ppan binary, and attacks them with scikit-learn: classifiers
trained on one half of the rows and scored by their log loss on the other, and its mutual-information estimates. Prints one
JSON object and fails unless, for every table,

  - the best classifier's leakage and the audit's intervals overlap, theirs being two standard errors wide;
  - the mutual-information estimate lies within the audit's estimate for the same columns, widened by 0.03 nats (neither
    side states a bias).

Needs Debian's python3-sklearn; without it the exit status is 77, which tests take for skipped.
"""

import argparse
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    import sklearn
except ImportError:
    print("scikit-learn is not installed (script/bootstrap bench installs it)", file=sys.stderr)
    sys.exit(77)
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_selection import mutual_info_regression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def worlds(rows, random):
    """name -> (sensitive values, released columns, true leakage in nats or None)"""
    x = random.integers(0, 2, rows)
    flip = numpy.where(random.random(rows) < 0.2, 1 - x, x)
    yield "symmetric channel", x, {"z": flip}, math.log(2) + 0.2 * math.log(0.2) + 0.8 * math.log(0.8)
    erased = numpy.where(random.random(rows) < 0.6, 2, x)
    yield "erasure channel", x, {"z": erased}, 0.4 * math.log(2)
    group = random.integers(0, 4, rows)
    # Rounded: unrounded, 1 + noise has fewer binary digits than 0 + noise, which the audit finds and the peers do not look at.
    yield "four groups in noise", group, {"a": numpy.round((group % 2) + random.normal(size=rows), 3),
                                          "b": numpy.round((group // 2) + random.normal(size=rows), 3)}, None
    yield "independent", x, {"z": random.normal(size=rows), "c": random.integers(0, 5, rows)}, 0.0
    rho = 0.7
    u = random.normal(size=rows)
    yield "Gaussian pair", u, {"z": rho * u + math.sqrt(1 - rho * rho) * random.normal(size=rows)}, -0.5 * math.log(1 - rho * rho)


def audit(binary, directory, x, released):
    original, public = directory / "original.csv", directory / "released.csv"
    for path, columns in ((original, {"x": x}), (public, released)):
        with open(path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*(values.tolist() for values in columns.values())))
    result = subprocess.run([binary, "audit", "--original", original, "--released", public, "--sensitive", "x", "--json", "-"],
                            stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(result.stdout)["attributes"][0]


def classifiers(x, released):
    """name -> (leakage, standard error) by log loss on the second half of the rows."""
    features = numpy.column_stack(list(released.values())).astype(float)
    half = len(x) // 2
    truth = x[half:]
    prior = numpy.log(numpy.bincount(truth) / len(truth))
    found = {}
    for name, model in (("logistic regression", make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))),
                        ("boosted trees", HistGradientBoostingClassifier(max_iter=60, early_stopping=True, random_state=1))):
        model.fit(features[:half], x[:half])
        q = numpy.log(numpy.clip(model.predict_proba(features[half:]), 1e-4, 1))
        gain = q[numpy.arange(len(truth)), truth] - prior[truth]
        found[name] = (float(gain.mean()), float(gain.std() / math.sqrt(len(gain))))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ppan")
    parser.add_argument("--rows", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    random = numpy.random.default_rng(arguments.seed)
    report, agreed = {"scikit-learn": sklearn.__version__, "rows": arguments.rows, "worlds": {}}, True
    for name, x, released, truth in worlds(arguments.rows, random):
        with tempfile.TemporaryDirectory() as directory:
            ours = audit(arguments.ppan, pathlib.Path(directory), x, released)
        low, high = ours["leakage"]["interval95"]
        entry = {"truth": truth, "audit": ours["leakage"]["nats"], "audit_interval": [low, high]}
        if ours["kind"] == "categorical":
            entry["classifiers"] = classifiers(x, released)
            best, error = max(entry["classifiers"].values())
            entry["classifiers_agree"] = best - 2 * error <= high and max(0, best + 2 * error) >= low
        pairs = []
        for estimate in ours["other_estimates"]:
            if estimate["method"].startswith("counts"):
                pairs.append((estimate, mutual_info_score(x, next(iter(released.values())))))
            if "KSG" in estimate["method"]:
                z = numpy.column_stack(list(released.values()))
                pairs.append((estimate, float(mutual_info_regression(z, x, random_state=1)[0])))
        entry["mutual_information"] = [{"method": e["method"], "audit": e["nats"], "scikit-learn": peer,
                                        "agree": e["interval95"][0] - 0.03 <= peer <= e["interval95"][1] + 0.03}
                                       for e, peer in pairs]
        agreed = agreed and entry.get("classifiers_agree", True) and all(e["agree"] for e in entry["mutual_information"])
        report["worlds"][name] = entry
    report["agreed"] = bool(agreed)
    print(json.dumps(report, indent=1, default=bool))
    return 0 if agreed else 1


if __name__ == "__main__":
    sys.exit(main())
