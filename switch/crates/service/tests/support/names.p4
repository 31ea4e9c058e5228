// Types that controllers write in another way than the data plane: ports and tenants as strings,
// lanes as numbers of 32 bits.
#include <core.p4>
#include <v1model.p4>

@p4runtime_translation("", string)
type bit<9> port_id_t;

@p4runtime_translation("", string)
@p4runtime_translation_mappings({
  {"", 0},
})
type bit<10> tenant_t;

@p4runtime_translation("", 32)
type bit<4> lane_t;

@controller_header("packet_in")
header packet_in_t {
    port_id_t ingress_port;
    bit<7> pad;
}

@controller_header("packet_out")
header packet_out_t {
    port_id_t egress_port;
    bit<7> pad;
}

header call_t {
    bit<8> to;
}

struct headers_t {
    packet_in_t packet_in;
    packet_out_t packet_out;
    call_t call;
}

struct metadata_t {
    port_id_t came_by;
    tenant_t tenant;
    lane_t lane;
}

parser packet_parser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t std_meta) {
    state start {
        transition select(std_meta.ingress_port) {
            510: parse_packet_out;
            default: parse_call;
        }
    }

    state parse_packet_out {
        packet.extract(hdr.packet_out);
        transition accept;
    }

    state parse_call {
        packet.extract(hdr.call);
        transition accept;
    }
}

control verify_headers(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std_meta) {
    action set_tenant(tenant_t tenant) {
        meta.tenant = tenant;
    }

    action forward(port_id_t port) {
        std_meta.egress_spec = (bit<9>)port;
    }

    action copy(bit<16> group) {
        std_meta.mcast_grp = group;
    }

    action to_controller() {
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = meta.came_by;
        std_meta.egress_spec = 510;
    }

    table tenants {
        key = { meta.came_by: exact; }
        actions = { set_tenant; NoAction; }
    }

    table calls {
        key = {
            meta.tenant: optional;
            hdr.call.to: exact;
        }
        actions = { forward; copy; to_controller; }
        default_action = to_controller();
    }

    table lanes {
        key = { meta.lane: exact; }
        actions = { NoAction; }
    }

    apply {
        meta.came_by = (port_id_t)std_meta.ingress_port;
        if (hdr.packet_out.isValid()) {
            std_meta.egress_spec = (bit<9>)hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
        } else {
            tenants.apply();
            lanes.apply();
            calls.apply();
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std_meta) {
    apply { }
}

control update_headers(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control packet_deparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.call);
    }
}

V1Switch(packet_parser(), verify_headers(), ingress(), egress(), update_headers(),
         packet_deparser()) main;
