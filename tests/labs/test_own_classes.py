"""A class of the user's beside the built-in ones: ARBITER=, SCHEDULER=, AQM=."""

import io

import pytest

from labs import archive, catalogue
from labs.command import assess, conduct, read_recordings
from labs.errors import SettingError
from labs.settings import Settings
from labs.world import World
from topo import deciders

CLASSES = """
from insides.examples.codel import CoDel
from insides.examples.drr import Drr
from insides.examples.islip import Islip

class MyArbiter(Islip): pass
class MyScheduler(Drr): pass
class MyAqm(CoDel): pass
"""
LABS = {
    "crossbar-arbiters": ("arbiter", "MyArbiter"),
    "schedulers": ("scheduler", "MyScheduler"),
    "queue-management": ("aqm", "MyAqm"),
}


@pytest.fixture
def classes(tmp_path):
    file = tmp_path / "my.py"
    file.write_text(CLASSES)
    return file


def settings(name, text, **more):
    taken = catalogue.named(name).takes
    given = {LABS[name][0]: text, "world": "virtual", "quick": True, **more}
    return Settings.chosen(given, taken)


@pytest.mark.parametrize("name", LABS)
def test_a_lab_has_a_run_in_which_the_class_decides_and_its_title_says_so(name, classes):
    kind, own = catalogue.named(name), LABS[name][1]
    lab = kind(settings(name, f"{classes}:{own}"))
    assert lab.heading == f"{kind.title}; with {own} of my.py"
    added = {run.name for run in lab.runs()} - {run.name for run in kind(Settings()).runs()}
    assert added == {"own"}
    assert {decider.name for _, decider in deciders.of(lab.topology("own"))} == {own}
    for run in lab.runs():
        if run.name not in ("own", "simulation"):
            assert list(deciders.of(lab.topology(run.name))) == []


@pytest.mark.parametrize("name", LABS)
def test_a_class_that_cannot_decide_is_refused_before_anything_starts(name, classes):
    with pytest.raises(SettingError, match="such as my.py:MyClass"):
        settings(name, "islip")
    with pytest.raises(SettingError, match="there is no file"):
        settings(name, f"{classes.with_name('other.py')}:MyAqm")
    with pytest.raises(SettingError, match="virtual time only: say --world virtual"):
        settings(name, f"{classes}:{LABS[name][1]}", world="live")


def test_the_built_in_scheduler_again_as_a_class_gets_the_same_shares(classes, tmp_path):
    lab = catalogue.named("schedulers")(settings("schedulers", f"{classes}:MyScheduler"))
    assert lab.settings.world is World.VIRTUAL
    conduct(lab, io.StringIO(), results=tmp_path)
    numbers = assess(lab, read_recordings(lab, archive.find(lab.name, tmp_path))).numbers
    for what in ("small_share", "ping_ms", "line_share"):
        assert numbers[f"own_{what}"] == numbers[f"drr_{what}"], what
    assert (
        "with MyScheduler of my.py" in (tmp_path / lab.name / "latest" / "report.html").read_text()
    )
