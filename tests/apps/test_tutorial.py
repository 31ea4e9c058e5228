"""The programs of docs/tutorial.md: what a reader writes compiles, in both of the kit's routers."""

import re
from pathlib import Path

import pytest

from controller import compiling
from controller.p4info import P4Info
from tests.controller import real_switch

pytestmark = real_switch.needed

TEXT = (compiling.ROOT / "docs" / "tutorial.md").read_text()
BLOCKS = re.findall(r"```p4\n(.*?)```", TEXT, re.DOTALL)
INCLUDE, APPLY, COUNTING, MARKING = BLOCKS


def with_first(program: str) -> str:
    """The program with the two lines where the text puts them."""
    source = (compiling.PROGRAMS / f"{program}.p4").read_text()
    last = [line for line in source.splitlines(True) if line.startswith("#include")][-1]
    call = "            classify.apply(hdr, meta, standard_metadata);\n"
    assert last in source
    assert call in source
    return source.replace(last, last + INCLUDE).replace(call, call + APPLY)


@pytest.mark.parametrize("program", ["router", "int_router"])
@pytest.mark.parametrize("first", [COUNTING, MARKING, MARKING.replace("const entries", "// ")])
def test_the_programs_of_the_text_compile(tmp_path: Path, program, first):
    (tmp_path / "first.p4").write_text(first)
    (tmp_path / "my.p4").write_text(with_first(program))
    stem = compiling.current(tmp_path / "my.p4")
    info = P4Info.load(stem.with_name(f"{stem.name}.p4info.txtpb"))
    assert info.counters["packets_by_ttl"].name == "ingress.first.packets_by_ttl"


def test_the_controller_of_the_text_is_python():
    (script,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    compile(script, "mark.py", "exec")
    assert 'Entry("dscp_by_port", {"meta.l4.dst"' in script


def test_the_minutes_of_its_sections_are_those_of_its_title():
    (title,) = re.findall(r"^# .* in (\d+) minutes$", TEXT, re.M)
    sections = re.findall(r"^## \d+\. .* \((\d+) minutes\)$", TEXT, re.M)
    assert sum(map(int, sections)) == int(title)
