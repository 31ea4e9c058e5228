"""Topologies that several tests look at, and how a test loads the text of one."""

from pathlib import Path

from topo.load import load
from topo.model import Topology

# h1 - s1 - (s2 or s3) - s4 - h2: two shortest ways of the same length.
DIAMOND = """\
hosts:
  h1: {address: 10.0.1.1/24, address6: fd00:1::1/64}
  h2: {address: 10.0.2.1/24}
switches:
  s1: {ports: {1: {address: [10.0.1.254/24, "fd00:1::fe/64"]}, 2: {}, 3: {}}}
  s2: {ports: {1: {}, 2: {}}}
  s3: {ports: {1: {}, 2: {}}}
  s4: {ports: {1: {}, 2: {}, 3: {address: 10.0.2.254/24}}}
links:
  - [h1, s1:1]
  - [s1:2, s2:1]
  - [s1:3, s3:1]
  - [s2:2, s4:1]
  - [s3:2, s4:2]
  - [s4:3, h2]
"""

# h1 - s1 - s2 - h2, with 1300 bytes between the routers.
NARROW = """\
hosts:
  h1: {address: 10.0.1.1/24, address6: fd00:1::1/64}
  h2: {address: 10.0.2.1/24, address6: fd00:2::1/64}
switches:
  s1: {ports: {1: {address: [10.0.1.254/24, "fd00:1::fe/64"]}, 2: {}}}
  s2: {ports: {1: {}, 2: {address: [10.0.2.254/24, "fd00:2::fe/64"]}}}
links:
  - [h1, s1:1]
  - {ends: [s1:2, s2:1], mtu: 1300 B}
  - [s2:2, h2]
"""


def loaded(text: str, folder: Path) -> Topology:
    """The topology of a text, which needs a file in `folder` so that errors can name it."""
    file = folder / "topology.yaml"
    file.write_text(text)
    return load(file)
