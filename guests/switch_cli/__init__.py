"""The commands of `simple_switch_CLI`, a topic a module."""
