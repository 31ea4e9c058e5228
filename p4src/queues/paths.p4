// Shared by the programs of this folder: the kit's router around a control `decide(hdr, meta,
// standard_metadata)`, and the paths of a group of next hops.
//
//   routing -> classify -> decide -> path_mtu -> queues
//
// The tables have the names and actions of control/balancing.p4, so that apps.balancing fills them.
// A path is known by its port once a packet has taken it; until then its port is 0, whose queue is
// empty, and so it is soon tried.

#ifndef VITRINE_QUEUES_PATHS_P4
#define VITRINE_QUEUES_PATHS_P4

#define WITH_BALANCING
#define WITH_RANK

#include <core.p4>
#include <v1model.p4>
#include <vitrine.p4>
#include "../lib/parsers.p4"
#include "../lib/checksums.p4"
#include "../control/punt.p4"
#include "../control/routing.p4"
#include "../control/path_mtu.p4"
#include "../control/classify.p4"
#include "../control/ecn.p4"
#include "../control/accounting.p4"

// Where a register keeps something of a path: 64 groups of 16 paths.
#define PATH_CELLS 1024
#define PATH_CELL(path) ((bit<32>)meta.next_hop_group[5:0] << 4 | (bit<32>)(path))

// meta.balancing.count: how many paths the packet's group has; 0 if it has none.
control path_count(in headers_t hdr, inout metadata_t meta) {
    action has_paths(bit<16> count) {
        meta.balancing.count = count;
    }

    table path_groups {
        key = {
            meta.next_hop_group: exact;
        }
        actions = {
            has_paths;
            NoAction;
        }
        default_action = NoAction();
        size = 1024;
    }

    apply {
        meta.balancing.count = 0;
        if (meta.next_hop_group != 0 && hdr.ipv4.isValid()) {
            path_groups.apply();
        }
    }
}

// Sends the packet along meta.balancing.path.
control chosen_path(inout headers_t hdr,
                    inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    action take_path(port_num_t port, mac_addr_t src_addr, mac_addr_t dst_addr,
                     port_num_t next_port) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.src_addr = src_addr;
        hdr.ethernet.dst_addr = dst_addr;
        meta.balancing.port = port;
        meta.balancing.next_port = next_port;
    }

    table paths {
        key = {
            meta.next_hop_group: exact;
            meta.balancing.path: exact;
        }
        actions = {
            take_path;
            NoAction;
        }
        default_action = NoAction();
        size = 1024;
    }

    apply {
        paths.apply();
    }
}

#endif
