"""A small P4Info made by hand, so that tests of the controller need no compiler."""

from google.protobuf import text_format
from p4.config.v1 import p4info_pb2

from controller.p4info import P4Info

# One table of each kind that entries treat differently, and two actions of the same last name.
TEXT = """
tables {
  preamble { id: 0x02000001 name: "ingress.routing.ipv4_routes" alias: "ipv4_routes" }
  match_fields { id: 1 name: "hdr.ipv4.dst_addr" bitwidth: 32 match_type: LPM }
  action_refs { id: 0x01000001 }
  action_refs { id: 0x01000002 }
  size: 1024
}
tables {
  preamble { id: 0x02000002 name: "ingress.classify.rules" alias: "rules" }
  match_fields { id: 1 name: "port" bitwidth: 9 match_type: EXACT }
  match_fields { id: 2 name: "proto" bitwidth: 8 match_type: TERNARY }
  match_fields { id: 3 name: "dst_port" bitwidth: 16 match_type: RANGE }
  action_refs { id: 0x01000003 }
  size: 16
}
actions {
  preamble { id: 0x01000001 name: "ingress.routing.set_next_hop" alias: "set_next_hop" }
  params { id: 1 name: "port" bitwidth: 9 }
  params { id: 2 name: "src_addr" bitwidth: 48 }
  params { id: 3 name: "dst_addr" bitwidth: 48 }
}
actions { preamble { id: 0x01000002 name: "ingress.routing.drop" alias: "routing.drop" } }
actions { preamble { id: 0x01000003 name: "ingress.classify.drop" alias: "classify.drop" } }
counters {
  preamble { id: 0x12000001 name: "ingress.port_counter" alias: "port_counter" }
  spec { unit: BOTH }
  size: 512
}
"""

INFO = P4Info(text_format.Parse(TEXT, p4info_pb2.P4Info()))
