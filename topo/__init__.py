"""Networks: topologies as data, and the one adapter that makes them real with Mininet.

errors     what can go wrong, said in a sentence
units      "10 Mb/s" and "20 ms" as whole numbers; a number without a unit is refused
model      hosts, switches and links as data, checked
document   a YAML file whose values know where they stand
queueing   queues, schedulers, AQM and input stage as people write them
load       a YAML file as a model, errors with file, line and place
paths      routes: who is reached through whom
wait       the one way to wait: for a condition, with a deadline
preflight  what a live network needs from the machine, checked before anything is changed
record     what a live network has made, written down so that a later run can clean it up
process    processes that are started, watched and ended by id
kernel     TCP settings and other kernel parameters of a host
cables     a port's cable in the words of vitrine.v1
configuring  a router's queues and cables, set through its session
backend    the seam between the adapter and the kinds of switches
vitrine_switch  our switch as a backend
simple_switch   the P4 project's as a backend, between emulated cables
tap        queues seen from outside, for switches that do not show their own
live       the adapter: a model as Mininet hosts around switches
"""
