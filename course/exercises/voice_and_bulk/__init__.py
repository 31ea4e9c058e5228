"""Calls and downloads on one line: classes, schedulers and limits in a file."""
