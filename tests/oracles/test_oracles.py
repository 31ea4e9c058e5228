"""`compare` notices a difference in each section, and lets instructions vary by one percent."""

import pytest

from tests.oracles import __main__ as oracles
from tests.oracles import sections
from tests.oracles.commands import subcommands
from tests.oracles.compare import LINES_MAX
from tests.oracles.labs import flat
from tests.oracles.scripts import packets, settings
from tests.oracles.sections import NAMES, SectionError
from tests.oracles.sizes import Sizes

COUNTED = "instructions"


@pytest.fixture
def records(tmp_path, monkeypatch):
    """Two equal records with a small file in each section."""
    monkeypatch.delenv("ONLY", raising=False)
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        for name in NAMES:
            file = file_of(folder, name)
            file.parent.mkdir(parents=True)
            file.write_text("first 100000\nsecond 200000\n")
    return old, new


def file_of(folder, name):
    return folder / name / ("path.counts" if name == COUNTED else "said.txt")


def compare(records):
    return oracles.main(["compare", *map(str, records)])


def test_equal_records_are_the_same(records, capsys):
    assert compare(records) == 0
    assert capsys.readouterr().out.count("same") == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_line_is_a_difference(name, records, capsys):
    file_of(records[1], name).write_text("first 100000\nsecond 202001\n")
    assert compare(records) == 1
    out = capsys.readouterr().out
    assert out.count("differs") == 1
    assert "202001" in out
    assert "100000" not in out


@pytest.mark.parametrize("name", ["labs", COUNTED])
def test_a_missing_line_is_a_difference(name, records, capsys):
    file_of(records[1], name).write_text("first 100000\n")
    assert compare(records) == 1
    assert "second" in capsys.readouterr().out


def test_a_missing_file_and_a_missing_section_are_differences(records, capsys):
    file_of(records[0], "labs").unlink()
    file_of(records[1], "worlds").unlink()
    file_of(records[1], "worlds").parent.rmdir()
    assert compare(records) == 1
    out = capsys.readouterr().out
    assert f"said.txt: only in {records[1] / 'labs'}" in out
    assert f"not recorded: {records[1] / 'worlds'}" in out


@pytest.mark.parametrize(
    ("count", "status"), [(201_000, 0), (198_000, 0), (202_001, 1), (197_999, 1)]
)
def test_instructions_may_vary_by_one_percent(count, status, records):
    file_of(records[1], COUNTED).write_text(f"second {count}\nfirst 100000\n")
    assert compare(records) == status


def test_sections_that_neither_record_has_are_left_out(records, tmp_path, capsys):
    for record in records:
        file_of(record, "generated").unlink()
        file_of(record, "generated").parent.rmdir()
    assert compare(records) == 0
    assert f"{'generated':14} not recorded" in capsys.readouterr().out
    assert compare([tmp_path / "nothing", tmp_path / "here"]) == 2


def test_line_ends_count(records):
    file_of(records[1], "labs").write_bytes(b"first 100000\r\nsecond 200000\r\n")
    assert compare(records) == 1


def test_a_long_difference_is_cut(records, capsys):
    lines = "".join(f"{number}\n" for number in range(1000))
    file_of(records[1], "names").write_text(lines)
    assert compare(records) == 1
    out = capsys.readouterr().out
    assert "said.txt: 1002 lines differ" in out
    assert f"... {1002 - LINES_MAX} more lines" in out


def test_only_selects_sections(records, monkeypatch, capsys):
    monkeypatch.setenv("ONLY", "programs labs")
    file_of(records[1], "worlds").write_text("")
    assert compare(records) == 0
    assert "worlds" not in capsys.readouterr().out
    monkeypatch.setenv("ONLY", "programs lab")
    assert compare(records) == 2
    assert "no section 'lab'" in capsys.readouterr().err


def test_a_section_that_fails_leaves_the_earlier_record(tmp_path, monkeypatch, capsys):
    def fails(sizes):
        raise SectionError("no compiler")

    def succeeds(sizes):
        return {"said.txt": [f"{sizes.programs} programs"]}

    monkeypatch.setenv("ONLY", "programs")
    monkeypatch.setenv("COUNT", "7")
    for act, status in ((succeeds, 0), (fails, 2)):
        monkeypatch.setattr("tests.oracles.programs.record", act)
        assert oracles.main(["record", str(tmp_path)]) == status
    assert (tmp_path / "programs" / "said.txt").read_text() == "7 programs\n"
    assert "not recorded: programs" in capsys.readouterr().err


def test_sizes_come_from_the_environment():
    assert Sizes.from_environment({}).programs == 200
    given = Sizes.from_environment(
        {"COUNT": "10000", "SEEDS": "100000", "LABS": "whole", "JOBS": "1"}
    )
    assert given == Sizes(programs=10_000, histories=100_000, has_whole_labs=True, jobs=1)


def test_every_section_has_a_summary():
    assert all(sections.summary(name).endswith(".") for name in NAMES)


def test_subcommands_are_found_in_both_kinds_of_help():
    clap = "Commands:\n  queue  One port\n  serve  Serve\n    more\n  help  Print\n\nOptions:\n"
    assert subcommands(clap) == ["queue", "serve"]
    assert subcommands("usage: course [-h]\n              {list,gradescope-run}\n  ...\n") == [
        "list",
        "gradescope-run",
    ]
    assert subcommands("usage: qos [-h] FILE\n") == []


def test_a_script_is_taken_apart():
    script = "# Why\nadd t k:1 a()\npacket 0 01 0A # one\nexpect 1 01 $\n\nwait\n"
    assert settings(script) == "# Why\nadd t k:1 a()\n\n"
    assert packets(script) == ["0:010A"]


def test_numbers_have_their_names():
    assert list(flat("", {"numbers": {"delay_ms": 1.5}, "bands": [{"claim": "é"}]})) == [
        "numbers.delay_ms 1.5",
        'bands[0].claim "é"',
    ]
