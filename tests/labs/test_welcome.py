"""The prompt's first message about a network."""

from labs.prompt import up as prompt
from topo.load import load

NET = """
hosts:
  h1: {address: 10.0.1.1/24}
  h2: {address: 10.0.2.1/24}
switches:
  s1:
    ports:
      1: {address: 10.0.1.254/24}
      2: {address: 10.0.12.1/24, rate: 30 Mb/s}
  s2:
    ports:
      1: {address: 10.0.12.2/24}
      2: {address: 10.0.2.254/24, rate: 10 Mb/s}
links:
  - [h1, "s1:1"]
  - {ends: ["s1:2", "s2:1"], rate: 20 Mb/s}
  - [h2, "s2:2"]
"""


def test_a_port_that_is_faster_than_the_line_behind_it_is_told_of(tmp_path):
    file = tmp_path / "net.yaml"
    file.write_text(NET)
    lines = prompt.welcome(load(file), ["here", "there"]).splitlines()
    # A rate that the link gives both ends is not above it; the port's own is.
    (fast,) = [line for line in lines if "port 2 to s2" in line]
    assert fast.endswith(
        "into a line of 20 Mb/s: what is too much is lost there, and shown at s2 port 1"
    )
    assert not any("into a line" in line for line in lines if line is not fast)
