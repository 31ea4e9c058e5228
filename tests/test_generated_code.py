"""The checked-in protobuf code belongs to the installed package `p4runtime` and to vitrine.v1."""

from tests import generated_code


def test_the_checked_in_code_is_generated_from_these_definitions():
    advice = "run tests/generated_code.sh update (nightly generates it and compares every byte)"
    assert generated_code.SUMS.read_text() == generated_code.sums(), advice


def test_a_changed_definition_and_an_edited_file_are_noticed(monkeypatch, tmp_path):
    before = generated_code.sums().splitlines()
    proto = tmp_path / "vitrine/v1/router.proto"
    proto.parent.mkdir(parents=True)
    proto.write_text("message Router {}")
    source = generated_code.PROTO / "p4runtime_descriptors.py"
    (tmp_path / source.name).write_bytes(source.read_bytes())
    monkeypatch.setattr(generated_code, "PROTO", tmp_path)
    edited = tmp_path / "edited_pb2.py"
    edited.write_text("Router = 1\n")
    monkeypatch.setattr(generated_code, "GENERATED", ((str(tmp_path), "*_pb2.py"),))
    after = generated_code.sums().splitlines()
    assert [old != new for old, new in zip(before, after, strict=True)] == [True, True]
