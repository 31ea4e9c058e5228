"""report.html: one file without anything outside of it, so it opens from disk and can be mailed."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

from labs.definition import Assessment, Figure, Lab, Verdict
from labs.machine import Machine
from labs.report import table, zoom

# A figure and its drawing as SVG.
Picture: TypeAlias = tuple[Figure, bytes]

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 62rem;
       margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; line-height: 1.2; }
h2 { margin-top: 2.5rem; }
.question { font-size: 1.25rem; color: #333; margin-top: .3rem; }
.machine, .small { color: #555; font-size: .9rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid #ddd;
         vertical-align: top; }
th { border-bottom: 2px solid #888; }
td.source { color: #555; font-size: .9rem; }
tr:has(+ tr.rest) td { border-bottom-color: #f4f4f4; }
.measured { font-weight: 600; }
figure { margin: 2rem 0; }
figure .wide { border: 1px solid #eee; overflow: auto; touch-action: pan-x pan-y; }
figure .wide:focus-visible { outline: 2px solid #0058a3; }
figure img { display: block; width: 100%; height: auto; cursor: zoom-in; }
figure input:checked ~ .wide img { cursor: zoom-out; }
figure input { position: absolute; opacity: 0; }
figure label { cursor: zoom-in; color: #0058a3; font-size: .9rem; }
figure input:focus-visible + label { outline: 2px solid #0058a3; }
figure input:checked ~ .wide img { width: max(220%, 60rem); max-width: none; }
figure input:checked + label { cursor: zoom-out; }
figcaption { color: #333; }
.met { color: #00684a; font-weight: 600; }
.missed { color: #b03a00; font-weight: 600; }
.unjudged { color: #5a5a00; font-weight: 600; }
code { background: #f3f3f3; padding: 0 .2rem; }
li { overflow-wrap: anywhere; }
@media (max-width: 40rem) { body { margin: 1rem auto; } th, td { padding-right: .6rem; } }
@page { margin: 15mm; }
@media print {
  body { max-width: none; margin: 0; padding: 0; font-size: 11pt; }
  h2 { margin-top: 1.5rem; break-after: avoid; }
  figure { margin: 1rem 0; }
  figure, tr, h2, li { break-inside: avoid; }
  /* No sheet begins or ends with a row or two of a table, or one item of a list. */
  tbody tr:nth-child(-n+2), tbody tr:nth-last-child(-n+3), li:first-child, li:nth-last-child(2) {
    break-after: avoid; }
  tbody tr:last-child { break-after: auto; }
  figure label, figure input, .screen { display: none; }
  .wide { overflow: visible; }
  figure .wide { max-height: none !important; overflow: hidden; }
  table { font-size: 9pt; max-width: 100%; }
  th, td { padding-right: .5rem; }
  table.many { font-size: 7pt; }
  .many th, .many td { padding-right: .3rem; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  figure img, figure input:checked ~ .wide img { width: 100% !important; max-height: 22cm;
                                                 object-fit: contain; }
  a { color: inherit; text-decoration: none; }
}
"""
# A table of more columns is written small on paper.
_COLUMNS_MANY = 7
_KINDS = {Verdict.MET: "met", Verdict.NOT_MET: "missed", Verdict.NOT_JUDGED: "unjudged"}


def page(
    lab: Lab,
    assessment: Assessment,
    machine: Machine,
    pictures: Sequence[Picture],
    data: Sequence[Path],
    in_front: Sequence[Sequence[str]],
) -> str:
    """The whole document; `data` are the raw files beside it, by their relative paths.

    `in_front`: run, port, and what waited outside of the router for that port to take it.
    """
    place, *shown = pictures
    parts = [
        f"<h1>{escape(lab.heading)}</h1>",
        f'<p class="question">{escape(lab.question)}</p>',
        f'<p class="machine">{escape(str(machine))}. {escape(_settings(lab))}</p>',
        f'<p class="machine">{escape(lab.settings.world.sentence)}</p>',
        picture(*place),
        _verdict(assessment),
        *_disturbances(assessment.disturbances),
        *(f"<p>{escape(remark)}</p>" for remark in assessment.remarks),
        "<h2>What to look for</h2>",
        _look_for(lab),
        "<h2>Measurements</h2>",
        *_original(lab, assessment),
        *map(table_of, table.tables(assessment.rows)),
        "<h2>Figures</h2>",
        '<p class="small screen">Each figure can be enlarged: by a click or a tap, with Ctrl '
        "and the wheel, with + and - (0: as it was) once it is selected, or with two fingers. Its "
        "numbers are in a file beside it.</p>",
        *(picture(*each) for each in shown),
        *_in_front(in_front),
        "<h2>Bands</h2>",
        "<p>A band is what must agree for the lab to show what it is about. "
        "Its edges are computed from this run's settings.</p>",
        bands(assessment),
        *_insides(data),
        "<h2>Data</h2>",
        '<p>Every number: <a href="results.json"><code>results.json</code></a>. '
        "What the instruments saw, in seconds of one clock, and what each figure shows:</p>",
        _links(data),
    ]
    return document(lab.heading, parts)


def early_page(
    lab: Lab, notice: str, machine: Machine, pictures: Sequence[Picture], data: Sequence[Path]
) -> str:
    """The document of a run that ended early, as `notice` says above everything else."""
    parts = [
        f"<h1>{escape(lab.heading)}</h1>",
        f'<p class="question">{escape(lab.question)}</p>',
        f'<p class="missed">{escape(notice)}</p>',
        f'<p class="machine">{escape(str(machine))}. {escape(_settings(lab))}</p>',
        f'<p class="machine">{escape(lab.settings.world.sentence)}</p>',
        *(picture(*each) for each in pictures),
        *_insides(data),
        "<h2>Data</h2>",
        "<p>What the instruments saw, in seconds of one clock, and what each figure shows:</p>",
        _links(data),
    ]
    return document(lab.heading, parts)


def document(title: str, parts: Iterable[str]) -> str:
    """A whole page around its parts."""
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n<script>{zoom.SCRIPT}</script>\n</body>\n</html>\n"
    )


def _settings(lab: Lab) -> str:
    changed = lab.settings.words()
    return f"Settings: {' '.join(changed)}." if changed else "Settings: the lab's own."


def _verdict(assessment: Assessment) -> str:
    missed, unjudged = assessment.count(Verdict.NOT_MET), assessment.count(Verdict.NOT_JUDGED)
    kind = "missed" if missed else "unjudged" if unjudged else "met"
    return f'<p class="{kind}">{escape(assessment.verdict)}</p>'


def _disturbances(sentences: Sequence[str]) -> Iterator[str]:
    for sentence in sentences:
        yield f'<p class="unjudged">{escape(sentence)}.</p>'
    if sentences:
        yield (
            "<p>Such numbers say as much about the machine as about the router: run the lab again "
            "when the machine is idle, or at a lower rate, such as --rate 100mbit.</p>"
        )


def _in_front(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The packets outside the router's queues; nothing if there were none."""
    if not rows:
        return
    yield "<h2>In front of the router</h2>"
    yield (
        "<p>The queues above are those toward the line. What comes in by the same port may wait, "
        "too: in the network card of the neighbour, which hands over no faster than the line "
        "carries. How much waited there, and when, is in the column <code>backlog_packets</code> "
        "of the data.</p>"
    )
    yield table_of([["run", "port", "waited at most"], *rows])


def _insides(data: Sequence[Path]) -> Iterator[str]:
    """Links to the pages that play what the routers told."""
    pages = [path for path in data if path.name == "inside.html"]
    if not pages:
        return
    links = ", ".join(
        f'<a href="{escape(str(path))}">{escape(path.parent.name)}</a>' for path in pages
    )
    yield "<h2>Inside the routers</h2>"
    yield (
        f"<p>Queues, packets and drops of each run, to play, to slow down and to step through: "
        f"{links}. The pages need nothing but a browser.</p>"
    )


def _look_for(lab: Lab) -> str:
    items = "\n".join(f"<li>{escape(sentence)}</li>" for sentence in lab.look_for)
    # From out/<lab>/<run>/ to the handout; and its name, for a reader with this page alone.
    handout = f"labs/{lab.folder_name()}/README.md"
    link = f'<a href="../../../{handout}">the handout</a> (<code>{handout}</code>)'
    others = _other_settings(lab)
    return f"<ul>\n{items}\n</ul>\n{others}<p>Steps, background and questions: {link}.</p>"


def _other_settings(lab: Lab) -> str:
    """The things to see are written for the lab's own settings, and the rates that it chooses."""
    own = {"duration", "quick", "seeds", "toolchain", "world"}
    if lab.settings.rate_bps in lab.choices_bps:
        own.add("rate")
    changed = lab.settings.words(without=own)
    if not changed:
        return ""
    return (
        "<p>This is what the lab's own settings show. Here it was run with "
        f"<code>{escape(' '.join(changed))}</code>, so not all of it need hold: what differs, and "
        "why?</p>\n"
    )


def _original(lab: Lab, assessment: Assessment) -> Iterator[str]:
    if any(row.original for row in assessment.rows):
        yield (
            f"<p><em>The original</em> is {escape(lab.original)}. It measured with "
            "other kernels and switches; its numbers appear where this run used its settings.</p>"
        )


# ---- parts ---------------------------------------------------------------------------------------


def table_of(lines: Sequence[Sequence[str]]) -> str:
    """A table from its head and its lines; a line without a first cell belongs to the one above."""
    head, *rows = lines
    # Names of numbers are long, and may go on in the next line behind an underscore.
    names = [escape(name).replace("_", "_<wbr>") for name in head]
    cells = "".join(f'<th scope="col">{name}</th>' for name in names)
    kind = ' class="many"' if len(head) > _COLUMNS_MANY else ""
    parts = [f'<div class="wide"><table{kind}>', f"<thead><tr>{cells}</tr></thead>"]
    for row in rows:
        kind = ' class="rest"' if not row[0] else ""
        written = "".join(
            f"<td{_cell_class(name, index, row)}>{escape(cell)}</td>"
            for index, (name, cell) in enumerate(zip(head, row, strict=True))
        )
        parts.append(f"<tr{kind}>{written}</tr>")
    return "\n".join([*parts, "</table></div>"])


def _cell_class(column: str, index: int, row: Sequence[str]) -> str:
    if column == "measured" or (index > 1 and row[1] == "measured"):
        return ' class="measured"'
    return ' class="source"' if index and row[1] in table.SOURCES else ""


def picture(figure: Figure, svg: bytes) -> str:
    """A picture with its caption, which a click enlarges."""
    source = base64.b64encode(svg).decode()
    caption, name = escape(figure.caption), escape(figure.name)
    return (
        f'<figure id="{name}"><input type="checkbox" id="zoom-{name}">'
        f'<label for="zoom-{name}">larger or smaller</label>'
        f'<div class="wide"><img src="data:image/svg+xml;base64,{source}" alt="{caption}"></div>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def bands(assessment: Assessment) -> str:
    """The claims and their verdicts."""
    lines = [
        '<div class="wide"><table>',
        "<thead><tr><th>claim</th><th>required</th><th>measured</th><th></th></tr></thead>",
    ]
    for band in assessment.bands:
        why = f'<br><span class="small">{escape(band.unjudged)}</span>' if band.unjudged else ""
        lines.append(
            f"<tr><td>{escape(band.claim)}{why}</td><td>{escape(band.required)}</td>"
            f"<td>{escape(band.found)}</td>"
            f'<td class="{_KINDS[band.verdict]}">{band.verdict.value}</td></tr>'
        )
    return "\n".join([*lines, "</table></div>"])


def _links(data: Sequence[Path]) -> str:
    """The files, a list item for each folder."""
    items = []
    for folder, paths in groupby(data, key=lambda path: path.parent):
        links = ", ".join(
            f'<a href="{escape(str(path))}">{escape(path.name)}</a>' for path in paths
        )
        items.append(f"<li>{escape(str(folder))}: {links}</li>")
    return "\n".join(["<ul>", *items, "</ul>"])
