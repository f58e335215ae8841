"""The benchmark suite's own arithmetic: ratios, verdicts, what it refuses, what it writes."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SUITE = pathlib.Path(__file__).resolve().parents[2] / "bench" / "suite"
sys.path.insert(0, str(SUITE))

import measure  # noqa: E402
from measure import Figure, Refused  # noqa: E402


class Ratios(unittest.TestCase):
    def test_is_of_medians_with_the_spread_of_pairs(self):
        figure = measure.ratio("part", "what", slow=[10, 100, 12], fast=[1, 2, 2])
        self.assertEqual(figure.value, 12 / 2)
        self.assertEqual(figure.spread, (6, 50))

    def test_repeats_alternate(self):
        order = []
        results = measure.interleaved(2, {"a": lambda: order.append("a") or 1, "b": lambda: order.append("b") or 2})
        self.assertEqual(order, ["a", "b", "a", "b"])
        self.assertEqual(results, {"a": [1, 1], "b": [2, 2]})


class Verdicts(unittest.TestCase):
    def test_bar_is_a_floor_or_a_ceiling(self):
        self.assertTrue(Figure("p", "w", 12, "×", bar=12).met())
        self.assertFalse(Figure("p", "w", 11.9, "×", bar=12).met())
        self.assertTrue(Figure("p", "w", 0.1, "", bar=0.15, at_most=True).met())
        self.assertFalse(Figure("p", "w", 0.2, "", bar=0.15, at_most=True).met())
        self.assertIsNone(Figure("p", "w", 1, "").met())

    def test_a_missing_peer_is_neither_met_nor_missed(self):
        figure = Figure("P", "JAX", float("nan"), "×", bar=3, note="not installed", missing=True)
        self.assertIsNone(figure.met())
        self.assertEqual(measure.line(figure), "| JAX | missing | ≥ 3.00 | not installed |")

    def test_table_says_what_is_missed(self):
        machine = {"cpu": "C", "cores": 2, "vectors": "AVX2", "memory_gib": 8}
        text = measure.markdown(machine, [Figure("P", "slow", 5, "×", (4, 6), bar=10, note="n"), Figure("P", "fast", 20, "×", bar=10)])
        self.assertIn("| slow | 5.00 × [4.00–6.00] | ≥ 10.0 | MISSED (n) |", text)
        self.assertIn("| fast | 20.0 × | ≥ 10.0 | met |", text)


class Page(unittest.TestCase):
    MACHINE = {"cpu": "C", "cores": 2, "vectors": "AVX2", "memory_gib": 8}

    def test_only_what_is_between_the_marks_changes(self):
        page = f"before\n{measure.BEGIN}\nold\n{measure.END}\nafter\n"
        figures = [Figure("P", "with a bar", 20, "×", bar=10), Figure("P", "without", 1, "ms")]
        new = measure.into_page(page, self.MACHINE, figures)
        self.assertTrue(new.startswith(f"before\n{measure.BEGIN}\nC, 2 cores"))
        self.assertTrue(new.endswith(f"| with a bar | 20.0 × | ≥ 10.0 | met |\n{measure.END}\nafter\n"))
        self.assertNotIn("old", new)
        self.assertNotIn("without", new)
        self.assertEqual(measure.into_page(new, self.MACHINE, figures), new)

    def test_a_page_without_marks_is_left_alone(self):
        with self.assertRaisesRegex(Refused, "no place for the table"):
            measure.into_page("nothing here", self.MACHINE, [])


class Fairness(unittest.TestCase):
    def test_reference_blas_is_refused(self):
        with self.assertRaisesRegex(Refused, "PyTorch does not use OpenBLAS but blas/libblas.so.3"):
            measure.require_openblas("PyTorch", ["blas/libblas.so.3"])
        with self.assertRaisesRegex(Refused, "no BLAS that can be seen"):
            measure.require_openblas("ppan", [])
        measure.require_openblas("ppan", ["OpenBLAS 0.3.21 DYNAMIC_ARCH Haswell MAX_THREADS=64"])

    def test_kernels_are_read_from_the_description(self):
        description = "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY SkylakeX MAX_THREADS=64"
        self.assertEqual(measure.kernels_of(description), "SkylakeX")
        self.assertEqual(measure.kernels_of("OpenBLAS 0.3.21"), "")


class Processes(unittest.TestCase):
    def test_memory_of_the_measuring_process_is_not_counted(self):
        held = bytearray(200_000_000)
        held[::4096] = bytes([1]) * len(held[::4096])  # touched, so that it is resident
        self.assertLess(measure.run(["true"]).peak_megabytes, 100)

    def test_time_memory_and_output_are_taken(self):
        run = measure.run([sys.executable, "-c", "x = bytearray(50_000_000); print('{\"a\": 1}')"])
        self.assertEqual(run.json(), {"a": 1})
        self.assertGreater(run.peak_megabytes, 45)
        self.assertGreater(run.seconds, 0)

    def test_failure_tells_why(self):
        with self.assertRaisesRegex(Refused, "(?s)status 3.*no such thing"):
            measure.run([sys.executable, "-c", "import sys; sys.stderr.write('no such thing'); sys.exit(3)"])

    def test_results_are_whole(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "deep" / "results.json"
            measure.write(path, "{}")
            self.assertEqual(json.loads(path.read_text()), {})
            self.assertEqual([p.name for p in path.parent.iterdir()], ["results.json"])


class CommandLine(unittest.TestCase):
    def suite(self, *words):
        return subprocess.run([sys.executable, "-B", SUITE, *words], capture_output=True, text=True, check=False)

    def test_unknown_part_is_named(self):
        result = self.suite("curvs")
        self.assertEqual(result.returncode, 2)
        self.assertIn("there is no part curvs; there are: curves", result.stderr)

    def test_missing_build_is_said(self):
        with tempfile.TemporaryDirectory() as empty:
            result = self.suite("--peers", "no", "--build", empty, "start")
        self.assertEqual(result.returncode, 2)
        self.assertIn("fix: script/build", result.stderr)


if __name__ == "__main__":
    unittest.main()
