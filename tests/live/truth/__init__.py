"""The routers' and hosts' own records of every packet, which telemetry is compared with.

`capture` reads the routers' captures, `depths` listens to their queues, `lives` joins both into the
life of each packet in each router; `recorder` and `exchange` run inside the hosts.
"""
