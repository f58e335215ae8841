#!/usr/bin/env python3
"""One training iteration of the paper's MNIST experiment in PyTorch, timed on random images.

    python3 mnist_step.py --iterations 20 --repeats 5 [--compile]

Sizes are the paper's: mechanism 804-1000-1000-784 (tanh, sigmoid out, 20 noise inputs), adversary 784-1000-1000-10 (tanh),
discriminator 784-500-1 (tanh), batch 100, float32, Adam. One iteration: a draw, which serves all of an adversary update, with
gamma > 0 a discriminator update, and a mechanism update. The images are random because the time does not depend on them.
Prints one JSON object with, for each gamma, microseconds per iteration: the median over repeats, and each repeat; and the
median of processor time, which with --threads 1 is the fairer figure on a busy machine.
"""

import argparse
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

import common

PIXELS, NOISE, DIGITS, BATCH, IMAGES = 784, 20, 10, 100, 2000


def dense(*widths):
    layers = []
    for i, o in zip(widths, widths[1:]):
        layers += [nn.Linear(i, o), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


class Step:
    """The players and one iteration of their game."""

    def __init__(self, gamma, weight, compiled=False):
        self.gamma, self.weight = gamma, weight
        self.mechanism = dense(PIXELS + NOISE, 1000, 1000, PIXELS)
        self.adversary = dense(PIXELS, 1000, 1000, DIGITS)
        self.discriminator = dense(PIXELS, 500, 1)
        self.players = [self.mechanism, self.adversary, self.discriminator]
        fused = {} if torch.__version__.startswith("1.") else {"fused": True}
        self.adams = [torch.optim.Adam(player.parameters(), lr=0.001, **fused) for player in self.players]
        self.mechanism_parameters = list(self.mechanism.parameters())
        if compiled:
            self.mechanism, self.adversary, self.discriminator = map(torch.compile, self.players)

    def release_logits(self, images):
        noise = torch.rand(len(images), NOISE) * 2 - 1
        return self.mechanism(torch.cat([images, noise], 1))

    def __call__(self, images, digits):
        ours, theirs, critic = self.adams
        logits = self.release_logits(images)
        z = torch.sigmoid(logits)
        seen = z.detach()
        theirs.zero_grad(set_to_none=True)
        F.cross_entropy(self.adversary(seen), digits).backward()
        theirs.step()
        if self.gamma > 0:
            critic.zero_grad(set_to_none=True)
            # softplus(-s) = -log D and softplus(s) = -log(1 - D): D tends to 1 on releases, to 0 on images.
            loss = F.softplus(-self.discriminator(seen)).mean() + F.softplus(self.discriminator(images)).mean()
            (self.gamma * loss).backward()
            critic.step()
        distortion = F.binary_cross_entropy_with_logits(logits, images)
        loss = self.weight * distortion - F.cross_entropy(self.adversary(z), digits)
        if self.gamma > 0:
            loss = loss - self.gamma * F.softplus(-self.discriminator(z)).mean()
        ours.zero_grad(set_to_none=True)
        loss.backward(inputs=self.mechanism_parameters)
        ours.step()
        return loss


def run(args):
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    images, digits = torch.rand(IMAGES, PIXELS), torch.randint(DIGITS, (IMAGES,))
    gammas = args.gamma
    steps = {gamma: Step(gamma, weight=15.0, compiled=args.compile) for gamma in gammas}
    times, cpu_times = {gamma: [] for gamma in gammas}, {gamma: [] for gamma in gammas}

    def play(step, iterations):
        done = 0
        while True:
            for rows in torch.randperm(IMAGES).split(BATCH):
                if done == iterations:
                    return loss.item()
                loss = step(images[rows], digits[rows])
                done += 1

    for step in steps.values():
        play(step, 2)
    # Repeats are interleaved, so that a change of the machine's load falls on every gamma alike.
    last = {}
    for _ in range(args.repeats):
        for gamma, step in steps.items():
            start, cpu_start = time.perf_counter(), time.process_time()
            last[gamma] = play(step, args.iterations)
            times[gamma].append(1e6 * (time.perf_counter() - start) / args.iterations)
            cpu_times[gamma].append(1e6 * (time.process_time() - cpu_start) / args.iterations)
    results = [{"gamma": gamma, "microseconds_per_iteration": statistics.median(times[gamma]), "repeats": times[gamma],
                "cpu_microseconds_per_iteration": statistics.median(cpu_times[gamma]), "last_loss": last[gamma]}
               for gamma in gammas]
    return {"experiment": "mnist", "batch": BATCH, "iterations": args.iterations, "seed": args.seed, "results": results,
            "environment": common.environment(args.threads)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gamma", type=common.numbers, default=[0.0, 2.0], help="weights of the discriminator, separated by commas")
    parser.add_argument("--iterations", type=int, default=20, help="iterations per repeat")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="threads inside PyTorch")
    parser.add_argument("--compile", action="store_true", help="networks by torch.compile (PyTorch 2)")
    args = parser.parse_args()
    if min(args.iterations, args.repeats, args.threads) < 1:
        parser.error("--iterations, --repeats and --threads are at least 1")
    common.print_json(run(args))
    return 0


if __name__ == "__main__":
    sys.exit(main())
