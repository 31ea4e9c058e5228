"""Shared by the tests of the page that is one file: its module, its scenarios and the file."""

import json
import os
from pathlib import Path

import pytest

from controller.toolchain import ROOT
from labs.glass import alone
from labs.scenarios import script
from labs.scenarios.catalogue import scenarios

# As vm/page.sh leaves it; another one can be named for work on it.
BUILT = ROOT / "build/page/page.wasm"
MODULE = Path(os.environ.get("VITRINE_PAGE_MODULE", BUILT))
# Where `serve_modules` has it.
MODULE_ADDRESS = f"/{MODULE.resolve().relative_to(ROOT)}" if MODULE.exists() else ""
needs_module = pytest.mark.skipif(not MODULE.exists(), reason="no page.wasm: make page builds it")


@pytest.fixture(scope="session")
def kit(tmp_path_factory):
    """Texts and scenarios, as the page gets them."""
    log = tmp_path_factory.mktemp("scenarios") / "world.log"
    return {
        "files": script.sources(),
        "scenarios": [script.written(each, log) for each in scenarios()],
    }


@pytest.fixture(scope="session")
def vitrine(kit, tmp_path_factory):
    """The address of the one file on the disk."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "kit.json").write_text(json.dumps(kit))
    file = folder / "vitrine.html"
    assert alone.main([str(MODULE), str(folder / "kit.json"), str(file)]) == 0
    return file.as_uri()
