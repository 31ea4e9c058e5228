// Mirroring: a copy of a packet, as it came in, goes out of another port.
//
//   mirror(session):  clone to that session when ingress ends
//
// Which packets, the rules of classify.p4 say, so that a packet nobody wants to see costs nothing.
// Which port, and how many bytes of each packet, the clone session says, which the controller
// makes.
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
