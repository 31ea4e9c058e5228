// Arguments are evaluated from left to right, and `in` and `inout` ones are copied then: what a later
// argument's call changes is not seen (P4-16, 6.8).
#include <core.p4>
#include <v1model.p4>

header numbers_t {
    bit<8> index;
    bit<8> plain;
    bit<8> by_table;
    bit<16> sliced;
    bit<8> whole;
}

struct headers_t {
    numbers_t n;
}

struct metadata_t {
}

bit<8> increment(inout bit<8> v) {
    v = v + 1;
    return v;
}

void add(inout bit<8> sum, in bit<8> more) {
    sum = sum + more;
}

parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.n);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control adder(inout bit<8> sum, in bit<8> more) {
    action add() {
        sum = sum + more;
    }

    table always {
        actions = {
            add;
        }
        const default_action = add();
    }

    apply {
        always.apply();
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<8>>(8) cells;
    adder() first;
    adder() second;

    apply {
        std.egress_spec = 1;
        cells.write((bit<32>)hdr.n.index, increment(hdr.n.index));
        add(hdr.n.plain, increment(hdr.n.plain));
        // One table works on the places of all applications of its control.
        if (hdr.n.index == 3) {
            first.apply(hdr.n.by_table, increment(hdr.n.by_table));
            second.apply(hdr.n.sliced[7:0], 1);
        } else {
            first.apply(hdr.n.whole, 3);
            second.apply(hdr.n.whole, 4);
        }
    }
}

control compute_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

#include "main.p4"
