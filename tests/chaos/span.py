"""The length of a run, as `--duration` takes it.

python -m tests.chaos.span 20min     # 1200
"""

from __future__ import annotations

import re
import sys

_UNITS_S = {"s": 1.0, "min": 60.0, "h": 3600.0}


def seconds(text: str) -> float:
    """`90s`, `20min` or `8h`; a number alone is refused, because it could be any of them."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*", text)
    if match is None or match[2] not in _UNITS_S:
        raise ValueError(f"{text!r} is no length of time: write 90s, 20min or 8h.")
    return float(match[1]) * _UNITS_S[match[2]]


if __name__ == "__main__":
    try:
        print(round(seconds(sys.argv[1])))
    except ValueError as error:
        sys.exit(f"vitrine: --duration: {error}")
