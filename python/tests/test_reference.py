"""The reference is what the docstrings say, and every public name has one."""

from __future__ import annotations

import importlib
import importlib.util
import types
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "reference" / "make_python.py"
pytest.importorskip("sklearn")  # signatures are those with scikit-learn

spec = importlib.util.spec_from_file_location("make_python", SCRIPT)
assert spec and spec.loader
made = importlib.util.module_from_spec(spec)
spec.loader.exec_module(made)


def test_up_to_date() -> None:
    assert made.PAGE.read_text(encoding="utf-8") == made.page(), f"run {SCRIPT.name} again (how: its first lines)"


@pytest.mark.parametrize("name", made.MODULES)
def test_every_public_name_is_described(name: str) -> None:
    module = importlib.import_module(name)
    assert len(made.public(module)) > 3
    assert made.undocumented(module) == []


def test_what_is_not_described_is_found() -> None:
    module = types.ModuleType("ppan.planted", "A module.")

    class Thing:
        """Described."""

        def told(self) -> None:
            """So is this."""

        def untold(self) -> None:
            pass

        def _own(self) -> None:
            pass

    def silent() -> None:
        pass

    Thing.__module__ = silent.__module__ = "ppan.planted"
    vars(module).update(Thing=Thing, silent=silent, _hidden=silent)
    assert made.undocumented(module) == ["ppan.planted.silent", "ppan.planted.Thing.untold"]


def test_lists_of_terms() -> None:
    text = "Does.\n\nParameters\n----------\na, b : int\n    Two of :class:`ppan.Model`.\nc : one more\n\nAs ``fit``."
    assert made.markdown(text) == "Does.\n\n*Parameters*\n\n- `a, b` (int):\n  Two of `ppan.Model`.\n- `c`: one more\n\nAs `fit`."
