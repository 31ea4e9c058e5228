// One packet format, and every request that a v1model program can make: the first byte selects it.
//
//   byte 0 `what`, byte 1 `arg`, bytes 2-5 `data`, then a stack of items (2 bytes each, the top bit
//   of the first says that another follows), then the payload.

#include <core.p4>
#include <v1model.p4>

header ask_t {
    bit<8>  what;
    bit<8>  arg;
    bit<32> data;
}

header item_t {
    bit<1>  more;
    bit<7>  kind;
    bit<8>  value;
}

struct headers_t {
    ask_t     ask;
    item_t[3] items;
}

struct metadata_t {
    @field_list(1)
    bit<8>  passes;
    @field_list(1)
    bit<128> wide;
    bit<2>  color;
    bit<16> hash;
    bit<32> count;
}

struct seen_t {
    bit<8>  arg;
    bit<32> data;
}

parser parse_packet(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    value_set<bit<8>>(4) plain;

    state start {
        packet.extract(hdr.ask);
        transition select(hdr.ask.what) {
            plain: accept;
            default: parse_items;
        }
    }
    state parse_items {
        packet.extract(hdr.items.next);
        transition select(hdr.items.last.more) {
            1: parse_items;
            default: accept;
        }
    }
}

control no_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    counter(8, CounterType.packets_and_bytes) asked;
    meter(4, MeterType.packets) rate;
    register<bit<32>>(4) sums;
    action_selector(HashAlgorithm.crc16, 8, 16) spread;

    action send(bit<9> port) {
        standard_metadata.egress_spec = port;
    }
    table spreading {
        key = {
            hdr.ask.arg: exact;
            hdr.ask.data: selector;
        }
        actions = { send; NoAction; }
        implementation = spread;
    }
    table ranges {
        key = {
            hdr.ask.data: range;
            hdr.ask.arg: ternary;
        }
        actions = { send; NoAction; }
        default_action = NoAction();
    }

    apply {
        standard_metadata.egress_spec = 1;
        asked.count((bit<32>) hdr.ask.what);
        if (hdr.ask.what == 1) {
            clone_preserving_field_list(CloneType.I2E, 5, 1);
            hdr.ask.data = 0xffffffff;
        } else if (hdr.ask.what == 2) {
            if (meta.passes < 2) {
                meta.passes = meta.passes + 1;
                meta.wide = meta.wide + 0x1_0000_0000_0000_0000;
                resubmit_preserving_field_list(1);
            }
            hdr.ask.arg = meta.passes;
            hdr.ask.data = (bit<32>) meta.wide[127:64];
        } else if (hdr.ask.what == 3) {
            standard_metadata.mcast_grp = (bit<16>) hdr.ask.arg;
        } else if (hdr.ask.what == 4) {
            digest<seen_t>(1, { hdr.ask.arg, hdr.ask.data });
        } else if (hdr.ask.what == 5) {
            rate.execute_meter((bit<32>) hdr.ask.arg, meta.color);
            hdr.ask.data = (bit<32>) meta.color;
        } else if (hdr.ask.what == 6) {
            sums.read(meta.count, (bit<32>) hdr.ask.arg);
            meta.count = meta.count |+| hdr.ask.data;
            sums.write((bit<32>) hdr.ask.arg, meta.count);
            hdr.ask.data = meta.count;
        } else if (hdr.ask.what == 7) {
            spreading.apply();
            ranges.apply();
        } else if (hdr.ask.what == 8) {
            hash(meta.hash, HashAlgorithm.crc16, 16w100, { hdr.ask.arg, hdr.ask.data }, 32w50);
            hdr.ask.data = (bit<32>) meta.hash;
        } else if (hdr.ask.what == 9) {
            hdr.items.pop_front(1);
        } else if (hdr.ask.what == 10) {
            hdr.items.push_front(1);
            hdr.items[0].setValid();
            hdr.items[0] = { 1, 9, 0x99 };
        } else if (hdr.ask.what == 11) {
            truncate(8);
        } else if (hdr.ask.what == 12) {
            if (standard_metadata.parser_error == error.StackOutOfBounds) {
                hdr.ask.data = 1;
            } else if (standard_metadata.parser_error == error.PacketTooShort) {
                hdr.ask.data = 2;
            }
        } else if (hdr.ask.what == 13) {
            assert(hdr.ask.arg != 0);
        } else if (hdr.ask.what == 14) {
            random(hdr.ask.data, 10, 20);
        } else if (hdr.ask.what == 15) {
            exit;
        }
        log_msg("what {} arg {}", { hdr.ask.what, hdr.ask.arg });
    }
}

control egress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.instance_type != 0) {
            hdr.ask.arg = (bit<8>) standard_metadata.instance_type;
        }
        if (standard_metadata.instance_type == 5) {
            hdr.ask.data = (bit<32>) standard_metadata.egress_rid;
        }
        if (hdr.ask.what == 16 && standard_metadata.instance_type == 0) {
            clone(CloneType.E2E, 6);
            mark_to_drop(standard_metadata);
        }
        if (hdr.ask.what == 17 && meta.passes < 3) {
            meta.passes = meta.passes + 1;
            hdr.ask.data = hdr.ask.data + 1;
            recirculate_preserving_field_list(1);
        }
    }
}

control deparse_packet(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ask);
        packet.emit(hdr.items);
    }
}

V1Switch(parse_packet(), no_checksums(), ingress(), egress(), no_checksums(),
         deparse_packet()) main;
