"""Pictures for the projector, from runs that are kept."""

import io

import pytest

from labs import catalogue
from labs.command import conduct
from labs.errors import LabError
from labs.report import projected
from labs.settings import Settings
from labs.world import World


def test_a_picture_is_drawn_from_the_latest_run(tmp_path):
    kind = catalogue.named("bottleneck")
    conduct(kind(Settings(quick=True, world=World.VIRTUAL)), io.StringIO(), results=tmp_path)
    file = projected.write(kind, tmp_path / "pictures", results=tmp_path)
    assert file == tmp_path / "pictures" / "bottleneck.png"
    assert file.read_bytes()[:4] == b"\x89PNG"


def test_a_lab_without_a_run_is_named(tmp_path):
    with pytest.raises(LabError, match="bottleneck"):
        projected.write(catalogue.named("bottleneck"), tmp_path, results=tmp_path)


def test_a_figure_that_is_chosen_is_one_of_its_lab():
    assert set(projected.FIGURE) <= {lab.name for lab in catalogue.LABS}
