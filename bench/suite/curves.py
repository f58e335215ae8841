"""Training curves against PyTorch: one point after another, and all points in one tensor; and what both reach."""

import math
import os
import statistics

from measure import Figure, kernels_of, ratio, require_openblas, say

# experiment, observation, bars (one at a time, batched), epochs timed (ppan, PyTorch), epochs and points of the quality check.
# A fifth of the paper's epochs shows what the small networks reach. The wider ones are still on their way there, and how far they
# have come depends on their initial weights: they are trained to the end, at fewer points.
SERIES = [
    ("discrete", "useful-only", (120, 12), (400, 30), (400, 10)),
    ("discrete", "full-data", (120, 12), (400, 30), (500, 10)),
    ("scalar-gaussian", "useful-only", (120, 12), (50, 2), (50, 10)),
    ("scalar-gaussian", "full-data", (120, 12), (50, 2), (50, 10)),
    ("vector-gaussian", "useful-only", (25, 6), (10, 2), (250, 5)),
    ("rate-distortion", "rate-distortion", (25, 6), (10, 2), (250, 5)),
]
POINTS = 20


def ours(context, experiment, observation, epochs, points=POINTS, **more):
    words = [context.executable("bench_curve"), experiment, observation, "--epochs", epochs, "--points", points]
    for name, value in more.items():
        words += [f"--{name}", value]
    result = context.run(words).json()
    require_openblas("ppan", [result["blas"]])
    return result


def theirs(context, experiment, observation, epochs, mode, points=POINTS, tests=4000):
    threads = {"--threads": "one point at a time", "--batched-threads": "batched"}
    words = [word for option, work in threads.items() for word in (option, context.threads[f"curves, {work}"])]
    return context.peer("paper_curves.py", "--experiment", experiment, "--observation", observation, "--epochs", epochs, "--mode", mode,
                        "--points", points, "--sequential-points", min(points, 2), "--tests", tests, *words)


def choose_threads(context):
    """Tried on the widest tensors of all the curves, where more threads could help."""
    for mode, work in (("sequential", "one point at a time"), ("batched", "batched")):
        context.faster_threads(f"curves, {work}", lambda threads, mode=mode: per_iteration(context, context.peer(
            "paper_curves.py", "--experiment", "vector-gaussian", "--mode", mode, "--epochs", 1, "--points",
            2 if mode == "sequential" or context.smoke else POINTS, "--threads", threads, "--batched-threads", threads)))


def per_iteration(context, result, threads=1):
    """Microseconds for each point and iteration."""
    return 1e6 * context.seconds(result, threads) / (result["points"] * result["iterations"])


def quality(context, experiment, observation, epochs, points):
    """Mean excess over the optimum of both at the same length. Ours may be better, but not worse by more than chance: 0.01 nats and
    two standard errors of the difference, point by point."""
    tests = 1000 if context.smoke else 20000
    mine = ours(context, experiment, observation, epochs, points=points, tests=tests)["quality"]
    peer = theirs(context, experiment, observation, epochs, "batched", points=points, tests=tests)["quality"]
    gaps = [a["excess"] - b["excess"] for a, b in zip(mine["points"], peer["points"])]
    error = statistics.stdev(gaps) / math.sqrt(len(gaps))
    return Figure("Quality of the curves", f"{experiment}, {observation}: excess over the optimum, less PyTorch's, {epochs} epochs",
                  statistics.mean(gaps), "nats", (min(gaps), max(gaps)), bar=0.01 + 2 * error, at_most=True,
                  note=f"mean excess {mine['mean_excess']:.4f}, PyTorch {peer['mean_excess']:.4f}")


def figures(context):
    if not context.peers:
        for experiment, observation, *_ in SERIES:
            ours(context, experiment, observation, 1 if context.smoke else 5)
        return
    choose_threads(context)
    for experiment, observation, bars, epochs, quality_size in SERIES[::2] if context.smoke else SERIES:
        say(f"curves: {experiment}, {observation}")
        mine, peer = (2, 1) if context.smoke else epochs
        points = 2 if context.smoke else POINTS
        results = context.interleaved({
            "ours": lambda: ours(context, experiment, observation, mine, points=points),
            "theirs": lambda: theirs(context, experiment, observation, peer, "both", points=points)})
        threads = results["ours"][0]["threads"]
        time = [per_iteration(context, r, threads) for r in results["ours"]]
        for mode, bar in zip(("sequential", "batched"), bars):
            name = {"sequential": "PyTorch one point at a time", "batched": "PyTorch batched"}[mode]
            others = [per_iteration(context, r[mode], r[mode]["environment"]["threads"]) for r in results["theirs"]]
            yield ratio("Training curves", f"{experiment}, {observation}: {name}", others, time, bar=None if context.smoke else bar,
                        note=f"{statistics.median(time):.2f} against {statistics.median(others):.0f} µs per point and iteration")
        yield quality(context, experiment, observation, *((2, 2) if context.smoke else quality_size))
    yield whole_command(context)


def whole_command(context):
    """All of `ppan paper scalar-gaussian --preset paper`, with data, scores, figures and report, against only training in PyTorch."""
    say("curves: the whole command")
    epochs = 1 if context.smoke else 250
    command = [context.executable("ppan"), "paper", "scalar-gaussian", "--preset", "paper", "--epochs", epochs, "--out",
               context.scratch / "paper", "--force", "--quiet"]
    results = context.interleaved({
        "ours": lambda: context.seconds(context.run(command), os.cpu_count()),
        "theirs": lambda: per_iteration(context, theirs(context, "scalar-gaussian", "useful-only", 1 if context.smoke else 2, "sequential"))})
    iterations = 2 * POINTS * 40 * epochs
    return ratio("Training curves", f"all of ppan paper scalar-gaussian --preset paper ({epochs} epochs): PyTorch one point at a time",
                 [us * iterations / 1e6 for us in results["theirs"]], results["ours"], bar=None if context.smoke else 60,
                 note=f"{statistics.median(results['ours']):.1f} s against {statistics.median(results['theirs']) * iterations / 1e6:,.0f} s, "
                      "scaled by iterations")


def kernels(context):
    """The kernels that OpenBLAS runs for ppan, to be given to the peers too."""
    result = context.run([context.executable("bench_curve"), "scalar-gaussian", "useful-only", "--epochs", 1, "--points", 1,
                          "--rows", 200]).json()
    require_openblas("ppan", [result["blas"]])
    return kernels_of(result["blas"])
