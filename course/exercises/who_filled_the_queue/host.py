"""The process that calls a submission's `find`: `host.py FOLDER SCENARIOS`.

Each scenario is a file of JSON lines, a report a line; each answer a line on standard output. What
the submission prints goes to standard error. Nothing but Python's own library is used here.
"""

import importlib
import json
import os
import signal
import sys
from pathlib import Path

_SECONDS = 5


def main() -> None:
    """Asks for each scenario, whatever came of the one before."""
    folder, scenarios = sys.argv[1], sys.argv[2]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.path.insert(0, folder)
    signal.signal(signal.SIGALRM, _late)
    for file in sorted(Path(scenarios).iterdir()):
        reports = [json.loads(line) for line in file.read_text().splitlines()]
        print(json.dumps(_answer(reports)), file=answers, flush=True)


def _answer(reports: list[dict[str, object]]) -> dict[str, object]:
    signal.alarm(_SECONDS)
    try:
        found = importlib.import_module("culprit").find(reports)
        return {"found": None if found is None else [str(each) for each in found]}
    except BaseException as error:  # noqa: BLE001 - also of who calls sys.exit
        return {"error": f"{type(error).__name__}: {error}"[:300]}
    finally:
        signal.alarm(0)


def _late(number: int, frame: object) -> None:
    raise TimeoutError(f"find had not returned after {_SECONDS} s")


if __name__ == "__main__":
    main()
