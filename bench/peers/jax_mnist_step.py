#!/usr/bin/env python3
"""One training iteration of the paper's MNIST experiment in JAX, timed on random images; sizes and work as in mnist_step.py (no discriminator).

    .venv-bench/bin/python jax_mnist_step.py --iterations 10 --repeats 3 --threads 1

All iterations of a repeat are one jitted lax.scan whose state is donated, compiled before. The draw's forward pass serves both updates, as it
does in mnist_step.py. Prints one JSON object; `cpu_...` is processor time.
"""

import argparse
import json
import math
import os
import statistics
import sys
import time

PIXELS, NOISE, DIGITS, BATCH, IMAGES, WEIGHT = 784, 20, 10, 100, 2000, 15.0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


GIVEN = arguments()
if GIVEN.threads == 1:
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

jax.devices()
if GIVEN.threads == 1:
    os.sched_setaffinity(0, range(os.cpu_count()))
jax.config.update("jax_default_prng_impl", "unsafe_rbg")


def network(random, *widths):
    return [tuple(jnp.asarray(random.uniform(-1 / math.sqrt(i), 1 / math.sqrt(i), shape), jnp.float32) for shape in ((i, o), (o,)))
            for i, o in zip(widths, widths[1:])]


def forward(net, a):
    for w, b in net[:-1]:
        a = jnp.tanh(a @ w + b)
    return a @ net[-1][0] + net[-1][1]


def adam(state, gradient):
    parameters, first, second, step = state
    step = step + 1
    correction = jnp.sqrt(1 - 0.999**step)
    rate, small = 1e-3 * correction / (1 - 0.9**step), 1e-8 * correction

    def moved(p, m, v, g):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        return p - rate * m / (jnp.sqrt(v) + small), m, v

    each = jax.tree.map(moved, parameters, first, second, gradient)
    return *(jax.tree.map(lambda t, k=k: t[k], each, is_leaf=lambda t: isinstance(t, tuple) and len(t) == 3) for k in range(3)), step


def cross_entropy(logits, digits):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), digits[:, None], 1).mean()


def step(state, batch):
    ours, theirs = state
    images, digits, noise = batch
    logits, back = jax.vjp(lambda net: forward(net, jnp.concatenate([images, noise], 1)), ours[0])
    z = jax.nn.sigmoid(logits)
    theirs = adam(theirs, jax.grad(lambda net: cross_entropy(forward(net, z), digits))(theirs[0]))

    def loss(logits):
        pixels = (jnp.logaddexp(0, logits) - images * logits).mean()
        return WEIGHT * pixels - cross_entropy(forward(theirs[0], jax.nn.sigmoid(logits)), digits)

    value, gradient = jax.value_and_grad(loss)(logits)
    return (adam(ours, back(gradient)[0]), theirs), value


def play(state, images, digits, key):
    order, draw = jax.random.split(key)
    rows = jax.random.randint(order, (GIVEN.iterations, BATCH), 0, IMAGES)
    noise = jax.random.uniform(draw, (GIVEN.iterations, BATCH, NOISE), minval=-1, maxval=1)
    return jax.lax.scan(lambda s, b: step(s, (images[b[0]], digits[b[0]], b[1])), state, (rows, noise))


def main():
    random = np.random.default_rng(1)
    images = jnp.asarray(random.random((IMAGES, PIXELS)), jnp.float32)
    digits = jnp.asarray(random.integers(DIGITS, size=IMAGES))

    def player(*widths):
        net = network(random, *widths)
        return net, jax.tree.map(jnp.zeros_like, net), jax.tree.map(jnp.zeros_like, net), jnp.zeros(())

    state = (player(PIXELS + NOISE, 1000, 1000, PIXELS), player(PIXELS, 1000, 1000, DIGITS))
    jitted = jax.jit(play, donate_argnums=0)
    keys = jax.random.split(jax.random.key(1), GIVEN.repeats + 1)
    state, losses = jitted(state, images, digits, keys[-1])
    jax.block_until_ready(losses)
    wall, processor = [], []
    for key in keys[:-1]:
        start, cpu_start = time.perf_counter(), time.process_time()
        state, losses = jitted(state, images, digits, key)
        jax.block_until_ready((state, losses))
        wall.append(1e6 * (time.perf_counter() - start) / GIVEN.iterations)
        processor.append(1e6 * (time.process_time() - cpu_start) / GIVEN.iterations)
    print(json.dumps({"microseconds_per_iteration": statistics.median(wall), "cpu_microseconds_per_iteration": statistics.median(processor),
                      "threads": GIVEN.threads, "last_loss": float(losses[-1]), "environment": {"jax": jax.__version__}}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
