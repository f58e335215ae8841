#!/usr/bin/env python3
"""A table released through a network in pandas and PyTorch: what one would write instead of `ppan release`.

    python3 release_peer.py people.csv new.csv released.csv --columns age,job,income --hidden 64,64

Learns scales and levels from the first table, then reads the second, encodes it (numbers standardised, categories one-hot), runs
the rows through a network with noise inputs, draws categories from their logits, and writes the columns out again. The network has
the shape of a noise-input mechanism but random weights: the time does not depend on them. Its noise is PyTorch's seeded generator,
which is cheaper than the cryptographic noise of `ppan release`. Prints one JSON object; `seconds` runs from reading the second
table to the end of writing, without imports and without learning the scales.
"""

import argparse
import sys
import time

import pandas
import torch
import torch.nn.functional as F
from torch import nn

import common

NOISE, ROWS = 8, 65536


class Columns:
    """Scales of the numeric columns and levels of the others, learned from a table."""

    def __init__(self, table, names):
        self.names = names
        self.numeric = [name for name in names if pandas.api.types.is_numeric_dtype(table[name])]
        self.means, self.deviations = table[self.numeric].mean(), table[self.numeric].std()
        self.levels = {name: sorted(table[name].dropna().unique()) for name in names if name not in self.numeric}
        # One more level for cells without a value.
        self.widths = [len(levels) + 1 for levels in self.levels.values()]
        self.width = len(self.numeric) + sum(self.widths)

    def encode(self, table):
        numbers = ((table[self.numeric] - self.means) / self.deviations).fillna(0).to_numpy(dtype="float32")
        parts = [torch.from_numpy(numbers)]
        for name, levels in self.levels.items():
            codes = pandas.Categorical(table[name], categories=levels).codes.astype("int64")
            codes[codes < 0] = len(levels)
            parts.append(F.one_hot(torch.from_numpy(codes), len(levels) + 1).float())
        return torch.cat(parts, 1)

    def decode(self, out):
        numbers = out[:, : len(self.numeric)].numpy() * self.deviations.to_numpy() + self.means.to_numpy()
        table = pandas.DataFrame(numbers.round().astype("int64"), columns=self.numeric)
        for (name, levels), logits in zip(self.levels.items(), out[:, len(self.numeric) :].split(self.widths, 1)):
            codes = torch.distributions.Categorical(logits=logits).sample().numpy().astype("int64")
            codes[codes == len(levels)] = -1
            table[name] = pandas.Categorical.from_codes(codes, categories=levels)
        return table[self.names]


def network(width, hidden):
    layers, inputs = [], width + NOISE
    for units in hidden:
        layers += [nn.Linear(inputs, units), nn.ReLU()]
        inputs = units
    return nn.Sequential(*layers, nn.Linear(inputs, width))


def release(mechanism, encoded):
    with torch.no_grad():
        return torch.cat([mechanism(torch.cat([rows, torch.randn(len(rows), NOISE)], 1)) for rows in encoded.split(ROWS)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("learn")
    parser.add_argument("table")
    parser.add_argument("output")
    parser.add_argument("--columns", required=True, help="columns to release, separated by commas")
    parser.add_argument("--hidden", type=common.numbers, default=[64, 64])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    names = args.columns.split(",")
    columns = Columns(pandas.read_csv(args.learn, usecols=names), names)
    mechanism = network(columns.width, [int(units) for units in args.hidden])

    start, cpu_start = time.perf_counter(), time.process_time()
    table = pandas.read_csv(args.table, usecols=names)
    columns.decode(release(mechanism, columns.encode(table))).to_csv(args.output, index=False)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    common.print_json({"rows": len(table), "seconds": seconds, "cpu_seconds": cpu_seconds, "pandas": pandas.__version__,
                       "parameters": sum(p.numel() for p in mechanism.parameters()),
                       "environment": common.environment(args.threads)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
