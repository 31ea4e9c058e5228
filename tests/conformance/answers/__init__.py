"""Answers of our switch to simple_switch_CLI, and those of the original."""
