// Committed rates: what a customer sends is coloured by a meter, and the colour decides.
//
//   contracts (who sent it?)
//        | meter_blind            | meter_aware                       | no entry
//        v                        v                                   v
//   the meter alone          the meter, and the colour that      not metered
//   says the colour          the packet brought in its DSCP
//        |                        |
//        +------------------------+
//        v
//   treatments (exact: colour):  treat(dscp, class of service), or discard
//
// A meter has two rates, committed and peak, with a burst each (RFC 2698):
//
//                     within the committed rate?   within the peak rate?
//           green              yes                        yes
//           yellow             no                         yes
//           red                                           no
//
// Aware of colours, it lets no packet get better: what came yellow is yellow or red, and takes nothing
// of the committed rate away from packets that came green. v1model's meters are all blind.
//
// Reads:  hdr.ipv4, ostd.drop.
// Writes: hdr.ipv4.dscp, ostd.{class_of_service, drop}, meta.tag.
// Apply after routing: what goes nowhere takes no tokens.

#ifndef VITRINE_CONTROL_METERING_P4
#define VITRINE_CONTROL_METERING_P4

#include "../lib/psa_frames.p4"

// Colours as numbers, for keys and for cells of counters.
const bit<2> UNCOLOURED = 0;
const bit<2> GREEN  = 1;
const bit<2> YELLOW = 2;
const bit<2> RED    = 3;

// RFC 2597: how likely routers shall drop a packet of the first assured class, by its DSCP.
const bit<6> DSCP_AF11 = 10;
const bit<6> DSCP_AF12 = 12;
const bit<6> DSCP_AF13 = 14;

// A cell for each customer and colour.
#define METERING_CELLS 1024

control metering(inout headers_t hdr,
                 inout metadata_t meta,
                 inout psa_ingress_output_metadata_t ostd) {
    // The controller sets the rates of a contract, in bytes a second.
    Meter<bit<8>>(256, PSA_MeterType_t.BYTES) contract_meters;
    // Arrivals, by customer and colour.
    Counter<bit<64>, bit<10>>(METERING_CELLS, PSA_CounterType_t.PACKETS_AND_BYTES) metered;

    PSA_MeterColor_t colour;

    // `customer` is only for counting: several may share a contract.
    action meter_blind(bit<8> contract, bit<8> customer) {
        colour = contract_meters.execute(contract);
        meta.tag.customer = customer;
    }

    action meter_aware(bit<8> contract, bit<8> customer) {
        PSA_MeterColor_t before = PSA_MeterColor_t.GREEN;
        if (hdr.ipv4.dscp == DSCP_AF12) {
            before = PSA_MeterColor_t.YELLOW;
        } else if (hdr.ipv4.dscp == DSCP_AF13) {
            before = PSA_MeterColor_t.RED;
        }
        colour = contract_meters.execute(contract, before);
        meta.tag.customer = customer;
    }

    action treat(bit<6> dscp, class_num_t class_num) {
        hdr.ipv4.dscp = dscp;
        ostd.class_of_service = (ClassOfService_t) (ClassOfServiceUint_t) class_num;
    }

    action discard() {
        ingress_drop(ostd);
    }

    // Filled by the controller: one entry for each customer.
    table contracts {
        key = {
            hdr.ipv4.src_addr: ternary;
        }
        actions = {
            meter_blind;
            meter_aware;
            NoAction;
        }
        default_action = NoAction();
        size = 256;
    }

    // Filled by the controller: what a colour is worth here.
    table treatments {
        key = {
            meta.tag.colour: exact;
        }
        actions = {
            treat;
            discard;
            NoAction;
        }
        default_action = NoAction();
        size = 4;
    }

    apply {
        meta.tag = { 0, UNCOLOURED };
        // Frames for the controller have no contract either.
        if (!ostd.drop && hdr.ipv4.isValid() && !hdr.packet_in.isValid() && contracts.apply().hit) {
            if (colour == PSA_MeterColor_t.GREEN) {
                meta.tag.colour = GREEN;
            } else if (colour == PSA_MeterColor_t.YELLOW) {
                meta.tag.colour = YELLOW;
            } else {
                meta.tag.colour = RED;
            }
            metered.count(meta.tag.customer ++ meta.tag.colour);
            treatments.apply();
        }
    }
}

// Departures, by customer and colour. Apply in egress.
control metered_departures(in metadata_t meta) {
    Counter<bit<64>, bit<10>>(METERING_CELLS, PSA_CounterType_t.PACKETS_AND_BYTES) left;

    apply {
        if (meta.tag.customer != 0) {
            left.count(meta.tag.customer ++ meta.tag.colour);
        }
    }
}

#endif
