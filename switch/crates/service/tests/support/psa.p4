// A controller's view of a PSA program, for the tests of the server: its tables, their direct
// resources, digests, and packets to and from the controller.
#include <core.p4>
#include <psa.p4>

typedef bit<48> mac_addr_t;

@controller_header("packet_in")
header packet_in_t {
    bit<32> ingress_port;
}

@controller_header("packet_out")
header packet_out_t {
    bit<32> egress_port;
}

header ethernet_t {
    mac_addr_t dst_addr;
    mac_addr_t src_addr;
    bit<16> ether_type;
}

struct headers_t {
    packet_out_t packet_out;
    packet_in_t packet_in;
    ethernet_t ethernet;
}

struct learned_t {
    mac_addr_t src_addr;
    PortId_t ingress_port;
}

struct metadata_t {
    bool learns;
    learned_t learned;
    bit<32> came_by;
}

struct normal_t { bit<32> came_by; }
struct empty_t {}

const bit<16> TYPE_LEARN = 0x0001;
const bit<16> TYPE_TO_CONTROLLER = 0x0002;
const bit<16> TYPE_PROFILE = 0x0003;
const bit<16> TYPE_SELECTOR = 0x0004;

parser read_in(packet_in packet, out headers_t hdr, inout metadata_t meta,
               in psa_ingress_parser_input_metadata_t istd, in empty_t a, in empty_t b) {
    state start {
        meta.learns = false;
        transition select(istd.ingress_port) {
            PSA_PORT_CPU: parse_packet_out;
            default: parse_ethernet;
        }
    }
    state parse_packet_out {
        packet.extract(hdr.packet_out);
        transition parse_ethernet;
    }
    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    DirectCounter<bit<64>>(PSA_CounterType_t.PACKETS_AND_BYTES) hits;
    DirectMeter(PSA_MeterType_t.PACKETS) rates;
    ActionProfile(16) hops;
    ActionSelector(PSA_HashAlgorithm_t.CRC16, 64, 16) paths;

    action forward(PortId_t port) {
        send_to_port(ostd, port);
    }

    // Packets above the entry's rates are dropped.
    action forward_within_rates(PortId_t port) {
        hits.count();
        PSA_MeterColor_t color = rates.execute();
        if (color == PSA_MeterColor_t.RED) {
            ingress_drop(ostd);
        } else {
            send_to_port(ostd, port);
        }
    }

    table hosts {
        key = { hdr.ethernet.dst_addr : exact; }
        actions = { forward_within_rates; NoAction; }
        const default_action = NoAction;
        psa_direct_counter = hits;
        psa_direct_meter = rates;
    }

    table by_profile {
        key = { hdr.ethernet.dst_addr : exact; }
        actions = { forward; NoAction; }
        psa_implementation = hops;
    }

    table by_selector {
        key = {
            hdr.ethernet.dst_addr : exact;
            hdr.ethernet.src_addr : selector;
        }
        actions = { forward; NoAction; }
        psa_implementation = paths;
    }

    apply {
        meta.came_by = (bit<32>) (PortIdUint_t) istd.ingress_port;
        if (hdr.packet_out.isValid()) {
            send_to_port(ostd, (PortId_t) hdr.packet_out.egress_port);
            hdr.packet_out.setInvalid();
        } else if (hdr.ethernet.ether_type == TYPE_TO_CONTROLLER) {
            send_to_port(ostd, PSA_PORT_CPU);
        } else if (hdr.ethernet.ether_type == TYPE_PROFILE) {
            by_profile.apply();
        } else if (hdr.ethernet.ether_type == TYPE_SELECTOR) {
            by_selector.apply();
        } else {
            if (hdr.ethernet.ether_type == TYPE_LEARN) {
                meta.learns = true;
                meta.learned = { hdr.ethernet.src_addr, istd.ingress_port };
            }
            hosts.apply();
        }
    }
}

control write_in(packet_out packet, out empty_t a, out empty_t b, out normal_t normal_meta,
                 inout headers_t hdr, in metadata_t meta, in psa_ingress_output_metadata_t istd) {
    Digest<learned_t>() learn;
    apply {
        if (meta.learns) {
            learn.pack(meta.learned);
        }
        if (psa_normal(istd)) {
            normal_meta.came_by = meta.came_by;
        }
        packet.emit(hdr.ethernet);
    }
}

parser read_out(packet_in packet, out headers_t hdr, inout metadata_t meta,
                in psa_egress_parser_input_metadata_t istd,
                in normal_t normal_meta, in empty_t b, in empty_t c) {
    state start {
        meta.came_by = normal_meta.came_by;
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, in psa_egress_input_metadata_t istd,
               inout psa_egress_output_metadata_t ostd) {
    apply {
        if (istd.egress_port == PSA_PORT_CPU) {
            hdr.packet_in.setValid();
            hdr.packet_in.ingress_port = meta.came_by;
        }
    }
}

control write_out(packet_out packet, out empty_t a, out empty_t b, inout headers_t hdr,
                  in metadata_t meta, in psa_egress_output_metadata_t istd,
                  in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
    }
}

PSA_Switch(IngressPipeline(read_in(), ingress(), write_in()), PacketReplicationEngine(),
           EgressPipeline(read_out(), egress(), write_out()), BufferingQueueingEngine()) main;
