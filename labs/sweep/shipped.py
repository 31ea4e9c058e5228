"""`vitrine sweep`: a sweep by its name or file, on this machine or on a cluster."""

from __future__ import annotations

import sys
from pathlib import Path

from controller.toolchain import ROOT
from labs.errors import SettingError
from labs.hint import meant
from labs.sweep import plan
from labs.sweep.command import conduct
from labs.sweep.crew import Crew
from labs.sweep.crew.local import Local
from topo.document import Place

SHIPPED = ROOT / "labs" / "sweeps"


def sweep(name: str, *, quick: bool, jobs: str | None, cluster: str | None) -> None:
    """Measures what is missing of it, and writes its report."""
    wanted = plan.read(_file(name), quick=quick)
    with _crew(jobs or "0", cluster) as crew:
        conduct(wanted, crew, sys.stdout)


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
        raise SettingError("which sweep? Say vitrine sweep NAME, or FILE.yaml of yours.")
    if name in known:
        return known[name]
    file = Path(name).expanduser()
    if not file.exists():
        hint = meant(name, known, "the kit has: ")
        raise SettingError(f"there is no sweep {name!r}, and no such file; {hint}")
    return file


def _crew(jobs: str, cluster: str | None) -> Crew:
    if not jobs.isdigit() or int(jobs) > 1000:
        raise SettingError(f"--jobs {jobs}: expected how many processes, up to 1000.")
    if cluster:
        if int(jobs):
            raise SettingError("--jobs: a cluster has as many workers as it has. Leave --jobs out.")
        from labs.sweep.crew.cluster import Cluster

        return Cluster(cluster)
    return Local(int(jobs))
