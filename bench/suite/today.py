"""Against what people have today: JAX, other packages' attackers, estimators and auditors, and what is used on tables instead of ppan.

Peers live in .venv-bench and .venv-bench-jax (script/bootstrap bench). One that is not installed is shown as missing, never as passed.
"""

import os
import pathlib
import statistics
import subprocess
import tempfile

import curves
import pytorch
from measure import Figure, ratio, say, write

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = ROOT / "bench" / "peers"
# experiment, observation, bar on all cores, epochs timed (ppan, JAX)
CURVES = [("discrete", "useful-only", 3, (400, 200)), ("discrete", "full-data", 3, (400, 200)), ("scalar-gaussian", "useful-only", 3, (50, 10)),
          ("scalar-gaussian", "full-data", 3, (50, 10)), ("vector-gaussian", "useful-only", 2, (10, 5)),
          ("rate-distortion", "rate-distortion", 2, (10, 5))]


def python(environment, module):
    """The interpreter of a virtual environment, or nothing where the module is not in it. PPAN_PYTHON_BENCH names a directory other than the repository."""
    place = pathlib.Path(os.environ.get("PPAN_PYTHON_BENCH", ROOT)) / environment / "bin" / "python"
    known = place.exists() and subprocess.run([place, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0
    return place if known else None


def missing(part, what):
    return Figure(part, what, float("nan"), "", note="not installed (script/bootstrap bench)", missing=True)


def jax(context):
    part = "Against JAX"
    interpreter = python(".venv-bench-jax", "jax")
    if not interpreter:
        yield missing(part, "curves and MNIST step in JAX")
        return
    for experiment, observation, bar, epochs in CURVES[:3:2] if context.smoke else CURVES:
        say(f"jax: {experiment}, {observation}")
        yield from jax_curve(context, part, interpreter, experiment, observation, bar, epochs)
    yield from jax_mnist(context, part, interpreter)


def jax_curve(context, part, interpreter, experiment, observation, bar, epochs):
    mine, peer = (1, 1) if context.smoke else epochs
    points = 2 if context.smoke else curves.POINTS

    def theirs(layout, epochs=peer):
        return context.run([interpreter, "-B", PEERS / "jax_curves.py", "--experiment", experiment, "--observation", observation, "--epochs", epochs,
                            "--points", points, "--layout", layout, "--tests", 20000]).json()

    # JAX gets the way of writing products that is fastest for it here.
    layouts = ["rows", "counts", "compared-counts"] if experiment == "discrete" else ["rows", "sums", "columns", "column-sums"]
    layouts = layouts[:1] if context.smoke else layouts
    layout = min(layouts, key=lambda name: theirs(name, max(2, peer // 4))["cpu_seconds"]) if len(layouts) > 1 else layouts[0]
    results = context.interleaved({"ours": lambda: curves.ours(context, experiment, observation, mine, points=points, threads=1),
                                   "theirs": lambda: theirs(layout)}, most=3)
    # One thread each, processor time: on more cores ppan trains points side by side, and JAX is credited with scaling as well.
    times = {name: [1e6 * r["cpu_seconds"] / (r["points"] * r["iterations"]) for r in runs] for name, runs in results.items()}
    yield ratio(part, f"{experiment}, {observation}: JAX, all points in one vmap and scan ({layout})", times["theirs"], times["ours"],
                bar=None if context.smoke else bar,
                note=f"{statistics.median(times['ours']):.2f} against {statistics.median(times['theirs']):.2f} µs per point and iteration, one thread each")
    if not context.smoke:
        a = curves.ours(context, experiment, observation, peer, points=points, threads=1, tests=20000)["quality"]["mean_excess"]
        b = results["theirs"][0]["quality"]["mean_excess"]
        yield Figure(part, f"{experiment}, {observation}: excess over the optimum, less JAX's, {peer} epochs", a - b, "nats", note=f"{a:.4f} against {b:.4f}")


def jax_mnist(context, part, interpreter):
    say("jax: mnist")
    sizes = ["--iterations", 1, "--repeats", 1] if context.smoke else ["--iterations", 10, "--repeats", 3]
    results = context.interleaved({
        "ours": lambda: context.run([context.executable("bench_mnist_step"), *sizes]).json()["cpu_us_per_iteration"] / 1e3,
        "theirs": lambda: context.run([interpreter, "-B", PEERS / "jax_mnist_step.py", *sizes]).json()["cpu_microseconds_per_iteration"] / 1e3,
        "products": lambda: measure_products(context, interpreter)}, most=3)
    mine = results["ours"]
    yield ratio(part, "MNIST step, one training to a core", results["theirs"], mine, bar=None if context.smoke else 1.2,
                note=f"{statistics.median(mine):.1f} against {statistics.median(results['theirs']):.1f} ms")
    libraries = sorted(set.intersection(*(set(r["cpu_milliseconds"]) for r in results["products"])))
    best = {name: statistics.median(t for r in results["products"] for t in r["cpu_milliseconds"][name]) for name in libraries}
    absent = results["products"][0]["missing"]
    if best:
        name = min(best, key=best.get)
        yield Figure(part, f"MNIST step: share of the speed of its products alone, by the fastest library ({name})", 100 * best[name] / statistics.median(mine), "%",
                     bar=None if context.smoke else 85, note=", ".join(f"{n} {t:.1f} ms" for n, t in best.items()) + "".join(f"; {n} missing" for n in absent))


def measure_products(context, interpreter):
    kernels = curves.kernels(context)
    words = ["--repeats", 1, "--iterations", 1 if context.smoke else 5]
    return context.run(["env", f"OPENBLAS_CORETYPE={kernels}", interpreter, "-B", PEERS / "best_sgemm.py", *words]).json()


def table_of(context, name, rows):
    """A generated table, written once."""
    path = context.scratch / f"{name}-{rows}.csv"
    if not path.exists():
        path.write_text(context.run([python(".venv-bench", "sklearn"), "-B", PEERS / "make_tables.py", name, rows, 1]).out)
    return path


def data(name):
    """A CSV file of PPAN_BENCH_DATA, if that is set and has it."""
    path = pathlib.Path(os.environ.get("PPAN_BENCH_DATA", "")) / name
    return path if os.environ.get("PPAN_BENCH_DATA") and path.exists() else None


def attackers(context):
    part = "Audit against other packages' attackers"
    interpreter = python(".venv-bench", "sklearn")
    if not interpreter:
        yield missing(part, "scikit-learn, XGBoost, LightGBM")
        return
    say("attackers")
    bank = None if context.smoke else data("bank.csv")
    table, sensitive, drop = (bank, "marital", "y") if bank else (table_of(context, "adult", 600 if context.smoke else 20000), "sex", "income")
    result = context.run([interpreter, "-B", PEERS / "attackers.py", table, "--sensitive", sensitive, "--drop", drop, "--ppan", context.executable("ppan"),
                          "--attack", context.executable("bench_attack_file"), "--rows", 10000, "--repeats", min(3, context.repeats),
                          *(["--quick"] if context.smoke else [])]).json()
    for kind, runs in result["same"].items():
        yield equal_loss(context, part, f"{table.name}: {kind}", runs)
    whole = result["audit"]
    yield Figure(part, f"{table.name}: the whole audit, against all attackers of the peers together", result["all_peers_cpu_seconds"] / whole["cpu_seconds"],
                 "×", bar=None if context.smoke else 2,
                 note=f"{whole['cpu_seconds']:.1f} s, {whole['held_out_nats']:.4f} nats, against {result['all_peers_cpu_seconds']:.1f} s of processor time")
    for name in result["missing"]:
        yield missing(part, name)


def equal_loss(context, part, what, runs):
    """Against the fastest peer that finds as much as ours, less 0.002 nats; where none does, against the one that finds most."""
    def found(name):
        return statistics.median(r["held_out_nats"] for r in runs[name])

    def seconds(name):
        return [r["cpu_seconds"] for r in runs[name]]

    others = [name for name in runs if name != "ppan"]
    alike = [name for name in others if found(name) >= found("ppan") - 0.002]
    peer = min(alike, key=lambda name: statistics.median(seconds(name))) if alike else max(others, key=found)
    shown = ", ".join(f"{name} {found(name):.4f} nats in {statistics.median(seconds(name)):.2f} s" for name in runs)
    return ratio(part, f"{what}, against {peer}{'' if alike else ', which finds less'}", seconds(peer), seconds("ppan"), bar=None if context.smoke else 2, note=shown)


def estimators(context):
    part = "Estimators on tasks with known answers"
    interpreter = python(".venv-bench", "numpy")
    if not interpreter:
        yield missing(part, "bmi, npeet_plus")
        return
    for samples in (500,) if context.smoke else (10_000, 100_000):
        say(f"estimators: {samples}")
        result = context.run([interpreter, "-B", PEERS / "estimators.py", "--estimate", context.executable("bench_estimate_file"), "--samples", samples,
                              *(["--tasks", 1] if context.smoke else [])]).json()
        names = sorted({n for row in result["tasks"] for n in row["found"]})
        for name in names:
            found = [row["found"][name] for row in result["tasks"] if name in row["found"]]
            yield Figure(part, f"{name}, {samples:,} samples: mean absolute error on {len(found)} tasks", statistics.mean(abs(f["error"]) for f in found), "nats",
                         note=f"{statistics.median(f['cpu_seconds'] for f in found):.3f} s of processor time")
        for name in result["missing"]:
            yield Figure(part, name, float("nan"), "", note=result["missing"][name].replace("|", " ").replace("\n", " "), missing=True)


def methods(context):
    part = "Tables: against what is used instead"
    interpreter = python(".venv-bench", "sklearn")
    if not interpreter:
        yield missing(part, "fairlearn, AIF360 and others")
        return
    rows = 400 if context.smoke else 8000
    tables = [(table_of(context, "adult", rows), "sex", "income"), (table_of(context, "interactions", rows), "secret", "bought")]
    if not context.smoke:
        tables += [(path, *roles) for path, *roles in ((data("bank.csv"), "marital", "y"), (data("german_credit.csv"), "sex", "class-label")) if path]
    families = os.environ.get("PPAN_FAMILIES", "ppan:auto" if context.smoke else "ppan:auto,ppan-columns:auto,ppan:codebook")
    synthesizers = "sdv-copula" if context.smoke else "sdv-copula,sdv-ctgan"
    usual = f"unchanged,{families},dropping,randomised,gaussian,mdav,correlation-remover,disparate-impact,lfr,residuals,{synthesizers}"
    torch2 = python(".venv-bench-torch", "sdv")
    for table, hide, task in tables:
        say(f"methods: {table.stem}")
        with tempfile.TemporaryDirectory() as out:
            more = ["--points", 1, "--epochs", 1, "--candidates", 1] if context.smoke else ["--points", 5, "--rows", 8000]
            more += ["--torch", torch2] if torch2 and not (context.smoke and hide == "secret") else []  # once is enough to keep it alive
            result = context.run([interpreter, "-B", PEERS / "table_methods.py", table, "--hide", hide, "--task", task, "--ppan", context.executable("ppan"), "--methods", usual,
                                  "--out", out, *more]).json()
            for name in ("auc.svg", "auc_original.svg", "distortion.svg", "table.json"):
                write(context.build / "bench" / "tables" / f"{table.stem}-{name}", (pathlib.Path(out) / name).read_text())
        yield from verdicts(context, part, table.stem, result)


def verdicts(context, part, name, result):
    for line in result["verdicts"]:
        for ordinate in ("auc", "auc_original", "distortion"):
            found = line[ordinate]
            if found["ahead"] is None:
                yield Figure(part, f"{name}, at {line['percent']} % of the leakage: {ordinate}", float("nan"), "",
                             note=f"nobody to compare: ppan {found['ours']}, others {found['theirs']}")
                continue
            yield Figure(part, f"{name}, at {line['percent']} % of the leakage: {ordinate} ahead of the best other", found["ahead"], "",
                         bar=None if context.smoke else -found["interval"],
                         note=f"{found['ours']:.3f} ({found['by']}) against {found['theirs']:.3f} ({found['peer']})")
    for method, why in result["missing"].items():
        yield Figure(part, f"{name}: {method}", float("nan"), "", note=why.replace("|", " ").replace("\n", " ")[:120], missing=True)


def auditors(context):
    part = "Auditors on planted leaks"
    interpreter = python(".venv-bench", "numpy, pandas")
    if not interpreter:
        yield missing(part, "anonymeter")
        return
    say("auditors")
    sizes = ["--rows", 400, "--seeds", 1, "--quick"] if context.smoke else ["--rows", 4000, "--seeds", 5]

    def run(interpreter, names):
        return context.run([interpreter, "-B", PEERS / "auditors.py", "--ppan", context.executable("ppan"), "--auditors", names, *sizes]).json()

    result = run(interpreter, "ppan,anonymeter")
    other = python(".venv-bench-synthcity", "pandas")  # not synthcity: importing it takes half a minute
    more = run(other, "synthcity") if other else {"auditors": {}, "missing": ["synthcity"]}
    result["auditors"].update(more["auditors"])
    result["missing"] += more["missing"]
    ours = result["auditors"]["ppan"]
    for name, kinds in result["auditors"].items():
        if name != "ppan":
            lost = sum(max(0, kinds[k]["found"] - ours[k]["found"]) for k in kinds if k != "none")
            yield Figure(part, f"planted leaks that {name} finds and ppan does not", lost, "", bar=None if context.smoke else 0, at_most=True)
            yield Figure(part, f"false alarms beyond {name}'s", ours["none"]["found"] - kinds["none"]["found"], "", bar=None if context.smoke else 0, at_most=True)
        yield Figure(part, f"{name}: leaks found", sum(v["found"] for k, v in kinds.items() if k != "none"), f"of {sum(v['of'] for k, v in kinds.items() if k != 'none')}",
                     note="; ".join(f"{k} {v['found']}/{v['of']}" for k, v in kinds.items()) + f"; {statistics.median(v['cpu_seconds'] for v in kinds.values()):.2f} s")
    for name in result["missing"]:
        yield missing(part, name)


def torch(context):
    yield from pytorch.figures(context, python(".venv-bench-torch", "torch"), PEERS)


PARTS = {"jax": jax, "torch": torch, "attackers": attackers, "estimators": estimators, "methods": methods, "auditors": auditors}
