"""Errors of a lab itself; each message is one sentence that says what to do."""

from __future__ import annotations


class LabError(Exception):
    """Base of all errors of this package."""


class SettingError(LabError):
    """A setting that the lab does not take, or a lab that does not exist."""


class SilenceError(LabError):
    """A network in virtual time that does not begin, or does not answer."""


class MeasurementError(LabError):
    """An instrument saw nothing, so that there is nothing to report."""
