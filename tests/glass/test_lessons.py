"""`make glass LESSON=`: every lesson of the page begins in its network, as any other lab does."""

import re
import subprocess

import grpc
import pytest
from vitrine.v1 import router_pb2

from controller.connection import CHANNEL_OPTIONS
from controller.errors import ControllerError
from controller.router_service import RouterStub
from controller.toolchain import ROOT
from labs.errors import LabError
from labs.glass import virtual
from labs.score import replay
from labs.worlds.virtual.server import BINARY
from tests.glass.browser import DEADLINE_S

pytestmark = pytest.mark.skipif(
    not BINARY.exists() or subprocess.run([BINARY, "serve", "--help"]).returncode != 0,
    reason=f"{BINARY} has no `serve`: run make build",
)

LESSONS = sorted(
    re.search(r'^  name: "(.*)",$', file.read_text(), re.MULTILINE).group(1)
    for file in (ROOT / "glass" / "js" / "lessons").glob("*.js")
)
# Its network is a recording: test_beliefs.py.
LESSONS.remove(replay.LESSON)


def described(scene):
    """The router that a scene is about."""
    (router,) = [each for each in scene.routers if each.name == scene.router]
    with grpc.insecure_channel(router.address, options=CHANNEL_OPTIONS) as channel:
        request = router_pb2.DescribeRequest(device_id=router.device_id)
        return RouterStub(channel).describe(request, timeout=DEADLINE_S)


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_begins_in_its_network(lesson, tmp_path):
    with virtual.showing(lesson, tmp_path) as scene:
        assert scene.lesson == lesson
        assert scene.is_driven
        told = described(scene)
        assert scene.port in [each.port for each in told.ports]
        assert told.books.balanced
        # Of the lesson on bufferbloat the line is empty: it starts the download.
        assert lesson == "bufferbloat" or told.books.ports[0].received.packets > 0


def test_a_lesson_has_its_labs_class_rules_and_bursts(tmp_path):
    """Large packets, small ones and a ping, a class each: what its first step says."""
    with virtual.showing("schedulers", tmp_path) as scene:
        (port,) = [each for each in described(scene).ports if each.port == scene.port]
        by_class = [each.counters.offered for each in port.counters.queues]
        assert [round(each.bytes / each.packets) for each in by_class[:2]] == [1514, 66]
        assert by_class[2].packets > 0


def test_labs_without_a_lesson_and_programs_of_their_own_can_be_looked_at(tmp_path):
    with virtual.showing("marking", tmp_path) as scene:
        # Its handout is beside the view.
        assert scene.lesson == "marking"


def test_a_name_that_is_nearly_right_is_suggested(tmp_path):
    with (
        pytest.raises((ControllerError, LabError), match="did you mean shared-buffer"),
        virtual.showing("shared-bufer", tmp_path),
    ):
        pass
