// DRILL (Ghorbani et al., SIGCOMM 2017): each packet, not each flow, takes the path with the
// shortest queue among two drawn at random and the best of the packet before.
//
//   path_count -> draw two -> look at three queues -> chosen_path -> remember the best
//
// Packets of a flow may overtake each other where the paths behind the queues differ in delay.

#include "paths.p4"

control decide(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    register<bit<9>>(PATH_CELLS) port_of_path;
    // Of each group.
    register<bit<16>>(64) best_path;

    bit<32> least_bytes = 0xffffffff;

    // The path stays chosen if its queue is shorter than those looked at before.
    action look_at(in bit<16> path) {
        bit<9> port;
        bit<32> packets;
        bit<32> bytes;
        port_of_path.read(port, PATH_CELL(path));
        queue_depth(port, (bit<8>)standard_metadata.priority, packets, bytes);
        meta.balancing.path = bytes < least_bytes ? path : meta.balancing.path;
        least_bytes = bytes < least_bytes ? bytes : least_bytes;
    }

    apply {
        path_count.apply(hdr, meta);
        if (meta.balancing.count != 0) {
            bit<16> first;
            bit<16> second;
            bit<16> last_best;
            bit<32> group = (bit<32>)meta.next_hop_group[5:0];
            random(first, 16w0, meta.balancing.count - 1);
            random(second, 16w0, meta.balancing.count - 1);
            best_path.read(last_best, group);
            look_at(first);
            look_at(second);
            look_at(last_best);
            best_path.write(group, meta.balancing.path);
            chosen_path.apply(hdr, meta, standard_metadata);
            port_of_path.write(PATH_CELL(meta.balancing.path), meta.balancing.port);
        }
    }
}

#include "router.p4"
