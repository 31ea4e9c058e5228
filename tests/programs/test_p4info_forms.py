"""P4Info in its three forms: protobuf's own library reads the same message from each."""

import subprocess
from pathlib import Path

import pytest
from google.protobuf import json_format, text_format
from p4.config.v1 import p4info_pb2

ROOT = Path(__file__).resolve().parents[2]
COMPILER = ROOT / "build" / "bin" / "vitrine-p4c"
PROGRAMS = (ROOT / "p4src" / "programs" / "router.p4", ROOT / "tests" / "thrift" / "guest.p4")
DEADLINE_S = 60


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_text_binary_and_json_say_the_same(program: Path, tmp_path: Path) -> None:
    names = [tmp_path / f"it.p4info.{ending}" for ending in ("txtpb", "bin", "json")]
    text, binary, json = names
    command = [str(COMPILER), "-I", "p4src", "-I", "p4src/include", str(program)]
    command += ["--p4runtime-files", ",".join(map(str, names))]
    subprocess.run(command, cwd=ROOT, check=True, timeout=DEADLINE_S)
    from_text = text_format.Parse(text.read_text(), p4info_pb2.P4Info())
    from_binary = p4info_pb2.P4Info.FromString(binary.read_bytes())
    from_json = json_format.Parse(json.read_text(), p4info_pb2.P4Info())
    assert from_text.tables
    assert from_text == from_binary
    assert from_json == from_binary
