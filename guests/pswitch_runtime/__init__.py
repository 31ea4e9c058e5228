"""The service `psa_switch`: what that switch has beyond every bmv2 switch."""

__all__ = ["PsaSwitch", "ttypes"]
