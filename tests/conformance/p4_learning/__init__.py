"""The networks of nsg-ethz/p4-learning, unmodified, on our compiler and switch."""
