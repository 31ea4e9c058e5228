// Mirroring: a copy of a packet, as it came in, goes out of another port.
//
//   mirror(session):  clone to that session when ingress ends
//
// The rules of classify.p4 select the packets, so that a packet without a copy costs nothing. The
// clone session, made by the controller, has the port and the bytes of each packet to copy.
//
// Reads and writes nothing; any action may call it.

#ifndef VITRINE_CONTROL_MIRROR_P4
#define VITRINE_CONTROL_MIRROR_P4

#include <core.p4>
#include <v1model.p4>

action mirror(in bit<32> session) {
    clone(CloneType.I2E, session);
}

#endif
