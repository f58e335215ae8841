"""The package is typed: mypy checks it, stubs of the extension module included, and the stubs name what is there."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from ppan import _core

PACKAGE = Path(__file__).resolve().parents[1]


def test_mypy() -> None:
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=PACKAGE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_stubs_name_what_is_there() -> None:
    tree = ast.parse((PACKAGE / "ppan" / "_core.pyi").read_text())
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            assert hasattr(_core, node.name), node.name
        elif isinstance(node, ast.ClassDef):
            members = {item.name for item in node.body if isinstance(item, ast.FunctionDef)} - {"__init__"}
            assert members <= set(dir(getattr(_core, node.name))), node.name
    stubbed = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert {name for name in dir(_core) if not name.startswith("_")} <= stubbed
