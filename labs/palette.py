"""The colours of flows, the same in reports, stories of exercises and the page.

They stay apart for colour-blind readers (after Okabe and Ito) and on white. The page's light
palette (glass/js/draw/palette.js) has them in the same order.
"""

from __future__ import annotations

import re

BLUE, ORANGE, GREEN, PURPLE, SKY, RED, OLIVE, SLATE = (
    "#0072b2", "#e07b00", "#009e73", "#b0508a", "#3aa0e0", "#c04000", "#8a7d00", "#6b6b80",
)  # fmt: skip
FLOWS = (BLUE, ORANGE, GREEN, PURPLE, SKY, RED, OLIVE, SLATE)
GREY = "#555555"
_OF_WORDS = {
    "flow": BLUE,
    "download": BLUE,
    "page": ORANGE,
    "ping": GREEN,
    "h9": SLATE,
    "the": "#999999",
}
_HOST = re.compile(r"h(\d+)")


def of_name(name: str, index: int = 0) -> str:
    """The colour of a flow by the first word of its name, or by its place among what is drawn.

    A flow of host h1 has the first colour, one of h2 the second: as in the page.
    """
    word = re.match(r"\w*", name)
    assert word is not None
    if host := _HOST.fullmatch(word.group()):
        index = int(host.group(1)) - 1
    return _OF_WORDS.get(word.group(), FLOWS[index % len(FLOWS)])
