"""The page as one file with a tape in it: it opens from a disk and can be mailed.

Browsers load no modules from a disk, so each module becomes a data: address, and an import map
gives these their names. The tape is compressed; the browser unpacks it.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

PAGE = Path(__file__).resolve().parents[2] / "glass"
ENTRY = "js/recorded.js"
_IMPORT = re.compile(r'^((?:import|export)\b[^"]*?from )"(\.{1,2}/[^"]+)";$', re.MULTILINE)
# Nothing outside of the file is asked for, whatever is in the tape.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data:"
)


def page(tape: bytes) -> str:
    """The whole document."""
    modules = dict(_modules(ENTRY))
    addresses = {
        f"vitrine/{name}": _data("text/javascript", text) for name, text in modules.items()
    }
    # An import map is no place for "</script>"; base64 has no "<".
    styles = "\n".join((PAGE / name).read_text() for name in ("vendor/uPlot.min.css", "style.css"))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Vitrine: a recording</title>
<style>{styles}</style>
<script type="importmap">{json.dumps({"imports": addresses})}</script>
</head>
<body>
<div id="page"></div>
<script type="application/octet-stream" id="tape">{_packed(tape)}</script>
<script type="module">import "vitrine/{ENTRY}";</script>
</body>
</html>
"""


def _packed(tape: bytes) -> str:
    # The same tape gives the same file: no time of packing in it.
    return base64.b64encode(gzip.compress(tape, mtime=0)).decode()


def _data(kind: str, text: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(text.encode()).decode()}"


def _modules(entry: str) -> Iterator[tuple[str, str]]:
    """Every module that is needed, by its name, with its imports by the names of the map."""
    waiting, seen = [entry], {entry}
    while waiting:
        name = waiting.pop()
        text = (PAGE / name).read_text()
        needed = {match[2]: _resolved(name, match[2]) for match in _IMPORT.finditer(text)}
        for each in sorted(set(needed.values()) - seen):
            seen.add(each)
            waiting.append(each)
        for said, wanted in needed.items():
            text = text.replace(f'from "{said}";', f'from "vitrine/{wanted}";')
        yield name, text


def _resolved(name: str, wanted: str) -> str:
    """`../wire/calls.js`, as module `js/page/handles.js` says it, from the page's folder."""
    parts: list[str] = []
    for part in (PurePosixPath(name).parent / wanted).parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
