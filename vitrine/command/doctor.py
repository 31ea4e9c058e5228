"""This machine's abilities with the kit, the missing ones, and the one command that adds each."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from vitrine.command import privilege
from vitrine.command.names import ROOT

SET_UP = "make setup"


@dataclass(frozen=True)
class Finding:
    """One thing that the kit can do here, or cannot."""

    what: str
    works: bool
    # Which version, or why not.
    detail: str = ""
    # The command that adds it.
    fix: str = ""


def show(*, as_json: bool = False) -> int:
    """Prints what there is; 1 if not even networks in virtual time can run."""
    found = [check() for check in CHECKS]
    if as_json:
        print(json.dumps([asdict(each) for each in found], indent=1))
    else:
        for each in found:
            mark = "yes" if each.works else "no "
            detail = f": {each.detail}" if each.detail else ""
            print(f"{mark}  {each.what}{detail}")
            if not each.works and each.fix:
                print(f"     to add it: {each.fix}")
    return 0 if all(each.works for each in found if each.what in _LEAST) else 1


def _packages() -> Finding:
    wanted = ("grpc", "p4", "numpy", "matplotlib", "yaml", "websockets", "argcomplete")
    missing = [name for name in wanted if importlib.util.find_spec(name) is None]
    detail = f"without {', '.join(missing)}" if missing else ""
    return Finding("Python packages", not missing, detail, SET_UP)


def _virtual() -> Finding:
    there = os.access(ROOT / "build" / "bin" / "vitrine-sim", os.X_OK)
    return Finding("virtual networks", there, "" if there else "vitrine-sim is not built", SET_UP)


def _live() -> Finding:
    if not _is_clone():
        return Finding("live networks", False, "they need a clone", "git clone the kit")
    if importlib.util.find_spec("mininet") is None:
        return Finding("live networks", False, "Mininet is not installed", SET_UP)
    obstacle = privilege.obstacle(can_ask=False)
    if obstacle is None:
        return Finding("live networks", True)
    return Finding("live networks", False, obstacle.reason, obstacle.remedy)


def _page() -> Finding:
    there = (ROOT / "out" / "vitrine.html").exists()
    fix = "make page" if _is_clone() else "take vitrine.html from a release"
    return Finding("the page that is one file", there, "" if there else "it is not made", fix)


def _rust() -> Finding:
    cargo = shutil.which("cargo") or shutil.which("cargo", path=str(Path.home() / ".cargo" / "bin"))
    why = "" if cargo else "only who changes the switch needs it"
    return Finding(
        "building the switch (Rust)", cargo is not None, why, f"RUST_INSTALL=yes {SET_UP}"
    )


def _browser() -> Finding:
    found = shutil.which("chromium") or shutil.which("google-chrome")
    return Finding("tests of the page (Chromium)", found is not None, "", "apt install chromium")


def _sandbox() -> Finding:
    """Namespaces without rights, in which submissions are run."""
    if shutil.which("unshare") is None:
        return Finding("grading sandbox", False, "unshare is missing", "apt install util-linux")
    tried = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "--net", "--pid", "--fork", "true"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    why = tried.stderr.strip().rpartition(": ")[2]
    allow = "sysctl -w kernel.unprivileged_userns_clone=1"
    return Finding("grading sandbox", tried.returncode == 0, why, allow)


def _p4lang() -> Finding:
    there = shutil.which("simple_switch_grpc") is not None
    why = "" if there else "simple_switch_grpc is not installed; only --toolchain p4lang needs it"
    return Finding("the P4 project's switch", there, why, "vm/provision.sh")


def _is_clone() -> bool:
    return (ROOT / "Makefile").exists()


# Without these nothing works.
_LEAST = ("Python packages", "virtual networks")
CHECKS: tuple[Callable[[], Finding], ...] = (
    *(_packages, _virtual, _live, _page),
    *(_sandbox, _rust, _browser, _p4lang),
)
