"""Kernels, timed by Google Benchmark, each of which compares its answer with a plain reference while it is timed."""

import concurrent.futures
import json
import os
import statistics

from measure import Figure, Refused, ratio, require_openblas, say

EXECUTABLES = ["dense", "elementwise", "match", "estimator", "csv"]
# Those shown in the table; the JSON has all of them.
SHOWN = {"forward/rows:200/in:20/out:20", "backward_input/rows:200/in:20/out:20", "backward_weights/rows:200/in:20/out:20",
         "forward/rows:100/in:1000/out:1000", "backward_weights/rows:100/in:1000/out:1000", "adam/805", "adam/2600000", "softmax/100/10",
         "log_softmax/100/10", "ksg/records:4000/dimensions:1", "ksg/records:4000/dimensions:5", "parse/rows:10000/numbers:0",
         "parse/rows:10000/numbers:1"}
RATES = {"flop/s": (1e9, "GFLOP/s"), "items_per_second": (1e6, "million/s"), "bytes_per_second": (1e6, "MB/s")}
NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def figures(context):
    for name in EXECUTABLES:
        say(f"kernels: {name}")
        seconds = 0.001 if context.smoke else 0.05
        repeats = 1 if context.smoke else 3
        out = context.run([context.executable(f"bench_{name}"), "--benchmark_format=json", f"--benchmark_min_time={seconds}",
                           f"--benchmark_repetitions={repeats}", "--benchmark_enable_random_interleaving=true"])
        runs = {}
        for entry in json.loads(out.out)["benchmarks"]:
            if entry.get("error_occurred"):
                raise Refused(f"kernel {entry['run_name']}: {entry['error_message']}")
            if entry.get("run_type") == "iteration":
                runs.setdefault(entry["run_name"], []).append(entry)
        for kernel, entries in runs.items():
            times = [e["cpu_time"] * NANOSECONDS[e["time_unit"]] / 1e3 for e in entries]
            note = ""
            for key, (scale, unit) in RATES.items():
                if key in entries[0]:
                    note = f"{statistics.median(e[key] for e in entries) / scale:,.3g} {unit}"
            yield Figure("Kernels, processor time", kernel, statistics.median(times), "µs", (min(times), max(times)), note=note)


def mnist(context):
    """One iteration of the MNIST experiment, against the same in PyTorch and against its bare matrix products. A training for each core,
    side by side, as a curve is trained; PyTorch runs as many, because one on all cores is slower than on one."""
    say("mnist")
    iterations, repeats = (1, 1) if context.smoke else (10, 3)
    copies = 1 if context.smoke else os.cpu_count()
    sizes = ["--iterations", iterations, "--repeats", repeats]
    processor = "cpu_" if context.clock == "processor" else ""

    def ours():
        return side_by_side(copies, lambda: context.run([context.executable("bench_mnist_step"), *sizes]).json())

    def theirs():
        return side_by_side(copies, lambda: context.peer("mnist_step.py", "--gamma", 0, *sizes)["results"][0])

    def milliseconds(results, key):
        return [statistics.mean(r[processor + key] for r in copy) / 1e3 for copy in results]

    results = context.interleaved({"ours": ours, "theirs": theirs} if context.peers else {"ours": ours})
    for r in results["ours"]:
        require_openblas("ppan", [r[0]["blas"]])
    mine = milliseconds(results["ours"], "us_per_iteration")
    if context.peers:
        peer = milliseconds(results["theirs"], "microseconds_per_iteration")
        yield ratio("MNIST step", f"PyTorch, given the same OpenBLAS kernels; {copies} trainings each, one to a core", peer, mine,
                    bar=None if context.smoke else 1.5, note=f"{statistics.median(mine):.1f} against {statistics.median(peer):.1f} ms")
    share = [100 * b / m for b, m in zip(milliseconds(results["ours"], "sgemm_us"), mine)]
    yield Figure("MNIST step", "share of the speed of its products alone, by OpenBLAS", statistics.median(share), "%", (min(share), max(share)),
                 bar=None if context.smoke else 70)


def side_by_side(copies, job):
    """The results of that many at the same time."""
    with concurrent.futures.ThreadPoolExecutor(copies) as pool:
        return [done.result() for done in [pool.submit(job) for _ in range(copies)]]
