"""The measurements in handouts are those of the kept runs and experiments beside them."""

import json
import re

import pytest

from labs import catalogue, experiment, handout
from labs.archive import Kept
from labs.errors import LabError
from labs.experiment import Experiment
from labs.machine import Machine
from labs.settings import Settings
from tests.first_lab import Bottleneck

EVERY_LAB = pytest.mark.parametrize("lab", catalogue.COURSE, ids=lambda lab: lab.name)
KIT = Machine("2026-11-24 12:00 UTC", "Linux 6.18", "a processor", 2, "0123456789ab")
RESULTS = {
    "lab": "bottleneck",
    "machine": KIT.document(),
    "settings": Settings(seconds=10).document(),
    "ended_early": "",
    "remarks": [],
    "disturbances": [],
    "bands": [],
    "table": [{"what": "queue", "original": "", "theory": "", "measured": "7 packets"}],
    "numbers": {
        "received_bps": 9.56e6,
        "sent_bps": 10e6,
        "line_share": 0.4077,
        "ping_ms": 43.61,
        "wait_ms": 1234.4,
    },
}
PAGE = """# A lab

It got <!--= received_bps -->nothing yet<!--/-->, or <!--= line_share -->?<!--/--> of the line.

<!-- measured: none -->
<!-- end of measured -->
"""


def folder(lab):
    return handout.ROOT / "labs" / lab.folder_name()


def page(lab):
    return (folder(lab) / "README.md").read_text()


@EVERY_LAB
def test_the_tables_in_a_handout_are_those_of_the_files_it_names(lab):
    shown = handout.parts(lab)
    assert shown
    for file, text in shown:
        kept = json.loads((folder(lab) / file).read_text())
        assert kept["lab"] == lab.name
        assert text == handout.part(file, kept)
    for file, text in handout.experiments(lab):
        kept = json.loads((folder(lab) / file).read_text())
        assert kept["lab"] == lab.name
        assert text == handout.experiment_part(file, kept)
    # And nothing is kept that no handout shows.
    named = {file for file, _ in (*shown, *handout.experiments(lab))}
    assert {f"measured/{file.name}" for file in (folder(lab) / "measured").iterdir()} == named


@EVERY_LAB
def test_the_numbers_in_its_sentences_are_those_of_the_kept_runs(lab):
    assert page(lab) == handout.with_numbers(page(lab), folder(lab))


@EVERY_LAB
def test_what_a_handout_shows_was_measured_with_a_kit_that_others_can_have(lab):
    for file, _ in (*handout.parts(lab), *handout.experiments(lab)):
        kit = json.loads((folder(lab) / file).read_text())["machine"]["kit"]
        assert re.fullmatch("[0-9a-f]{12}", kit), f"{file} names {kit}"


# ---- filling one in ------------------------------------------------------------------------------


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A repository with the handout of one lab."""
    monkeypatch.setattr(handout, "ROOT", tmp_path)
    place = tmp_path / "labs" / "bottleneck"
    place.mkdir(parents=True)
    (place / "README.md").write_text(PAGE)
    return place


def kept(tmp_path, name="2026-11-24-1200-duration-10", **changes):
    place = tmp_path / "out" / "bottleneck" / name
    place.mkdir(parents=True)
    results = {**RESULTS, **changes}
    (place / "results.json").write_text(json.dumps(results))
    return Kept(place, results)


def test_a_run_fills_its_table_and_the_numbers_in_sentences(shelf, tmp_path):
    handout.fill(Bottleneck, kept(tmp_path))
    text = (shelf / "README.md").read_text()
    assert "It got <!--= received_bps -->9.56 Mb/s<!--/-->, or" in text
    assert "<!--= line_share -->40.8 %<!--/--> of the line" in text
    assert "| queue | 7 packets |" in text
    # Another run with the same settings takes its place.
    numbers = {**RESULTS["numbers"], "received_bps": 9.4e6}
    handout.fill(Bottleneck, kept(tmp_path, "2026-11-25-0900-duration-10", numbers=numbers))
    assert "9.4 Mb/s" in (shelf / "README.md").read_text()
    assert [file.name for file in (shelf / "measured").iterdir()] == [
        "2026-11-25-0900-duration-10.json"
    ]


def test_a_number_may_be_of_a_run_with_other_settings(shelf, tmp_path):
    text = PAGE + "<!-- measured: none -->\n<!-- end of measured -->\n"
    (shelf / "README.md").write_text(text)
    handout.fill(Bottleneck, kept(tmp_path))
    text = (shelf / "README.md").read_text()
    text += "There it was <!--= rate-5mbit: received_bps -->?<!--/-->."
    (shelf / "README.md").write_text(text)
    slow = {
        "settings": Settings(rate_bps=5_000_000).document(),
        "numbers": {"received_bps": 4.78e6},
    }
    handout.fill(Bottleneck, kept(tmp_path, "2026-11-24-1300-rate-5mbit", **slow))
    text = (shelf / "README.md").read_text()
    assert "It got <!--= received_bps -->9.56 Mb/s<!--/-->" in text
    assert "<!--= rate-5mbit: received_bps -->4.78 Mb/s<!--/-->" in text
    assert len(list((shelf / "measured").iterdir())) == 2


def test_a_run_with_settings_that_the_handout_does_not_show_replaces_none(shelf, tmp_path):
    handout.fill(Bottleneck, kept(tmp_path))
    before = (shelf / "README.md").read_text()
    slow = {"settings": Settings(rate_bps=5_000_000).document()}
    with pytest.raises(LabError, match="shows no run rate-5mbit. Where its table is to stand"):
        handout.fill(Bottleneck, kept(tmp_path, "2026-11-24-1300-rate-5mbit", **slow))
    assert (shelf / "README.md").read_text() == before
    assert [file.name for file in (shelf / "measured").iterdir()] == [
        "2026-11-24-1200-duration-10.json"
    ]


@pytest.mark.parametrize("kit", ["0123456789ab-dirty", "unknown"])
def test_a_kit_that_is_no_commit_is_refused_and_nothing_changes(shelf, tmp_path, kit):
    machine = {**RESULTS["machine"], "kit": kit}
    with pytest.raises(LabError, match="Commit your changes, run the lab again"):
        handout.fill(Bottleneck, kept(tmp_path, machine=machine))
    assert (shelf / "README.md").read_text() == PAGE
    assert not (shelf / "measured").exists()


def test_a_number_that_the_run_does_not_have_is_named(shelf, tmp_path):
    with pytest.raises(LabError, match="has no number received_bps"):
        handout.fill(Bottleneck, kept(tmp_path, numbers={"line_share": 0.4}))
    assert (shelf / "README.md").read_text() == PAGE
    assert not list((shelf / "measured").iterdir())


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("received_bps", "9.56 Mb/s"),
        ("line_share", "40.8 %"),
        ("ping_ms", "43.6 ms"),
        ("wait_ms", "1,234 ms"),
        ("sent_bps / received_bps", "1"),
    ],
)
def test_a_number_stands_with_the_unit_that_its_name_ends_with(what, words):
    assert handout.number(what, RESULTS["numbers"]) == words


def test_an_experiment_keeps_each_row_and_fills_its_own_table(shelf, tmp_path):
    kept = Experiment("bottleneck", "sizes", "python -m sizes", ["size", "use"], tmp_path, KIT)
    kept.add(["1", "75 %"])
    assert json.loads(kept.file.read_text())["table"] == [["size", "use"], ["1", "75 %"]]
    kept.add(["2", "96 %"])
    with pytest.raises(LabError, match="no place for the experiment"):
        handout.fill_experiment(kept.file)
    place = "<!-- experiment: measured/sizes.json -->\n<!-- end of experiment -->\n"
    (shelf / "README.md").write_text(PAGE + place)
    handout.fill_experiment(kept.file)
    text = (shelf / "README.md").read_text()
    assert text.startswith(PAGE) and "| 2    | 96 % |" in text
    content = json.loads((shelf / "measured" / "sizes.json").read_text())
    assert experiment.markdown(content) in text
    assert "`python -m sizes`\n2026-11-24 12:00 UTC, Linux 6.18, 2 cores" in text


def test_a_number_of_an_experiment_stands_in_a_sentence(shelf, tmp_path):
    kept = Experiment("bottleneck", "sizes", "python -m sizes", ["size", "use"], tmp_path, KIT)
    kept.numbers["beyond_packets"] = 203
    kept.add(["1", "75 %"])
    place = "<!-- experiment: measured/sizes.json -->\n<!-- end of experiment -->\n"
    sentence = "So <!--= sizes: beyond_packets -->?<!--/--> packets wait.\n"
    (shelf / "README.md").write_text(place + sentence)
    handout.fill_experiment(kept.file)
    text = (shelf / "README.md").read_text()
    assert "So <!--= sizes: beyond_packets -->203<!--/--> packets wait." in text
    (shelf / "README.md").write_text(text.replace("beyond_packets", "beyond_s"))
    with pytest.raises(LabError, match="has no number beyond_s"):
        handout.fill_experiment(kept.file)


def test_an_experiment_that_fails_keeps_the_rows_before_and_says_why(tmp_path, capsys):
    kept = Experiment("bottleneck", "sizes", "python -m sizes", ["size", "use"], tmp_path, KIT)

    def rows():
        yield ["1", "75 %"]
        raise LabError("h1 has gone.")

    assert kept.conducted(rows()) == 1
    assert json.loads(kept.file.read_text())["table"] == [["size", "use"], ["1", "75 %"]]
    told = capsys.readouterr()
    assert (told.out, told.err) == ("1 | 75 %\n", "vitrine: h1 has gone.\n")
