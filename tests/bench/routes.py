"""Programs one switch as the lab's router. Runs inside the switch's namespace, where it answers.

The argument is JSON: address, device_id, routes ([destination, port, source, next hop]), and for a
switch that knows vitrine.v1 its queue limit in packets.
"""

from __future__ import annotations

import json
import sys
from ipaddress import IPv4Address
from pathlib import Path

from controller.entries import Call, Entry, Lpm, Ternary
from controller.p4info import P4Info
from controller.queueing import Limit, PortSettings, QueueSettings
from controller.queues import Queues
from controller.session import Session
from controller.values import Mac

# The DSCP of traffic that cannot wait: it gets the highest class.
EXPEDITED = 46
PROGRAM = Path(__file__).resolve().parents[2] / "build" / "p4" / "router.json"


def main(order: dict) -> None:
    with Session.connect(order["address"], device_id=order["device_id"]) as session:
        session.load(P4Info.load(PROGRAM.with_suffix(".p4info.txtpb")), PROGRAM.read_bytes())
        session.insert(
            Entry(
                "ipv4_routes",
                {"hdr.ipv4.dst_addr": Lpm(IPv4Address(destination), 32)},
                Call(
                    "set_next_hop",
                    port=port,
                    src_addr=Mac.parse(source),
                    dst_addr=Mac.parse(next_hop),
                ),
            )
            for destination, port, source, next_hop in order["routes"]
        )
        urgent = {"hdr.ipv4.dscp": Ternary(EXPEDITED, 0x3F)}
        session.insert([Entry("ipv4_classes", urgent, Call("set_class", class_num=7), priority=1)])
        if packets := order.get("queue_packets"):
            settings = PortSettings(every_queue=QueueSettings(limit=Limit(packets=packets)))
            ports = {port for _, port, _, _ in order["routes"]}
            Queues(session).configure(dict.fromkeys(ports, settings))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
