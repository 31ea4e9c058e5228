"""Structures and exceptions of the service `psa_switch`: those of `simple_switch`."""

from sswitch_runtime.ttypes import *  # noqa: F403 - users of this module find the types in it
