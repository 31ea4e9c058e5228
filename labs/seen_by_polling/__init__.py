"""Bursts before a slow line, and which of them polling sees."""
