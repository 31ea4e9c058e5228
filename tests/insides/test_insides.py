"""Deciders in Python: they decide as the built-in ones do, and errors are reported.

The comparison is step by step: vitrine-sim sends both the same request, and ends at the first
decision that differs.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SIMULATOR = ROOT / "build" / "bin" / "vitrine-sim"
EXAMPLES = ROOT / "insides" / "examples"
WRONG = Path(__file__).with_name("wrong.py")


def simulate(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(SIMULATOR), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "VITRINE_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)},
        timeout=300,
    )


def fabric(arbiter: str, *more: str) -> subprocess.CompletedProcess[str]:
    return simulate("fabric", "--ports", "8", "--slots", "2000", "--arbiter", arbiter, *more)


def queue(*arguments: str) -> subprocess.CompletedProcess[str]:
    return simulate("queue", "--rate", "10 Mb/s", "--seconds", "3", *arguments)


@pytest.mark.parametrize("pattern", ["uniform", "diagonal"])
@pytest.mark.parametrize("rounds", [1, 4])
@pytest.mark.parametrize("name", ["islip", "pim"])
def test_an_arbiter_decides_as_the_built_in_one(name, rounds, pattern):
    built_in = f"{name}:{rounds}"
    example = f"{EXAMPLES / name}.py:{name.capitalize()}:{rounds}"
    load = ("--load", "0.95", "--pattern", pattern, "--seed", "7")
    compared = fabric(example, "--same-as", built_in, *load)
    assert compared.returncode == 0, compared.stderr
    # And so it comes to the same figures, without anybody beside it.
    alone, own = (
        json.loads(fabric(example, *load).stdout),
        json.loads(fabric(built_in, *load).stdout),
    )
    assert {**alone, "arbiter": ""} == {**own, "arbiter": ""}


@pytest.mark.parametrize("weights", ["1,1", "3,1"])
@pytest.mark.parametrize("name", ["drr", "wfq"])
def test_a_scheduler_decides_as_the_built_in_one(name, weights):
    example = f"{EXAMPLES / name}.py:{name.capitalize()}"
    traffic = ("--loads", "0.7,0.7", "--lengths", "64,1500", "--weights", weights)
    limits = ("--limits", "200")
    compared = queue("--scheduler", example, "--same-as", name, *traffic, *limits)
    assert compared.returncode == 0, compared.stderr
    alone = json.loads(queue("--scheduler", example, *traffic, *limits).stdout)
    own = json.loads(queue("--scheduler", name, *traffic, *limits).stdout)
    assert alone["classes"] == own["classes"]


@pytest.mark.parametrize("name", ["drr", "wfq"])
def test_a_scheduler_hears_of_packets_that_aqm_drops(name):
    example = f"{EXAMPLES / name}.py:{name.capitalize()}"
    traffic = ("--loads", "0.8,0.8", "--lengths", "64,1500", "--aqm", "codel:target=1ms")
    compared = queue("--scheduler", example, "--same-as", name, *traffic)
    assert compared.returncode == 0, compared.stderr
    assert json.loads(compared.stdout)["classes"][1]["dropped_packets"]["aqm"] > 0


@pytest.mark.parametrize("ecn", ["not-ect", "ect0"])
def test_an_aqm_decides_as_the_built_in_one(ecn):
    example = f"{EXAMPLES / 'codel'}.py:CoDel"
    traffic = ("--loads", "1.3", "--arrivals", "onoff:40", f"--ecn={ecn}", "--limits", "400")
    compared = queue("--aqm", example, "--same-as", "codel", *traffic)
    assert compared.returncode == 0, compared.stderr
    figures = json.loads(compared.stdout)["classes"][0]
    assert figures["marked_packets" if ecn == "ect0" else "dropped_packets"]


def test_the_first_difference_is_told():
    told = fabric(f"{EXAMPLES / 'islip'}.py:Islip:1", "--same-as", "round_robin:1")
    assert told.returncode == 2
    fault = json.loads(told.stdout)["fault"]
    # Pointers of round-robin matching move on a grant that is not accepted, too.
    assert "where the built-in one matches" in fault["what"]
    assert fault["decision"] > 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("TwiceTheOutput", "is used twice in one match"),
        ("Unasked", "has no packet for output"),
        ("NoPairs", "match() returned [1, 2], which is no list of pairs"),
        ("Raises", "KeyError: 'the ninth port' (line "),
        ("NeverEnds", "it took longer than 5 s, and was ended"),
        ("Leaves", "its process ended without an answer"),
    ],
)
def test_a_wrong_arbiter_is_told_with_the_instant_and_the_state(name, words):
    told = fabric(f"{WRONG}:{name}")
    assert told.returncode == 2
    fault = json.loads(told.stdout)["fault"]
    assert words in fault["what"]
    assert fault["at_ps"] >= 0 and fault["decision"] >= 1 and fault["asked"].startswith("output ")
    assert words in told.stderr


def test_nothing_hangs_where_a_child_keeps_the_pipe():
    told = fabric(f"{WRONG}:LeavesAChild")
    assert told.returncode == 2
    assert "does not end" in told.stderr


def test_what_a_class_prints_changes_nothing():
    told, quiet = fabric(f"{WRONG}:Talks"), fabric(f"{WRONG}:Quiet")
    assert len(told.stdout.splitlines()) == 1
    line = json.loads(told.stdout)
    # It matches nothing, whatever it says.
    assert line["throughput"] == json.loads(quiet.stdout)["throughput"] == 0
    assert '"throughput": 1.0' in told.stderr


def test_a_wrong_scheduler_and_a_wrong_aqm_are_told():
    told = queue("--loads", "0.7,0.7", "--scheduler", f"{WRONG}:Empty")
    assert "has no packet that may be sent" in json.loads(told.stdout)["fault"]["what"]
    told = queue("--loads", "0.7,0.7", "--scheduler", f"{WRONG}:Lowest", "--same-as", "drr")
    assert "it chose class 0, where the built-in one chooses 1" in told.stderr
    told = queue("--loads", "1.2", "--aqm", f"{WRONG}:MarksEverything")
    assert "it marked a packet that is not ECN-capable" in told.stderr
    told = queue("--loads", "0.5", "--aqm", f"{WRONG}:DropsEverything", "--same-as", "codel")
    assert "it said Drop, where the built-in one says Pass" in told.stderr


@pytest.mark.parametrize(
    ("which", "words"),
    [
        ("nowhere.py:Slip", "there is no file nowhere.py"),
        (f"{WRONG}:Nobody", "has no class Nobody; it has TwiceTheOutput, Unasked"),
        (f"{WRONG}:Empty", "Empty is no Arbiter"),
    ],
)
def test_a_class_that_is_not_there_is_told_before_anything_runs(which, words):
    told = fabric(which)
    assert told.returncode == 2 and told.stdout == ""
    assert words in told.stderr
