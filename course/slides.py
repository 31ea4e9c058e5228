"""Slides for the weeks of a term, in Marp's Markdown.

Both sources are pages for teachers: the table of weeks in docs/teaching/README.md, and the picture
and talking points of each lab in docs/teaching/ten-minutes.md.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from controller.toolchain import ROOT
from course.errors import CourseError

_TEACHING = ROOT / "docs" / "teaching"
_WEEK = re.compile(r"^\| (\d+) \|(.*)\|(.*)\|(.*)\|(.*)\|$", re.MULTILINE)
_LAB = re.compile(r"^## (\S+)\n\n!\[(.*?)\]\((\S+)\)\n\n((?:\d\. .*\n)+)", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_LAB_LINK = re.compile(r"labs/(\w+)/README")
# A picture is as large as fits above the page's number.
_STYLE = "section img { display: block; margin: auto; max-width: 100%; max-height: 590px; }"
_HEAD = f"---\nmarp: true\ntheme: default\npaginate: true\nstyle: |\n  {_STYLE}\n---\n"
_BREAK = "\n---\n\n"


@dataclass(frozen=True)
class Week:
    """A row of the table."""

    number: int
    subject: str
    machine: str
    write: str
    reading: str


@dataclass(frozen=True)
class Lab:
    """A lab's talking points; the picture's path is relative to docs/teaching."""

    name: str
    caption: str
    picture: str
    points: tuple[str, ...]


def weeks() -> list[Week]:
    """The weeks of the term."""
    rows = _WEEK.findall((_TEACHING / "README.md").read_text())
    return [Week(int(number), *map(str.strip, texts)) for number, *texts in rows]


def labs() -> dict[str, Lab]:
    """The talking points by lab."""
    found = _LAB.findall((_TEACHING / "ten-minutes.md").read_text())
    return {
        name: Lab(name, caption, picture, tuple(re.findall(r"^\d\. (.*)$", points, re.MULTILINE)))
        for name, caption, picture, points in found
    }


def write(folder: Path) -> list[Path]:
    """Writes a file for each week, and the pictures beside them."""
    if not _TEACHING.exists():
        raise CourseError(
            "`vitrine slides` needs a clone of the kit, which has the teacher's pages."
        )
    folder.mkdir(parents=True, exist_ok=True)
    known = labs()
    shutil.copytree(_TEACHING / "pictures", folder / "pictures", dirs_exist_ok=True)
    files = []
    for week in weeks():
        file = folder / f"week-{week.number:02}.md"
        file.write_text(_HEAD + _BREAK.join(_slides(week, known)))
        files.append(file)
    return files


def _slides(week: Week, known: dict[str, Lab]) -> Iterator[str]:
    yield f"\n# Week {week.number}\n\n## {week.subject}\n"
    for lab in (known[name] for name in _linked(week.machine) if name in known):
        guess, *rest = lab.points
        yield f"# {lab.name}\n\n{guess}\n"
        yield f"![{lab.caption}]({lab.picture})\n"
        yield f"# {lab.name}\n\n" + "".join(f"- {point}\n" for point in rest)
    rows = (("At the machine", week.machine), ("To write", week.write), ("To read", week.reading))
    yield "".join(f"**{title}:** {_plain(text)}\n\n" for title, text in rows if text)


def _linked(text: str) -> list[str]:
    return [name.replace("_", "-") for name in _LAB_LINK.findall(text)]


def _plain(text: str) -> str:
    return _LINK.sub(r"\1", text)
