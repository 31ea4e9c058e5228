"""The same lab with other seeds: what differs is shown, and bands judge the median."""

import json

from labs import repeat
from labs.definition import Assessment, Band, Row, Verdict
from labs.machine import Machine
from labs.report import html, results, table
from labs.settings import Settings
from labs.world import World
from tests.first_lab import Bottleneck


def found(queue, share):
    return Assessment(
        [Row("queue", "", "50 packets", queue), Row("ping", "", "", "45 ms")],
        [Band("the line is used", share, least=0.9)],
        {"share": share},
    )


FIRST, OTHERS = found("48 packets", 0.85), [found("47 packets", 0.95), found("48 packets", 0.92)]


def test_what_the_other_seeds_measured_stands_beside_where_it_differs():
    queue, ping = repeat.combined(FIRST, OTHERS).rows
    assert (queue.measured, queue.other_seeds) == ("48 packets", "47 packets; 48 packets")
    assert ping.other_seeds == ""
    head, *lines = table.columns([queue, ping])
    assert head == ["", "theory", "measured", "other seeds"]
    assert lines[1] == ["ping", "", "45 ms", ""]


def test_a_band_judges_the_median_and_shows_the_spread():
    combined = repeat.combined(FIRST, OTHERS)
    (band,) = combined.bands
    assert band.verdict is Verdict.MET
    assert str(band) == "the line is used: 0.92 (0.85 to 0.95), required at least 0.9"
    assert "0.92 (0.85 to 0.95)" in html.bands(combined)
    assert "Everything ran 3 times" in combined.remarks[0]
    # Numbers are those of the first seed, as figures are.
    assert combined.numbers == {"share": 0.85}


def test_one_seed_changes_nothing():
    assert repeat.combined(FIRST, []) is FIRST


def test_what_a_seed_found_is_read_again_in_the_order_of_seeds(tmp_path):
    lab = Bottleneck(Settings(world=World.VIRTUAL, seeds=3))
    folder = tmp_path / repeat.FOLDER
    folder.mkdir()
    for seed, assessment in ((10, OTHERS[1]), (2, OTHERS[0])):
        text = results.document(lab, assessment, Machine.this_one())
        (folder / f"{seed}.json").write_text(text)
    assert [each.numbers for each in repeat.kept(tmp_path)] == [{"share": 0.95}, {"share": 0.92}]
    combined = repeat.combined(FIRST, repeat.kept(tmp_path))
    text = results.document(lab, combined, Machine.this_one())
    (band,) = results.assessment_of(json.loads(text)).bands
    assert band.every_seed == (0.85, 0.95, 0.92)
