"""Build a router: data plane, control plane, classes and queues, all of one's own."""
