"""The first lab, which is a file: lab.yaml."""

from pathlib import Path

from labs.declared.from_file import lab_of

Bottleneck = lab_of(Path(__file__).parent)
# The port of s1 toward h2.
BOTTLENECK = 2
