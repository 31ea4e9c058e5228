"""Ports and their queues."""

from __future__ import annotations

from . import values
from .command import Commands, command


class LineCommands(Commands):
    """Commands about ports and queues."""

    @command(1, 3)
    def do_set_queue_depth(
        self, depth: str, port: str | None = None, priority: str | None = None
    ) -> None:
        """Set how many packets may wait: set_queue_depth <packets> [<egress port> [<priority>]]."""
        packets = values.number(depth, "nb_pkts")
        if port is None:
            self.sswitch_client.set_all_egress_queue_depths(packets)
            return
        number = values.number(port, "egress_port")
        if priority is None:
            self.sswitch_client.set_egress_queue_depth(number, packets)
        else:
            class_ = values.number(priority, "priority")
            self.sswitch_client.set_egress_priority_queue_depth(number, class_, packets)

    @command(1, 3)
    def do_set_queue_rate(
        self, rate: str, port: str | None = None, priority: str | None = None
    ) -> None:
        """Set how many packets may leave a second: set_queue_rate <packets/s> [<egress port> \
[<priority>]]."""
        rate_pps = values.number(rate, "rate_pps")
        if port is None:
            self.sswitch_client.set_all_egress_queue_rates(rate_pps)
            return
        number = values.number(port, "egress_port")
        if priority is None:
            self.sswitch_client.set_egress_queue_rate(number, rate_pps)
        else:
            class_ = values.number(priority, "priority")
            self.sswitch_client.set_egress_priority_queue_rate(number, class_, rate_pps)

    @command(2, 3)
    def do_port_add(self, device: str, port: str, pcap: str = "") -> None:
        """Add a port: port_add <device> <port number> [<folder for captures>]."""
        self.client.bm_dev_mgr_add_port(device, values.number(port, "port_num"), pcap)

    @command(1)
    def do_port_remove(self, port: str) -> None:
        """Remove a port: port_remove <port number>."""
        self.client.bm_dev_mgr_remove_port(values.number(port, "port_num"))

    @command(0)
    def do_show_ports(self) -> None:
        """List the ports: show_ports."""
        ports = self.client.bm_dev_mgr_show_ports()
        print(f"{'port #':^10}{'iface name':^20}{'status':^10}extra info")
        print("=" * 50)
        for port in ports:
            status = "UP" if port.is_up else "DOWN"
            extra = "; ".join(f"{name}={value}" for name, value in port.extra.items())
            print(f"{port.port_num:^10}{port.iface_name:^20}{status:^10}{extra}")
