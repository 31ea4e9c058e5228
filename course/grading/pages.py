"""A page a student: every case, and the story of those that are not met."""

from __future__ import annotations

from html import escape
from pathlib import Path
from urllib.parse import quote

from course.grading.grade import Graded, file_name
from course.grading.records import write_whole
from course.judge import Verdict
from course.telling import same_as, waiting, with_earlier

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem;
       color: #1c1c1c; background: #fff; }
section { border-left: 4px solid #2a7f3f; padding: 0 0 0 1rem; margin: 1rem 0; }
section.not { border-color: #b3261e; }
h2 { font-size: 1rem; margin: 0; }
dt { font-weight: 600; } dd { margin: 0 0 .5rem 0; overflow-wrap: anywhere; }
figure { margin: .5rem 0; } figcaption { font-size: .85rem; color: #555; }
pre { background: #f4f4f4; padding: .5rem; overflow-x: auto; }
@page { margin: 15mm; }
@media print {
  body { max-width: none; margin: 0; padding: 0; font-size: 11pt; }
  h1, h2, h2 + p, dt, dl { break-after: avoid; }
  section:not(.not), dd, figure { break-inside: avoid; }
  pre { padding: 0; font-size: 8.5pt; white-space: pre-wrap; overflow-wrap: anywhere; }
  .screen { display: none; }
}
"""


_CAPTION = (
    "The queues of your routers; below the line each mark is a drop, and the dashed line is the "
    "moment of this message."
)


def write(folder: Path, graded: Graded) -> Path:
    """Writes the page of a student; where it is."""
    file = folder / f"{file_name(graded.name)}.html"
    write_whole(file, page(graded))
    return file


def page(graded: Graded) -> str:
    """The page. It links to pages of networks, in a folder of the student's beside it."""
    judgement = graded.judgement
    title = f"{judgement.exercise.title}: {graded.student}"
    parts = [
        '<!doctype html><html lang="en"><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style><h1>{escape(title)}</h1>",
        f"<p><strong>{judgement.points} of {judgement.out_of} points.</strong></p>",
        *(f"<p>{escape(remark)}</p>" for remark in graded.remarks),
        *(
            _section(verdict, file_name(graded.name), before)
            for verdict, before in with_earlier(judgement.verdicts)
        ),
    ]
    return "\n".join(parts) + "\n</html>\n"


def _section(verdict: Verdict, folder: str, before: str) -> str:
    case, story = verdict.case, verdict.story
    mark = "" if verdict.counts else ' class="not"'
    head = f"{verdict.points} of {case.points}: {case.name}"
    lines = [f"<section{mark}><h2>{escape(head)}</h2><p>{escape(case.title)}</p>"]
    if verdict.remark:
        lines.append(f"<p>({escape(verdict.remark)})</p>")
    if story is None and verdict.waits_for:
        lines.append(f"<p>{escape(waiting(verdict))}</p>")
    if before:
        lines.append(f"<p>{escape(same_as(before))}</p>")
    elif story is not None:
        rows = (
            ("What was done", story.done),
            ("Expected", story.expected),
            ("Because", story.because),
            ("What came", story.came),
        )
        texts = (f"<dt>{label}</dt><dd>{escape(text)}</dd>" for label, text in rows)
        lines.append(f"<dl>{''.join(texts)}</dl>")
        if story.way:
            lines.append(f"<pre>{escape(chr(10).join(story.way))}</pre>")
        if story.picture:
            lines.append(f"<figure>{story.picture}<figcaption>{_CAPTION}</figcaption></figure>")
        if story.link:
            # Beside the page, wherever both are taken.
            page = quote(f"{folder}/{story.link.rpartition('/')[2].partition('#')[0]}")
            at = story.link.partition("#")[2]
            link = f'<a href="{page}#{at}">See this moment in the glass.</a>'
            lines.append(f'<p class="screen">{link}</p>')
    return "".join([*lines, "</section>"])
