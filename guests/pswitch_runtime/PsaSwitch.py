"""The functions of the service `psa_switch`."""

from __future__ import annotations

from sswitch_runtime import SimpleSwitch

from .ttypes import *  # noqa: F403 - users of this module find the types in it


class Client(SimpleSwitch.Client):
    """Calls a switch's service `psa_switch`, whose functions are those of `simple_switch`."""
