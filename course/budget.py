"""A submission has a budget of processor time for all cases together, so that none delays a class.

Cases that were met before it was used up stay met, and so do later ones that need none of it.
"""

from __future__ import annotations

from course.process import Runner
from course.story import Story


def is_spent(runner: Runner) -> bool:
    """Whether programs of the submission may run no more."""
    return runner.used_s() >= runner.budget_s


def story(title: str, runner: Runner) -> Story:
    """Of a case that failed with no processor time left."""
    return Story(
        done=f"The check was about to see whether this holds: {title}",
        expected=f"All cases together to need less than {runner.budget_s:.0f} s of processor time.",
        because="A class is graded in one go, so each submission has a budget. Right solutions "
        "need a fraction of it.",
        came=f"The budget was used up: {runner.used_s():.0f} s. Cases that passed before that keep "
        "their points.",
    )
