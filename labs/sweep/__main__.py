"""A sweep from the command line, as `make sweep` calls it; its settings come from the environment.

SWEEP       the file, or the name of one in labs/sweeps
QUICK=1     what the file's `quick` leaves of it
SCHEDULER   a Dask scheduler's address; else this machine does it
JOBS        how many processes; else one a processor
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from controller import reader
from controller.errors import ControllerError
from controller.toolchain import ROOT
from labs.errors import LabError, SettingError
from labs.hint import meant
from labs.settings import KNOWN
from labs.sweep import plan
from labs.sweep.command import conduct
from labs.sweep.crew import Crew
from labs.sweep.crew.local import Local
from topo import ending
from topo.document import Place
from topo.errors import TopologyError

SHIPPED = ROOT / "labs" / "sweeps"


@reader.ends_unread
def main(environment: Mapping[str, str] = os.environ) -> int:
    """Returns the exit status."""
    try:
        if environment.get("WORLD") == "live":
            raise SettingError(
                "WORLD=live: a sweep runs in the virtual world, as much of it at a time as there "
                "are processors. Leave WORLD out."
            )
        # SCHEDULER is a class of a student's to a lab, and an address to a sweep.
        for name in KNOWN:
            if name != "SCHEDULER" and environment.get(name):
                raise SettingError(f"{name}: a sweep's settings stand in its file. Leave it out.")
        file = _file(environment.get("SWEEP", ""))
        sweep = plan.read(file, quick=environment.get("QUICK", "") not in ("", "0"))
        with _crew(environment) as crew:
            conduct(sweep, crew, sys.stdout)
    except (ControllerError, LabError, TopologyError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(
            "\nvitrine: interrupted; the rows that are done are kept, and the same command goes on "
            "from there.",
            file=sys.stderr,
        )
        # 128 + SIGINT, as shells count it.
        return 130
    return 0


def shipped() -> dict[str, Path]:
    """The sweeps of the kit by name."""
    files = (file for file in sorted(SHIPPED.glob("*.yaml")) if "parameters" in _keys(file))
    return {file.stem.replace("_", "-"): file for file in files}


def _keys(file: Path) -> set[str]:
    # Topologies of sweeps lie beside them.
    return set(Place.load(file).entries())


def _file(name: str) -> Path:
    known = shipped()
    if not name:
        for each, file in known.items():
            print(f"{each:20} {Place.load(file).entries()['title'].text()}")
        raise SettingError("which sweep? Say make sweep SWEEP=NAME, or SWEEP=FILE.yaml of yours.")
    if name in known:
        return known[name]
    file = Path(name).expanduser()
    if not file.exists():
        hint = meant(name, known, "the kit has: ")
        raise SettingError(f"SWEEP={name}: there is no such file; {hint}")
    return file


def _crew(environment: Mapping[str, str]) -> Crew:
    jobs = environment.get("JOBS") or "0"
    if not jobs.isdigit() or int(jobs) > 1000:
        raise SettingError(f"JOBS={jobs}: expected how many processes, up to 1000.")
    if scheduler := environment.get("SCHEDULER"):
        if int(jobs):
            raise SettingError("JOBS: the cluster has as many workers as it has. Leave JOBS out.")
        from labs.sweep.crew.cluster import Cluster

        return Cluster(scheduler)
    return Local(int(jobs))


if __name__ == "__main__":
    # The rows that are done are kept, and the workers end.
    with ending.as_exit():
        sys.exit(main())
