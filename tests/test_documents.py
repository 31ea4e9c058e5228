"""Links between the documents lead to a heading that exists."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADING = re.compile(r"^#+ (.*)$", re.M)
FENCE = re.compile(r"^```.*?^```", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s:]*)#([^)\s]+)\)")


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub derives them."""
    titles = (
        re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title)
        for title in HEADING.findall(FENCE.sub("", text))
    )
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def broken(page: Path) -> list[str]:
    """The links of a page to a heading that another page, or itself, does not have."""
    found = []
    for path, anchor in LINK.findall(page.read_text()):
        target = page.parent / path if path else page
        if target.suffix == ".md" and anchor not in anchors(target.read_text()):
            found.append(f"{page.relative_to(ROOT)}: {path}#{anchor}")
    return found


def test_links_lead_to_headings_that_exist():
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    pages = [ROOT / name for name in listed.stdout.split()]
    assert [link for page in pages if page.exists() for link in broken(page)] == []


def test_a_link_to_a_missing_heading_is_found(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("# A `b`, c\n\n```\n# no heading\n```\n\n[x](#a-b-c) [y](#no-heading)\n")
    assert broken(page) == ["page.md: #no-heading"]
