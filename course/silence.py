"""A router of a check falls silent: the submission in it may have done that, or the machine.

Nobody can tell from one silence. So what was asked is asked once more, and if the router is silent
again, another one is started with nothing of a submission in it. If that answers, it was the
submission; if not, nothing is known of the submission, and its case is not judged.
"""

from __future__ import annotations

from dataclasses import replace

from controller.connection import is_passing
from controller.errors import ConnectError
from course.story import Story
from labs.errors import SilenceError


def is_silence(error: BaseException) -> bool:
    """Whether there was no answer, rather than a refusal."""
    return isinstance(error, (ConnectError, SilenceError)) or is_passing(error)


def of_submission(title: str, error: BaseException) -> Story:
    """The router answers on this machine, but not with the submission in it."""
    return Story(
        done=f"The check was about to see whether this holds: {title}",
        expected="A router that goes on answering its controller with the submission in it.",
        because=(
            "Both times it fell silent, and in the same minute a router with the kit's own program "
            "answered."
        ),
        came=str(error),
    )


def of_machine(title: str, error: BaseException) -> Story:
    """No router answers on this machine."""
    return Story(
        done=f"The check was about to see whether this holds: {title}",
        expected="A router that answers, whatever is in it.",
        because=(
            "A router with the kit's own program was silent, too: this is the machine's fault, and "
            "says nothing about the submission."
        ),
        came=f"{error} This case was not judged: check it again.",
    )


def held_up(story: Story, held_up_s: float) -> Story:
    """The result of a live check says more about this machine than about the submission."""
    return replace(
        story,
        came=f"{story.came} But this machine held routers or hosts up for up to "
        f"{held_up_s * 1000:.0f} ms, both times that it was tried. This case was not judged: "
        "check it again when the machine is calm, or without --live.",
    )
