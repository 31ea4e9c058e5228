"""The page that needs nothing: compiler, network, scenarios and glass in one file.

python -m labs.glass.alone page.wasm scenarios.json vitrine.html
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

from labs.glass import onefile, relay

_TITLE = "Vitrine: a P4 router in a page"
_STYLES = (*onefile.STYLES, "alone.css")


def main(argv: list[str]) -> int:
    """Writes the page, and says how large it is."""
    module, scenarios, target = map(Path, argv)
    text = onefile.document(
        "js/alone/main.js",
        _TITLE,
        {
            "module": module.read_bytes(),
            # The worker is no module of the page, but a text of its own.
            "engine": (onefile.PAGE / "js/wire/engine.js").read_bytes(),
            "kit": scenarios.read_bytes(),
            "schema": relay.schema(),
        },
        styles=_STYLES,
        policy=onefile.WITH_WORKER,
    )
    target.write_text(text)
    compressed = len(gzip.compress(text.encode(), mtime=0))
    print(f"{target}: {len(text) / 1e6:.2f} MB, {compressed / 1e6:.2f} MB compressed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
