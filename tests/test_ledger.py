"""The ledger: every run is a line, and totals are sums of them."""

import pytest

from tests import ledger


@pytest.fixture
def written(tmp_path, monkeypatch):
    file = tmp_path / "out" / "ledger"
    monkeypatch.setattr(ledger, "LEDGER", file)
    return file


def test_runs_add_up(written, capsys):
    assert ledger.main(["add", "fuzz stf", "1000", "10"]) == 0
    assert ledger.main(["add", "fuzz stf", "3000", "10"]) == 0
    assert ledger.main(["add", "fuzz json", "500", "5"]) == 0
    assert ledger.main(["add", "generated programs", "36", "3600"]) == 0
    assert len(written.read_text().splitlines()) == 4
    assert ledger.main([]) == 0
    rows = {line[:32].strip(): line[32:].split() for line in capsys.readouterr().out.splitlines()}
    assert rows["fuzz stf"] == ["4,000", "0.01", "200"]
    assert rows["all fuzzers"] == ["4,500", "0.01", "180"]
    assert rows["generated programs"] == ["36", "1.00", "0"]


def test_a_line_is_read_as_it_was_written(written):
    ledger.add("fuzz stf, address sanitizer", 7, 1.4)
    (run,) = ledger.runs()
    assert (run.what, run.count, run.took_s) == ("fuzz stf, address sanitizer", 7, 1.0)
    assert ledger.Run.parse(f"{run.line()}\n") == run


def test_nothing_has_run_yet(written):
    assert ledger.runs() == []
    assert ledger.table([]).split() == ["in", "all", "hours", "per", "second"]
