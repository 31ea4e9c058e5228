"""`python -m labs.scenarios out.json`: every scenario of the catalogue, and the texts they need."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from controller.errors import ControllerError
from controller.toolchain import ROOT
from labs.errors import LabError
from labs.scenarios import script
from labs.scenarios.catalogue import scenarios
from topo.errors import ModelError

LOGS = ROOT / "build" / "log" / "scenarios"


def main(argv: list[str]) -> int:
    """Returns the exit status."""
    (target,) = argv
    try:
        found = {
            "files": script.sources(),
            "scenarios": [script.written(each, LOGS / f"{each.name}.log") for each in scenarios()],
        }
    except (ControllerError, LabError, ModelError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    Path(target).write_text(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
