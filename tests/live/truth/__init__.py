"""What the routers and hosts themselves saw of every packet: what telemetry is held against.

`capture` reads the routers' captures, `depths` listens to their queues, `lives` joins both into the
life of each packet in each router; `recorder` and `exchange` run inside the hosts.
"""
