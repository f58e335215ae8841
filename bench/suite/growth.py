"""Cost as the work grows: epochs, rows, points, width. Time per sample (a record in one update) is flat, or says why not."""

import statistics

from curves import ours
from measure import Figure, say

PART = "Cost as work grows"


def per_sample(context, result):
    updates = result["adversary_steps"] + 1
    return 1e9 * context.seconds(result, result["threads"]) / (result["points"] * result["iterations"] * result["batch"] * updates)


def per_point(context, result):
    return context.seconds(result, result["threads"]) / result["points"]


def grown(context, what, settings, cost, unit, note="", bar=None):
    """Cost at each setting relative to the first, the worst of them as the figure."""
    results = context.interleaved({str(s): lambda s=s: cost(context, ours(context, "scalar-gaussian", "useful-only", **s)) for s in settings})
    medians = [statistics.median(values) for values in results.values()]
    relative = [m / medians[0] for m in medians]
    steps = ", ".join(f"{next(iter(s.values()))}: {m:.3g}" for s, m in zip(settings, medians))
    worst = max(relative[1:], key=lambda r: abs(r - 1))
    return Figure(PART, what, abs(worst - 1) if bar is not None else worst, "off flat" if bar is not None else "× the first",
                  (min(relative), max(relative)), bar=bar, at_most=True, note=f"{steps} {unit}{'; ' + note if note else ''}")


def figures(context):
    say("growth")
    small = context.smoke
    base = {"epochs": 1 if small else 25}
    yield grown(context, "epochs 4 and 16 times as many", [{"epochs": n * base["epochs"]} for n in ((1, 2) if small else (1, 4, 16))],
                per_sample, "ns per sample")
    yield grown(context, "rows 4 and 16 times as many", [{"rows": n, **base} for n in ((400, 800) if small else (2000, 8000, 32000))],
                per_sample, "ns per sample")
    # A curve of 20 points and 25 epochs is over in a fifth of a second, of which starting threads and data is a noticeable part.
    longer = {"epochs": 1 if small else 100}
    yield grown(context, "points 2 and 4 times as many", [{"points": n, **longer} for n in ((2, 4) if small else (20, 40, 80))],
                per_point, "s per point", bar=None if small else 0.15)
    yield grown(context, "width 5 to 80 units", [{"units": n, "epochs": 1 if small else 5} for n in ((5, 10) if small else (5, 10, 20, 40, 80))],
                per_sample, "ns per sample", note="a layer's work grows with the square of its width")
