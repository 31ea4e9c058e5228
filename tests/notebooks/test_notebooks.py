"""Notebooks are executed, cell by cell, as Jupyter would, but in this process.

The notebooks of labs differ in the lab's name alone, so one of them is executed; all of them with
VITRINE_NOTEBOOKS=all.
"""

import ast
import json
import linecache
import os
from pathlib import Path

import pytest

from labs import catalogue

ROOT = Path(__file__).parents[2]
BOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))
OF_LABS = [book for book in BOOKS if book.parent.name == "labs"]
EXECUTED = "bottleneck"


def cells(book):
    document = json.loads(book.read_text())
    assert document["nbformat"] == 4
    for cell in document["cells"]:
        yield cell["cell_type"], "".join(cell["source"])
        # Notebooks are stored without the outputs of a run.
        assert not cell.get("outputs"), book


def executed(book):
    """The output of each cell: its last expression as Jupyter would show it."""
    names, shown = {"__name__": "__main__"}, []
    for number, text in enumerate(text for kind, text in cells(book) if kind == "code"):
        # As in Jupyter: `linecache` has the cell's text.
        file = f"<{book.stem} cell {number}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        tree = ast.parse(text)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, file, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), file, "eval"), names)
            html = getattr(value, "_repr_html_", None)
            shown.append(html() if html else value)
    return shown


def is_executed(book):
    return book not in OF_LABS or book.stem == EXECUTED or "VITRINE_NOTEBOOKS" in os.environ


@pytest.mark.parametrize(
    "book", [book for book in BOOKS if is_executed(book)], ids=lambda book: book.stem
)
def test_a_notebook_runs_and_shows_something(book, tmp_path, monkeypatch):
    monkeypatch.chdir(book.parent)
    # Results of this test do not belong among the student's.
    monkeypatch.setattr("vitrine.labs.RESULTS", tmp_path)
    for shown in executed(book):
        assert shown is not None and shown != "", book


def test_every_lab_has_a_notebook_and_all_are_alike():
    assert {book.stem for book in OF_LABS} == {lab.name for lab in catalogue.COURSE}
    texts = {
        tuple(text.replace(book.stem, "NAME") for kind, text in cells(book) if kind == "code")
        for book in OF_LABS
    }
    assert len(texts) == 1


def test_beginnings_are_short():
    for book in BOOKS:
        lines = [
            line
            for kind, text in cells(book)
            if kind == "code"
            for line in text.splitlines()
            if line.strip()
        ]
        assert len(lines) <= 30, book
