// Parser states behind the IP header for programs with in-band telemetry: TCP or UDP, then INT.
// Included into the parser of lib/parsers.p4, which comes here with `transition parse_l4`.
//
//   parse_l4 -> parse_tcp, parse_udp -> marked as INT ? -> look_at_int -> parse_int -> stack_32 ... stack_1
//
// A marked packet that does not begin like INT is left alone: it is payload.

    state parse_l4 {
        transition select(hdr.ipv4.isValid()) {
            true: parse_l4_of_ipv4;
            default: parse_l4_of_ipv6;
        }
    }

    state parse_l4_of_ipv4 {
        meta.telemetry.dscp = hdr.ipv4.dscp;
        transition select(hdr.ipv4.protocol) {
            IP_PROTOCOL_TCP: parse_tcp;
            default: parse_udp;
        }
    }

    state parse_l4_of_ipv6 {
        meta.telemetry.dscp = hdr.ipv6.dscp;
        transition select(hdr.ipv6.next_header) {
            IP_PROTOCOL_TCP: parse_tcp;
            default: parse_udp;
        }
    }

    state parse_tcp {
        // The header's length stands in its thirteenth byte, in words.
        bit<104> start_of_tcp = packet.lookahead<bit<104>>();
        bit<4> header_words = start_of_tcp[7:4];
        verify(header_words >= 5, error.TcpTooShort);
        packet.extract(hdr.tcp, 32 * ((bit<32>)header_words - 5));
#ifdef INT_MARKER_UDP_PORT
        transition accept;
#else
        transition select(meta.telemetry.dscp) {
            INT_MARKER_DSCP: look_at_int;
            default: accept;
        }
#endif
    }

    state parse_udp {
        packet.extract(hdr.udp);
#ifdef INT_MARKER_UDP_PORT
        transition select(hdr.udp.dst_port) {
            INT_MARKER_UDP_PORT: look_at_int;
            default: accept;
        }
#else
        transition select(meta.telemetry.dscp) {
            INT_MARKER_DSCP: look_at_int;
            default: accept;
        }
#endif
    }

    // Shim and first byte of the INT header: type MD or MX, at least 3 words, version 2.
    state look_at_int {
        bit<40> start_of_int = packet.lookahead<bit<40>>();
        transition select(start_of_int[39:36], start_of_int[31:24], start_of_int[7:4]) {
            (INT_TYPE_MD, 3..255, INT_VERSION): parse_int;
            (INT_TYPE_MX, 3..255, INT_VERSION): parse_int;
            default: accept;
        }
    }

    state parse_int {
        packet.extract(hdr.int_shim);
        packet.extract(hdr.int_header);
        meta.telemetry.stack_words = hdr.int_shim.length_words - INT_HEADER_WORDS;
        // A stack that is too long stays payload: a hop in the middle need not read it.
        transition select(meta.telemetry.stack_words) {
            0..63: parse_stack;
            default: accept;
        }
    }

    // The length's bits say which parts there are: 19 words are 16 + 2 + 1.
    state parse_stack {
        transition select(meta.telemetry.stack_words[5:5]) {
            1: take_stack_32;
            default: stack_16;
        }
    }
    state take_stack_32 {
        packet.extract(hdr.int_stack_32);
        transition stack_16;
    }
    state stack_16 {
        transition select(meta.telemetry.stack_words[4:4]) {
            1: take_stack_16;
            default: stack_8;
        }
    }
    state take_stack_16 {
        packet.extract(hdr.int_stack_16);
        transition stack_8;
    }
    state stack_8 {
        transition select(meta.telemetry.stack_words[3:3]) {
            1: take_stack_8;
            default: stack_4;
        }
    }
    state take_stack_8 {
        packet.extract(hdr.int_stack_8);
        transition stack_4;
    }
    state stack_4 {
        transition select(meta.telemetry.stack_words[2:2]) {
            1: take_stack_4;
            default: stack_2;
        }
    }
    state take_stack_4 {
        packet.extract(hdr.int_stack_4);
        transition stack_2;
    }
    state stack_2 {
        transition select(meta.telemetry.stack_words[1:1]) {
            1: take_stack_2;
            default: stack_1;
        }
    }
    state take_stack_2 {
        packet.extract(hdr.int_stack_2);
        transition stack_1;
    }
    state stack_1 {
        transition select(meta.telemetry.stack_words[0:0]) {
            1: take_stack_1;
            default: stack_read;
        }
    }
    state take_stack_1 {
        packet.extract(hdr.int_stack_1);
        transition stack_read;
    }
    // The packet held all that the shim announced.
    state stack_read {
        meta.telemetry.stack_parsed = 1;
        transition accept;
    }
