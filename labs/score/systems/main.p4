// The wiring of a telemetry system; see base.p4. Includes nothing: a system includes it last.

#ifndef VITRINE_SCORE_MAIN_P4
#define VITRINE_SCORE_MAIN_P4

control ingress(inout headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    apply {
        routing.apply(hdr, standard_metadata);
    }
}

control egress(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    // Set by the controller: whose queue is watched. Packets of other ports meet no telemetry.
    register<bit<16>>(1) watched_port;

    apply {
        bit<16> watched;
        bit<16> port = (bit<16>)standard_metadata.egress_port;
        if (standard_metadata.instance_type == EGRESS_CLONE) {
            become_report.apply(hdr, meta, standard_metadata);
            return;
        }
        if (standard_metadata.instance_type == DROPPED) {
            port = (bit<16>)standard_metadata.drop_port;
        }
        watched_port.read(watched, 0);
        if (port == watched && hdr.ipv4.isValid()) {
            telemetry.apply(hdr, meta, standard_metadata);
        } else if (standard_metadata.instance_type == DROPPED) {
            mark_to_drop(standard_metadata);
        }
    }
}

V1Switch(parse_packet(),
         verify_checksums(),
         ingress(),
         egress(),
         update_checksums(),
         deparse_packet()) main;

#endif
