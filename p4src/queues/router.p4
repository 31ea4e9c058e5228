// The last lines of a program of this folder: the router around its control `decide`.

control ingress(inout headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.packet_out.isValid()) {
            from_controller.apply(hdr, standard_metadata);
        } else {
            routing.apply(hdr, meta, standard_metadata);
            classify.apply(hdr, meta, standard_metadata);
            decide.apply(hdr, meta, standard_metadata);
            path_mtu.apply(hdr, meta, standard_metadata);
        }
    }
}

control egress(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply {
        ecn_marking.apply(hdr, standard_metadata);
        accounting.apply(standard_metadata);
#ifdef RANKED_EGRESS
        RANKED_EGRESS
#endif
    }
}

V1Switch(parse_packet(),
         verify_checksums(),
         ingress(),
         egress(),
         update_checksums(),
         deparse_packet()) main;
