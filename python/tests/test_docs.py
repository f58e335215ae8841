"""docs/python.md from top to bottom, as a notebook; job files of schedulers in docs/clusters.md."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import warnings
from pathlib import Path
from typing import Any

import pytest
import slurm
from conftest import people

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "python.md").read_text()
    cells = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(cells) >= 8
    names: dict[str, object] = {"__name__": "tutorial"}
    with warnings.catch_warnings():
        for number, cell in enumerate(cells):
            exec(compile(cell, f"docs/python.md, cell {number + 1}", "exec"), names)


# Stands for Slurm's: runs the wrapped command once for each number of the array, the last first.
SBATCH = """#!/usr/bin/env bash
set -eu
for argument in "$@"; do
  case $argument in --array=1-*) last=${argument#--array=1-} ;; esac
done
wrapped=${@: -1}
for k in $(seq "$last" -1 1); do SLURM_ARRAY_TASK_ID=$k sh -euc "$wrapped"; done
"""


@pytest.fixture
def job(command: str, tmp_path: Path) -> dict[str, str]:
    """A job of 12 points, and an environment in which the commands of the page are found."""
    people(400).drop(columns=["owner", "since"]).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "job.toml").write_text(
        """data.source = "people.csv"
roles.sensitive = ["marital"]
roles.useful = ["age", "job"]
columns = { marital = "category", age = "integer", job = "category" }
privacy.points = 12
train.epochs = 1
train.threads = 1
audit.quick = true
"""
    )
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ppan").symlink_to(command)
    return {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def scheduler_page() -> str:
    return (ROOT / "docs" / "clusters.md").read_text().partition("## Schedulers")[2]


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", ["loop", "slurm"])
def test_array_of_jobs(job: dict[str, str], tmp_path: Path, scheduler: str) -> None:
    """The commands of the page as they stand; the array by a loop, and by a real Slurm where it is installed."""
    block = re.search(r"^```sh norun\n(.*?)^```", scheduler_page(), re.MULTILINE | re.DOTALL)
    assert block and "sbatch" in block.group(1)
    with contextlib.ExitStack() as stack:
        if scheduler == "loop":
            (tmp_path / "bin" / "sbatch").write_text(SBATCH)
            (tmp_path / "bin" / "sbatch").chmod(0o755)
        elif not slurm.installed():
            pytest.skip("Slurm is not installed")
        else:
            job = {**job, **stack.enter_context(slurm.cluster(tmp_path / "slurm"))}
        subprocess.run(["bash", "-euc", block.group(1)], cwd=tmp_path, env=job, check=True, capture_output=True)
    assert len(list(tmp_path.glob("slurm-*.out"))) == (12 if scheduler == "slurm" else 0)
    rows = (tmp_path / "run" / "curve.csv").read_text().splitlines()
    assert sum("ppan/table" in row for row in rows) == 12


def manifest() -> Any:
    yaml = pytest.importorskip("yaml")
    block = re.search(r"^```text\n(apiVersion: batch/v1.*?)^```", scheduler_page(), re.MULTILINE | re.DOTALL)
    assert block
    return yaml.safe_load(block.group(1))


@pytest.mark.slow
def test_indexed_job(job: dict[str, str], tmp_path: Path) -> None:
    """It is YAML of the shape that the batch interface has, and its command trains the points that its indices stand for."""
    spec = manifest()["spec"]
    pod = spec["template"]["spec"]
    container = pod["containers"][0]
    assert spec["completionMode"] == "Indexed" and pod["restartPolicy"] == "Never"
    assert {mount["name"] for mount in container["volumeMounts"]} <= {volume["name"] for volume in pod["volumes"]}
    shared = container["volumeMounts"][0]["mountPath"]
    command = [word.replace(shared, str(tmp_path)) for word in container["command"]]
    where = {"cwd": tmp_path, "capture_output": True, "check": True}
    subprocess.run(["ppan", "curve", "job.toml", "--out", "run", "--prepare"], env=job, executable=tmp_path / "bin" / "ppan", **where)
    for index in (0, spec["completions"] - 1):
        subprocess.run(command, env={**job, "JOB_COMPLETION_INDEX": str(index)}, **where)
    models = {path.name for path in (tmp_path / "run").rglob("*") if "12" in path.name or "01" in path.name}
    assert any("01" in name for name in models) and any("12" in name for name in models), sorted((tmp_path / "run").rglob("*"))
