"""Opens the page that is one file, which `make page` makes and an installed wheel has."""

from __future__ import annotations

from pathlib import Path

from controller.toolchain import ROOT
from labs.errors import LabError
from labs.glass import desktop

PAGE = ROOT / "out" / "vitrine.html"


def show(file: Path = PAGE) -> None:
    """Without a desktop the user opens the address in a browser of their own."""
    if not file.exists():
        raise LabError(f"there is no {file}: make page makes it in a clone, and releases have it.")
    print(f"The page that needs nothing: {file.as_uri()}", flush=True)
    desktop.show(file.as_uri())
