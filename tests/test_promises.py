"""Pages that say which test holds a promise: each of those tests is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CRATES = ROOT / "switch" / "crates"
REQUIREMENTS = ROOT / "docs" / "p4runtime-conformance.md"
THREATS = ROOT / "docs" / "threat-model.md"
UNSAFE, SANITIZED = ROOT / "docs" / "unsafe.md", ROOT / "tests" / "sanitized.sh"
# `service/rules: `one`, `another``, or a file alone.
CITED = re.compile(r"([a-z0-9_]+(?:/[\w.]+)+)(?:: ((?:`\w+`(?:, )?)+))?")
# Tests over a real connection, and tests that play random histories against a model.
PROOF = re.compile(r"\b(service/|tests/control|tests/process|agent/tests/(simulated|dropped))")


def rows(page: Path) -> Iterator[list[str]]:
    """The cells of each row of the tables below a page's first chapter, but for their heads."""
    lines = page.read_text().partition("\n## ")[2].splitlines()
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("|") and not line.startswith("|---") and not after.startswith("|---"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def place(cited: str) -> Path | None:
    """The file or folder that a page calls so."""
    crate, _, rest = cited.partition("/")
    names = [cited, f"switch/crates/{cited}", f"switch/{cited}"]
    names += [f"switch/crates/{crate}/{kind}/{rest}.rs" for kind in ("tests", "src")]
    names += [f"switch/crates/{cited}.rs", f"switch/crates/{crate}/src/{rest}"]
    return next((ROOT / name for name in names if (ROOT / name).exists()), None)


def text_of(found: Path) -> str:
    files = [found] if found.is_file() else sorted(found.rglob("*.rs")) + sorted(found.glob("*.py"))
    return "\n".join(file.read_text() for file in files)


@pytest.mark.parametrize(("what", "proof"), rows(REQUIREMENTS))
def test_each_requirement_of_p4runtime_has_tests_that_are_there(what, proof):
    cited = CITED.findall(proof)
    assert cited, f"nothing holds it: {what}"
    for path, names in cited:
        found = place(path)
        assert found is not None, f"there is no {path}"
        for name in re.findall(r"\w+", names):
            assert re.search(rf"\b(fn|def) {name}\(", text_of(found)), f"{path} has no {name}"


def test_each_requirement_of_p4runtime_is_held_over_a_connection_or_against_the_model():
    assert [what for what, proof in rows(REQUIREMENTS) if not PROOF.search(proof)] == []


def test_unsafe_code_that_a_sanitizer_can_watch_is_watched():
    watched = ("ports", "wire")
    assert all(f"vitrine-{crate}" in SANITIZED.read_text() for crate in watched)
    for file, function, *_, test in rows(UNSAFE):
        crate = file.strip("`").partition("/")[0]
        if crate in watched:
            assert test.strip("`").startswith(f"{crate}/"), f"{file}: {function}"
            assert place(test.strip("`")) is not None


def cited_threats() -> list[str]:
    return sorted(
        {path for cells in rows(THREATS) for path in re.findall(r"`([\w/.]+/[\w/.]+)`", cells[-1])}
    )


@pytest.mark.parametrize("path", cited_threats())
def test_each_promise_to_those_who_are_attacked_has_tests_that_are_there(path):
    assert place(path) is not None
