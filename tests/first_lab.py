"""The first lab, whose network many tests use."""

from labs import catalogue

Bottleneck = catalogue.named("bottleneck")
# The port of s1 toward h2: the bottleneck.
BOTTLENECK = 2
