#!/usr/bin/env python3
"""The paper's game on images in PyTorch, with ways of hardening it, attacked by fresh networks afterwards.

    python3 mnist_game.py --data DIR --lambda 14.44                                    # as printed
    python3 mnist_game.py --data DIR --lambda 14.44 --adversaries 3 --restart 0.5      # staggered restarts
    python3 mnist_game.py --data DIR --lambda 14.44 --adversary convolution --steps 3 --mechanism-rate 0.0003
    python3 mnist_game.py --data DIR --lambda 14.44 --replay 10 --steps 2              # replay of past mechanisms
    python3 mnist_game.py --data DIR --lambda 2 --gamma 2 --beta1 0.9 --attack-epochs 0  # why beta1 is 0.5 there

Mechanism 804-1000-1000-784 (tanh, sigmoid out, 20 uniform noise inputs) and discriminator 784-500-1 (tanh) are the paper's; its
adversary is `dense`, 784-1000-1000-10 (tanh). DIR holds the four IDX files of MNIST (script/fetch-mnist). Prints one JSON object:
what the adversaries of the training believed on the test images, and what networks found that started afterwards (nats of I(X;Z):
a lower bound each, on all test images), next to time-sharing at the same distortion. docs/decisions/0007-images.md has results.
"""

import argparse
import copy
import gzip
import pathlib
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

import common

PIXELS, SIDE, NOISE, DIGITS, BATCH = 784, 28, 20, 10, 100


def dense(*widths, activation=nn.Tanh):
    layers = []
    for i, o in zip(widths, widths[1:]):
        linear = nn.Linear(i, o)
        nn.init.xavier_uniform_(linear.weight)
        nn.init.zeros_(linear.bias)
        layers += [linear, activation()]
    return nn.Sequential(*layers[:-1])


def convolution():
    return nn.Sequential(nn.Unflatten(1, (1, SIDE, SIDE)), nn.Conv2d(1, 32, 5, stride=2), nn.ReLU(), nn.Conv2d(32, 64, 5, stride=2),
                         nn.ReLU(), nn.Flatten(), nn.Linear(64 * 16, 256), nn.ReLU(), nn.Linear(256, DIGITS))


ADVERSARIES = {"dense": lambda: dense(PIXELS, 1000, 1000, DIGITS),
               "large": lambda: dense(PIXELS, 1500, 1500, 1500, DIGITS, activation=nn.ReLU),
               "convolution": convolution}


def read_idx(path, header):
    packed = path.with_name(path.name + ".gz")
    data = gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
    return torch.frombuffer(bytearray(data[header:]), dtype=torch.uint8)


def images(directory, name, most=None):
    images = read_idx(directory / f"{name}-images-idx3-ubyte", 16).view(-1, PIXELS)[:most].float() / 255
    return images, read_idx(directory / f"{name}-labels-idx1-ubyte", 8)[:most].long()


class Mechanism(nn.Module):
    def __init__(self):
        super().__init__()
        self.network = dense(PIXELS + NOISE, 1000, 1000, PIXELS)

    def forward(self, images):
        """Logits of the released pixels."""
        return self.network(torch.cat([images, torch.rand(len(images), NOISE) * 2 - 1], 1))


def release(mechanism, images):
    with torch.no_grad():
        return torch.sigmoid(mechanism(images))


def adam(network, rate, beta1):
    return torch.optim.Adam(network.parameters(), lr=rate, betas=(beta1, 0.999))


class Adversary:
    """A network that guesses the digit, and what moves it."""

    def __init__(self, args):
        self.args = args
        self.restart()

    def restart(self):
        self.network = ADVERSARIES[self.args.adversary]()
        self.adam = adam(self.network, 0.001, self.args.beta1)

    def step(self, released, digits):
        self.adam.zero_grad(set_to_none=True)
        F.cross_entropy(self.network(released), digits).backward()
        self.adam.step()


def train(images, digits, args):
    mechanism = Mechanism()
    mover = adam(mechanism, args.mechanism_rate, args.beta1)
    adversaries = [Adversary(args) for _ in range(args.adversaries)]
    discriminator = dense(PIXELS, 500, 1)
    judge = adam(discriminator, 0.001, args.beta1)
    past, epochs, iteration = [], [], 0
    per_epoch = len(images) // BATCH
    restart_every = max(1, round(args.restart * per_epoch)) if args.restart else None
    # Nobody starts afresh in the last quarter: what is left there is what stays.
    last_restart = 0.75 * args.epochs * per_epoch
    for epoch in range(args.epochs):
        distortions = []
        for rows in torch.randperm(len(images))[: per_epoch * BATCH].split(BATCH):
            y, x = images[rows], digits[rows]
            if restart_every and iteration and iteration % restart_every == 0 and iteration < last_restart:
                adversaries[iteration // restart_every % len(adversaries)].restart()
            if args.replay and iteration % max(1, per_epoch // 4) == 0:
                past = (past + [copy.deepcopy(mechanism)])[-args.replay:]
            logits = mechanism(y)
            z = torch.sigmoid(logits)
            for step in range(args.steps):
                # As printed, one draw serves all; further steps see other images.
                if step == 0:
                    seen, truth = z.detach(), x
                else:
                    other = torch.randint(len(images), (BATCH,))
                    seen, truth = release(mechanism, images[other]), digits[other]
                if past:
                    other = torch.randint(len(images), (BATCH,))
                    old = past[torch.randint(len(past), ()).item()]
                    seen = torch.cat([seen, release(old, images[other])])
                    truth = torch.cat([truth, digits[other]])
                for adversary in adversaries:
                    adversary.step(seen, truth)
            if args.gamma > 0:
                judge.zero_grad(set_to_none=True)
                # softplus(-s) = -log D and softplus(s) = -log(1 - D): D tends to 1 on releases, to 0 on images.
                (F.softplus(-discriminator(z.detach())).mean() + F.softplus(discriminator(y)).mean()).backward()
                judge.step()
            distortion = F.binary_cross_entropy_with_logits(logits, y)
            told = sum(-F.cross_entropy(a.network(z), x) for a in adversaries) / len(adversaries)
            loss = args.weight * distortion + told
            if args.gamma > 0:
                loss = loss - args.gamma * F.softplus(-discriminator(z)).mean()
            mover.zero_grad(set_to_none=True)
            loss.backward(inputs=list(mechanism.parameters()))
            mover.step()
            distortions.append(distortion.item())
            iteration += 1
        epochs.append(sum(distortions) / len(distortions))
    return mechanism, adversaries, epochs


def nats_found(network, released, digits, entropy):
    with torch.no_grad():
        return entropy - sum(F.cross_entropy(network(z), x, reduction="sum").item()
                             for z, x in zip(released.split(500), digits.split(500))) / len(digits)


def attack(mechanism, images, digits, test, epochs):
    """What a 512-512 network on scaled pixels and a convolutional one find, learning from new releases."""
    test_images, test_digits, entropy = test
    sample = release(mechanism, images[:2000])
    mean, scale = sample.mean(0), 1 / (sample.std(0) + 0.01)

    def scaled(z):
        return (z - mean) * scale

    networks = {"512-512": (dense(PIXELS, 512, 512, DIGITS, activation=nn.ReLU), scaled), "convolution": (convolution(), lambda z: z)}
    movers = {name: adam(network, 0.001, 0.9) for name, (network, _) in networks.items()}
    iterations = epochs * (len(images) // BATCH)
    for i in range(iterations):
        if i == iterations * 6 // 10:
            for mover in movers.values():
                mover.param_groups[0]["lr"] *= 0.3
        rows = torch.randint(len(images), (BATCH,))
        z = release(mechanism, images[rows])
        for name, (network, prepare) in networks.items():
            movers[name].zero_grad(set_to_none=True)
            F.cross_entropy(network(prepare(z)), digits[rows]).backward()
            movers[name].step()
    z = release(mechanism, test_images)
    return {name: nats_found(network, prepare(z), test_digits, entropy) for name, (network, prepare) in networks.items()}


def run(args):
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    directory = pathlib.Path(args.data)
    images, digits = images(directory, "train", args.train)
    test_images, test_digits = images(directory, "t10k")
    share = torch.bincount(test_digits, minlength=DIGITS).double() / len(test_digits)
    entropy = -(share * share.log()).sum().item()
    start = time.process_time()
    mechanism, adversaries, epochs = train(images, digits, args)
    trained = time.process_time()
    z = release(mechanism, test_images)

    def cost(p):
        return F.binary_cross_entropy(p, test_images).item()

    distortion, unchanged, constant = cost(z), cost(test_images), cost(images.mean(0).expand_as(test_images))
    return {
        "experiment": "mnist-game", "lambda": args.weight, "gamma": args.gamma, "beta1": args.beta1, "adversary": args.adversary,
        "adversaries": args.adversaries, "restart": args.restart, "steps": args.steps, "replay": args.replay,
        "mechanism_rate": args.mechanism_rate, "train": len(images), "epochs": args.epochs, "seed": args.seed,
        "distortion_by_epoch": epochs, "distortion": distortion,
        "time_sharing": entropy * min(1.0, max(0.0, (constant - distortion) / (constant - unchanged))),
        "believed": [nats_found(a.network, z, test_digits, entropy) for a in adversaries],
        "found": attack(mechanism, images, digits, (test_images, test_digits, entropy), args.attack_epochs)
                 if args.attack_epochs else {},
        "cpu_seconds": {"training": trained - start, "attack": time.process_time() - trained},
        "environment": common.environment(args.threads)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="directory with the four IDX files of MNIST")
    parser.add_argument("--lambda", dest="weight", type=float, required=True, help="weight of the distortion")
    parser.add_argument("--gamma", type=float, default=0, help="weight of the discriminator")
    parser.add_argument("--beta1", type=float, default=0.9, help="of Adam, for all players")
    parser.add_argument("--adversary", choices=ADVERSARIES, default="dense")
    parser.add_argument("--adversaries", type=int, default=1, help="how many; the mechanism feels their mean")
    parser.add_argument("--restart", type=float, default=0, help="epochs after which the next one starts afresh; 0: never")
    parser.add_argument("--steps", type=int, default=1, help="adversary steps to one of the mechanism")
    parser.add_argument("--replay", type=int, default=0, help="past mechanisms kept, four an epoch, of which adversaries see as many releases")
    parser.add_argument("--mechanism-rate", type=float, default=0.001)
    parser.add_argument("--train", type=int, default=20000, help="images to train on")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--attack-epochs", type=int, default=8, help="passes of the fresh networks; 0: no attack")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="threads inside PyTorch")
    args = parser.parse_args()
    if min(args.adversaries, args.steps, args.epochs, args.threads) < 1 or args.train < BATCH:
        parser.error(f"--adversaries, --steps, --epochs and --threads are at least 1, --train at least {BATCH}")
    if min(args.restart, args.replay, args.gamma, args.attack_epochs) < 0:
        parser.error("--restart, --replay, --gamma and --attack-epochs are at least 0")
    if not pathlib.Path(args.data).is_dir():
        parser.error(f"{args.data} is no directory; script/fetch-mnist DIR fetches the images")
    common.print_json(run(args))
    return 0


if __name__ == "__main__":
    sys.exit(main())
