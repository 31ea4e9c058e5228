"""Neovim, set up as docs/editors.md says, and the compiler's language server."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NVIM = shutil.which(os.environ.get("NVIM", "nvim"))
PROGRAM = """#include <core.p4>
#include <v1model.p4>

header route_t { bit<8> hops; } // one less at each router
struct headers { route_t route; }
struct metadata { }

parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.route); transition accept; }
}
control C(inout headers hdr, inout metadata meta) { apply { } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t std) {
apply { std.egress_spec = 2; hdr.route.hopps = hdr.route.hops-1; }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t std) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr.route); } }
V1Switch(P(), C(), I(), E(), C(), D()) main;
"""


def version() -> tuple[int, int]:
    """The installed Neovim's; none is older than all."""
    if NVIM is None:
        return (0, 0)
    told = subprocess.run([NVIM, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"NVIM v(\d+)\.(\d+)", told)
    return (int(found[0][0]), int(found[0][1]))


@pytest.mark.skipif(
    version() < (0, 11), reason="needs Neovim 0.11 or later as nvim, or named by NVIM"
)
def test_neovim_as_the_docs_set_it_up(tmp_path: Path) -> None:
    [lines] = re.findall(r"```lua\n(.*?)```", (ROOT / "docs/editors.md").read_text(), re.S)
    assert lines.count("/path/to/vitrine/") == 1
    settings = tmp_path / "init.lua"
    settings.write_text(lines.replace("/path/to/vitrine/", f"{ROOT}/"))
    program = tmp_path / "faulty.p4"
    program.write_text(PROGRAM)
    homes = {f"XDG_{each}_HOME": str(tmp_path) for each in ("CONFIG", "DATA", "STATE", "CACHE")}
    script = Path(__file__).with_name("neovim.lua")
    told = subprocess.run(
        [str(NVIM), "--headless", "-u", settings, program, "-c", f"luafile {script}", "-c", "qa!"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env=os.environ | homes,
    )
    assert told.stdout, told.stderr
    found = json.loads(told.stdout)
    assert len(found["mistakes"]) == 1
    assert "`hopps`" in found["mistakes"][0] and "`hops`" in found["mistakes"][0]
    assert "bit<8> hops" in found["meaning"] and "one less at each router" in found["meaning"]
    assert found["defined_in_line"] == 4
    assert found["references"] == 3
    assert (
        "\n    apply { std.egress_spec = 2; hdr.route.steps = hdr.route.steps - 1; }\n"
        in found["text"]
    )
