"""PTF tests of other projects, unmodified, on our compiler and switch."""
