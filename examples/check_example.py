"""Runs the example: its distortion must meet the budget, its leakage lie near the least possible."""

import re
import subprocess
import sys

line = subprocess.run([sys.argv[1]], stdout=subprocess.PIPE, text=True, check=True).stdout
print(line)
numbers = [float(x) for x in re.findall(r"\d+\.\d+", line)]
distortion, leakage, low, high, least = numbers
# Release noise is not seeded. With 20,000 records the deviation of the distortion is at most 0.003 and that of the
# leakage 0.006, so each limit leaves over five of them beyond what training misses.
assert abs(distortion - 0.3) < 0.03, "the budget is missed"
assert -0.04 < leakage - least < 0.05, "the leakage is far from the optimum"
assert low < leakage < high, "the estimate lies outside its own interval"
