// The end of a packet test that defines `ingress` only.
control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

V1Switch(parse(), verify_nothing(), ingress(), egress(), compute_nothing(), deparse()) main;
