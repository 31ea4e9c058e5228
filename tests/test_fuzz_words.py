"""The dictionaries of the fuzzers: words of each one's input."""

import re

import pytest

from tests import fuzz_words
from tests.fuzz_words import DICTIONARIES, ROOT, dictionary


@pytest.mark.parametrize("name", sorted(DICTIONARIES))
def test_a_dictionary_is_what_libfuzzer_reads(name):
    lines = dictionary(DICTIONARIES[name]()).splitlines()
    assert len(lines) >= 10, lines
    for line in lines:
        assert re.fullmatch(r'"(?:[ !#-\[\]-~]|\\x[0-9a-f]{2})+"', line), line


def test_every_fuzzer_has_a_dictionary():
    targets = {path.stem for path in ROOT.glob("switch/fuzz/fuzz_targets/*.rs")}
    assert targets == {*DICTIONARIES, "source"}


def test_words_are_those_of_the_subject():
    def words(name):
        return set(DICTIONARIES[name]())

    assert b'"header_types"' in words("json")
    assert {b"mirroring_add", b"expect", b"check_register"} <= words("stf")
    assert b"\x80\x01\x00\x01\x00\x00\x00\x0fbm_mt_add_entry" in words("thrift")
    # WriteRequest.updates, field 4 of messages.
    assert b"\x22\x00" in words("messages")


def test_what_cannot_be_printed_is_spelled():
    assert fuzz_words.dictionary([b'a"\\\x00', b'a"\\\x00']) == '"a\\x22\\x5c\\x00"\n'
