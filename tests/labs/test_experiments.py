"""Experiments beside a lab keep what they have found, however they end."""

import json

import pytest

from labs.errors import LabError
from labs.experiment import Experiment


@pytest.fixture
def kept(tmp_path):
    return Experiment("bottleneck", "windows", "make lab ...", ["buffer", "use"], results=tmp_path)


def rows(*found, error=None):
    yield from found
    if error is not None:
        raise error


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (None, 0, "Kept in "),
        (LabError("the disk is full."), 1, "vitrine: the disk is full.\n"),
        (KeyboardInterrupt(), 130, "vitrine: interrupted; the rows until then are kept in "),
    ],
)
def test_the_rows_until_its_end_are_kept_and_it_ends_with_a_sentence(
    kept, capsys, error, status, said
):
    assert kept.conducted(rows(["1 BDP", "98 %"], ["2 BDP", "99 %"], error=error)) == status
    out, err = capsys.readouterr()
    assert said in out + err
    assert json.loads(kept.file.read_text())["table"][1:] == [["1 BDP", "98 %"], ["2 BDP", "99 %"]]


def test_one_that_is_interrupted_at_once_keeps_nothing(kept, capsys):
    assert kept.conducted(rows(error=KeyboardInterrupt())) == 130
    assert "interrupted; nothing is kept." in capsys.readouterr().err
    assert not kept.file.exists()
