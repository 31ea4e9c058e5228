"""Controllers of the kit's P4 programs: above `controller` and `topo`, below the labs.

    options    what their command lines have in common
    fragments, replies   what a router answers in its own name, as functions of bytes
    router     fills an IPv4 and IPv6 router from a topology, and answers for it
    qos_file, qos        classes, queues, marks and mirrors of a router from a readable file
    domain     which routers report what, read from a file
    telemetry  makes a router a node of such a domain
    programming   the above into each router's own program, at the start and on request
    reload     that request: `vitrine reload`
    collector  receives the reports
    watch      records what happens inside a router
    shell      p4runtime-shell, connected

Those up to `programming` are called by whoever builds the network; the others are commands.
"""
