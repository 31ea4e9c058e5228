"""Classes come as learning systems pack them: every entry of the folder gets a row."""

import bz2
import gzip
import io
import os
import re
import subprocess
import sys
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from controller.toolchain import ROOT
from course import catalogue
from course.grading import sheet
from course.grading.intake import ARCHIVE_BYTES_MAX, file_name, submissions
from course.grading.records import Record

FILES = ("router.p4", "notes.yaml")


def zipped(**files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/"), content)
    return made.getvalue()


def tarred(mode, **files):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=f"w:{mode}") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name.replace("__", "/"))
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


@pytest.fixture
def put(tmp_path):
    def put(name, content=b"p4"):
        file = tmp_path / "in" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    put.folder = tmp_path / "in"
    put.folder.mkdir()
    return put


def taken(folder, files=FILES):
    """Of each submission its files by name, and what was said."""
    found = {}
    for each in submissions(folder):
        content, remarks = each.content(files)
        found[each.name] = ({name: text.decode() for name, text in content.items()}, remarks)
    return found


def test_moodle_packs_a_folder_for_each_student_and_students_pack_an_archive_into_it(put):
    name = "Ada Lovelace_4711_assignsubmission_file_"
    put(f"{name}/homework.zip", zipped(hand__in__router="x", **{"hand__in__router.p4": "ada"}))
    put("Bob_4712_assignsubmission_file_/router.p4", b"bob")
    assert taken(put.folder) == {
        "Ada Lovelace": ({"router.p4": "ada"}, ()),
        "Bob": ({"router.p4": "bob"}, ()),
    }
    assert [each.lms_id for each in submissions(put.folder)] == ["4711", "4712"]


def test_canvas_puts_names_in_front_of_loose_files(put):
    put("lovelaceada_LATE_4711_99_router-1.p4", b"ada")
    put("lovelaceada_LATE_4711_98_student.txt", b"Ada")
    put("lovelaceada_LATE_4711_97_notes.yaml", b"notes")
    put("hopper_4712_96_all.tar.gz", tarred("gz", work__router=b"", **{"w__router.p4": b"grace"}))
    found = taken(put.folder)
    assert found["lovelaceada"] == (
        {"router.p4": "ada", "notes.yaml": "notes", "student.txt": "Ada"},
        ("router-1.p4 was taken as router.p4.",),
    )
    assert found["hopper"][0] == {"router.p4": "grace"}
    assert [(each.name, each.lms_id) for each in submissions(put.folder)] == [
        ("hopper", "4712"),
        ("lovelaceada", "4711"),
    ]


def test_the_last_try_counts(put):
    for name in ("router.p4", "router-1.p4", "router-2.p4", "router-10.p4"):
        put(f"ada_1_2_{name}", name.encode())
    assert taken(put.folder)["ada"][0] == {"router.p4": "router.p4"}
    (put.folder / "ada_1_2_router.p4").unlink()
    assert taken(put.folder)["ada"][0] == {"router.p4": "router-10.p4"}


@pytest.mark.parametrize("ending", ["tar", "tar.gz", "tgz", "tar.bz2"])
def test_tar_files_are_read(put, ending):
    mode = {"tar": "", "tar.gz": "gz", "tgz": "gz", "tar.bz2": "bz2"}[ending]
    put(f"ada.{ending}", tarred(mode, **{"a__b__router.p4": b"ada", "student.txt": b"Ada"}))
    assert taken(put.folder) == {"ada": ({"router.p4": "ada", "student.txt": "Ada"}, ())}


def test_a_lone_file_is_a_submission(put):
    put("ada.p4", b"ada")
    put("essay.docx", b"words")
    assert taken(put.folder) == {
        "ada.p4": ({"router.p4": "ada"}, ("ada.p4 was taken as router.p4.",)),
        "essay.docx": ({}, ()),
    }


def test_every_entry_gets_a_sentence_and_none_ends_the_others(put):
    put("ada/router.p4", b"ada")
    (put.folder / "eve").symlink_to(put.folder / "ada")
    (put.folder / "link.zip").symlink_to("/etc/passwd")
    os.mkfifo(put.folder / "fifo")
    (put.folder / "bob" / "router.p4").mkdir(parents=True)
    os.mkfifo(put.folder / "bob" / "notes.yaml")
    put("rar/work.rar", b"Rar!")
    put("broken.zip", b"no zip")
    put("broken.tgz", b"no tar")
    put(".DS_Store")
    found = taken(put.folder)
    assert found.pop("ada") == ({"router.p4": "ada"}, ())
    said = {name: " ".join(remarks) for name, (files, remarks) in found.items() if not files}
    assert set(said) == set(found) == {"bob", "broken", "broken (2)", "eve", "fifo",
        "link.zip", "rar"}  # fmt: skip
    assert "It is a link" in said["eve"] and "It is a link" in said["link.zip"]
    assert "neither a file nor a folder" in said["fifo"]
    assert "router.p4 was not taken: it is no file" in said["bob"]
    assert "notes.yaml was not taken: it is no file" in said["bob"]
    assert "work.rar was not read: hand in a zip" in said["rar"]
    assert "cannot be read as a" in said["broken"] and "cannot be read as a" in said["broken (2)"]


def test_an_archive_that_is_damaged_in_the_middle_is_a_sentence(put):
    content = bytearray(zipped(**{"router.p4": os.urandom(5000).hex()}))
    content[200:300] = bytes(100)
    put("ada.zip", bytes(content))
    ((files, remarks),) = taken(put.folder).values()
    assert files == {} and "router.p4 was not taken: it cannot be read" in remarks[0]


def test_what_unpacks_to_more_than_a_memory_holds_is_a_sentence(put):
    zeros = bytes(1 << 20)
    made = io.BytesIO()
    with gzip.GzipFile(fileobj=made, mode="w") as opened:
        for _ in range((ARCHIVE_BYTES_MAX >> 20) + 1):
            opened.write(zeros)
    put("gzip.tar.gz", made.getvalue())
    put("bzip.tar.bz2", bz2.compress(bytes(ARCHIVE_BYTES_MAX + 1)))
    inner = zipped(**{"router.p4": "deep"})
    for _ in range(4):
        inner = zipped(**{"more.zip": inner})
    put("nested.zip", inner)
    found = taken(put.folder)
    assert all(files == {} for files, _ in found.values())
    assert "unpacks to more than" in found["gzip"][1][0]
    assert "unpacks to more than" in found["bzip"][1][0]


def tar_header(kind, size, name="a"):
    """A header as a tar file may have it, with a size that no writer gives."""
    header = tarfile.TarInfo(name)
    header.type = kind
    block = bytearray(header.tobuf(tarfile.GNU_FORMAT))
    block[124:136] = (
        b"\xff" * 4 + size.to_bytes(8, "big", signed=True) if size < 0 else b"%011o\0" % size
    )
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def tar_bytes(*parts):
    return b"".join(part + bytes(-len(part) % 512) for part in parts) + bytes(1024)


# Python reads each of these for ever, or for minutes, in some of its versions.
TARS = {
    "a header that leads back to itself": tar_bytes(
        tar_header(tarfile.DIRTYPE, 0), tar_header(b"Z", -512)
    ),
    "a size in a pax header that leads back": tar_bytes(
        tar_header(tarfile.DIRTYPE, 0),
        tar_header(tarfile.XHDTYPE, 14),
        b"14 size=-1536\n",
        tar_header(b"Z", 0),
    ),
    "a pax header of a million digits": tar_bytes(
        tar_header(tarfile.XHDTYPE, 1 << 20), b"1" * (1 << 20), tar_header(tarfile.REGTYPE, 0)
    ),
    "members of an unknown type": tar_bytes(*[tar_header(b"Z", 0)] * 30_000),
}


@pytest.mark.parametrize("kind", TARS)
def test_a_tar_file_that_is_read_for_ever_is_refused_or_read_in_part(put, kind):
    put("ada.tar", TARS[kind])
    put("bob.tar", tarred("", **{"router.p4": b"bob"}))
    # In a process of its own, which ends after ten seconds of work.
    limited = "import resource; resource.setrlimit(resource.RLIMIT_CPU, (10, 10))"
    reads = (
        "import sys, pathlib\nfrom course.grading.intake import submissions\n"
        "for each in submissions(pathlib.Path(sys.argv[1])):\n"
        "    print(each.name, *each.content(['router.p4']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{limited}\n{reads}", put.folder],
        capture_output=True,
        text=True,
        check=True,
    )
    ada, bob = done.stdout.splitlines()
    assert bob == "bob {'router.p4': b'bob'} ()"
    assert ada.startswith("ada {} (") and ("cannot be read as a tar" in ada or "unknown" in kind)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("name", ["router.p4", "inside.zip"])
def test_a_zip_packed_in_a_way_that_unpacks_whole_is_refused(put, method, name):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        archive.writestr(name, bytes(1 << 26))
    put("ada.zip", made.getvalue())
    put("bob.zip", zipped(**{"router.p4": "bob"}))
    tracemalloc.start()
    found = taken(put.folder)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found["ada"][0] == {} and "packed in an uncommon way" in found["ada"][1][0]
    assert found["bob"] == ({"router.p4": "bob"}, ())
    assert peak < 32 << 20


def test_no_notebook_is_read(put):
    put("ada.ipynb", b"{" * (1 << 20))
    put("bob/router.ipynb", b"[" * (1 << 20))
    assert taken(put.folder) == {"ada.ipynb": ({}, ()), "bob": ({}, ())}
    # Jupyter alone opens notebooks: no part of the kit has a word for them.
    parts = ("apps", "controller", "course", "insides", "labs", "topo", "vitrine")
    sources = [file for part in parts for file in (ROOT / part).rglob("*.py")]
    assert len(sources) > 200
    assert [file for file in sources if re.search(r"\.ipynb|nbformat", file.read_text())] == []


def test_a_name_in_an_archive_leads_to_no_other_place(put, tmp_path):
    put("ada.zip", zipped(**{"../../router.p4": "ada", "/etc/notes.yaml": "notes"}))
    (one,) = submissions(put.folder)
    into = tmp_path / "into"
    into.mkdir()
    assert one.take(FILES, into) == ()
    assert sorted(each.name for each in into.iterdir()) == ["notes.yaml", "router.p4"]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in", "into"]


def test_no_two_submissions_share_the_file_of_a_page(put):
    for name in ("a b/router.p4", "a_b/router.p4", "A_B/router.p4", "ada/router.p4"):
        put(name, name.encode())
    put("ada.zip", zipped(**{"router.p4": "zip"}))
    put("x" * 250, b"")
    names = [each.name for each in submissions(put.folder)]
    files = {file_name(name).lower() for name in names}
    assert len(names) == len(files) == 6
    assert max(map(len, files)) <= 150


@pytest.mark.parametrize(
    "name", ["ada.html", "Ada.JSON", "grades.csv", "similar.csv", "similar.html"]
)
def test_no_submission_has_the_place_of_a_sheet_or_of_another_s_result(name):
    """Beside its page, a submission has a folder of recordings with its bare name."""
    assert file_name(name) == f"{name}_"


def test_a_folder_whose_name_is_not_utf_8_gets_its_row(tmp_path):
    (tmp_path / "in").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path / "in") + b"/J\xf6rg")).mkdir()
    (found,) = submissions(tmp_path / "in")
    record = Record(found.name, "nobody", 0, 100, {}, ())
    sheet.write(tmp_path / "grades.csv", catalogue.find("first-router"), [record])
    assert "\nJ?rg," in (tmp_path / "grades.csv").read_text()
