"""`vitrine top`: the insides of a running router in the terminal, ten times a second.

__main__   attaches, reads, draws, obeys keys
monitor    what happened between two samples of the router
screen     that as lines of text, a pure function
terminal   the terminal: whole screen, single keys, its size
"""
