"""Against PyTorch 2 with MKL: curves one point at a time, batched, in torch.func.vmap and by torch.compile; and the MNIST step.

It lives in .venv-bench-torch (script/bootstrap bench). Without it the part is shown as missing.
"""

import statistics

import curves
from measure import Figure, ratio, say

# experiment, observation, bars (one point at a time, the fastest with all points at once), epochs timed (ppan, PyTorch)
CURVES = [("discrete", "useful-only", (100, 10), (400, 20)), ("discrete", "full-data", (100, 10), (400, 20)),
          ("scalar-gaussian", "useful-only", (100, 10), (50, 2)), ("scalar-gaussian", "full-data", (100, 10), (50, 2)),
          ("vector-gaussian", "useful-only", (25, 5), (10, 2)), ("rate-distortion", "rate-distortion", (25, 5), (10, 2))]
# All points at once: script and options.
WAYS = {"batched": ("paper_curves.py", "--mode", "batched"), "vmap": ("torch_curves.py", "--mode", "vmap"),
        "compiled": ("torch_curves.py", "--mode", "compiled"), "compiled sums": ("torch_curves.py", "--mode", "compiled", "--layout", "sums")}


def microseconds(result):
    return 1e6 * result["cpu_seconds"] / (result["points"] * result["iterations"])


def curve(context, part, run, experiment, observation, bars, epochs):
    mine, peer = (1, 1) if context.smoke else epochs
    points = 2 if context.smoke else curves.POINTS

    def theirs(script, *words, points=points, epochs=peer):
        return run(script, "--experiment", experiment, "--observation", observation, "--points", points, "--epochs", epochs, "--tests", 20000, *words)

    ways = {"vmap": WAYS["vmap"]} if context.smoke else {n: w for n, w in WAYS.items() if n != "compiled sums" or experiment != "discrete"}
    tried = {name: 0 if context.smoke else microseconds(theirs(*words, epochs=1)) for name, words in ways.items()}
    way = min(tried, key=tried.get)
    results = context.interleaved({"ours": lambda: curves.ours(context, experiment, observation, mine, points=points, threads=1),
                                   "single": lambda: theirs("paper_curves.py", "--mode", "sequential", points=2),
                                   "best": lambda: theirs(*ways[way])}, most=3)
    times = {name: [microseconds(r) for r in runs] for name, runs in results.items()}
    label = f"{experiment}, {observation}: PyTorch 2,"
    ours = f"{statistics.median(times['ours']):.2f}"
    for name, what, bar in (("single", "one point at a time", bars[0]), ("best", f"all points at once ({way})", bars[1])):
        note = f"{ours} against {statistics.median(times[name]):.1f} µs per point and iteration, one thread each"
        if name == "best":
            note += "; tried: " + ", ".join(f"{n} {t:.0f}" for n, t in tried.items())
        yield ratio(part, f"{label} {what}", times[name], times["ours"], bar=None if context.smoke else bar, note=note)


def mnist(context, part, run):
    """One training to a core, processor time; PyTorch without and with torch.compile."""
    sizes = ["--iterations", 1, "--repeats", 1] if context.smoke else ["--iterations", 10, "--repeats", 3]

    def theirs(*words):
        return run("mnist_step.py", "--gamma", 0, *sizes, *words)["results"][0]["cpu_microseconds_per_iteration"] / 1e3

    jobs = {"ours": lambda: context.run([context.executable("bench_mnist_step"), *sizes]).json()["cpu_us_per_iteration"] / 1e3, "eager": theirs}
    if not context.smoke:
        jobs["compiled"] = lambda: theirs("--compile")
    results = context.interleaved(jobs, most=3)
    best = min((name for name in results if name != "ours"), key=lambda name: statistics.median(results[name]))
    yield ratio(part, f"MNIST step: PyTorch 2 ({best})", results[best], results["ours"], bar=None if context.smoke else 1.2,
                note=", ".join(f"{name} {statistics.median(times):.1f} ms" for name, times in results.items()))


def figures(context, interpreter, peers):
    part = "Against PyTorch 2"
    if not interpreter:
        yield Figure(part, "curves and MNIST step in PyTorch 2", float("nan"), "", note="not installed (script/bootstrap bench)", missing=True)
        return

    def run(script, *words):
        return context.run([interpreter, "-B", peers / script, *words]).json()

    for experiment, observation, bars, epochs in CURVES[:1] if context.smoke else CURVES:
        say(f"torch: {experiment}, {observation}")
        yield from curve(context, part, run, experiment, observation, bars, epochs)
    say("torch: mnist")
    yield from mnist(context, part, run)
