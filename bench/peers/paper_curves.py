#!/usr/bin/env python3
"""The paper's synthetic experiments in PyTorch, timed: one point after another, or all points batched in one tensor.

    python3 paper_curves.py --experiment scalar-gaussian --observation useful-only --mode sequential --points 2 --epochs 10

Settings are the paper's with the budget on the expected distortion, lambda max(0, mean d - delta)^2. Prints one JSON object:

    seconds                      training only: no data generation, no scoring, after a warm-up; wall clock
    cpu_seconds                  the same in processor time: with --threads 1, the fairer figure on a busy machine
    iterations                   per point; one iteration is `adversary_steps` adversary updates and one of the mechanism
    microseconds_per_point_iteration   seconds / (points * iterations)
    seconds_at_paper_epochs      the same, scaled to the paper's number of epochs
    quality                      per point and on the whole: distortion, leakage (exact for finite alphabets, the Gaussian
                                 estimate otherwise), optimum at the measured distortion, excess; nats
"""

import argparse
import math
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

import common

RHO = 0.85
VECTOR = [0.47, 0.24, 0.85, 0.07, 0.66]
SYMBOLS, CROSSOVER = 10, 0.4


# --- the experiments: data, networks' sizes, training settings, score -----------------------------------------------


class Discrete:
    samples, batch, adversary_steps, weight, budgets = 1000, 100, 1, 500.0, (0.0, 1.0)

    def __init__(self, full):
        self.full = full
        self.paper_epochs = 2500 if full else 2000
        self.inputs = SYMBOLS**2 if full else SYMBOLS
        self.noise = 0

    def observe(self, x, y):
        return x * SYMBOLS + y if self.full else y

    def data(self):
        """W, X, Y as one-hot rows."""
        x = torch.randint(SYMBOLS, (self.samples,))
        other = (x + torch.randint(1, SYMBOLS, (self.samples,))) % SYMBOLS
        y = torch.where(torch.rand(self.samples) < CROSSOVER, other, x)
        return [F.one_hot(v, k).float() for v, k in ((self.observe(x, y), self.inputs), (x, SYMBOLS), (y, SYMBOLS))]

    def score(self, release, tests):
        """Exactly, on the true joint pmf, so without test samples; `release` maps one-hot W to P(z|w)."""
        x, y = (v.reshape(-1) for v in torch.meshgrid(torch.arange(SYMBOLS), torch.arange(SYMBOLS), indexing="ij"))
        pxy = torch.where(x == y, (1 - CROSSOVER) / SYMBOLS, CROSSOVER / (SYMBOLS * (SYMBOLS - 1))).double()
        p = release(F.one_hot(self.observe(x, y), self.inputs).float()).double()
        joint = (pxy[:, None] * p).reshape(SYMBOLS, SYMBOLS, SYMBOLS).sum(1)
        distortion = 1 - (pxy * p[torch.arange(len(y)), y]).sum().item()
        return distortion, common.finite_information(joint)

    def optimum(self, distortion):
        return common.symmetric_pair_optimum(SYMBOLS, CROSSOVER, self.full, distortion)


class Gaussian:
    samples, batch, adversary_steps, paper_epochs = 8000, 200, 5, 250

    def __init__(self, budgets, weight, hidden, dims, noise):
        self.budgets, self.weight, self.hidden, self.dims, self.noise = budgets, weight, hidden, dims, noise

    def data(self, samples=None):
        return self.sample(samples or self.samples)

    def score(self, release, tests):
        w, x, y = self.data(tests)
        z = release(torch.cat([w, uniform(tests, self.noise)], 1))
        return (z - y).square().sum(1).mean().item(), common.gaussian_information(x, z)


class ScalarGaussian(Gaussian):
    def __init__(self, full):
        super().__init__((0.0, 0.8 if full else 1.0), 50.0 if full else 10.0, hidden=5, dims=1, noise=1)
        self.full, self.inputs = full, 2 if full else 1

    def sample(self, n):
        y = torch.randn(n, 1)
        x = RHO * y + math.sqrt(1 - RHO**2) * torch.randn(n, 1)
        return (torch.cat([x, y], 1) if self.full else y), x, y

    def optimum(self, distortion):
        return common.scalar_gaussian_optimum(RHO, self.full, distortion)


class VectorGaussian(Gaussian):
    def __init__(self):
        super().__init__((0.0, 4.5), 10.0, hidden=20, dims=5, noise=8)
        self.inputs = 5

    def sample(self, n):
        rho, y = torch.tensor(VECTOR), torch.randn(n, 5)
        return y, rho * y + (1 - rho**2).sqrt() * torch.randn(n, 5), y

    def optimum(self, distortion):
        return common.vector_gaussian_optimum(VECTOR, distortion)


class RateDistortion(Gaussian):
    def __init__(self):
        super().__init__((0.0, 2.5), 500.0, hidden=20, dims=5, noise=8)
        self.inputs = 5

    def sample(self, n):
        x = torch.tensor(VECTOR).sqrt() * torch.randn(n, 5)
        return x, x, x

    def optimum(self, distortion):
        return common.rate_distortion_optimum(VECTOR, distortion)


EXPERIMENTS = {
    "discrete": {"useful-only": lambda: Discrete(False), "full-data": lambda: Discrete(True)},
    "scalar-gaussian": {"useful-only": lambda: ScalarGaussian(False), "full-data": lambda: ScalarGaussian(True)},
    "vector-gaussian": {"useful-only": VectorGaussian},
    "rate-distortion": {"rate-distortion": RateDistortion},
}


# --- losses, written for any leading dimensions; means over records, the last but one --------------------------------


def uniform(*shape):
    return torch.rand(*shape) * 2 - 1


def gaussian_log_likelihood(out, x):
    mu, log_variance = out.chunk(2, -1)
    each = (x - mu).square() * torch.exp(-log_variance) + log_variance + math.log(2 * math.pi)
    return -0.5 * each.sum(-1).mean(-1)


def squared_error(z, y):
    return (z - y).square().sum(-1).mean(-1)


def finite_log_likelihood(p, log_q, x):
    """Mean of sum_z P(z|w) log Q(x|z), rows of p against the table log_q [z, x]."""
    return ((p @ log_q) * x).sum(-1).mean(-1)


def probability_of_error(p, y):
    return 1 - (p * y).sum(-1).mean(-1)


def adam(parameters):
    # One call for all parameters and moments, which PyTorch 1 does not have on a processor.
    fused = {} if torch.__version__.startswith("1.") else {"fused": True}
    return torch.optim.Adam(parameters, lr=0.001, betas=(0.9, 0.999), eps=1e-8, **fused)


# --- one point after another ----------------------------------------------------------------------------------------


def networks(world):
    """(mechanism, adversary) as modules; for finite alphabets both are bare matrices of logits."""
    if isinstance(world, Discrete):
        mechanism = nn.Sequential(nn.Linear(world.inputs, SYMBOLS, bias=False), nn.Softmax(dim=-1))
        return mechanism, nn.Sequential(nn.Linear(SYMBOLS, SYMBOLS, bias=False), nn.LogSoftmax(dim=-1))

    def dense(i, o):
        h = world.hidden
        return nn.Sequential(nn.Linear(i, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, o))

    return dense(world.inputs + world.noise, world.dims), dense(world.dims, 2 * world.dims)


def train_point(world, delta, data, epochs):
    """Plain training of one operating point; returns the mechanism."""
    mechanism, adversary = networks(world)
    ours, theirs = adam(mechanism.parameters()), adam(adversary.parameters())
    ours_parameters = list(mechanism.parameters())
    finite = isinstance(world, Discrete)
    symbols = torch.eye(SYMBOLS)

    def release(w):
        return mechanism(w if finite else torch.cat([w, uniform(len(w), world.noise)], 1))

    def log_likelihood(z, x):
        return finite_log_likelihood(z, adversary(symbols), x) if finite else gaussian_log_likelihood(adversary(z), x)

    distance = probability_of_error if finite else squared_error
    for _ in range(epochs):
        order = torch.randperm(world.samples)
        for w, x, y in zip(*(v[order].split(world.batch) for v in data)):
            z = release(w)  # one draw serves all steps, as in the paper
            seen = z.detach()
            for _ in range(world.adversary_steps):
                theirs.zero_grad(set_to_none=True)
                (-log_likelihood(seen, x)).backward()
                theirs.step()
            loss = log_likelihood(z, x) + world.weight * F.relu(distance(z, y) - delta).square()
            ours.zero_grad(set_to_none=True)
            loss.backward(inputs=ours_parameters)
            ours.step()
    return mechanism


def train_sequential(world, budgets, data, epochs):
    return [train_point(world, delta, d, epochs) for delta, d in zip(budgets, data)]


# --- all points in one tensor ---------------------------------------------------------------------------------------


class BatchedLinear(nn.Module):
    """One linear layer per point, [points, records, in] -> [points, records, out], initialised as nn.Linear is."""

    def __init__(self, points, inputs, outputs, bias=True):
        super().__init__()
        reach = 1 / math.sqrt(inputs)
        self.weight = nn.Parameter(torch.empty(points, inputs, outputs).uniform_(-reach, reach))
        self.bias = nn.Parameter(torch.empty(points, 1, outputs).uniform_(-reach, reach)) if bias else None

    def forward(self, a):
        return torch.bmm(a, self.weight) if self.bias is None else torch.baddbmm(self.bias, a, self.weight)


def batched(module, points):
    """The same sequential module with every nn.Linear replaced by `points` independent ones."""
    layers = []
    for layer in module:
        if isinstance(layer, nn.Linear):
            layer = BatchedLinear(points, layer.in_features, layer.out_features, layer.bias is not None)
        layers.append(layer)
    return nn.Sequential(*layers)


def train_batched(world, budgets, data, epochs):
    """As train_point, with a leading dimension for the points; losses add up, so gradients stay independent."""
    points, delta = len(budgets), torch.tensor(budgets)
    mechanism, adversary = (batched(module, points) for module in networks(world))
    ours, theirs = adam(mechanism.parameters()), adam(adversary.parameters())
    ours_parameters = list(mechanism.parameters())
    finite = isinstance(world, Discrete)
    symbols = torch.eye(SYMBOLS).expand(points, -1, -1)
    stacked = [torch.stack(v) for v in zip(*data)]
    rows = torch.arange(points)[:, None]

    def release(w):
        return mechanism(w if finite else torch.cat([w, uniform(points, w.shape[1], world.noise)], 2))

    def log_likelihood(z, x):
        return finite_log_likelihood(z, adversary(symbols), x) if finite else gaussian_log_likelihood(adversary(z), x)

    distance = probability_of_error if finite else squared_error
    for _ in range(epochs):
        order = torch.rand(points, world.samples).argsort(1)
        for w, x, y in zip(*(v[rows, order].split(world.batch, 1) for v in stacked)):
            z = release(w)  # one draw serves all steps, as in the paper
            seen = z.detach()
            for _ in range(world.adversary_steps):
                theirs.zero_grad(set_to_none=True)
                (-log_likelihood(seen, x).sum()).backward()
                theirs.step()
            loss = (log_likelihood(z, x) + world.weight * F.relu(distance(z, y) - delta).square()).sum()
            ours.zero_grad(set_to_none=True)
            loss.backward(inputs=ours_parameters)
            ours.step()

    def point(k):
        def mechanism_of_point(w):
            wide = w.expand(points, -1, -1)
            return mechanism(wide)[k]

        return mechanism_of_point

    return [point(k) for k in range(points)]


# --- the run --------------------------------------------------------------------------------------------------------


def run(args, mode, train=None):
    """`train`: another way to train than those of this file (torch_curves.py)."""
    world = EXPERIMENTS[args.experiment][args.observation]()
    epochs = args.epochs or world.paper_epochs
    points = args.sequential_points or args.points if mode == "sequential" else args.points
    threads = args.batched_threads or args.threads if mode == "batched" else args.threads
    budgets = args.budgets or torch.linspace(*world.budgets, points, dtype=torch.float64).tolist()
    train = train or {"sequential": train_sequential, "batched": train_batched}[mode]

    torch.set_num_threads(threads)
    torch.manual_seed(args.seed)
    warm = [world.data() for _ in budgets]
    train(world, budgets[:1] if mode == "sequential" else budgets, warm, 1)

    data = [world.data() for _ in budgets]
    start, cpu_start = time.perf_counter(), time.process_time()
    mechanisms = train(world, budgets, data, epochs)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start

    iterations = epochs * math.ceil(world.samples / world.batch)
    rows = []
    with torch.no_grad():
        for delta, mechanism in zip(budgets, mechanisms):
            distortion, leakage = world.score(mechanism, args.tests)
            optimum = world.optimum(distortion)
            rows.append({"budget": delta, "distortion": distortion, "leakage": leakage, "optimum": optimum,
                         "excess": leakage - optimum})
    excess = [row["excess"] for row in rows]
    return {
        "experiment": args.experiment, "observation": args.observation, "mode": mode, "points": len(budgets),
        "epochs": epochs, "paper_epochs": world.paper_epochs, "batch": world.batch,
        "adversary_steps": world.adversary_steps, "seed": args.seed, "iterations": iterations, "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "microseconds_per_point_iteration": 1e6 * seconds / (len(budgets) * iterations),
        "seconds_at_paper_epochs": seconds * world.paper_epochs / epochs,
        "quality": {"mean_excess": sum(excess) / len(excess), "max_excess": max(excess), "points": rows},
        "environment": common.environment(threads)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiment", required=True, choices=EXPERIMENTS)
    parser.add_argument("--observation", help="useful-only, full-data or rate-distortion; default: the experiment's first")
    parser.add_argument("--mode", choices=["sequential", "batched", "both"], default="sequential",
                        help="both: an object of each, from one process")
    parser.add_argument("--points", type=int, default=20, help="budgets, evenly spaced over the paper's range")
    parser.add_argument("--budgets", type=common.numbers, help="budgets by value, separated by commas, instead of --points")
    parser.add_argument("--epochs", type=int, help="default: the paper's")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", type=int, default=4000, help="test samples of the Gaussian experiments")
    parser.add_argument("--sequential-points", type=int, help="points trained one after another, if fewer will do")
    parser.add_argument("--threads", type=int, default=1, help="threads inside PyTorch; 1 is fastest at these sizes")
    parser.add_argument("--batched-threads", type=int, help="the same for --mode batched, if another number")
    args = parser.parse_args()
    offered = EXPERIMENTS[args.experiment]
    args.observation = args.observation or next(iter(offered))
    if args.observation not in offered:
        parser.error(f"{args.experiment} offers --observation {' or '.join(offered)}")
    if min(args.points, args.threads) < 1 or (args.epochs is not None and args.epochs < 1):
        parser.error("--points, --epochs and --threads are at least 1")
    if args.tests < 100:
        parser.error("--tests is at least 100")
    if args.mode == "both":
        results = {mode: run(args, mode) for mode in ("sequential", "batched")}
        common.print_json({**results, "environment": results["batched"]["environment"]})
    else:
        common.print_json(run(args, args.mode))
    return 0


if __name__ == "__main__":
    sys.exit(main())
