"""The workflow for GitHub Classroom checks every case with a command that the wheel has."""

import pytest
import yaml

from course import catalogue
from course.errors import CourseError
from course.grading import classroom
from vitrine.command import parser

WHEEL = "https://example.org/vitrine-0.1.0-py3-none-manylinux_2_36_x86_64.whl"


def test_each_case_of_each_exercise_is_a_step_with_its_points():
    for exercise in catalogue.EXERCISES:
        text = classroom.workflow(exercise, WHEEL)
        (job,) = yaml.safe_load(text)["jobs"].values()
        graders = [each for each in job["steps"] if "command-grader" in each.get("uses", "")]
        assert [each["id"] for each in graders] == [case.name for case in exercise.cases]
        assert sum(each["with"]["max-score"] for each in graders) == exercise.points
        report = job["steps"][-1]
        assert report["with"]["runners"].split(",") == [each["id"] for each in graders]
        for each in graders:
            checked = []
            for command in each["with"]["command"].split(" && "):
                program, *words = command.split()
                assert (program, words[0]) == ("vitrine", "check")
                given = parser.parse(words)
                assert given.exercise == exercise.name
                checked.append(given.case)
            (case,) = (case for case in exercise.cases if case.name == each["id"])
            # A case behind another earns nothing without it.
            assert checked == [*case.behind, case.name]
            assert report["env"][f"{each['id'].upper()}_RESULTS"].count(each["id"]) == 1
        assert any(WHEEL in each.get("run", "") for each in job["steps"])


@pytest.mark.parametrize("wheel", ["", "vitrine", "a.whl; reboot", "$(id).whl", "a\n.whl"])
def test_what_is_no_address_of_a_wheel_is_refused(wheel):
    with pytest.raises(CourseError, match="no address of a wheel"):
        classroom.workflow(catalogue.find("first-router"), wheel)
