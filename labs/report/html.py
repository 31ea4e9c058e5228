"""report.html: one file without anything outside of it, so it opens from disk and can be mailed."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TypeAlias

from controller.toolchain import Toolchain
from labs.definition import Assessment, Figure, Lab
from labs.machine import Machine
from labs.report import table

# A figure and its drawing as PNG.
Picture: TypeAlias = tuple[Figure, bytes]

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 62rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { margin-bottom: 0; }
.question { font-size: 1.2rem; color: #444; margin-top: .3rem; }
.machine { color: #666; font-size: .9rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid #ddd;
         vertical-align: top; }
th { border-bottom: 2px solid #888; }
figure { margin: 2rem 0; }
figure img { width: 100%; height: auto; }
figcaption { color: #444; }
.met { color: #00684a; font-weight: 600; }
.missed { color: #b03a00; font-weight: 600; }
code { background: #f3f3f3; padding: 0 .2rem; }
"""


def page(
    lab: Lab,
    assessment: Assessment,
    machine: Machine,
    pictures: Sequence[Picture],
    data: Sequence[Path],
) -> str:
    """The whole document; `data` are the raw files beside it, by their relative paths."""
    parts = [
        f"<h1>{escape(lab.name)}</h1>",
        f'<p class="question">{escape(lab.question)}</p>',
        f'<p class="machine">{escape(str(machine))}. {escape(_settings(lab))}</p>',
        _verdict(assessment),
        *(_disturbance(sentence) for sentence in assessment.disturbances),
        f"<p>The column <em>document</em> is {escape(lab.document)}. "
        "Its numbers come from other kernels and other switches; "
        "what must agree is listed under <em>bands</em>.</p>",
        *(f"<p>{escape(remark)}</p>" for remark in assessment.remarks),
        rows_of(table.HEAD, map(table.cells, assessment.rows)),
        *(picture(figure.caption, png) for figure, png in pictures),
        "<h2>Bands</h2>",
        bands(assessment),
        "<h2>Data</h2>",
        '<p>Every number: <a href="results.json"><code>results.json</code></a>. '
        "What the instruments saw, in seconds of one clock:</p>",
        _links(data),
    ]
    return document(lab.name, parts)


def document(title: str, parts: Iterable[str]) -> str:
    """A whole page around its parts."""
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _settings(lab: Lab) -> str:
    changed = [
        f"{name} = {value.value if isinstance(value, Toolchain) else value}"
        for name, value in vars(lab.settings).items()
        if value not in (None, False, Toolchain.VITRINE)
    ]
    return f"Settings: {', '.join(changed)}." if changed else "Settings: the lab's own."


def _verdict(assessment: Assessment) -> str:
    met = sum(band.met for band in assessment.bands)
    kind = "met" if assessment.met else "missed"
    return f'<p class="{kind}">{met} of {len(assessment.bands)} bands are met.</p>'


def _disturbance(sentence: str) -> str:
    advice = (
        "Its numbers say as much about the machine as about the router; run it again when idle."
    )
    return f'<p class="missed">{escape(sentence)}. {advice}</p>'


def rows_of(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table."""
    lines = ["<table>", "<tr>" + "".join(f"<th>{escape(name)}</th>" for name in head) + "</tr>"]
    lines += [
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    ]
    return "\n".join([*lines, "</table>"])


def picture(caption: str, png: bytes) -> str:
    """A picture with what it shows."""
    source = base64.b64encode(png).decode()
    caption = escape(caption)
    return (
        f'<figure><img src="data:image/png;base64,{source}" alt="{caption}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def bands(assessment: Assessment) -> str:
    """The claims and their verdicts."""
    lines = ["<table>", "<tr><th>claim</th><th>asked</th><th>measured</th><th></th></tr>"]
    for band in assessment.bands:
        kind, word = ("met", "met") if band.met else ("missed", "not met")
        unit = f" {band.unit}" if band.unit else ""
        lines.append(
            f"<tr><td>{escape(band.claim)}</td><td>{escape(band.asked)}</td>"
            f'<td>{band.measured:.4g}{escape(unit)}</td><td class="{kind}">{word}</td></tr>'
        )
    return "\n".join([*lines, "</table>"])


def _links(data: Sequence[Path]) -> str:
    items = (f'<li><a href="{escape(str(path))}">{escape(str(path))}</a></li>' for path in data)
    return "\n".join(["<ul>", *items, "</ul>"])
