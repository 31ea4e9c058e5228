"""The fuzzers' corpus: from libFuzzer's files into the repository, and back."""

import pytest

from tests import fuzz_corpus

LIBFUZZERS = sorted(path.stem for path in fuzz_corpus.ROOT.glob("switch/fuzz/fuzz_targets/*.rs"))


@pytest.fixture
def kept(tmp_path, monkeypatch):
    (tmp_path / "kept").mkdir()
    monkeypatch.setattr(fuzz_corpus, "KEPT", tmp_path / "kept")
    return tmp_path / "kept"


def files(folder):
    return sorted(path.read_bytes() for path in folder.iterdir())


def test_every_byte_can_be_spelled_and_read():
    every = bytes(range(256))
    for data in (every, b"#", b"# no comment", b"\\", b"a\nb", every[::-1]):
        line = fuzz_corpus.spelled(data)
        assert fuzz_corpus.unspelled(line) == data
        assert line.isascii() and line.isprintable() and not line.startswith("#")


def test_what_is_packed_comes_out_again(kept, tmp_path):
    found = tmp_path / "found"
    found.mkdir()
    for number, data in enumerate((b"\0\1", b"#x", b"", b"y" * 5000)):
        (found / str(number)).write_bytes(data)
    assert fuzz_corpus.pack("thrift", found)[0] == 2, "neither nothing nor what is long"
    fuzz_corpus.unpack("thrift", tmp_path / "out")
    assert files(tmp_path / "out") == [b"\0\1", b"#x"]
    fuzz_corpus.unpack("thrift", tmp_path / "examples", with_corpus=False)
    assert files(tmp_path / "examples") == []


def test_what_broke_something_stays_where_it_is(kept, tmp_path):
    (kept / "broke").mkdir()
    (kept / "broke" / "thrift").write_text("# a length that is negative\n\\xff\n")
    found = tmp_path / "found"
    fuzz_corpus.unpack("thrift", found)
    assert files(found) == [b"\xff"]
    fuzz_corpus.pack("thrift", found)
    assert fuzz_corpus.kept("corpus", "thrift") == []
    assert fuzz_corpus.kept("broke", "thrift") == [b"\xff"]


@pytest.mark.parametrize("name", LIBFUZZERS)
def test_what_the_repository_keeps_is_read(name):
    assert (fuzz_corpus.KEPT / "corpus" / name).exists(), "make corpus"
    assert len(set(fuzz_corpus.kept("corpus", name))) == len(fuzz_corpus.kept("corpus", name))
