// SPDX-License-Identifier: Apache-2.0
// core.p4: what every P4-16 program may use, whatever the architecture.
// Names, types and order are those of the P4-16 specification's core library, so that P4Info and
// error codes come out the same with any compiler.

#ifndef _CORE_P4_
#define _CORE_P4_

// The errors of a parser. Programs may add their own.
error {
    NoError,               // Nothing is wrong.
    PacketTooShort,        // extract or lookahead wants more bits than the packet has left.
    NoMatch,               // No case of a select fits.
    StackOutOfBounds,      // A header stack has no such element.
    HeaderTooShort,        // A varbit field cannot hold the bits it is to get.
    ParserTimeout,         // The parser takes longer than the switch allows.
    ParserInvalidArgument  // The switch does not support this argument.
}

// The packet on its way in: a row of bits with a cursor. Only parsers have one.
extern packet_in {
    // Fills hdr from the bits at the cursor, makes it valid and moves the cursor behind it.
    void extract<T>(out T hdr);
    // The same for a header with one varbit field, which gets variableFieldSizeInBits bits.
    void extract<T>(out T variableSizeHeader,
                    in bit<32> variableFieldSizeInBits);
    // The bits at the cursor read as a T; the cursor stays.
    T lookahead<T>();
    // Moves the cursor over sizeInBits bits.
    void advance(in bit<32> sizeInBits);
    // Length of the whole packet in bytes.
    bit<32> length();
}

// The packet on its way out. Only deparsers have one.
extern packet_out {
    // Appends hdr if it is valid; of a stack, union or struct every valid header in it.
    void emit<T>(in T hdr);
}

// In a parser: goes on if check holds, else sets the error and goes to the state reject.
extern void verify(in bool check, in error toSignal);

// Does nothing; what a table does on a miss unless it says otherwise.
@noWarn("unused")
action NoAction() {}

// How a table compares a key. Architectures add more.
match_kind {
    // All bits are equal.
    exact,
    // The bits under a mask are equal; of several entries the one of highest priority wins.
    ternary,
    // The first bits are equal; of several entries the longest prefix wins.
    lpm
}

// Stops the compilation with the message unless check, known at compile time, holds.
extern bool static_assert(bool check, string message);

// The same with a message of the compiler's.
extern bool static_assert(bool check);

#endif  // _CORE_P4_
