"""P4 sources of the kit that a page may show; nothing else of the disk is anybody's business."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from controller.toolchain import ROOT

_SOURCES = (".p4", ".p4h")


def text_of(name: str) -> bytes | None:
    """The text of a source by the name that a compiled program has for it; None: it is no such."""
    with contextlib.suppress(OSError, ValueError):
        wanted = Path(name).resolve()
        if wanted.suffix in _SOURCES and wanted.is_relative_to(ROOT) and wanted.is_file():
            return wanted.read_bytes()
    return None


def of_program(config: bytes) -> dict[str, str]:
    """All sources that a compiled program (BMv2 JSON) speaks of, by the names it has for them."""
    try:
        names = set(_names(json.loads(config)))
    except ValueError:
        return {}
    found = ((name, text_of(name)) for name in sorted(names))
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
