"""The exercise watch-the-queue keeps a submission's program within bounds, wherever it is run."""

import tempfile
from pathlib import Path

import pytest

from course import catalogue
from course.exercise import SOLUTIONS
from course.grading.jailed import JailedRunner
from course.judge import judge
from course.process import Runner
from labs.score import steps

EXERCISE = catalogue.find("watch-the-queue")
RIGHT = (SOLUTIONS / EXERCISE.name / "right" / "watch.p4").read_text()
DESCRIBED = "describe(meta, standard_metadata);\n"


@pytest.fixture
def folder():
    """A folder that a program without rights may read."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def story(folder, text, case, runner=None):
    (folder / "watch.p4").write_text(text)
    judgement = judge(
        EXERCISE, folder, seed="test", runner=runner or Runner(), secret="s", only=[case]
    )
    (verdict,) = judgement.verdicts
    return verdict.story


def with_line(line):
    assert DESCRIBED in RIGHT
    return RIGHT.replace(DESCRIBED, f"{DESCRIBED}        {line}\n")


def test_in_the_jail_the_includes_of_the_start_are_there():
    runner = JailedRunner()
    runner.check()
    assert story_in_jail(RIGHT, "quiet", runner) is None


@pytest.mark.parametrize("beside", ["postcards.p4", "burstradar.p4"])
def test_in_the_jail_a_program_cannot_include_systems_of_the_scoreboard(beside):
    text = f'#include "{beside}"\n'
    refused = story_in_jail(text, "small", JailedRunner())
    assert "vitrine-p4c compiled" in refused.done and beside in " ".join(refused.way)


def story_in_jail(text, case, runner):
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        return story(Path(name), text, case, runner)


def test_a_packet_that_goes_round_is_a_packet_that_never_left(folder):
    refused = story(folder, with_line("recirculate_preserving_field_list(0);"), "goes-on")
    assert "and was not sent" in refused.came


def test_a_program_that_copies_copies_is_ended_with_a_sentence(folder, monkeypatch):
    monkeypatch.setattr(steps, "STEPS_MAX", 60_000)
    copies = """
control egress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    register<bit<16>>(1) watched_port;
    apply {
        bit<16> port;
        watched_port.read(port, 0);
        send_report();
    }
}
"""
    refused = story(folder, rewired(copies), "goes-on")
    assert "more than 60000 steps" in refused.came
    assert "copied again and again" in refused.because


def test_registers_of_many_megabytes_are_not_loaded(folder):
    text = RIGHT.replace("register<bit<32>>(1) deepest", "register<bit<32>>(1 << 30) deepest")
    assert text != RIGHT
    assert "did not load it" in story(folder, text, "found").came


def test_a_program_without_the_register_of_the_controller_is_refused(folder):
    egress = """
control egress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply { send_report(); }
}
"""
    refused = story(folder, rewired(egress), "found")
    assert "main.p4" in refused.done and refused.came == "Registers: none."


def rewired(egress):
    """A program with wiring of its own for main.p4's."""
    return (
        '#include "base.p4"\n'
        + egress
        + """
control ingress(inout headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    apply { routing.apply(hdr, standard_metadata); }
}
V1Switch(parse_packet(), verify_checksums(), ingress(), egress(), update_checksums(),
         deparse_packet()) main;
"""
    )
