"""P4 sources that a page may show: those of the kit, and those beside the network's programs.

Nothing else of the disk is anybody's business.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from controller.toolchain import ROOT

_SOURCES = (".p4", ".p4h")


def text_of(name: str, folders: Sequence[str] = ()) -> bytes | None:
    """The text of a source by the name that a compiled program has for it; None: it is no such.

    `folders` have sources beside those of the kit.
    """
    with contextlib.suppress(OSError, ValueError):
        wanted = Path(name).resolve()
        if wanted.suffix not in _SOURCES or not wanted.is_file():
            return None
        if any(wanted.is_relative_to(each) for each in (str(ROOT), *folders)):
            return wanted.read_bytes()
    return None


def of_program(config: bytes, folders: Sequence[str] = ()) -> dict[str, str]:
    """All sources that a compiled program (BMv2 JSON) speaks of, by the names it has for them."""
    try:
        names = set(_names(json.loads(config)))
    except ValueError:
        return {}
    found = ((name, text_of(name, folders)) for name in sorted(names))
    return {name: text.decode(errors="replace") for name, text in found if text is not None}


def _names(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        info = part.get("source_info")
        if isinstance(info, dict) and isinstance(info.get("filename"), str):
            yield info["filename"]
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from _names(each)
