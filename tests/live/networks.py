"""Networks that stay up for all the tests of a file."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.session import Session
from labs.worlds.live import network as lab_network
from tests.topo.examples import loaded
from topo.live import LiveNetwork


@contextlib.contextmanager
def programmed(text: str, folder: Path) -> Iterator[tuple[LiveNetwork, dict[str, Session]]]:
    """The network of a topology's text, its routers programmed; what it leaves is in `folder`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VITRINE_RUN_DIR", str(folder / "run"))
        with lab_network.programmed(loaded(text, folder), logs=folder) as network:
            yield network
