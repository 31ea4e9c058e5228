"""The modules that users of the interface import, as their programs import them."""

import importlib

import pytest

from tests.process.switch import ROOT

TYPES = (
    "bm_runtime.simple_pre.ttypes",
    "bm_runtime.simple_pre_lag.ttypes",
    "bm_runtime.standard.ttypes",
    "pswitch_runtime.ttypes",
    "sswitch_runtime.ttypes",
)


@pytest.mark.parametrize("name", TYPES)
def test_all_of_a_module_of_types_is_types_of_the_interface(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """p4-utils imports `struct` of Python first, and then all of `bm_runtime.standard.ttypes`."""
    monkeypatch.syspath_prepend(str(ROOT / "guests"))
    importlib.import_module(name)
    brought: dict[str, object] = {}
    exec(f"from {name} import *", brought)
    del brought["__builtins__"]
    assert brought
    for it in brought.values():
        assert isinstance(it, type), it
        assert it.__module__.endswith("ttypes"), it
