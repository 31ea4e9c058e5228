"""BMv2 JSON and P4Info of every P4 program in the tree, or the messages if it does not compile."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.oracles.running import BIN, INCLUDES, ROOT, digest, each, report, run
from tests.oracles.sections import Files
from tests.oracles.sizes import Sizes

# The parameters that the course writes into its programs for each student.
_PLACEHOLDERS = ("-D", "VOICE_PORT=5060")
# The forms of P4Info by the ending of the file, and the entries that a program brings.
_JSON, _ENTRIES = "program.json", "entries.txtpb"
_P4INFO = ("p4info.txtpb", "p4info.bin", "p4info.json")


def record(sizes: Sizes) -> Files:
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.p4")
    sources = sorted(name for name in listed.lines if (ROOT / name).is_file())
    blocks = each("programs", sources, _compiled, sizes.jobs)
    return {"programs.txt": [line for block in blocks for line in block]}


def _compiled(source: str) -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        done = run(
            *(BIN / "vitrine-p4c", *INCLUDES, *_PLACEHOLDERS, "-o", folder / _JSON),
            *("--p4runtime-files", ",".join(str(folder / form) for form in _P4INFO)),
            *("--p4runtime-entries-files", folder / _ENTRIES, source),
        )
        files = [folder / each for each in (_JSON, *_P4INFO, _ENTRIES)]
        digests = [f"{file.name} {digest(file.read_bytes())}" for file in files if file.exists()]
        said = [line.replace(f"{folder}/", "") for line in report(done)]
    return [source, *(f"  {line}" for line in (*digests, *said)), ""]
