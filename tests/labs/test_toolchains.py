"""Labs with the other toolchain: which say no and why, what is left out, and both side by side."""

from pathlib import Path

import pytest

from controller.toolchain import Toolchain
from labs import catalogue
from labs.archive import Kept
from labs.bufferbloat.lab import Bufferbloat
from labs.definition import Assessment, Band, Figure, Row
from labs.errors import SettingError
from labs.report import comparison
from labs.report.comparison import Side
from labs.settings import Settings
from labs.worlds.live.network import backend_of
from topo.simple_switch import SimpleSwitchBackend
from topo.vitrine_switch import VitrineBackend

P4LANG = Settings(toolchain=Toolchain.P4LANG)


def test_each_toolchain_has_its_switch():
    assert isinstance(backend_of(Toolchain.VITRINE), VitrineBackend)
    assert isinstance(backend_of(Toolchain.P4LANG), SimpleSwitchBackend)


def test_the_settings_take_the_toolchain_from_the_environment():
    assert Settings.chosen({"toolchain": "p4lang", "world": "live"}, ()) == P4LANG
    assert Settings.chosen({}, ()).toolchain is Toolchain.VITRINE


@pytest.mark.parametrize("name", ["bottleneck", "bufferbloat", "sizing-router-buffers"])
def test_labs_of_one_queue_a_port_run_with_either(name):
    assert len(catalogue.named(name)(P4LANG).runs()) > 0


@pytest.mark.parametrize(
    ("name", "lack"),
    [
        ("bdp-tcp-windows", "limited in bytes"),
        ("hol-blocking", "an input stage"),
        ("link-sharing", "weights"),
        ("router-buffer-size", "limited in bytes"),
    ],
)
def test_a_lab_that_needs_our_switch_says_so_before_it_starts(name, lack):
    with pytest.raises(SettingError, match=f"{name} does not run with --toolchain p4lang.*{lack}"):
        catalogue.named(name)(P4LANG)


def test_bufferbloat_leaves_out_what_needs_weights_and_says_so():
    ours, theirs = Bufferbloat(Settings()), Bufferbloat(P4LANG)
    assert [run.name for run in theirs.runs()] == [run.name for run in ours.runs()][:2]
    assert ours.left_out == ()
    (sentence,) = theirs.left_out
    assert "simple_switch has no weights" in sentence


# ---- side by side --------------------------------------------------------------------------------


class Drawn(Bufferbloat):
    def figures(self, recordings):
        return [Figure("compared", "Packets that wait.", lambda canvas: None)]


def side(toolchain, *rows, remarks=()):
    assessment = Assessment(
        rows, [Band("ping, long queue", 500, least=400, unit="ms")], {}, remarks
    )
    kept = Kept(Path("out/bufferbloat/2026-11-21-1200-default"), {"machine": {"kit": "0123"}})
    return Side(Drawn(Settings(toolchain=toolchain)), kept, assessment, {})


SIDES = [
    side(
        Toolchain.VITRINE,
        Row("ping", "466 ms", "up to 827 ms", "537 ms"),
        Row("two queues", "20 ms", "", "25 ms"),
    ),
    side(
        Toolchain.P4LANG,
        Row("ping", "466 ms", "up to 827 ms", "540 ms"),
        remarks=("Port 2: 1,500,000 b/s became 124 packets a second.",),
    ),
]


def test_rows_are_joined_by_what_is_measured_and_what_is_left_out_is_empty():
    assert comparison.table(SIDES) == [
        ["", "the original", "theory", "vitrine-switch", "simple_switch_grpc"],
        ["ping", "466 ms", "up to 827 ms", "537 ms", "540 ms"],
        ["two queues", "20 ms", "", "25 ms", ""],
    ]


def test_where_settings_differ_each_side_stands_beside_its_own_theory():
    sides = [
        side(Toolchain.VITRINE, Row("queue, highest", "", "50 packets", "50")),
        side(Toolchain.P4LANG, Row("queue, highest", "", "10 packets", "9")),
    ]
    # Neither side has an original, so there is no column for it.
    assert comparison.table(sides) == [
        [
            "",
            "theory, vitrine-switch",
            "vitrine-switch",
            "theory, simple_switch_grpc",
            "simple_switch_grpc",
        ],
        ["queue, highest", "50 packets", "50", "10 packets", "9"],
    ]


def test_the_page_names_both_switches_and_says_what_each_number_rests_on():
    page = comparison.page(SIDES)
    switches = '<th scope="col">vitrine-switch</th><th scope="col">simple_switch_grpc</th>'
    # Where a long name may go on in the next line does not matter here.
    assert switches in page.replace("<wbr>", "")
    assert "simple_switch_grpc: Port 2: 1,500,000 b/s became 124 packets a second." in page
    assert page.count("<img ") == 2
