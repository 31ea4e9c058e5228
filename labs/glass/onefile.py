"""The page as one file: it opens from a disk and can be mailed.

Browsers load no modules from a disk, so each module becomes a data: address, and an import map
gives these their names. What goes along is compressed; the browser unpacks it.
"""

from __future__ import annotations

import base64
import functools
import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import quote

PAGE = Path(__file__).resolve().parents[2] / "glass"
STYLES = ("vendor/uPlot.min.css", "style.css")
_IMPORT = re.compile(r'^((?:import|export)\b[^"]*?from )"(\.{1,2}/[^"]+)";$', re.MULTILINE)
# Of gzip: the smallest, for a page that is handed out; and a fifth of the work for 3 % more bytes,
# for the pages of which a lab writes one a run.
_SMALLEST, _QUICK = 9, 4
# The characters that a data URL leaves unescaped: all but those that end or change it, or JSON.
_SAFE = " !$&'()*+,-./:;=?@[]^_`{|}~"
# The page loads nothing from outside of the file.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:{scripts}; style-src 'unsafe-inline'; "
    "img-src data:{more}"
)
ALONE = _POLICY.format(scripts="", more="")
# A worker from a text of the page's own, and WebAssembly in it.
WITH_WORKER = _POLICY.format(scripts=" blob: 'wasm-unsafe-eval'", more="; worker-src blob:")
# The same with Python, which is a script beside the page and evaluates texts of its own.
WITH_PYTHON = _POLICY.format(scripts=" blob: 'self' file: 'unsafe-eval'", more="; worker-src blob:")


def page(tape: bytes) -> str:
    """The document that plays a recording."""
    return document("js/recorded.js", "Vitrine: a recording", {"tape": tape}, level=_QUICK)


def document(
    entry: str,
    title: str,
    along: Mapping[str, bytes],
    *,
    styles: Sequence[str] = STYLES,
    policy: str = ALONE,
    level: int = _SMALLEST,
) -> str:
    """A page that begins with a module, which finds `along` by its ids, packed.

    `policy` says what the page may load and run.
    """
    look = "\n".join((PAGE / name).read_text() for name in styles)
    packed = "\n".join(
        f'<script type="application/octet-stream" id="{name}">{_packed(data, level)}</script>'
        for name, data in along.items()
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{look}</style>
<script type="importmap">{_import_map(entry)}</script>
</head>
<body>
<div id="page"></div>
{packed}
<script type="module">import "vitrine/{entry}";</script>
</body>
</html>
"""


@functools.cache
def _import_map(entry: str) -> str:
    """Every module's address by its name. A lab writes as many pages as it has runs."""
    addresses = {
        f"vitrine/{name}": _data("text/javascript", text) for name, text in _modules(entry)
    }
    return json.dumps({"imports": addresses})


def _packed(data: bytes, level: int) -> str:
    # The same bytes give the same file: no time of packing in it.
    return base64.b64encode(gzip.compress(data, level, mtime=0)).decode()


def _data(kind: str, text: str) -> str:
    # As text, not as base64: who sends the page packs it, and what repeats is packed well. An
    # import map is no place for "</script>", so "<" is none of the signs that stay.
    return f"data:{kind},{quote(text, safe=_SAFE)}"


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
