// SP-PIFO (Alcoz, Dietmueller, Vanbever, NSDI 2020): eight strict-priority FIFO queues serve packets
// almost in the order of their ranks. The rank is the DSCP; the lowest rank goes first.
//
//   routing -> rank -> from class 0 up: the first class whose bound is not above the rank
//                        found:  its bound becomes the rank             (push up)
//                        none:   class 7; all bounds fall by the miss   (push down)
//
// The port has eight classes with `scheduler: strict`; class 7 is served first.

#include "paths.p4"

control decide(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    // The lowest rank that each class takes.
    register<bit<8>>(8) bounds;

    bit<8> rank = 0;
    bool is_found = false;

    action consider(in bit<3> class) {
        bit<8> bound;
        bounds.read(bound, (bit<32>)class);
        bool fits = !is_found && bound <= rank;
        standard_metadata.priority = fits ? class : standard_metadata.priority;
        is_found = is_found || fits;
    }

    action push_down(in bit<3> class, in bit<8> miss) {
        bit<8> bound;
        bounds.read(bound, (bit<32>)class);
        bounds.write((bit<32>)class, bound |-| miss);
    }

    apply {
        rank = hdr.ipv4.isValid() ? (bit<8>)hdr.ipv4.dscp : 0;
        standard_metadata.priority = 7;
        consider(0);
        consider(1);
        consider(2);
        consider(3);
        consider(4);
        consider(5);
        consider(6);
        consider(7);
        if (is_found) {
            bounds.write((bit<32>)standard_metadata.priority, rank);
        } else {
            bit<8> highest;
            bounds.read(highest, 7);
            bit<8> miss = highest - rank;
            push_down(0, miss);
            push_down(1, miss);
            push_down(2, miss);
            push_down(3, miss);
            push_down(4, miss);
            push_down(5, miss);
            push_down(6, miss);
            push_down(7, miss);
        }
    }
}

#include "router.p4"
