#!/usr/bin/env python3
"""Plays short games in PyTorch (float64, autograd) and writes everything needed to replay them.

    python3 make_trajectories.py            rewrites the *.json files beside this script
    python3 make_trajectories.py --check    plays again and compares with the files (relative 1e-10)
    python3 make_trajectories.py --only chain,images

The engine of ppan writes its gradients out by hand; these files are what it is compared with. Nothing here is shared with
it: gradients come from autograd, and every loss is written in the plainest form (a weighted sum over draws).

One file, one game. Keys:

  provenance    what made the file: script, versions, seed
  settings      everything that defines the game
    iterations, batch, adversary_steps, releases (k), adam {alpha, beta1, beta2, epsilon}
    mechanism   {kind, ...}; networks are {inputs, hidden, outputs, activation, bias}
        finite        network (softmax over its outputs); draws are all symbols, weights their probabilities
        finite-gumbel network, temperature; one draw, softmax((logits + g)/temperature), g the noise
        gaussian      network, dims, scale "diagonal": outputs [mu | raw], A = diag(softplus raw)
                                       "full": outputs [mu | lower triangle of A row by row, softplus on the diagonal]
        mixture       network, dims, components: outputs [for each component mu | raw] then the mixture logits;
                      one draw per component, weights softmax(logits), noise columns l*dims .. l*dims+dims-1
        noise-input   network on [w | u], noise (width of u), output "identity" or "sigmoid"
        noisy-code    encoder, decoder, radius R: c = R tanh(e/R) + u, z = decoder(c); output as above; the adversary sees c
    posterior   links in the order of the chain rule: {kind "categorical" | "gaussian", network, levels or dims};
                link a reads [what it sees | x_1 .. x_{a-1}], a finite x as one-hot; gaussian outputs [mu | log sigma^2]
    distortion  {kind "error" | "squared" | "pixel-cross-entropy" | "mutual-information"}; the last has `posterior`, the one link Q'
    budget      {form "weighted" | "record" | "record-mean" | "expected" | "dual", weight (lambda) or rho, eta, multiplier; limit (delta)}
    discriminator  {network, gamma} or null
  initial       flat parameters {mechanism, adversary, discriminator?, utility?}
  iterations    one entry per iteration
    observed, sensitive[], useful   the mini-batch: {levels, code} when finite, {levels: 0, value} when real
    noise       {adversary: [one per step], further, mechanism}; null where nothing is drawn
    expected    natural logarithms, each before the update it belongs to
      adversary            mean log Q(x|z), one per adversary step
      discriminator        gamma (mean log D(z) + mean log(1 - D(y))), or null
      utility              mean log Q'(y|z), or null
      log_likelihood, distortion, penalty, discriminator_release (gamma mean log D(z))   on the mechanism's own draw
      mechanism            their loss: log_likelihood + penalty + discriminator_release
      multiplier           the dual multiplier after the step, or null
  final         flat parameters, same keys as `initial`

Matrices are {rows, cols, data}, data column by column. An MLP maps rows: A_l = act(A_{l-1} W_l + b_l), last layer linear.
Flat parameters: for each layer W_l [in x out] column by column, then b_l if there is a bias; parts of a player one after
the other (encoder, decoder; link 1, link 2). Noise of k releases: draw j of record i in row j*n + i.

One iteration: `adversary_steps` times a draw and an ascent step on mean_i sum_k weight_ik log Q(x_i|z_ik); one further draw
for an ascent step of the discriminator, then of Q' on mean log Q'(y|z) (each only if present); a fresh draw and one descent
step of the mechanism. Adam: p <- p - alpha sqrt(1-b2^t)/(1-b1^t) m/(sqrt(v)+eps).
"""

import argparse
import json
import math
import pathlib
import sys

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
HERE = pathlib.Path(__file__).resolve().parent
ACTIVATIONS = {"identity": lambda a: a, "relu": torch.relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid}


def mlp(inputs, hidden, outputs, activation="tanh", bias=True):
    return {"inputs": inputs, "hidden": hidden, "outputs": outputs, "activation": activation, "bias": bias}


def matrix(inputs, outputs):
    """A bare matrix of logits on a one-hot input."""
    return mlp(inputs, [], outputs, "identity", False)


class Net:
    """A perceptron whose weights are leaves of autograd, one tensor per W_l and b_l."""

    def __init__(self, spec, generator):
        self.spec = spec
        self.parameters = []
        widths = [spec["inputs"], *spec["hidden"], spec["outputs"]]
        for i, o in zip(widths, widths[1:]):
            reach = math.sqrt(6 / (i + o))
            self.parameters.append((2 * torch.rand(i, o, generator=generator) - 1) * reach)
            if spec["bias"]:
                self.parameters.append((2 * torch.rand(o, generator=generator) - 1) * 0.2)
        for p in self.parameters:
            p.requires_grad_()

    def __call__(self, a):
        act = ACTIVATIONS[self.spec["activation"]]
        stride = 2 if self.spec["bias"] else 1
        for at in range(0, len(self.parameters), stride):
            a = a @ self.parameters[at]
            if self.spec["bias"]:
                a = a + self.parameters[at + 1]
            if at + stride < len(self.parameters):
                a = act(a)
        return a


def flat(nets):
    return [x for net in nets for p in net.parameters for x in p.detach().t().reshape(-1).tolist()]


class Adam:
    def __init__(self, nets, alpha, beta1, beta2, epsilon):
        self.parameters = [p for net in nets for p in net.parameters]
        self.alpha, self.beta1, self.beta2, self.epsilon = alpha, beta1, beta2, epsilon
        self.m = [torch.zeros_like(p) for p in self.parameters]
        self.v = [torch.zeros_like(p) for p in self.parameters]
        self.t = 0

    def descend(self, loss):
        gradients = torch.autograd.grad(loss, self.parameters)
        self.t += 1
        rate = self.alpha * math.sqrt(1 - self.beta2**self.t) / (1 - self.beta1**self.t)
        with torch.no_grad():
            for p, g, m, v in zip(self.parameters, gradients, self.m, self.v):
                m.mul_(self.beta1).add_((1 - self.beta1) * g)
                v.mul_(self.beta2).add_((1 - self.beta2) * g * g)
                p.sub_(rate * m / (v.sqrt() + self.epsilon))


class Draw:
    """One weighted release per record: what the adversary sees, what is released, and its logits if it has any."""

    def __init__(self, weight, seen, release=None, logits=None):
        self.weight, self.seen, self.logits = weight, seen, logits
        self.release = seen if release is None else release


class Mechanism:
    def __init__(self, spec, releases, generator):
        self.spec, self.releases = spec, releases
        names = ["encoder", "decoder"] if spec["kind"] == "noisy-code" else ["network"]
        self.nets = [Net(spec[name], generator) for name in names]

    def noise(self, n, generator):
        """The randomness of one draw of n records, or None where the expectation is taken exactly."""
        kind, spec = self.spec["kind"], self.spec
        if kind == "finite":
            return None
        if kind == "finite-gumbel":
            uniform = torch.rand(n * self.releases, spec["network"]["outputs"], generator=generator)
            return -torch.log(-torch.log(uniform))
        if kind == "noise-input":
            return 2 * torch.rand(n * self.releases, spec["noise"], generator=generator) - 1
        width = {"gaussian": lambda: spec["dims"], "mixture": lambda: spec["dims"] * spec["components"],
                 "noisy-code": lambda: spec["encoder"]["outputs"]}[kind]()
        return torch.randn(n * self.releases, width, generator=generator)

    def draw(self, w, noise):
        if noise is None:
            return self.draw_once(w, None)
        n = w.shape[0]
        draws = []
        for j in range(self.releases):
            draws += self.draw_once(w, noise[j * n:(j + 1) * n])
        for d in draws:
            d.weight = d.weight / self.releases
        return draws

    def draw_once(self, w, u):
        spec, n, net = self.spec, w.shape[0], self.nets[0]
        one = torch.ones(n)
        if spec["kind"] == "finite":
            p = F.softmax(net(w), dim=1)
            symbols = torch.eye(p.shape[1])
            return [Draw(p[:, z], symbols[z].expand(n, -1)) for z in range(p.shape[1])]
        if spec["kind"] == "finite-gumbel":
            return [Draw(one, F.softmax((net(w) + u) / spec["temperature"], dim=1))]
        if spec["kind"] == "gaussian":
            d, out = spec["dims"], net(w)
            mu = out[:, :d]
            if spec["scale"] == "diagonal":
                return [Draw(one, mu + F.softplus(out[:, d:]) * u)]
            columns, at = [], d
            for row in range(d):
                z = mu[:, row]
                for col in range(row + 1):
                    a = F.softplus(out[:, at]) if col == row else out[:, at]
                    z = z + a * u[:, col]
                    at += 1
                columns.append(z)
            return [Draw(one, torch.stack(columns, dim=1))]
        if spec["kind"] == "mixture":
            d, m, out = spec["dims"], spec["components"], net(w)
            pi = F.softmax(out[:, 2 * d * m:], dim=1)
            draws = []
            for c in range(m):
                mu, raw = out[:, 2 * d * c:2 * d * c + d], out[:, 2 * d * c + d:2 * d * (c + 1)]
                draws.append(Draw(pi[:, c], mu + F.softplus(raw) * u[:, c * d:(c + 1) * d]))
            return draws
        if spec["kind"] == "noise-input":
            out = net(torch.cat([w, u], dim=1))
            if spec["output"] == "sigmoid":
                return [Draw(one, torch.sigmoid(out), logits=out)]
            return [Draw(one, out)]
        assert spec["kind"] == "noisy-code"
        code = spec["radius"] * torch.tanh(net(w) / spec["radius"]) + u
        out = self.nets[1](code)
        if spec["output"] == "sigmoid":
            return [Draw(one, code, torch.sigmoid(out), out)]
        return [Draw(one, code, out)]


def encoding(attribute):
    """An attribute as a network reads it."""
    if attribute["levels"]:
        return F.one_hot(attribute["code"], attribute["levels"]).to(torch.get_default_dtype())
    return attribute["value"]


class Posterior:
    def __init__(self, spec, generator):
        self.links = spec
        self.nets = [Net(link["network"], generator) for link in spec]

    def log_likelihood(self, seen, attributes):
        total = torch.zeros(seen.shape[0])
        given = seen
        for link, net, x in zip(self.links, self.nets, attributes):
            out = net(given)
            if link["kind"] == "categorical":
                total = total + F.log_softmax(out, dim=1)[torch.arange(len(out)), x["code"]]
            else:
                mu, log_variance = out[:, :link["dims"]], out[:, link["dims"]:]
                each = (x["value"] - mu)**2 / torch.exp(log_variance) + log_variance + math.log(2 * math.pi)
                total = total - 0.5 * each.sum(dim=1)
            given = torch.cat([given, encoding(x)], dim=1)
        return total


class Game:
    def __init__(self, settings, generator):
        s = self.settings = settings
        self.mechanism = Mechanism(s["mechanism"], s["releases"], generator)
        self.adversary = Posterior(s["posterior"], generator)
        self.discriminator = Net(s["discriminator"]["network"], generator) if s["discriminator"] else None
        self.utility = None
        if s["distortion"]["kind"] == "mutual-information":
            self.utility = Posterior([s["distortion"]["posterior"]], generator)
        self.nets = {"mechanism": self.mechanism.nets, "adversary": self.adversary.nets}
        if self.discriminator:
            self.nets["discriminator"] = [self.discriminator]
        if self.utility:
            self.nets["utility"] = self.utility.nets
        self.adam = {player: Adam(nets, **s["adam"]) for player, nets in self.nets.items()}
        self.multiplier = s["budget"].get("multiplier")

    def parameters(self):
        return {player: flat(nets) for player, nets in self.nets.items()}

    def log_likelihood(self, draws, batch):
        return sum(d.weight * self.adversary.log_likelihood(d.seen, batch["sensitive"]) for d in draws).mean()

    def utility_log_likelihood(self, draws, batch):
        return sum(d.weight * self.utility.log_likelihood(d.release, [batch["useful"]]) for d in draws).mean()

    def discriminator_on_release(self, draws):
        gamma = self.settings["discriminator"]["gamma"]
        return gamma * sum(d.weight * F.logsigmoid(self.discriminator(d.release)[:, 0]) for d in draws).mean()

    def discriminator_on_useful(self, batch):
        gamma = self.settings["discriminator"]["gamma"]
        return gamma * F.logsigmoid(-self.discriminator(encoding(batch["useful"]))[:, 0]).mean()

    def distortion(self, draws, batch, cost=lambda each: each):
        """d_i = sum_k weight_ik cost(d(y_i, z_ik)), one per record."""
        kind, y = self.settings["distortion"]["kind"], encoding(batch["useful"])
        total = torch.zeros(y.shape[0])
        for d in draws:
            if kind == "error":
                each = 1 - (d.release * y).sum(dim=1)
            elif kind == "squared":
                each = ((y - d.release)**2).sum(dim=1)
            elif kind == "pixel-cross-entropy":
                each = -(y * F.logsigmoid(d.logits) + (1 - y) * F.logsigmoid(-d.logits)).mean(dim=1)
            else:
                each = -self.utility.log_likelihood(d.release, [batch["useful"]])
            total = total + d.weight * cost(each)
        return total

    def penalty(self, distortion, draws, batch):
        b, mean = self.settings["budget"], distortion.mean()
        if b["form"] == "record":
            return self.distortion(draws, batch, lambda each: b["weight"] * torch.clamp(each - b["limit"], min=0)**2).mean()
        if b["form"] == "weighted":
            return b["weight"] * mean
        if b["form"] == "record-mean":
            return b["weight"] * (torch.clamp(distortion - b["limit"], min=0)**2).mean()
        if b["form"] == "expected":
            return b["weight"] * torch.clamp(mean - b["limit"], min=0)**2
        pushed = torch.clamp(self.multiplier + b["rho"] * (mean - b["limit"]), min=0)
        return (pushed**2 - self.multiplier**2) / (2 * b["rho"])

    def iterate(self, batch, noise):
        w = encoding(batch["observed"])
        expected = {"adversary": [], "discriminator": None, "utility": None}
        for u in noise["adversary"]:
            value = self.log_likelihood(self.mechanism.draw(w, u), batch)
            expected["adversary"].append(value.item())
            self.adam["adversary"].descend(-value)
        if self.discriminator or self.utility:
            draws = self.mechanism.draw(w, noise["further"])
            if self.discriminator:
                value = self.discriminator_on_release(draws) + self.discriminator_on_useful(batch)
                expected["discriminator"] = value.item()
                self.adam["discriminator"].descend(-value)
            if self.utility:
                value = self.utility_log_likelihood(draws, batch)
                expected["utility"] = value.item()
                self.adam["utility"].descend(-value)
        draws = self.mechanism.draw(w, noise["mechanism"])
        log_likelihood = self.log_likelihood(draws, batch)
        distortion = self.distortion(draws, batch)
        penalty = self.penalty(distortion, draws, batch)
        fooled = self.discriminator_on_release(draws) if self.discriminator else torch.zeros(())
        loss = log_likelihood + penalty + fooled
        expected |= {"log_likelihood": log_likelihood.item(), "distortion": distortion.mean().item(),
                     "penalty": penalty.item(), "discriminator_release": fooled.item(), "mechanism": loss.item()}
        self.adam["mechanism"].descend(loss)
        if self.settings["budget"]["form"] == "dual":
            b = self.settings["budget"]
            self.multiplier = max(0.0, self.multiplier + b["eta"] * (distortion.mean().item() - b["limit"]))
        expected["multiplier"] = self.multiplier
        return expected


# --- worlds to draw mini-batches from -------------------------------------------------------------------------------


def finite(code, levels):
    return {"levels": levels, "code": code}


def real(value):
    return {"levels": 0, "value": value}


def symmetric_pair(m, p, full):
    """X uniform on m symbols, Y = X except with probability p; W = Y, or the pair coded x*m + y."""

    def sample(n, g):
        x = torch.randint(m, (n,), generator=g)
        other = torch.randint(1, m, (n,), generator=g)
        y = torch.where(torch.rand(n, generator=g) < p, (x + other) % m, x)
        w = finite(x * m + y, m * m) if full else finite(y, m)
        return {"observed": w, "sensitive": [finite(x, m)], "useful": finite(y, m)}

    return sample


def gaussian_pair(rho):
    """Independent pairs (X_j, Y_j) with correlations rho_j, W = Y."""
    rho = torch.tensor(rho)

    def sample(n, g):
        y = torch.randn(n, len(rho), generator=g)
        x = rho * y + torch.sqrt(1 - rho**2) * torch.randn(n, len(rho), generator=g)
        return {"observed": real(y), "sensitive": [real(x)], "useful": real(y)}

    return sample


def classes(levels, dims, useful="symbol"):
    """Real W around one of `levels` centres; X its class; Y the class again (symbol) or W itself (value)."""

    def sample(n, g):
        x = torch.randint(levels, (n,), generator=g)
        centres = 1.5 * torch.cos(torch.arange(levels * dims, dtype=torch.float64).reshape(levels, dims))
        w = centres[x] + 0.5 * torch.randn(n, dims, generator=g)
        y = finite((x + (w[:, 0] > 0).long()) % levels, levels) if useful == "symbol" else real(w)
        return {"observed": real(w), "sensitive": [finite(x, levels)], "useful": y}

    return sample


def person(n, g):
    """Two sensitive attributes, one of three levels and one real, and a useful vector that depends on both."""
    x1 = torch.randint(3, (n,), generator=g)
    x2 = torch.randn(n, 1, generator=g)
    y = torch.cat([x1[:, None] - 1.0, x2], dim=1) + 0.4 * torch.randn(n, 2, generator=g)
    return {"observed": real(y), "sensitive": [finite(x1, 3), real(x2)], "useful": real(y)}


def images(levels, pixels):
    """Images in [0,1] whose bright pixels depend on the class."""

    def sample(n, g):
        x = torch.randint(levels, (n,), generator=g)
        bright = (torch.arange(pixels)[None, :] % levels == x[:, None]).to(torch.float64)
        y = torch.clamp(0.8 * bright + 0.3 * torch.rand(n, pixels, generator=g), 0, 1)
        return {"observed": real(y), "sensitive": [finite(x, levels)], "useful": real(y)}

    return sample


def bottleneck(levels_x, levels_y):
    """W = X, and Y a noisy coarsening of it."""

    def sample(n, g):
        x = torch.randint(levels_x, (n,), generator=g)
        y = torch.where(torch.rand(n, generator=g) < 0.2, torch.randint(levels_y, (n,), generator=g), x % levels_y)
        return {"observed": finite(x, levels_x), "sensitive": [finite(x, levels_x)], "useful": finite(y, levels_y)}

    return sample


# --- the games ------------------------------------------------------------------------------------------------------


def categorical(network):
    return {"kind": "categorical", "network": network, "levels": network["outputs"]}


def gaussian_posterior(network):
    return {"kind": "gaussian", "network": network, "dims": network["outputs"] // 2}


def settings(mechanism, posterior, distortion, budget, *, batch=5, adversary_steps=1, releases=1, discriminator=None):
    return {"iterations": 10, "batch": batch, "adversary_steps": adversary_steps, "releases": releases,
            "adam": {"alpha": 0.001, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
            "mechanism": mechanism, "posterior": posterior, "distortion": distortion, "budget": budget,
            "discriminator": discriminator}


def expected(weight, limit):
    return {"form": "expected", "weight": weight, "limit": limit}


ERROR, SQUARED, PIXELS = {"kind": "error"}, {"kind": "squared"}, {"kind": "pixel-cross-entropy"}

CASES = {
    "discrete_useful_only": (symmetric_pair(4, 0.4, full=False), settings(
        {"kind": "finite", "network": matrix(4, 4)}, [categorical(matrix(4, 4))], ERROR, expected(500, 0.82))),
    "discrete_full_data": (symmetric_pair(3, 0.4, full=True), settings(
        {"kind": "finite", "network": matrix(9, 3)}, [categorical(matrix(3, 3))], ERROR,
        {"form": "weighted", "weight": 2.0})),
    "discrete_record": (symmetric_pair(3, 0.4, full=True), settings(
        {"kind": "finite", "network": matrix(9, 3)}, [categorical(matrix(3, 3))], ERROR,
        {"form": "record", "weight": 5.0, "limit": 0.3})),
    "finite_network": (classes(3, 2), settings(
        {"kind": "finite", "network": mlp(2, [4], 3, "relu")}, [categorical(mlp(3, [4], 3, "tanh"))], ERROR,
        expected(50, 0.6), adversary_steps=2)),
    "finite_gumbel": (symmetric_pair(3, 0.4, full=False), settings(
        {"kind": "finite-gumbel", "network": matrix(3, 3), "temperature": 0.7},
        [categorical(mlp(3, [4], 3, "tanh"))], ERROR, expected(50, 0.65))),
    "scalar_noise_input": (gaussian_pair([0.85]), settings(
        {"kind": "noise-input", "network": mlp(2, [5, 5], 1, "relu"), "noise": 1, "output": "identity"},
        [gaussian_posterior(mlp(1, [5, 5], 2, "relu"))], SQUARED, expected(10, 0.2), batch=6, adversary_steps=5)),
    "vector_gaussian_full": (gaussian_pair([0.47, 0.24, 0.85]), settings(
        {"kind": "gaussian", "network": mlp(3, [4], 9, "tanh"), "dims": 3, "scale": "full"},
        [gaussian_posterior(mlp(3, [5], 6, "relu"))], SQUARED, {"form": "record", "weight": 0.5, "limit": 4.0})),
    "gaussian_diagonal": (gaussian_pair([0.85, 0.5]), settings(
        {"kind": "gaussian", "network": mlp(2, [4], 4, "relu"), "dims": 2, "scale": "diagonal"},
        [gaussian_posterior(mlp(2, [4], 4, "tanh"))], SQUARED,
        {"form": "dual", "rho": 2.0, "eta": 0.5, "multiplier": 0.0, "limit": 3.0}, adversary_steps=2)),
    "mixture": (gaussian_pair([0.85, 0.3]), settings(
        {"kind": "mixture", "network": mlp(2, [4], 15, "tanh"), "dims": 2, "components": 3},
        [gaussian_posterior(mlp(2, [4], 4, "relu"))], SQUARED, expected(1, 5.0))),
    "noisy_code": (classes(3, 3, useful="value"), settings(
        {"kind": "noisy-code", "encoder": mlp(3, [4], 2, "relu"), "decoder": mlp(2, [4], 3, "relu"), "radius": 1.5,
         "output": "identity"},
        [categorical(mlp(2, [5], 3, "tanh"))], SQUARED, expected(1, 5.9), adversary_steps=2)),
    "noisy_code_sigmoid": (images(3, 5), settings(
        {"kind": "noisy-code", "encoder": mlp(5, [4], 2, "tanh"), "decoder": mlp(2, [4], 5, "tanh"), "radius": 3.0,
         "output": "sigmoid"},
        [categorical(mlp(2, [4], 3, "relu"))], PIXELS, expected(200, 0.72), batch=4,
        discriminator={"network": mlp(5, [3], 1, "tanh"), "gamma": 0.5})),
    "chain": (person, settings(
        {"kind": "noise-input", "network": mlp(4, [5], 2, "tanh"), "noise": 2, "output": "identity"},
        [categorical(mlp(2, [4], 3, "tanh")), gaussian_posterior(mlp(5, [4], 2, "tanh"))], SQUARED,
        expected(1, 3.0), adversary_steps=2)),
    "images": (images(3, 6), settings(
        {"kind": "noise-input", "network": mlp(8, [5, 4], 6, "tanh"), "noise": 2, "output": "sigmoid"},
        [categorical(mlp(6, [5, 4], 3, "tanh"))], PIXELS, {"form": "weighted", "weight": 15.0}, batch=4,
        discriminator={"network": mlp(6, [4], 1, "tanh"), "gamma": 2.0})),
    "bottleneck": (bottleneck(4, 3), settings(
        {"kind": "finite", "network": matrix(4, 4)}, [categorical(matrix(4, 4))],
        {"kind": "mutual-information", "posterior": categorical(matrix(4, 3))}, expected(20, 1.3), batch=6)),
    "k_releases": (gaussian_pair([0.85]), settings(
        {"kind": "noise-input", "network": mlp(3, [4], 1, "relu"), "noise": 2, "output": "identity"},
        [gaussian_posterior(mlp(1, [4], 2, "tanh"))], SQUARED, {"form": "record-mean", "weight": 10.0, "limit": 0.5},
        adversary_steps=2, releases=3)),
}


# --- playing and writing --------------------------------------------------------------------------------------------


def plain_matrix(a):
    if a is None:
        return None
    return {"rows": a.shape[0], "cols": a.shape[1], "data": a.t().reshape(-1).tolist()}


def plain_attribute(a):
    if a["levels"]:
        return {"levels": a["levels"], "code": a["code"].tolist()}
    return {"levels": 0, "value": plain_matrix(a["value"])}


def play(name):
    sample, game_settings = CASES[name]
    seed = 1 + list(CASES).index(name)
    generator = torch.Generator().manual_seed(seed)
    game = Game(game_settings, generator)
    initial = game.parameters()
    iterations = []
    n = game_settings["batch"]
    for _ in range(game_settings["iterations"]):
        batch = sample(n, generator)
        further = game.discriminator is not None or game.utility is not None
        noise = {
            "adversary": [game.mechanism.noise(n, generator) for _ in range(game_settings["adversary_steps"])],
            "further": game.mechanism.noise(n, generator) if further else None,
            "mechanism": game.mechanism.noise(n, generator)}
        outcome = game.iterate(batch, noise)
        iterations.append({
            "observed": plain_attribute(batch["observed"]),
            "sensitive": [plain_attribute(x) for x in batch["sensitive"]],
            "useful": plain_attribute(batch["useful"]),
            "noise": {"adversary": [plain_matrix(u) for u in noise["adversary"]],
                      "further": plain_matrix(noise["further"]), "mechanism": plain_matrix(noise["mechanism"])},
            "expected": outcome})
    # A budget that never binds would let a wrong gradient of it pass unseen, one that always binds would hide its kink.
    form, outcomes = game_settings["budget"]["form"], [it["expected"] for it in iterations]
    assert any(o["penalty"] > 0 for o in outcomes), f"{name}: the budget never binds"
    if form == "expected":
        assert any(o["penalty"] == 0 for o in outcomes), f"{name}: the budget always binds"
    if form == "dual":
        assert {o["multiplier"] == 0 for o in outcomes} == {True, False}, f"{name}: the multiplier never changes side"
    provenance = {"script": "tests/golden/make_trajectories.py", "torch": torch.__version__,
                  "python": sys.version.split()[0], "dtype": "float64", "seed": seed}
    return {"name": name, "provenance": provenance, "settings": game_settings, "initial": initial,
            "iterations": iterations, "final": game.parameters()}


def render(game):
    """JSON with a line per section and per iteration, so that a change is readable in a diff."""
    lines = []
    for key, value in game.items():
        if key == "iterations":
            rows = ",\n  ".join(json.dumps(it, separators=(",", ":")) for it in value)
            lines.append(f'"iterations": [\n  {rows}\n]')
        else:
            lines.append(f'"{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def differences(a, b, path=""):
    """Places where two files differ by more than rounding; provenance aside."""
    if isinstance(a, bool) or isinstance(b, bool) or not isinstance(a, (dict, list, float, int)):
        return [] if a == b else [path]
    if isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys():
            return [path]
        return [d for k in a if k != "provenance" for d in differences(a[k], b[k], f"{path}/{k}")]
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return [path]
        return [d for i, (p, q) in enumerate(zip(a, b)) for d in differences(p, q, f"{path}[{i}]")]
    if isinstance(a, (float, int)) and isinstance(b, (float, int)):
        return [] if abs(a - b) <= 1e-10 * max(1.0, abs(a)) else [path]
    return [path]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the stored files instead of writing them")
    parser.add_argument("--only", help="names, separated by commas")
    args = parser.parse_args()
    names = args.only.split(",") if args.only else list(CASES)
    unknown = [name for name in names if name not in CASES]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(CASES)}")
    failed = False
    for name in names:
        game, path = play(name), HERE / f"{name}.json"
        if not args.check:
            path.write_text(render(game))
            continue
        found = differences(json.loads(path.read_text()), json.loads(render(game)))
        failed = failed or bool(found)
        print(f"{name}: {'same' if not found else 'DIFFERS at ' + ', '.join(found[:5])}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
