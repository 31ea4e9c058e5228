"""The service `simple_switch`: what that switch has beyond every bmv2 switch."""

__all__ = ["SimpleSwitch", "ttypes"]
