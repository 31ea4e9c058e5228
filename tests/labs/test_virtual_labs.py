"""Every lab in the virtual world: its bands are met, without root, and twice the same.

`make test` runs each lab once: at full length, or shortened where the whole takes ten seconds of a
processor or more. The nightly run has all labs both ways.
"""

import base64
import gzip
import html
import io
import json

import pytest
from vitrine.v1 import router_pb2

from labs import archive, catalogue
from labs.command import assess, conduct, conduct_both, read_recordings
from labs.definition import Verdict
from labs.glass import tape
from labs.report import results
from labs.settings import Settings
from labs.world import World

WHOLE = Settings(world=World.VIRTUAL)
QUICK = Settings(quick=True, world=World.VIRTUAL)
# A run that is not what its name says: the bands must notice.
EXCHANGED = {
    "crossbar-arbiters": ("islip", "lqf"),
    "schedulers": ("drr", "wrr"),
    "committed-rates": ("aware", "blind"),
    "queue-management": ("codel", "tail"),
    "shared-buffer": ("one", "two"),
    "load-balancing": ("aware", "ecmp"),
    "marking": ("dctcp", "reno"),
    "speedup": ("two", "one"),
    "square-root-rule": ("flows-40-part-100", "flows-40-part-25"),
    "congestion-controls": ("buffer-8", "buffer-1"),
}


# Ten seconds of a processor at full length, or more.
LONG = frozenset(
    (
        "congestion-controls",
        "crossbar-arbiters",
        "hol-blocking",
        "link-sharing",
        "load-balancing",
        "router-buffer-size",
        "speedup",
        "square-root-rule",
    )
)


def labs_but(nightly):
    """Every lab; in `make test` none of these."""
    names = [lab.name for lab in catalogue.LABS]
    return pytest.mark.parametrize(
        "name",
        [
            pytest.param(each, marks=pytest.mark.nightly) if each in nightly else each
            for each in names
        ],
    )


@labs_but(LONG)
def test_the_bands_of_a_lab_are_met(name, tmp_path):
    check_bands(name, WHOLE, tmp_path)


@labs_but({lab.name for lab in catalogue.LABS} - LONG)
def test_the_bands_of_a_shortened_lab_are_met(name, tmp_path):
    check_bands(name, QUICK, tmp_path)


def check_bands(name, settings, results):
    told = io.StringIO()
    assessment = conduct(catalogue.named(name)(settings), told, results=results)
    missed = {band.claim for band in assessment.bands if band.verdict is Verdict.NOT_MET}
    assert not missed, told.getvalue()
    report = (results / name / "latest" / "report.html").read_text()
    assert html.escape(World.VIRTUAL.sentence) in report
    if name in EXCHANGED:
        one, other = EXCHANGED[name]
        lab = catalogue.named(name)(settings)
        recordings = read_recordings(lab, archive.find(name, results))
        exchanged = assess(lab, {**recordings, one: recordings[other]})
        assert exchanged.count(Verdict.NOT_MET) > 0


def test_a_report_has_the_insides_of_its_routers_beside_it(tmp_path):
    lab = catalogue.named("bottleneck")(QUICK)
    conduct(lab, io.StringIO(), results=tmp_path)
    latest = tmp_path / lab.name / "latest"
    report = (latest / "report.html").read_text()
    for run in lab.runs():
        page = f"data/{run.name}/inside.html"
        assert f'href="{page}"' in report
        text = (latest / page).read_text()
        packed = text.partition('id="tape">')[2].partition("<")[0]
        entries = list(tape.read(gzip.decompress(base64.b64decode(packed))))
        kinds = {kind for kind, _, _ in entries}
        assert {tape.DESCRIBE, tape.SAMPLES, tape.PACKETS, tape.HOSTS} <= kinds
        # Time waits for the listener: the first packet is reported as it comes.
        told = [message for kind, _, message in entries if kind == tape.PACKETS]
        first = next(
            event.packet
            for message in map(router_pb2.WatchResponse.FromString, told)
            for event in message.events
            if event.HasField("packet")
        )
        assert first.HasField("received")


def test_a_run_is_the_same_again_and_another_seed_is_another_one(tmp_path):
    kind = catalogue.named("bottleneck")
    for _ in range(2):
        conduct(kind(QUICK), io.StringIO(), results=tmp_path)
    first, again = sorted((tmp_path / kind.name).glob("2*"))
    files = sorted(path.relative_to(first) for path in first.rglob("data/**/*.csv"))
    assert len(files) > 3
    for file in files:
        assert (first / file).read_bytes() == (again / file).read_bytes(), file
    seeds = Settings(quick=True, world=World.VIRTUAL, seeds=2)
    conduct(kind(seeds), io.StringIO(), results=tmp_path)
    kept = (tmp_path / kind.name / "latest" / "seeds" / "2.json").read_text()
    other = results.assessment_of(json.loads(kept))
    assert other.bands


def test_both_worlds_need_one_settings_each(tmp_path):
    # Two virtual sides stand for the two worlds where there is no live one.
    settings = [QUICK, Settings(quick=True, world=World.VIRTUAL, queue_packets=20)]
    told = io.StringIO()
    conduct_both(catalogue.named("bottleneck"), settings, told, results=tmp_path)
    (page,) = (tmp_path / "bottleneck").glob("compared-*/report.html")
    assert "--queue 20" in page.read_text()
