"""Every exercise: those of the course in its order, then all others that have a folder.

An exercise whose Python cannot be imported takes away itself only; `find` says what is wrong.
"""

from __future__ import annotations

import difflib
import importlib

from course.errors import CourseError
from course.exercise import FOLDER, Exercise
from course.exercises.address_translation.exercise import EXERCISE as ADDRESS_TRANSLATION
from course.exercises.capstone.exercise import EXERCISE as CAPSTONE
from course.exercises.control_plane.exercise import EXERCISE as CONTROL_PLANE
from course.exercises.elephants.exercise import EXERCISE as ELEPHANTS
from course.exercises.fair_queues.exercise import EXERCISE as FAIR_QUEUES
from course.exercises.first_router.exercise import EXERCISE as FIRST_ROUTER
from course.exercises.head_of_line.exercise import EXERCISE as HEAD_OF_LINE
from course.exercises.how_much_buffer.exercise import EXERCISE as HOW_MUCH_BUFFER
from course.exercises.own_aqm.exercise import EXERCISE as OWN_AQM
from course.exercises.own_tcp.exercise import EXERCISE as OWN_TCP
from course.exercises.spread_the_load.exercise import EXERCISE as SPREAD_THE_LOAD
from course.exercises.voice_and_bulk.exercise import EXERCISE as VOICE_AND_BULK
from course.exercises.watch_the_queue.exercise import EXERCISE as WATCH_THE_QUEUE
from course.exercises.who_filled_the_queue.exercise import EXERCISE as WHO_FILLED_THE_QUEUE

COURSE: tuple[Exercise, ...] = (
    FIRST_ROUTER,
    CONTROL_PLANE,
    VOICE_AND_BULK,
    HOW_MUCH_BUFFER,
    HEAD_OF_LINE,
    FAIR_QUEUES,
    OWN_AQM,
    OWN_TCP,
    ELEPHANTS,
    ADDRESS_TRANSLATION,
    WHO_FILLED_THE_QUEUE,
    WATCH_THE_QUEUE,
    SPREAD_THE_LOAD,
    CAPSTONE,
)
# Why an exercise cannot be imported, by its name.
BROKEN: dict[str, str] = {}


def _others() -> list[Exercise]:
    """Exercises that are not of the course."""
    found = []
    for file in sorted(FOLDER.glob("*/exercise.py")):
        if any(exercise.folder == file.parent for exercise in COURSE):
            continue
        try:
            module = importlib.import_module(f"course.exercises.{file.parent.name}.exercise")
            found.append(module.EXERCISE)
        except Exception as error:  # noqa: BLE001 (it is the author's file, and may do anything)
            name = file.parent.name.replace("_", "-")
            BROKEN[name] = f"{file} cannot be imported: {error}"
    return found


EXERCISES: tuple[Exercise, ...] = (*COURSE, *_others())


def find(name: str) -> Exercise:
    """The exercise of this name."""
    if name in BROKEN:
        raise CourseError(BROKEN[name])
    names = [exercise.name for exercise in EXERCISES]
    if not name:
        raise CourseError(f"which exercise? Say its name; there are: {', '.join(names)}.")
    if name in names:
        return EXERCISES[names.index(name)]
    close = difflib.get_close_matches(name, names, 1)
    hint = f" Did you mean {close[0]}?" if close else ""
    raise CourseError(f"there is no exercise {name!r}; there are: {', '.join(names)}.{hint}")
