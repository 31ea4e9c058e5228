"""The control plane of the kit: P4Runtime sessions, P4Info by name, queues through vitrine.v1.

Modules, from the bottom up; each imports only those above it:

    errors    what can go wrong, said in a sentence
    values    numbers and addresses as P4Runtime's byte strings, checked by width
    p4info    a program's tables, actions and counters by name
    entries   table entries in names and typed values <-> P4Runtime messages
    session   one connection to one device: arbitration, pipeline, write, read
    queueing  what a router's queues can be set to, as values
    queues    the router's insides: settings, depths, drops (vitrine.v1)
    apps      controllers made of the above; `router` fills an IPv4 router from a topology
"""
