"""The reference as it is."""

from reference import Control

__all__ = ["Control"]
