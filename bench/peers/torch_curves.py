#!/usr/bin/env python3
"""The paper's synthetic experiments in PyTorch 2, all points in one torch.func.vmap, eager or compiled by torch.compile.

    .venv-bench-torch/bin/python torch_curves.py --experiment scalar-gaussian --observation useful-only --epochs 2 --mode compiled

Same networks, batches, draws, Adam and penalty as paper_curves.py; float32. Compilation is not counted: an epoch before compiles and warms up. What
was chosen for speed: one call for a whole iteration (five updates of the adversary, unrolled, and one of the mechanism), so that torch.compile sees
everything; Adam written out on the parameters, with its corrections passed as numbers; finite alphabets as products with one-hot rows (looking rows
up has a slow gradient on a processor); noise and order of an epoch drawn at once; `--layout sums` writes the small products as sums, which the
compiler fuses with what surrounds them instead of calling a library. --mode vmap is the same without the compiler. Prints one JSON object with the
fields of paper_curves.py.
"""

import argparse
import math
import sys

import torch
from torch.func import grad, vjp, vmap

import common
import paper_curves
from paper_curves import SYMBOLS, Discrete

LAYOUTS = ["rows", "sums"]


def initial(points, widths, bias):
    """A tuple of (weights, bias) for each layer, with a leading dimension for the points."""
    out = []
    for i, o in zip(widths, widths[1:]):
        reach = 1 / math.sqrt(i)
        shapes = ((points, i, o), (points, o)) if bias else ((points, i, o),)
        out += [torch.empty(shape).uniform_(-reach, reach) for shape in shapes]
    return tuple(out)


def dense(net, a, layout):
    for k in range(0, len(net), 2):
        w, b = net[k], net[k + 1]
        a = torch.addmm(b, a, w) if layout == "rows" else (a[:, :, None] * w[None]).sum(1) + b
        a = a if k + 2 == len(net) else torch.relu(a)
    return a


def adam(state, gradient, scale):
    """`scale`: step size and eps, both with the corrections of this step."""
    parameters, first, second = state
    first = tuple(torch.lerp(m, g, 0.1) for m, g in zip(first, gradient))
    second = tuple(0.999 * v + 0.001 * g * g for v, g in zip(second, gradient))
    return tuple(p - scale[0] * m / (v.sqrt() + scale[1]) for p, m, v in zip(parameters, first, second)), first, second


def corrections(step):
    second = math.sqrt(1 - 0.999**step)
    return 1e-3 * second / (1 - 0.9**step), 1e-8 * second


def iteration(world, layout):
    """One iteration of one point, as a pure function of its state and its batch."""
    finite = isinstance(world, Discrete)

    def release(mechanism, w):
        return w @ torch.softmax(mechanism[0], -1) if finite else dense(mechanism, w, layout)

    def log_likelihood(adversary, z, x):
        if finite:
            return paper_curves.finite_log_likelihood(z, torch.log_softmax(adversary[0], -1), x)
        return paper_curves.gaussian_log_likelihood(dense(adversary, z, layout), x)

    distance = paper_curves.probability_of_error if finite else paper_curves.squared_error

    def step(ours, theirs, w, x, y, delta, their_scales, our_scale):
        z, back = vjp(lambda mechanism: release(mechanism, w), ours[0])  # one draw serves all steps
        for k in range(world.adversary_steps):
            theirs = adam(theirs, grad(lambda a: -log_likelihood(a, z, x))(theirs[0]), their_scales[k])
        seen = theirs[0]
        slope = grad(lambda z: log_likelihood(seen, z, x) + world.weight * torch.relu(distance(z, y) - delta).square())(z)
        return adam(ours, back(slope)[0], our_scale), theirs

    return release, vmap(step, in_dims=(0, 0, 0, 0, 0, 0, None, None))


def trainer(mode, layout):
    """train(world, budgets, data, epochs), as paper_curves.run() takes it. What is compiled is kept for the next call."""
    compiled = {}

    def train(world, budgets, data, epochs):
        points, delta = len(budgets), torch.tensor(budgets, dtype=torch.float32)
        finite, steps = isinstance(world, Discrete), world.adversary_steps
        release, step = iteration(world, layout)
        if mode == "compiled":
            step = compiled.setdefault("step", torch.compile(step, fullgraph=True, dynamic=False))
        h = None if finite else world.hidden
        shapes = ((world.inputs, SYMBOLS), (SYMBOLS, SYMBOLS)) if finite else \
            ((world.inputs + world.noise, h, h, world.dims), (world.dims, h, h, 2 * world.dims))

        def player(widths):
            net = initial(points, widths, bias=not finite)
            return net, tuple(map(torch.zeros_like, net)), tuple(map(torch.zeros_like, net))

        ours, theirs = map(player, shapes)
        stacked = [torch.stack(v) for v in zip(*data)]
        done = 0
        with torch.no_grad():
            for _ in range(epochs):
                order = torch.randperm(world.samples)
                w, x, y = (v[:, order] for v in stacked)
                if not finite:
                    w = torch.cat([w, paper_curves.uniform(points, world.samples, world.noise)], 2)
                batches = zip(*(v.unflatten(1, (-1, world.batch)).transpose(0, 1).contiguous() for v in (w, x, y)))
                for w, x, y in batches:
                    scales = torch.tensor([corrections(done * steps + k + 1) for k in range(steps)])
                    ours, theirs = step(ours, theirs, w, x, y, delta, scales, torch.tensor(corrections(done + 1)))
                    done += 1
        return [lambda w, k=k: release(tuple(v[k] for v in ours[0]), w) for k in range(points)]

    return train


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiment", required=True, choices=paper_curves.EXPERIMENTS)
    parser.add_argument("--observation", required=True)
    parser.add_argument("--mode", choices=["vmap", "compiled"], default="compiled")
    parser.add_argument("--layout", choices=LAYOUTS, default="rows", help="how the products of small networks are written")
    parser.add_argument("--points", type=int, default=20)
    parser.add_argument("--epochs", type=int, help="default: the paper's")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", type=int, default=4000)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    if given.observation not in paper_curves.EXPERIMENTS[given.experiment]:
        parser.error(f"{given.experiment} has no series {given.observation}")
    given.budgets = given.sequential_points = given.batched_threads = None
    common.print_json(paper_curves.run(given, given.mode, trainer(given.mode, given.layout)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
