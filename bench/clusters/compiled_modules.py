"""Python processes as a user has them, whose modules are compiled once."""

from __future__ import annotations

import os
from pathlib import Path


def keep_compiled_modules() -> None:
    """Processes that start from here keep what they compile. Where the environment forbids it, each compiles scikit-learn and what that
    imports anew, which takes seven seconds."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(Path(__file__).resolve().parents[2] / "build" / "pycache")
