"""The extension for VS Code: what is in the archive, and that its texts fit each other."""

import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "editors/vscode"


def test_the_archive_has_all_that_vs_code_asks_for(tmp_path: Path) -> None:
    bundle = tmp_path / "packed.js"
    bundle.write_text("exports.activate = () => {};\n")
    target = tmp_path / "p4.vsix"
    subprocess.run([sys.executable, FOLDER / "pack.py", FOLDER, bundle, target], check=True)
    with zipfile.ZipFile(target) as archive:
        names = set(archive.namelist())
        manifest = ElementTree.fromstring(archive.read("extension.vsixmanifest"))
        package = json.loads(archive.read("extension/package.json"))
        assert archive.read("extension/extension.js").decode() == bundle.read_text()
    identity = manifest.find(".//{*}Identity")
    assert identity is not None
    assert identity.get("Id") == package["name"]
    assert identity.get("Version") == package["version"]
    assert "[Content_Types].xml" in names
    language, grammar = package["contributes"]["languages"], package["contributes"]["grammars"]
    for named in (package["main"], language[0]["configuration"], grammar[0]["path"]):
        assert f"extension/{Path(named)}" in names


def test_its_versions_are_pinned() -> None:
    package = json.loads((FOLDER / "package.json").read_text())
    locked = json.loads((FOLDER / "package-lock.json").read_text())["packages"]
    for name, version in (package["dependencies"] | package["devDependencies"]).items():
        assert locked[f"node_modules/{name}"]["version"] == version


def expressions(rules: Any) -> Iterator[str]:
    """Every regular expression of a grammar."""
    for rule in rules:
        yield from (rule[key] for key in ("match", "begin", "end") if key in rule)
        yield from expressions(rule.get("patterns", ()))


def test_its_colours_tell_words_of_p4_apart() -> None:
    grammar = json.loads((FOLDER / "p4.tmLanguage.json").read_text())
    assert all(re.compile(expression) for expression in expressions(grammar["patterns"]))
    named = {
        rule["name"]: re.compile(rule["match"])
        for rule in grammar["patterns"]
        if "match" in rule and "name" in rule
    }
    assert named["constant.numeric.p4"].fullmatch("16w0xFF_00")
    assert named["storage.type.p4"].search("  table ways {")
    assert not named["storage.type.p4"].search("tables")
    assert named["support.type.p4"].fullmatch("standard_metadata_t")


def test_both_grammars_know_every_word_of_the_language() -> None:
    token = (ROOT / "switch/crates/syntax/src/token.rs").read_text()
    listed = re.search(r"KEYWORDS: \[&str; (\d+)\] = \[(.*?)\];", token, re.S)
    assert listed is not None
    words = set(re.findall(r'"(\w+)"', listed.group(2)))
    assert len(words) == int(listed.group(1))
    own = {"default_action", "priority", "size", "value_set", "varbit"}
    for file in (ROOT / "glass/js/alone/grammar.js", FOLDER / "p4.tmLanguage.json"):
        known = set(re.findall(r"\b[a-z_]+\b", file.read_text().replace("\\b", " ")))
        assert words | own <= known, f"{file.name}: {sorted((words | own) - known)}"
