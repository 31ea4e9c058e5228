"""Networks to begin with, for the page that is one file: program, entries, applications.

    python -m labs.scenarios out.json     # what `make page` embeds

The page has no Python, so each network is set up here once, in a world whose messages are written
down; the page says the same to its own.
"""
