"""A fingerprint of the code that decides a result, so that no result outlives a change of it.

It covers a module and everything of bivec that it imports, directly or not. Comments, docstrings
and the layout of the text have no part in it.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
from collections.abc import Iterable, Iterator

_PACKAGE = "bivec"


def code_fingerprint(modules: Iterable[str], leave_out: Iterable[str] = ()) -> str:
    """Return a hash of the code of these modules and of what they import from bivec.

    Modules that are left out have no part in it, nor has what only they import.

    >>> code_fingerprint(["bivec.checks"]) == code_fingerprint(["bivec.checks", "bivec.errors"])
    True
    """
    seen, hidden = set[str](), set(leave_out)
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in seen and name not in hidden:
            seen.add(name)
            waiting += imported(name)
    digest = hashlib.sha256()
    for name in sorted(seen):
        digest.update(f"{name}\n{_dump(name)}\n".encode())
    return digest.hexdigest()


@functools.cache
def imported(name: str) -> tuple[str, ...]:
    """Return the modules of bivec that a module imports, also within functions.

    >>> imported("bivec.checks")
    ('bivec.errors',)
    """
    found: set[str] = set()
    for node in _walk(_tree(name)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                part = f"{node.module}.{alias.name}"
                found.add(part if _is_module(part) else node.module)
    # The package itself holds the version and names that load lazily; neither decides a figure.
    return tuple(sorted(m for m in found if m.startswith(f"{_PACKAGE}.")))


def _walk(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes but those that only a type checker sees."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        yield child
        yield from _walk(child)


def _is_module(name: str) -> bool:
    if not name.startswith(f"{_PACKAGE}."):
        return False
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # the parent is no package
        return False


@functools.cache
def _tree(name: str) -> ast.Module:
    spec = importlib.util.find_spec(name)
    source = spec.loader.get_source(name) if spec and spec.loader else None  # type: ignore[attr-defined]
    tree = ast.parse(source or "")
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return tree


@functools.cache
def _dump(name: str) -> str:
    return ast.dump(_tree(name))
