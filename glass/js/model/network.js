// The network around the routers: its cables, and the names of hosts and routers by their addresses.

export class Network {
  // As labs/glass/scene.py tells it; {} where only routers' addresses are known.
  constructor({ hosts = [], routers = [], cables = [] } = {}) {
    this.hosts = hosts;
    this.routers = routers;
    this.cables = cables;
    this.names = new Map();
    for (const host of hosts) for (const address of host.addresses) this.names.set(address, host.name);
    // Recordings of before do not have them.
    this.routerNames = new Map(routers.flatMap(({ name, addresses = [] }) => addresses.map((address) => [address, name])));
  }

  get isKnown() {
    return this.cables.length > 0;
  }

  // The node at the other end of each port of a router: Map of port to name.
  neighbours(router) {
    const found = new Map();
    for (const [a, b] of this.cables) {
      if (a.node === router) found.set(a.port, b.node);
      if (b.node === router) found.set(b.port, a.node);
    }
    return found;
  }
}
