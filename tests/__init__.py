"""Tests that cross a seam, and the Python side's own."""
