"""The control plane of the kit: P4Runtime sessions, P4Info by name, queues through vitrine.v1.

Modules, from the bottom up; each imports only those above it:

    errors    what can go wrong, said in a sentence
    values    numbers and addresses as P4Runtime's byte strings, checked by width
    p4info    a program's objects by name
    entries   table entries in names and typed values <-> P4Runtime messages
    entities  everything else that is written: members, groups, clones, registers, meters
    ledger    what was written, to be written again after a restart
    connection, stream   the channel to a device and its two-way stream
    device    the number of a device, and an election id that is free
    keeper    a session's place at its device, lost and found again: its states
    session   one controller at one device: program, entries, packets; survives restarts
    queueing, queue_messages   what a router's queues can be set to, as values and as messages
    classes   rules that say which packets share a queue
    reasons, columns   why packets were dropped; samples of many instants at once
    queues    the router's insides: settings, depths, drops (vitrine.v1)
    lines, ports, watch, trace   cables, ports, events and packets' lives (vitrine.v1)
    simple_switch, thrift        the queues of the P4 project's switch
    toolchain compiled programs, of our compiler or the P4 project's
    telemetry reports of INT nodes, decoded and kept
    ownership what root has made belongs to who called sudo
    tables    rows into a file, as CSV or Parquet

It knows nothing of topologies: controllers that need one are in `apps`.
"""
