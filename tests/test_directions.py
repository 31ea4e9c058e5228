"""Python's packages depend one way, and no modules depend on each other in a circle.

insides <- controller <- topo <- apps <- labs <- vitrine <- course <- vitrine.command: each may
import itself and what stands before it.
The tests may import everything. `switch/crates/tidy/tests/dependencies.rs` says the same of the
crates.
"""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
# From the bottom up.
PACKAGES = ("insides", "controller", "topo", "apps", "labs", "vitrine", "course")


def modules(package: str) -> dict[str, Path]:
    """Every module of a package by its full name, but for the generated messages."""
    found = {}
    for file in sorted((ROOT / package).rglob("*.py")):
        if file.is_relative_to(ROOT / "vitrine/v1"):
            continue
        parts = file.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


# The command stands above all that it commands, in the package that has its name.
COMMAND = ("vitrine.command", "vitrine.__main__")
MODULES = {package: modules(package) for package in PACKAGES}
KNOWN = {name for names in MODULES.values() for name in names}


def rank(name: str) -> int:
    """How far up a module stands."""
    is_command = any(name == each or name.startswith(f"{each}.") for each in COMMAND)
    return len(PACKAGES) if is_command else PACKAGES.index(name.partition(".")[0])


def imported(file: Path) -> Iterator[tuple[int, str]]:
    """The modules of the kit that a file imports, with the line; inside functions too."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: imports of the kit name the package"
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            # `from controller import entries` names a module, `from topo.load import load` a part.
            names = [name if name in KNOWN else str(node.module) for name in whole]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name in KNOWN)


def test_no_package_imports_one_that_stands_above_it():
    upward = [
        f"{file.relative_to(ROOT)}:{line} imports {name}"
        for package in PACKAGES
        for own, file in MODULES[package].items()
        for line, name in imported(file)
        if rank(name) > rank(own)
    ]
    assert upward == []


def test_no_modules_import_each_other_in_a_circle():
    graph = {
        name: {other for _, other in imported(file) if other != name}
        for names in MODULES.values()
        for name, file in names.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_the_packages_are_those_that_are_installed():
    found = {file.parent.name for file in ROOT.glob("*/__init__.py")} - {"tests"}
    assert found == set(PACKAGES)
    installed = (ROOT / "pyproject.toml").read_text()
    assert all(f'"{package}*"' in installed for package in PACKAGES)
