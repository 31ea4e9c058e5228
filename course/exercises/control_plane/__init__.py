"""The control plane of a router: ARP, ICMP, static routes, then link-state routing."""
