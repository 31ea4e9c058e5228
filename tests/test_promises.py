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


# Sentences of the page, and the constants that the tests of these promises use.
NUMBERS = [
    (
        "At most 64, each with a bounded buffer",
        "service/src/publisher.rs",
        "SUBSCRIBER_COUNT_MAX: usize = 64;",
    ),
    ("at most 16 at a time", "service/src/strangers.rs", "STRANGER_COUNT_MAX: usize = 16;"),
    ("one second each", "service/src/strangers.rs", "STAY: Duration = Duration::from_secs(1);"),
    (
        "One connection has at most 16 roles",
        "p4runtime/src/arbitration.rs",
        "ROLES_PER_CONNECTION_MAX: usize = 16;",
    ),
    (
        "at most 32; one more closes the oldest",
        "controller/http_server.py",
        "CONNECTIONS_MAX = 32\n",
    ),
    ("closed after 5 seconds", "apps/reload.py", "_SILENT_S = 5.0\n"),
    (
        "at most 1,024 frames per port and turn",
        "switchd/src/switch.rs",
        "FRAMES_PER_TURN_MAX: usize = 1024;",
    ),
    (
        "turns over a millisecond count in `lags`",
        "switchd/src/switch.rs",
        "LAG_MAX: Span = Span::from_ms(1);",
    ),
    (
        "64 KiB of errors per stream",
        "agent/src/front/outbox.rs",
        "ERROR_SIZE_BYTES_MAX: usize = 64 << 10;",
    ),
    (
        "64 MiB of reports per device",
        "agent/src/front/outbox.rs",
        "REPORTS_SIZE_BYTES_MAX: usize = 64 << 20;",
    ),
    ("below 1 MiB a second", "service/src/calls/intake.rs", "PACE_BYTES_PER_S: u64 = 1 << 20;"),
    (
        "after a minute they are discarded",
        "service/src/calls/p4runtime.rs",
        "READ_STALL_MAX: Duration = Duration::from_secs(60);",
    ),
    (
        "64 requests wait for the data plane",
        "agent/src/exchange.rs",
        "WAITING_COUNT_MAX: usize = 64;",
    ),
    ("runs 16 steps between two rounds", "agent/src/slice.rs", "SLICE_STEPS_MAX: usize = 16;"),
    (
        "`service/src/address.rs` requests 128",
        "service/src/address.rs",
        "TCP_BUFFER_BYTES: u32 = 128 << 10;",
    ),
    ("arrays of at most 512 MiB", "pipeline/src/room.rs", "ARRAY_MEMORY_BYTES: u64 = 512 << 20;"),
    ("declared tables of 4 GiB", "pipeline/src/room.rs", "TABLE_MEMORY_BYTES: u64 = 4 << 30;"),
    ("more than 28,232 connections", "hosts/src/stack/mod.rs", "EPHEMERAL_COUNT: u16 = 28_232;"),
    (
        "a million datagrams at one instant",
        "stage/src/apps.rs",
        "AT_ONCE_COUNT_MAX: u64 = 1 << 20;",
    ),
    ("followed at most 16 times", "page/src/dissecting.rs", "STATES_MAX: usize = 16;"),
    ("more than 100,000 rows", "labs/sweep/plan.py", "JOBS_MAX = 100_000\n"),
    ("at most 12 calls run at once", "labs/worlds/live/telling.py", "_LOOKING_MAX = 12\n"),
    ("4 threads remain for the key's user", "labs/worlds/live/telling.py", "_CALLS_MAX = 16\n"),
    ("requests are at most 64 KiB", "labs/glass/looking.py", "FRAME_BYTES_MAX = 64 << 10\n"),
    ("at most 24 of a router's 32 streams", "labs/glass/looking.py", "WATCHES_MAX = 24\n"),
    ("at most 24 of a router's 32 streams", "agent/src/watch.rs", "WATCHER_COUNT_MAX: usize = 32;"),
    ("four for each page", "labs/glass/looking.py", "WATCHES_OF_PAGE_MAX = 4\n"),
    ("At most 64 such pages", "labs/glass/looking.py", "PAGES_MAX = 64\n"),
    ("24 of one address", "labs/glass/looking.py", "PAGES_OF_CLIENT_MAX = 24\n"),
    ("at most 4 reads at routers", "labs/glass/looking.py", "READS_MAX = 4\n"),
    ("an answer is at most 2 MiB", "labs/glass/looking.py", "ANSWER_BYTES_MAX = 2 << 20\n"),
    ("at most 64 of one address", "labs/glass/arrivals.py", "ARRIVALS_OF_CLIENT_MAX = 64\n"),
    ("256 in all", "labs/glass/arrivals.py", "ARRIVALS_MAX = 256\n"),
    ("closed after 30 seconds", "labs/glass/arrivals.py", "TIMEOUT_S = 30\n"),
    ("more than 16 MiB of them", "labs/glass/server.py", "_FRAME_BYTES_MAX = 16 << 20\n"),
    ("at most 64 programs", "labs/worlds/live/flows.py", "RUNNING_MAX = 64\n"),
]


@pytest.mark.parametrize(("said", "path", "constant"), NUMBERS)
def test_each_number_of_a_promise_is_that_of_the_code(said, path, constant):
    found = place(path)
    assert found is not None
    assert said in THREATS.read_text()
    assert constant in found.read_text()
