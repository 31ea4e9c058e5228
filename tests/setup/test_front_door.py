"""The Makefile and the command: what they list, what they refuse, and what old targets say."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from labs import names
from labs.catalogue import LABS
from labs.settings import KNOWN, OTHERS
from vitrine.command import make, tree

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()


def targets():
    # The second line of this kind is about targets that are gone.
    return re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE).group(1).split()


def test_help_lists_every_target_with_a_comment():
    listing = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    listed = re.findall(r"^  make (\S+) +\S", listing, re.MULTILINE)
    assert sorted(listed) == sorted(targets())
    assert len(listed) <= 16


def test_help_is_what_plain_make_says():
    plain = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True)
    listing = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert plain.stdout == listing.stdout


def test_targets_hold_no_logic():
    recipes = re.findall(r"^\t(.*)$", MAKEFILE, re.MULTILINE)
    assert recipes
    for recipe in recipes:
        assert not re.search(r"\b(if|for|while)\b|[;|&]", recipe), recipe


def said(*words, status=2):
    """The first message of a command that does nothing."""
    # Not as the make that runs the tests has been called.
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    refused = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert refused.returncode == status, refused.stderr
    assert refused.stdout == ""
    return refused.stderr.splitlines()[0]


@pytest.mark.parametrize(
    ("target", "written", "meant"),
    [
        ("bench", "QUIK=1", "did you mean QUICK?"),
        ("lab", "RAT=5mbit", "did you mean RATE?"),
        ("run", "QUEU=30", "did you mean QUEUE?"),
        ("up", "TOP=net.yaml", "did you mean TOPO?"),
        ("down", "NOW=1", "it takes none."),
        ("check", "NAME=own-aqm", "this target takes none."),
        ("lint", "QUICK=1", "this target takes none."),
    ],
)
def test_a_setting_that_is_misspelt_is_refused_before_anything_is_set_up(target, written, meant):
    name = written.partition("=")[0]
    assert said("make", target, written) == f"vitrine: there is no setting {name}: {meant}"


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("rnu", "there is no command 'rnu': did you mean run?"),
        ("run --rat 5mbit", "vitrine run has no option --rat: did you mean --rate?"),
        ("run bufferblot", "there is no lab 'bufferblot': did you mean bufferbloat?"),
        ("dev choas", "there is no command 'dev choas': did you mean chaos?"),
        ("compare one", "the following arguments are required: RUN"),
        (
            "glass bufferbloat",
            "vitrine glass: 'bufferbloat' is one word too many; "
            "did you mean vitrine glass --lesson bufferbloat?",
        ),
        ("down now", "vitrine down: 'now' is one word too many; see vitrine down --help"),
    ],
)
def test_a_misspelt_word_is_refused_with_what_was_meant(words, meant):
    # The distribution's Python, which has no package of the kit, as in a fresh clone.
    environment = ["env", f"PYTHONPATH={ROOT}", "PYTHONDONTWRITEBYTECODE=1"]
    bare = [*environment, "/usr/bin/python3", "-S", "-m", "vitrine.command.door"]
    assert said(*bare, *words.split()).startswith(f"vitrine: {meant}")


def test_a_lab_that_is_misspelt_is_refused_before_anything_is_set_up():
    refused = said("make", "lab", "LAB=bufferblot")
    assert refused == "vitrine: there is no lab 'bufferblot': did you mean bufferbloat?"
    # By its folder, as Python alone can see it, each has the name that the kit gives it.
    assert names.names() == sorted(lab.name for lab in LABS)


def options(name):
    return {each.key: each for each in tree.named(name).options}


def test_run_has_every_option_of_a_lab():
    assert {*KNOWN, *OTHERS} <= set(options("run"))
    for lab in LABS:
        assert lab.takes <= set(KNOWN)


def test_every_command_has_a_summary_and_every_option_a_help():
    found = [each for group in tree.loaded().values() for each in group] + tree.DEVELOP
    assert len({each.name for each in found}) >= len(found) - 3
    for each in found:
        assert each.summary and not each.summary.endswith("."), each.name
        for option in each.options:
            assert option.help, (each.name, option.words)


def test_one_word_means_one_thing_in_every_command():
    """An option of one name is declared once; where a help differs, its kind does not."""
    kinds = {}
    for group in tree.loaded().values():
        for each in group:
            for option in each.options:
                if not option.is_positional:
                    kinds.setdefault(option.key, set()).add(
                        (option.words, option.is_switch, option.more.get("metavar"))
                    )
    assert {key: kind for key, kind in kinds.items() if len(kind) > 1} == {}


@pytest.mark.parametrize(
    ("target", "written", "words"),
    [
        ("run", {"RATE": "5mbit", "QUICK": "1"}, ["--rate", "5mbit", "--quick"]),
        ("run", {"LAB": "bottleneck", "QUICK": "0"}, ["bottleneck"]),
        ("run", {"NAME": "bottleneck", "GLASS": "off"}, ["bottleneck", "--no-glass"]),
        ("run", {"GLASS": "0.0.0.0", "CC": "bbr"}, ["--share", "0.0.0.0", "--congestion", "bbr"]),
        ("up", {"TOPO": "net.yaml", "WORLD": "virtual"}, ["net.yaml", "--world", "virtual"]),
    ],
)
def test_what_stands_behind_a_target_becomes_options(target, written, words):
    found = make.words(tree.named(target), written)
    assert sorted(found) == sorted(words)


@pytest.mark.parametrize(
    ("written", "now"),
    [
        ("top ROUTER=s1", "vitrine top --router s1"),
        ("trace FORM=json COUNT=2", "vitrine trace --count 2 --json"),
        ("compare A=one B=two", "vitrine compare one two"),
        ("sweep SWEEP=who-wins SCHEDULER=tcp://h:1", "vitrine sweep who-wins --cluster tcp://h:1"),
        ("grade NAME=own-aqm IN=in OUT=out", "vitrine grade own-aqm in out"),
        ("handout RUN=bufferbloat", "vitrine dev handout bufferbloat"),
        # There is a folder of this name.
        ("glass", "vitrine glass"),
        ("labs-check WORLD=virtual", "vitrine run --all --world virtual"),
        ("soak HOURS=8", "vitrine dev soak --duration 8h"),
        (
            "fuzz TIME=10min SANITIZER=address",
            "vitrine dev fuzz --sanitizer address --duration 10min",
        ),
        ("provision", "vm/provision.sh"),
    ],
)
def test_an_old_target_says_the_new_command(written, now):
    target, *behind = written.split()
    refused = said("make", "--no-print-directory", target, *behind)
    assert refused == f"make {target} is now: {now}"


def test_help_answers_without_loading_the_kit():
    script = (
        "import sys; from vitrine.command import parser; parser.build().format_help(); "
        "print([each for each in ('grpc', 'numpy', 'matplotlib', 'p4') if each in sys.modules])"
    )
    done = subprocess.run(
        [str(ROOT / "build/venv/bin/python"), "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


def completed(line):
    """A shell's completions at the end of a line."""
    environment = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "_ARGCOMPLETE_STDOUT_FILENAME": "/dev/stdout",
    }
    done = subprocess.run(
        [str(ROOT / "vm/vitrine")], env=environment, capture_output=True, text=True, check=False
    )
    return {each.split(":")[0].strip() for each in done.stdout.split("\n")} - {""}


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("vitrine ru", "run"),
        ("vitrine run buff", "bufferbloat"),
        ("vitrine run --wor", "--world"),
        ("vitrine check own-", "own-aqm"),
        ("vitrine sweep who", "who-wins"),
        ("vitrine run --world ", "virtual"),
    ],
)
def test_the_shell_completes_commands_options_and_names(line, word):
    assert word in completed(line)
