"""Handouts: what they refer to is where they say.

`vitrine dev bless` moves line numbers after their lines.
"""

import os
import re

import pytest

from controller.toolchain import ROOT
from course.exercise import SOLUTIONS
from labs import catalogue

# `the text there` ([lab.py, line 12](lab.py#L12))
REFERENCE = re.compile(r"`([^`]+)` \(\[(\S+), line (\d+)\]\((\S+)#L(\d+)\)\)")


def folder(lab):
    return ROOT / "labs" / lab.folder_name()


def handout(lab):
    return (folder(lab) / "README.md").read_text()


def lines_with(snippet, file):
    return [
        number for number, line in enumerate(file.read_text().splitlines(), 1) if snippet in line
    ]


def moved(lab):
    """The handout with each reference at the one line that its words stand in today."""

    def where_it_is(reference):
        snippet, file = reference[1], reference[2]
        found = lines_with(snippet, folder(lab) / file)
        if len(found) != 1:
            return reference[0]
        return f"`{snippet}` ([{file}, line {found[0]}]({file}#L{found[0]}))"

    return REFERENCE.sub(where_it_is, handout(lab))


@pytest.mark.parametrize("lab", catalogue.LABS, ids=lambda lab: lab.name)
def test_a_line_that_is_to_be_changed_is_where_the_handout_says(lab):
    if os.environ.get("BLESS"):
        (folder(lab) / "README.md").write_text(moved(lab))
    for snippet, file, line, link, anchor in REFERENCE.findall(handout(lab)):
        assert (file, line) == (link, anchor)
        found = lines_with(snippet, folder(lab) / file)
        assert int(line) in found, (
            f"{snippet!r} stands in line {found} of {file}: `vitrine dev bless` moves the number"
        )


@pytest.mark.parametrize("lab", catalogue.LABS, ids=lambda lab: lab.name)
def test_a_handout_says_how_long_it_takes_and_begins_by_hand(lab):
    text = handout(lab)
    assert re.search(r"The runs? takes? .*\bPlan\b", text)
    assert text.index("## By hand first") < text.index("## Steps")
    assert f"vitrine up labs/{lab.folder_name()}/topology.yaml" in text
    # No handout uses tc: rates and queues are the router's.
    assert not re.search(r"^mininet> .*\btc\b", text, re.MULTILINE)


QUESTIONS = re.compile(r"^## Questions to answer\n(.*?)(?=^## )", re.MULTILINE | re.DOTALL)
MISTAKES = re.compile(r"^## Common mistakes\n(.*?)(?=^## )", re.MULTILINE | re.DOTALL)


def numbers(text):
    return [int(number) for number in re.findall(r"^(\d+)\. ", text, re.MULTILINE)]


@pytest.mark.parametrize("lab", catalogue.LABS, ids=lambda lab: lab.name)
def test_a_handout_has_things_to_change_and_common_mistakes(lab):
    text = handout(lab)
    assert "\n## Things to change\n" in text
    assert len(re.findall(r"^- ", MISTAKES.search(text)[1], re.MULTILINE)) >= 2


@pytest.mark.parametrize("lab", catalogue.COURSE, ids=lambda lab: lab.name)
def test_teachers_have_an_answer_to_every_question(lab):
    asked = numbers(QUESTIONS.search(handout(lab))[1])
    answers = SOLUTIONS / "labs" / f"{lab.name}.md"
    answered = numbers(answers.read_text())
    assert asked
    assert answered[: len(asked)] == asked == list(range(1, len(asked) + 1))
    # They are the teacher's: no handout leads to them.
    assert "solutions" not in handout(lab)


def test_answers_are_of_labs_that_there_are():
    names = {file.stem for file in (SOLUTIONS / "labs").iterdir()}
    assert names == {lab.name for lab in catalogue.COURSE}


def test_teachers_have_a_picture_and_words_for_every_lab():
    teaching = ROOT / "docs" / "teaching"
    parts = (teaching / "ten-minutes.md").read_text().split("\n## ")[1:]
    told = {part.split("\n")[0]: part for part in parts}
    assert list(told) == [lab.name for lab in catalogue.COURSE]
    for name, part in told.items():
        assert numbers(part) == [1, 2, 3, 4, 5]
        assert f"(pictures/{name}.png)" in part
        assert (teaching / "pictures" / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
