"""The live world: hosts with the kernel's TCP around routers that are processes, in real time."""
