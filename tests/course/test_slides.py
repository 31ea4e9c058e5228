"""Slides of a term."""

import re

from course import slides


def test_each_week_has_a_file_and_each_of_its_labs_a_picture_and_points(tmp_path):
    files = slides.write(tmp_path)
    assert [file.name for file in files] == [f"week-{number:02}.md" for number in range(1, 13)]
    known = slides.labs()
    for file, week in zip(files, slides.weeks(), strict=True):
        text = file.read_text()
        assert text.startswith("---\nmarp: true\n")
        assert week.subject in text
        for name in re.findall(r"labs/(\w+)/README", week.machine):
            lab = known[name.replace("_", "-")]
            # The caption is what a screen reader says of the picture.
            assert f"![{lab.caption}]({lab.picture})" in text
            assert all(point in text for point in lab.points)
        assert "](../" not in text, "a slide links to no file of the clone"
        for picture in re.findall(r"!\[.*?\]\((\S+)\)", text):
            assert (tmp_path / picture).exists()


def test_every_lab_with_talking_points_is_in_some_week():
    in_table = {
        name.replace("_", "-")
        for week in slides.weeks()
        for name in re.findall(r"labs/(\w+)/README", week.machine)
    }
    assert set(slides.labs()) == in_table
