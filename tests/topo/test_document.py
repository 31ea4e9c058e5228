"""YAML of strangers: what it may cost to read, and what it is refused for."""

from pathlib import Path

import pytest

from topo.document import SIZE_BYTES_MAX, Place
from topo.errors import ModelError

FILE = Path("net.yaml")
# Nine lines that stand for 10^8 values.
BOMB = "a0: &a0 [x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 9)
)


def refusal(text):
    with pytest.raises(ModelError) as raised:
        Place.of_text(text, FILE)
    return str(raised.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (BOMB, "more than 200,000 values, with aliases expanded"),
        ("a: &a [1, *a]", "net.yaml:1: an alias inside the value that it stands for never ends"),
        ("a: &a {b: {c: *a}}", "never ends"),
        ("[" * 101 + "]" * 101, "nested more than 100 deep"),
        ("[" * 5000, "nested too deep"),
        ("#" * (SIZE_BYTES_MAX + 1), "larger than 1 MiB"),
    ],
)
def test_a_document_that_costs_too_much_is_refused_in_a_sentence(text, why):
    complaint = refusal(text)
    assert why in complaint
    assert len(complaint) < 200


def test_a_file_without_end_is_read_up_to_the_limit():
    with pytest.raises(ModelError, match="is larger than 1 MiB"):
        Place.load(Path("/dev/zero"))


def test_aliases_are_read_as_what_they_stand_for():
    document = Place.of_text("a: &a [1, 2]\nb: [*a, *a]\n", FILE)
    lists = document.entries()["b"].items()
    assert [[each.text() for each in part.items()] for part in lists] == [["1", "2"]] * 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("n: " + "9" * 5000, "net.yaml:1: n must be a whole number of at most 30 digits."),
        ("n: " + "x" * 5000, "n must be a whole number, and is 'xxx"),
    ],
)
def test_a_number_of_5000_digits_is_refused_in_a_sentence(text, why):
    with pytest.raises(ModelError) as raised:
        Place.of_text(text, FILE).entries()["n"].whole()
    assert why in str(raised.value)
    assert len(str(raised.value)) < 200
