"""docs/python.md from top to bottom, as a notebook; and the example of the README."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

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
