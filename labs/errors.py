"""What can go wrong with a lab itself; each message is one sentence that says what to do."""

from __future__ import annotations


class LabError(Exception):
    """Base of all errors of this package."""


class SettingError(LabError):
    """A setting that the lab does not take, or a lab that does not exist."""


class MeasurementError(LabError):
    """An instrument saw nothing, so that there is nothing to report."""
