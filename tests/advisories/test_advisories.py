"""How `make advisories` reads versions and the files of the advisory list."""

import pytest

from tests.advisories.__main__ import LOCKS, ROOT, Advisory, concerning, locked
from tests.advisories.versions import Version

FILE = """```toml
[advisory]
id = "RUSTSEC-2000-0001"
package = "tower"
date = "2000-01-01"

[versions]
patched = [">= 1.8.4, < 1.9.0", ">= 1.13.1"]
unaffected = ["< 0.1.14"]
```

# It leans

To one side.
"""


@pytest.mark.parametrize(
    ("version", "requirement", "meets"),
    [
        ("1.8.4", ">= 1.8.4, < 1.9.0", True),
        ("1.9.0", ">= 1.8.4, < 1.9.0", False),
        ("0.4.21", "^0.4.20", True),
        ("0.5.0", "^0.4.20", False),
        ("0.0.4", "^0.0.3", False),
        ("1.9.0", "1.2", True),
        ("1.3.0", "~1.2", False),
        ("1.2.9", "~1.2.3", True),
        ("2.0.0-rc.2", "< 2.0.0", True),
        ("2.0.0-rc.10", "> 2.0.0-rc.2", True),
        ("3.0.0", "= 3.0.0", True),
        ("3.0.0+build", "= 3.0.0", True),
    ],
)
def test_a_requirement_is_met_as_cargo_has_it(version, requirement, meets):
    assert Version.parse(version).meets(requirement) is meets


def test_what_is_no_version_is_said():
    with pytest.raises(ValueError, match=r"'one' is no version"):
        Version.parse("one")


def test_an_advisory_concerns_what_is_neither_patched_nor_unaffected():
    advisory = Advisory.parse(FILE)
    assert (advisory.number, advisory.title) == ("RUSTSEC-2000-0001", "It leans")
    concerned = {it: advisory.concerns(Version.parse(it)) for it in ("0.1.0", "1.8.3", "1.8.5")}
    assert concerned == {"0.1.0": False, "1.8.3": True, "1.8.5": False}
    assert Advisory.parse(FILE.replace('date = "', 'withdrawn = "2001-01-01"\ndate = "')) is None


def test_our_own_lock_files_are_compared_with_the_list(tmp_path):
    (tmp_path / "crates" / "tower").mkdir(parents=True)
    (tmp_path / "crates" / "tower" / "RUSTSEC-2000-0001.md").write_text(
        FILE.replace('">= 1.13.1"', '">= 99.0.0"').replace("< 0.1.14", "< 0.0.1")
    )
    crates = locked(ROOT / LOCKS[0])
    assert len(crates) > 100
    assert "vitrine" not in crates
    (found,) = concerning(tmp_path, {"tower": crates["tower"]})
    assert found[0].number == "RUSTSEC-2000-0001"
