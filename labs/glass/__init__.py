"""The glass: the page in the browser that shows and steers what is inside routers.

The page itself is in the folder `glass` of the repository. Here is what brings it to a browser:
`server` hands out files and opens sockets, `relay` carries their messages to routers and back, and
`scene` says what there is to see. `python -m labs.glass` is `vitrine glass`.
"""
