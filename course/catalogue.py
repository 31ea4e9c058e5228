"""Every exercise, in the order of the course."""

from __future__ import annotations

import difflib

from course.errors import CourseError
from course.exercise import Exercise
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
from course.exercises.who_filled_the_queue.exercise import EXERCISE as WHO_FILLED_THE_QUEUE

EXERCISES: tuple[Exercise, ...] = (
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
    SPREAD_THE_LOAD,
    CAPSTONE,
)


def find(name: str) -> Exercise:
    """The exercise of this name."""
    names = [exercise.name for exercise in EXERCISES]
    if not name:
        raise CourseError(f"which exercise? Say its name; there are: {', '.join(names)}.")
    if name in names:
        return EXERCISES[names.index(name)]
    close = difflib.get_close_matches(name, names, 1)
    hint = f" Did you mean {close[0]}?" if close else ""
    raise CourseError(f"there is no exercise {name!r}; there are: {', '.join(names)}.{hint}")
