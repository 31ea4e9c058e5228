"""Deficit round robin in Python: bytes shared fairly, whatever their packets' lengths."""
