"""Notebooks in a real Jupyter kernel, where one is installed: tests/notebooks/kernel.sh."""

import os

import pytest

from tests.notebooks.test_notebooks import BOOKS, ROOT, is_executed

nbformat = pytest.importorskip("nbformat", reason="tests/notebooks/kernel.sh installs Jupyter")
nbclient = pytest.importorskip("nbclient", reason="tests/notebooks/kernel.sh installs Jupyter")

# A lab on a busy machine; a cell that takes longer hangs.
CELL_S = 1800


@pytest.mark.parametrize(
    "book", [book for book in BOOKS if is_executed(book)], ids=lambda book: book.stem
)
def test_a_kernel_executes_a_notebook_and_every_cell_shows_something(book, tmp_path, monkeypatch):
    # Results of this test do not belong among the student's.
    monkeypatch.setenv("VITRINE_RESULTS", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    document = nbformat.read(book, as_version=4)
    client = nbclient.NotebookClient(
        document, timeout=CELL_S, resources={"metadata": {"path": str(book.parent)}}
    )
    client.execute()
    cells = [cell for cell in document.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    kinds = {kind for cell in cells for output in cell.outputs for kind in output.get("data", {})}
    assert "text/html" in kinds, "no cell shows a picture or a table"
    assert not [
        output for cell in cells for output in cell.outputs if output.output_type == "error"
    ]
