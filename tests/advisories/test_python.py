"""Advisories about Python packages, and the licences of those that our wheel requires."""

import re
from importlib import metadata

import pytest
import yaml

from controller.toolchain import ROOT
from tests.advisories.python import Advisory, concerning, installed, normal

FILE = """
id: PYSEC-2000-1
details: It leans to one side. All of it.
affected:
- package: {name: Py_Tower, ecosystem: PyPI}
  ranges:
  - type: ECOSYSTEM
    events: [{introduced: '0'}, {fixed: '1.2'}, {introduced: '2.0'}, {last_affected: '2.4'}]
  - type: GIT
    events: [{introduced: '0'}]
  versions: [1.9rc1]
- package: {name: other, ecosystem: PyPI}
  versions: ['3.0']
"""
# Words of licences that only require attribution, or concern their own files alone (the
# MPL's and the LGPL's); and those of programs that only developers of the kit run.
ALLOWED = re.compile(
    r"MIT|BSD|Apache|ISC|PSF|Python Software Foundation|Unlicense|HPND|MPL|Mozilla|LGPL|Zlib|0BSD",
    re.I,
)


@pytest.mark.parametrize(
    ("version", "concerned"),
    [
        ("1.1", True),
        ("1.2rc1", True),
        ("1.2", False),
        ("1.9rc1", True),
        ("1.9", False),
        ("2.0", True),
        ("2.4", True),
        ("2.4.1", False),
        ("3.0", False),
    ],
)
def test_an_advisory_concerns_the_spans_and_the_versions_that_it_names(version, concerned):
    advisory = Advisory.parse(yaml.safe_load(FILE), "py-tower")
    assert advisory.title == "It leans to one side"
    assert advisory.concerns(version) is concerned


def test_what_was_withdrawn_is_nothing():
    document = yaml.safe_load(FILE) | {"withdrawn": "2001-01-01"}
    assert Advisory.parse(document, "py-tower") is None


def test_what_is_installed_is_compared_with_the_list(tmp_path):
    packages = installed()
    assert "numpy" in packages
    folder = tmp_path / "vulns" / "numpy"
    folder.mkdir(parents=True)
    about = FILE.replace("Py_Tower", "numpy").replace("'1.2'", "'9999'")
    (folder / "PYSEC-2000-1.yaml").write_text(about)
    ((advisory, package),) = concerning(tmp_path, packages)
    assert advisory.number == "PYSEC-2000-1"
    assert package == f"numpy {packages['numpy']}"


def _needed() -> set[str]:
    """Packages that `pip install` of our wheel installs: the first part of the requirements, and
    their dependencies."""
    text, _, _ = (ROOT / "vm" / "requirements.txt").read_text().partition("# ----")
    wanted = re.findall(r"^([A-Za-z0-9_.-]+)==", text, re.M)
    found: set[str] = set()
    while wanted:
        name = normal(wanted.pop())
        if name in found:
            continue
        found.add(name)
        for each in metadata.requires(name) or []:
            # Requirements of extras and of other machines are not installed.
            requirement, _, condition = each.partition(";")
            other = re.match(r"[A-Za-z0-9_.-]+", requirement)
            if other and "extra" not in condition and normal(other[0]) in installed():
                wanted.append(other[0])
    return found


def _licence(name: str) -> str:
    about = metadata.metadata(name)
    kinds = [each for each in about.get_all("Classifier") or [] if each.startswith("License ::")]
    words = [about.get("License-Expression"), about.get("License"), *kinds]
    # Some put the whole text there; its first line has the name.
    return "; ".join(each.splitlines()[0] for each in words if each)


def test_what_a_wheel_brings_along_has_a_licence_that_asks_for_no_more_than_to_be_named():
    needed = _needed()
    assert len(needed) > 20
    licences = {name: _licence(name) for name in sorted(needed)}
    assert {name: it for name, it in licences.items() if not ALLOWED.search(it)} == {}
