"""Handouts: what they refer to is where they say."""

import re

import pytest

from controller.toolchain import ROOT
from labs import catalogue

# `what stands there` ([lab.py, line 12](lab.py#L12))
REFERENCE = re.compile(r"`([^`]+)` \(\[(\S+), line (\d+)\]\((\S+)#L(\d+)\)\)")


def handout(lab):
    return (ROOT / "labs" / lab.folder_name() / "README.md").read_text()


@pytest.mark.parametrize("lab", catalogue.LABS, ids=lambda lab: lab.name)
def test_a_line_that_is_to_be_changed_is_where_the_handout_says(lab):
    for snippet, file, line, link, anchor in REFERENCE.findall(handout(lab)):
        assert (file, line) == (link, anchor)
        text = (ROOT / "labs" / lab.folder_name() / file).read_text().splitlines()
        found = [number for number, each in enumerate(text, 1) if snippet in each]
        assert int(line) in found, f"{snippet!r} stands in line {found} of {file}"


@pytest.mark.parametrize("lab", catalogue.LABS, ids=lambda lab: lab.name)
def test_a_handout_says_how_long_it_takes_and_begins_by_hand(lab):
    text = handout(lab)
    assert re.search(r"The runs? takes? .*\bPlan\b", text)
    assert text.index("## By hand first") < text.index("## Steps")
    assert f"make up TOPO=labs/{lab.folder_name()}/topology.yaml" in text
    # No handout asks for tc: rates and queues are the router's.
    assert not re.search(r"^mininet> .*\btc\b", text, re.MULTILINE)
