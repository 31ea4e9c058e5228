"""The place of psa_switch: its compiler, its name, its flags and its service over Thrift."""

from __future__ import annotations

import runpy
import subprocess
from pathlib import Path

import pytest

from tests.process.switch import BINARIES, PROMPT_S, ROOT, free_port, running
from tests.thrift.switch import Standard, bmpy_utils
from topo import wait

from pswitch_runtime import PsaSwitch  # isort: skip

PROGRAM = ROOT / "tests/psa/ways.p4"


def link(folder: Path, name: str, program: str) -> Path:
    """One of the kit's programs under another name, as build/dropin has it."""
    made = folder / name
    made.symlink_to((BINARIES / program).resolve())
    return made


@pytest.mark.parametrize("name", ["p4c", "p4c-bm2-psa"])
def test_a_psa_program_compiles_and_runs_under_the_originals_names(
    name: str, tmp_path: Path
) -> None:
    compiler = link(tmp_path, name, "vitrine-p4c")
    switch = link(tmp_path, "psa_switch", "vitrine-switch")
    json = tmp_path / "ways.json"
    output = tmp_path if name == "p4c" else json
    flags = ["--target", "bmv2", "--arch", "psa", "-I", ROOT / "p4src/include", "-o", output]
    subprocess.run([compiler, *flags, PROGRAM], check=True, timeout=60)
    port = free_port()
    # No address for gRPC: psa_switch then takes any, so that many run side by side.
    line = ("--thrift-port", str(port), str(json))
    with running(*line, port=port, log=tmp_path / "switch.log", program=switch):
        services = [("standard", Standard.Client), ("psa_switch", PsaSwitch.Client)]
        standard, psa = bmpy_utils.thrift_connect("127.0.0.1", port, services)
        # The door is open a moment before the program is in force.
        wait.until(
            lambda: standard.bm_get_config() == json.read_text(), "the program in force", PROMPT_S
        )
        assert psa.mirroring_mapping_add(5, 6) == 1
        assert psa.mirroring_mapping_get_egress_port(5) == 6
        assert psa.get_time_elapsed_us() > 0


@pytest.mark.parametrize("switch", ["psa_switch", "simple_switch"])
def test_a_prompt_asks_for_the_service_that_its_switch_has(switch: str) -> None:
    # The P4 project's psa_switch answers to its own name alone.
    prompt = runpy.run_path(str(ROOT / "guests/simple_switch_CLI"))
    name, client = prompt["own_service"](f"{switch}_CLI")
    assert name == switch
    assert client.__module__.startswith(
        {"psa_switch": "pswitch", "simple_switch": "sswitch"}[switch]
    )
