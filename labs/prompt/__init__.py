"""`vitrine up`: a network with its routers programmed, and a prompt to play with it."""
