#!/usr/bin/env python3
"""The paper's synthetic experiments in JAX, as fast as it goes: all points in one vmap, a whole training in one lax.scan, jitted.

    .venv-bench/bin/python jax_curves.py --experiment scalar-gaussian --observation useful-only --epochs 50

Same networks, batches, draws, Adam and penalty as paper_curves.py (the budget on the expected distortion); float32. Compilation is not
counted: the same compiled training runs once before, for one epoch. What was chosen for speed, each measured before it was: hand-written
Adam on the parameter tree (no optax transformations to trace), one permutation an epoch for all points (a sort for each costs as much as
the training), noise of an epoch in one call of the generator `unsafe_rbg` (threefry is several times slower on a processor), the
adversary's five steps unrolled, data gathered once an epoch. Threads are those of the process: --threads 1 keeps XLA to one.
Prints one JSON object with the fields of paper_curves.py.
"""

import argparse
import json
import math
import os
import platform
import sys
import time

RHO, VECTOR = 0.85, [0.47, 0.24, 0.85, 0.07, 0.66]
SYMBOLS, CROSSOVER = 10, 0.4
# hidden units, dimensions, noise inputs, samples, batch, adversary steps, penalty, budgets, paper's epochs
SETTINGS = {
    ("discrete", "useful-only"): (0, SYMBOLS, 0, 1000, 100, 1, 500.0, 1.0, 2000),
    ("discrete", "full-data"): (0, SYMBOLS, 0, 1000, 100, 1, 500.0, 1.0, 2500),
    ("scalar-gaussian", "useful-only"): (5, 1, 1, 8000, 200, 5, 10.0, 1.0, 250),
    ("scalar-gaussian", "full-data"): (5, 1, 1, 8000, 200, 5, 50.0, 0.8, 250),
    ("vector-gaussian", "useful-only"): (20, 5, 8, 8000, 200, 5, 10.0, 4.5, 250),
    ("rate-distortion", "rate-distortion"): (20, 5, 8, 8000, 200, 5, 500.0, 2.5, 250),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiment", required=True, choices=sorted({name for name, _ in SETTINGS}))
    parser.add_argument("--observation", default="useful-only")
    parser.add_argument("--points", type=int, default=20)
    parser.add_argument("--epochs", type=int, help="default: the paper's")
    parser.add_argument("--tests", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--layout", choices=["rows", "sums", "columns", "column-sums", "counts", "compared-counts"], default="rows",
                        help="how products are written; for finite alphabets rows, or with the records of a batch counted by symbol")
    given = parser.parse_args()
    if (given.experiment, given.observation) not in SETTINGS:
        parser.error(f"{given.experiment} has no series {given.observation}")
    if given.layout in (("sums", "columns", "column-sums") if given.experiment == "discrete" else ("counts", "compared-counts")):
        parser.error(f"{given.layout} is not a way to write {given.experiment}")
    return given


GIVEN = arguments()
if GIVEN.threads == 1:  # read when XLA starts
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import optima  # noqa: E402

jax.devices()
if GIVEN.threads == 1:
    os.sched_setaffinity(0, range(os.cpu_count()))  # XLA has sized its pools by now
jax.config.update("jax_default_prng_impl", "unsafe_rbg")

HIDDEN, DIMS, NOISE, SAMPLES, BATCH, STEPS, WEIGHT, MOST, PAPER_EPOCHS = SETTINGS[GIVEN.experiment, GIVEN.observation]
FINITE, FULL = GIVEN.experiment == "discrete", GIVEN.observation == "full-data"
BATCHES = SAMPLES // BATCH


def sample(random, n):
    """W, X, Y; for finite alphabets as codes."""
    if FINITE:
        x = random.integers(SYMBOLS, size=n)
        y = np.where(random.random(n) < CROSSOVER, (x + random.integers(1, SYMBOLS, size=n)) % SYMBOLS, x)
        return (x * SYMBOLS + y if FULL else y), x, y
    if GIVEN.experiment == "scalar-gaussian":
        y = random.standard_normal((n, 1), dtype=np.float32)
        x = RHO * y + np.float32(math.sqrt(1 - RHO**2)) * random.standard_normal((n, 1), dtype=np.float32)
        return (np.concatenate([x, y], 1) if FULL else y), x.astype(np.float32), y
    if GIVEN.experiment == "vector-gaussian":
        rho, y = np.float32(VECTOR), random.standard_normal((n, 5), dtype=np.float32)
        return y, rho * y + np.sqrt(1 - rho**2) * random.standard_normal((n, 5), dtype=np.float32), y
    x = np.sqrt(np.float32(VECTOR)) * random.standard_normal((n, 5), dtype=np.float32)
    return x, x, x


# --- networks -------------------------------------------------------------------------------------------------------


def layer(random, points, i, o):
    reach = 1 / math.sqrt(i)
    return [jnp.asarray(random.uniform(-reach, reach, (points, *shape)), jnp.float32) for shape in ((i, o), (o,))]


def initial(random, points, inputs):
    if FINITE:
        return layer(random, points, inputs, SYMBOLS)[0], layer(random, points, SYMBOLS, SYMBOLS)[0]
    h = HIDDEN
    return tuple([layer(random, points, i, h), layer(random, points, h, h), layer(random, points, h, o)]
                 for i, o in ((inputs + NOISE, DIMS), (DIMS, 2 * DIMS)))


def product(a, w):
    """a w. In sums, XLA unrolls and vectorises over records; as products it calls a library, too much ado for a few units."""
    if GIVEN.layout == "sums":
        return sum(a[:, i, None] * w[i] for i in range(w.shape[0]))
    return a @ w


def dense(net, a):
    for w, b in net[:-1]:
        a = jax.nn.relu(product(a, w) + b)
    w, b = net[-1]
    return product(a, w) + b


def dense_columns(net, a):
    """The same with a record to a column: w^T a, so that loops over records are the innermost ones."""
    for k, (w, b) in enumerate(net):
        if GIVEN.layout == "column-sums":
            a = sum(w[i, :, None] * a[i] for i in range(w.shape[0])) + b[:, None]
        else:
            a = w.T @ a + b[:, None]
        a = a if k + 1 == len(net) else jax.nn.relu(a)
    return a


def log_likelihood(adversary, z, x):
    if FINITE:  # rows of P(z|w) against the adversary's table log Q(x|z), at the true x
        return (z * jax.nn.log_softmax(adversary)[:, x].T).sum(1).mean()
    if GIVEN.layout.startswith("column"):
        mu, log_variance = jnp.split(dense_columns(adversary, z), 2, axis=0)
        return -0.5 * (jnp.square(x - mu) * jnp.exp(-log_variance) + log_variance + math.log(2 * math.pi)).sum(0).mean()
    mu, log_variance = jnp.split(dense(adversary, z), 2, axis=1)
    return -0.5 * (jnp.square(x - mu) * jnp.exp(-log_variance) + log_variance + math.log(2 * math.pi)).sum(1).mean()


def release(mechanism, w, noise):
    if FINITE:
        return jax.nn.softmax(mechanism)[w]
    if GIVEN.layout.startswith("column"):
        return dense_columns(mechanism, jnp.concatenate([w, noise], 0))
    return dense(mechanism, jnp.concatenate([w, noise], 1))


def distance(z, y):
    if FINITE:
        return 1 - jnp.take_along_axis(z, y[:, None], 1).mean()
    return jnp.square(z - y).sum(0 if GIVEN.layout.startswith("column") else 1).mean()


def count(a, b, levels):
    """How often symbol i of a meets symbol j of b, for each batch of each point: [..., record] twice to [..., i, j]."""
    if GIVEN.layout == "compared-counts":
        cell = a * SYMBOLS + b
        return (cell[..., None] == jnp.arange(levels * SYMBOLS)).sum(-2, dtype=jnp.float32).reshape(*a.shape[:-1], levels, SYMBOLS)
    return jnp.einsum("...ri,...rj->...ij", jax.nn.one_hot(a, levels), jax.nn.one_hot(b, SYMBOLS))


def iterate_counts(state, with_x, with_y, delta):
    """The same iteration of a finite point from counts of (w, x) and (w, y): tables of symbols, and no record by itself."""
    ours, theirs = state
    z, back = jax.vjp(jax.nn.softmax, ours[0])
    joint = z.T @ with_x  # [z, x]: all that the adversary needs
    for _ in range(STEPS):
        theirs = adam(theirs, jax.grad(lambda a: -(joint * jax.nn.log_softmax(a)).sum() / BATCH)(theirs[0]))
    belief = jax.nn.log_softmax(theirs[0])

    def loss(z):
        distortion = 1 - (z * with_y).sum() / BATCH
        return (z * (with_x @ belief.T)).sum() / BATCH + WEIGHT * jnp.square(jax.nn.relu(distortion - delta))

    return adam(ours, back(jax.grad(loss)(z))[0]), theirs


def adam(state, gradient):
    parameters, first, second, step = state
    step = step + 1
    rate = 1e-3 * jnp.sqrt(1 - 0.999**step) / (1 - 0.9**step)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradient)
    # eps scaled as the correction of the second moment scales it
    small = 1e-8 * jnp.sqrt(1 - 0.999**step)
    return jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + small), parameters, first, second), first, second, step


def iterate(state, w, x, y, noise, delta):
    """One iteration of one point."""
    ours, theirs = state
    z, back = jax.vjp(lambda mechanism: release(mechanism, w, noise), ours[0])  # one draw serves all steps
    for _ in range(STEPS):
        theirs = adam(theirs, jax.grad(lambda a: -log_likelihood(a, z, x))(theirs[0]))

    def loss(z):
        return log_likelihood(theirs[0], z, x) + WEIGHT * jnp.square(jax.nn.relu(distance(z, y) - delta))

    return adam(ours, back(jax.grad(loss)(z))[0]), theirs


def train(state, data, deltas, keys):
    """`keys`: one for each epoch. All points at once; everything in one compiled loop."""
    points = len(deltas)

    def epoch(state, key):
        shuffle, draw = jax.random.split(key)
        order = jax.random.permutation(shuffle, SAMPLES)
        # [batch, point, record, ...]
        batches = [jnp.moveaxis(v[:, order].reshape(points, BATCHES, BATCH, *v.shape[2:]), 1, 0) for v in data]
        if GIVEN.layout.endswith("counts"):
            w, x, y = batches
            levels = state[0][0].shape[1]

            def counted(state, batch):
                return jax.vmap(iterate_counts)(state, *batch, deltas), None

            return jax.lax.scan(counted, state, (count(w, x, levels), count(w, y, levels)))[0], None
        noise = jax.random.uniform(draw, (BATCHES, points, BATCH, NOISE), minval=-1, maxval=1)
        if GIVEN.layout.startswith("column") and not FINITE:
            batches, noise = [jnp.swapaxes(v, 2, 3) for v in batches], jnp.swapaxes(noise, 2, 3)

        def step(state, batch):
            return jax.vmap(iterate)(state, *batch, deltas), None

        return jax.lax.scan(step, state, (*batches, noise))[0], None

    return jax.lax.scan(epoch, state, keys)[0]


# --- scores ---------------------------------------------------------------------------------------------------------


def gaussian_information(x, z):
    x, z = (v.astype(np.float64) - v.mean(0) for v in (x, z))
    sx, sz, sxz = x.T @ x / len(x), z.T @ z / len(x), x.T @ z / len(x)
    given = sx - sxz @ np.linalg.pinv(sz, hermitian=True) @ sxz.T
    return 0.5 * (np.linalg.slogdet(sx)[1] - np.linalg.slogdet(given)[1])


def score(random, mechanism):
    if FINITE:
        x, y = (v.ravel() for v in np.meshgrid(np.arange(SYMBOLS), np.arange(SYMBOLS), indexing="ij"))
        pxy = np.where(x == y, (1 - CROSSOVER) / SYMBOLS, CROSSOVER / (SYMBOLS * (SYMBOLS - 1)))
        p = np.asarray(release(mechanism, x * SYMBOLS + y if FULL else y, None), np.float64)
        joint = (pxy[:, None] * p).reshape(SYMBOLS, SYMBOLS, SYMBOLS).sum(1)
        product = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
        mass = joint > 0
        return 1 - (pxy * p[np.arange(len(y)), y]).sum(), (joint[mass] * np.log(joint[mass] / product[mass])).sum()
    w, x, y = sample(random, GIVEN.tests)
    noise = random.uniform(-1, 1, (GIVEN.tests, NOISE)).astype(np.float32)
    z = np.asarray(release(mechanism, w.T, noise.T)).T if GIVEN.layout.startswith("column") else np.asarray(release(mechanism, w, noise))
    return np.square(z - y).sum(1).mean(), gaussian_information(x, z)


def optimum(distortion):
    if FINITE:
        return optima.symmetric_pair_optimum(SYMBOLS, CROSSOVER, FULL, distortion)
    if GIVEN.experiment == "scalar-gaussian":
        return optima.scalar_gaussian_optimum(RHO, FULL, distortion)
    return {"vector-gaussian": optima.vector_gaussian_optimum, "rate-distortion": optima.rate_distortion_optimum}[GIVEN.experiment](VECTOR, distortion)


def main():
    epochs, points = GIVEN.epochs or PAPER_EPOCHS, GIVEN.points
    random = np.random.default_rng(GIVEN.seed)
    data = [jnp.asarray(np.stack(v)) for v in zip(*(sample(random, SAMPLES) for _ in range(points)))]
    deltas = jnp.linspace(0.0, MOST, points) if points > 1 else jnp.array([0.5 * MOST])
    inputs = (SYMBOLS**2 if FULL else SYMBOLS) if FINITE else data[0].shape[2]

    def player(net):
        zero = jax.tree.map(jnp.zeros_like, net)
        return net, zero, zero, jnp.zeros(points)

    state = tuple(map(player, initial(random, points, inputs)))
    keys = jax.random.split(jax.random.key(GIVEN.seed), epochs)
    start = time.perf_counter()
    compiled = jax.jit(train).lower(state, data, deltas, keys).compile()
    compile_seconds = time.perf_counter() - start
    jax.block_until_ready(jax.jit(train)(state, data, deltas, keys[:1]))  # pools and memory are there
    start, processor = time.perf_counter(), time.process_time()
    trained = jax.block_until_ready(compiled(state, data, deltas, keys))
    seconds, processor = time.perf_counter() - start, time.process_time() - processor

    rows = []
    for k in range(points):
        distortion, leakage = map(float, score(random, jax.tree.map(lambda v, k=k: v[k], trained[0][0])))
        best = optimum(max(0.0, distortion))
        rows.append({"budget": float(deltas[k]), "distortion": distortion, "leakage": leakage, "optimum": best, "excess": leakage - best})
    excess = [row["excess"] for row in rows]
    iterations = epochs * BATCHES
    print(json.dumps({
        "experiment": GIVEN.experiment, "observation": GIVEN.observation, "mode": "vmap+scan", "points": points, "epochs": epochs,
        "iterations": iterations, "threads": GIVEN.threads, "seconds": seconds, "cpu_seconds": processor, "compile_seconds": compile_seconds,
        "microseconds_per_point_iteration": 1e6 * seconds / (points * iterations),
        "quality": {"mean_excess": sum(excess) / points, "max_excess": max(excess), "points": rows},
        "environment": {"jax": jax.__version__, "python": platform.python_version(), "threads": GIVEN.threads}}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
