"""The Makefile: what it lists and what it leaves to scripts."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from labs import names
from labs.catalogue import LABS
from labs.prompt.up import TAKEN
from labs.settings import KNOWN, OTHERS

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()


def targets():
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    return phony.split()


def test_help_lists_every_target_with_a_comment():
    listing = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    listed = re.findall(r"^  make (\S+) +\S", listing, re.MULTILINE)
    assert listed == targets()


def test_help_is_what_plain_make_says():
    plain = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True)
    listing = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert plain.stdout == listing.stdout


def test_targets_hold_no_logic():
    recipes = re.findall(r"^\t(.*)$", MAKEFILE, re.MULTILINE)
    assert recipes
    for recipe in recipes:
        assert not re.search(r"\b(if|for|while)\b|[;|&]", recipe), recipe


@pytest.mark.parametrize(
    ("target", "written", "meant"),
    [
        ("bench", "QUIK=1", "did you mean QUICK?"),
        ("chaos", "SEEDS=3", "did you mean SEED?"),
        ("check", "NAM=own-aqm", "did you mean NAME?"),
        ("interop", "INN=work", "did you mean IN?"),
        ("vscode", "NAME=p4", "it takes none."),
        ("compare", "C=bufferbloat", "there are: A, B."),
        ("down", "NOW=1", "it takes none."),
        ("exercise", "NAMES=own-aqm", "did you mean NAME?"),
        ("lab", "RAT=5mbit", "did you mean RATE?"),
        ("labs-check", "QUIK=1", "did you mean QUICK?"),
        ("run", "QUEU=30", "did you mean QUEUE?"),
        ("up", "TOP=net.yaml", "did you mean TOPO?"),
        ("glass", "LESSONS=bufferbloat", "did you mean LESSON?"),
        ("metrics", "ROUTR=s1", "did you mean ROUTER?"),
        ("reload", "PROGRAMM=my.p4", "did you mean PROGRAM?"),
        ("report", "RUNS=bufferbloat", "did you mean RUN?"),
        ("results", "LABS=bufferbloat", "did you mean LAB?"),
        ("shell", "ROUTE=s1", "did you mean ROUTER?"),
        ("sweep", "SWEEPS=who-wins", "did you mean SWEEP?"),
        ("top", "ROUTERS=s1", "did you mean ROUTER?"),
        ("trace", "FLOWS=*->*", "did you mean FLOW?"),
    ],
)
def test_a_setting_that_is_misspelt_is_refused_before_anything_is_set_up(target, written, meant):
    name = written.partition("=")[0]
    assert refusal(target, written) == f"vitrine: there is no setting {name}: {meant}"


def refusal(*words):
    """What make says first where it does nothing."""
    # Not as the make that runs the tests has been called.
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    refused = subprocess.run(
        ["make", *words], cwd=ROOT, capture_output=True, text=True, env=environment
    )
    assert refused.returncode != 0
    assert refused.stdout == ""
    return refused.stderr.splitlines()[0]


def test_a_lab_that_is_misspelt_is_refused_before_anything_is_set_up():
    said = refusal("lab", "LAB=bufferblot")
    assert said == "vitrine: there is no lab 'bufferblot': did you mean bufferbloat?"
    assert refusal("lab").startswith("vitrine: which lab? Say make lab LAB=NAME; there are: bdp")
    # By its folder, as Python alone can see it, each has the name that the kit gives it.
    assert names.names() == sorted(lab.name for lab in LABS)


def of_labs():
    """What the Makefile says can stand behind a lab."""
    (names,) = re.findall(r"^OF_LABS := (.*)$", MAKEFILE, re.MULTILINE)
    return names


def test_the_front_door_knows_all_that_labs_and_prompts_take():
    assert set(of_labs().split()) == {*KNOWN, *OTHERS}
    (of_prompt,) = re.findall(r"^up: .*\n\t@vm/takes.sh (.*)$", MAKEFILE, re.MULTILINE)
    assert set(of_prompt.split()) == set(TAKEN)


# `provision` is for a machine on which nothing is yet, and `help` takes anything.
BY_THEMSELVES = {"help", "provision"}


def test_every_target_refuses_what_it_does_not_take():
    recipes = re.findall(r"^([a-z-]+): +##.*\n((?:\t.*\n|if.*\n)*)", MAKEFILE, re.MULTILINE)
    careless = {target for target, recipe in recipes if "vm/takes.sh" not in recipe}
    assert careless == BY_THEMSELVES


def test_what_help_says_that_a_target_takes_it_takes():
    for target, said, taken in re.findall(
        r"^([a-z-]+): +## (.*)\n(?:if.*\n)?\t@vm/takes.sh(.*)$", MAKEFILE, re.MULTILINE
    ):
        settings = set(re.findall(r"\b([A-Z]+[0-9]?)=", said)) - {"GLASS"}
        taken = taken.replace("$(OF_LABS)", of_labs())
        assert settings <= set(taken.split()), target
