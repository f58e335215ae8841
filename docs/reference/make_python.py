#!/usr/bin/env python3
"""Makes the reference of the package, docs/reference/python.md, from its docstrings. The package must be importable.

  PYTHONPATH=build/python .venv/bin/python docs/reference/make_python.py [PAGE]
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

PAGE = Path(__file__).resolve().parent / "python.md"
MODULES = ("ppan", "ppan.engine", "ppan.spark", "ppan.research", "ppan.theory")
MADE_BY_OTHERS = ("AuditReport", "Curve", "Model")  # functions return them; nobody calls their constructors
HEAD = """# Reference of the Python package

Made from the docstrings by `docs/reference/make_python.py`; a test compares. The tutorial is [python.md](../python.md).
"""


def public(module: ModuleType) -> list[str]:
    """Names of a module that others may use: those of ``__all__``, or what it defines without an underscore."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__, key=str.lower)
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    return sorted((name for name in own if not name.startswith("_")), key=str.lower)


def members(owner: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties that the package itself defines, in the order of the source."""
    seen = set()
    for base in owner.__mro__:
        if not base.__module__.startswith("ppan"):
            continue
        for name, value in vars(base).items():
            known = callable(value) or isinstance(value, (property, classmethod, staticmethod))
            if known and not name.startswith("_") and name not in seen:
                seen.add(name)
                yield name, value


def undocumented(module: ModuleType) -> list[str]:
    """Public names without a docstring. A method that an abstract class of the package describes needs no other."""
    lacking = [] if module.__doc__ else [module.__name__]
    for name in public(module):
        value = getattr(module, name)
        if not inspect.getdoc(value):
            lacking.append(f"{module.__name__}.{name}")
        if inspect.isclass(value):
            lacking += [f"{module.__name__}.{name}.{part}" for part, _ in members(value) if not inspect.getdoc(getattr(value, part))]
    return lacking


def parameter(given: inspect.Parameter) -> str:
    text = {given.VAR_POSITIONAL: "*", given.VAR_KEYWORD: "**"}.get(given.kind, "") + given.name  # type: ignore[call-overload]
    if given.default is not given.empty:
        text += f"={given.default!r}"
    return text


def signature(name: str, value: Any) -> str:
    """Without types: what a parameter is, the text says."""
    try:
        given = [p for p in inspect.signature(value).parameters.values() if p.name not in ("self", "cls")]
    except (TypeError, ValueError):
        return f"{name}(...)"
    parts = []
    for p in given:
        if p.kind is p.KEYWORD_ONLY and "*" not in parts and not any(part.startswith("*") for part in parts):
            parts.append("*")
        parts.append(parameter(p))
    return f"{name}({', '.join(parts)})"


def term(line: str, described: bool) -> str:
    """An entry of a list in NumPy's style: a name, its type or, where nothing follows below, what it is."""
    name, separator, rest = line.partition(" : ")
    if not separator:
        return f"- `{name}`" + (":" if described else "")
    return f"- `{name}` ({rest}):" if described else f"- `{name}`: {rest}"


def markdown(text: str) -> str:
    """A docstring as Markdown: roles become code, headings of NumPy's style lists of terms."""
    lines = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text).replace("``", "`").strip().split("\n")
    made: list[str] = []
    listing = False
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        if re.fullmatch(r"-{4,}", below):
            made.append(f"*{line}*")
            listing = True
        elif re.fullmatch(r"-{4,}", line):
            made.append("")
        elif listing and line and not line.startswith(" "):
            listing = lines[number - 1] != "" or " : " in line
            made.append(term(line, below.startswith(" ")) if listing else line)
        else:
            made.append("  " + line.strip() if listing and line else line)
    return "\n".join(made)


def entry(module: ModuleType, name: str) -> list[str]:
    value = getattr(module, name)
    error = inspect.isclass(value) and issubclass(value, BaseException)
    title = name if error or name in MADE_BY_OTHERS else signature(name, value)
    made = [f"### `{module.__name__}.{title}`", "", markdown(inspect.getdoc(value) or ""), ""]
    if not inspect.isclass(value):
        return made
    for part, given in members(value):
        shown = part if isinstance(given, property) else signature(part, getattr(value, part))
        made += [f"#### `{name}.{shown}`", "", markdown(inspect.getdoc(getattr(value, part)) or ""), ""]
    return made


def page() -> str:
    made = [HEAD]
    for title in MODULES:
        module = importlib.import_module(title)
        made += [f"## {title}", "", markdown(module.__doc__ or ""), ""]
        for name in public(module):
            made += entry(module, name)
    return "\n".join(made).rstrip() + "\n"


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    where.write_text(page(), encoding="utf-8")
