"""Images as arrays: a curve, its models, releases and audits."""

from __future__ import annotations

import pickle
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

import ppan


def drawn(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise, and in half of the images a bright left half."""
    random = np.random.default_rng(seed)
    bright = random.random(count) < 0.5
    images = 0.6 * random.random((count, 6, 6))
    images[bright, :, :3] += 0.4
    return np.rint(255 * images).astype(np.uint8), np.where(bright, "bright", "plain")


@pytest.fixture(scope="module")
def curve() -> ppan.ImageCurve:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trained = ppan.ImageTradeOff(points=2, epochs=2, quick=True, threads=1, settings={"mechanism.hidden": [8]}, progress=False)
        return trained.fit(*drawn(400, 1)).curve_


@pytest.fixture(scope="module")
def model(curve: ppan.ImageCurve) -> ppan.ImageModel:
    return curve.pick(point=2, accept_inconclusive=True)


def test_points_have_interval_upper_end_and_power(curve: ppan.ImageCurve) -> None:
    points = curve.points_
    assert list(points["point"]) == [1, 2]
    assert (points["upper_end"] >= points["leakage"]).all()
    assert (points["power"] > 0).all()
    assert "2 points" in repr(curve)


def test_release_keeps_shape_and_type(model: ppan.ImageModel) -> None:
    images, _ = drawn(50, 2)
    released = model.transform(images)
    assert released.dtype == np.uint8 and released.shape == images.shape
    assert not np.array_equal(released, model.transform(images)), "noise has no seed"
    numbers = model.transform(images / 255.0)
    assert numbers.dtype == np.float64 and 0 <= numbers.min() and numbers.max() <= 1


def test_audit_finds_what_unchanged_images_tell(curve: ppan.ImageCurve) -> None:
    images, labels = drawn(600, 3)
    unchanged = curve.pick(budget=0.0) if curve.rows_["distortion"].min() <= 0 else curve.pick(leakage=10.0)
    found = unchanged.audit(images, labels, quick=True)
    assert found.leakage.nats > 0.5 and found.leakage.bound == "lower bound"
    assert found.upper_end >= found.leakage.nats and found.power is not None
    assert not unchanged.audit(images, labels, quick=True, limit=0.1).within_limit


def test_files_are_those_of_the_command(curve: ppan.ImageCurve, model: ppan.ImageModel, command: str, tmp_path: Path) -> None:
    model.save(tmp_path / "model.ppan")
    assert ppan.ImageModel.load(tmp_path / "model.ppan") == model
    told = subprocess.run([command, "show", tmp_path / "model.ppan"], check=True, capture_output=True, text=True).stdout
    assert "6 x 6" in told
    curve.save(tmp_path / "run")
    assert ppan.ImageCurve.load(tmp_path / "run").pick(point=2, accept_inconclusive=True) == model
    assert pickle.loads(pickle.dumps(model)) == model
    assert len(pickle.loads(pickle.dumps(curve)).points_) == 2


def test_tables_and_images_are_told_apart(model: ppan.ImageModel, curve: ppan.ImageCurve, tmp_path: Path) -> None:
    model.save(tmp_path / "model.ppan")
    with pytest.raises(ppan.InputError, match="images"):
        ppan.load(tmp_path / "model.ppan")
    curve.save(tmp_path / "run")
    with pytest.raises(ppan.UsageError, match="ppan/table"):
        ppan.load_run(tmp_path / "run")


def test_bad_images_are_refused(model: ppan.ImageModel) -> None:
    images, labels = drawn(60, 1)
    trade_off = ppan.ImageTradeOff(points=1, epochs=1, quick=True, progress=False)
    with pytest.raises(ppan.InputError, match=r"\(images, height, width\)"):
        trade_off.fit(images.reshape(60, -1), labels)
    with pytest.raises(ppan.InputError, match="one value for each of 60 images"):
        trade_off.fit(images, labels[:-1])
    with pytest.raises(ppan.InputError, match="at least two classes"):
        trade_off.fit(images, np.zeros(60))
    with pytest.raises(ppan.InputError, match=r"\[0, 1\]"):
        trade_off.fit(images.astype(float), labels)
    with pytest.raises(ppan.InputError, match="int64"):
        trade_off.fit(images.astype(np.int64), labels)
    with pytest.raises(ppan.InputError, match="NaN"):
        trade_off.fit(images, np.where(labels == "plain", np.nan, 1.0))
    with pytest.raises(ppan.UsageError, match="nowhere"):
        ppan.ImageTradeOff(settings={"train.nowhere": 1}).fit(images, labels)
    with pytest.raises(ppan.InputError, match="7 x 6"):
        model.transform(np.zeros((2, 7, 6)))
    assert model.transform(images[:0]).shape == (0, 6, 6)


def test_a_task_is_kept_in_view() -> None:
    images, labels = drawn(400, 1)
    task = np.random.default_rng(1).random(400) < 0.5
    images[task, 5, :] = 255
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trained = ppan.ImageTradeOff(points=1, epochs=2, quick=True, settings={"mechanism.hidden": [8]}, progress=False)
        trained.fit(images, labels, task)
    assert np.isfinite(trained.points_["task_loss"]).all()
