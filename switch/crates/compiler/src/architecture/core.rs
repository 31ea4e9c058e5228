//! The declarations of `core.p4`, which every architecture has.

use super::{Form, Function, Meaning, Object, PacketMethod};

pub const FILE: &str = "core.p4";

pub const FUNCTIONS: &[Function] = &[
    Function { name: "static_assert", meaning: Meaning::StaticAssert },
    Function { name: "verify", meaning: Meaning::Verify },
];

pub const OBJECTS: &[Object] = &[
    Object {
        name: "packet_in",
        form: Form::Packet,
        methods: &[
            packet("advance", PacketMethod::Advance),
            packet("extract", PacketMethod::Extract),
            packet("length", PacketMethod::Length),
            packet("lookahead", PacketMethod::Lookahead),
        ],
    },
    Object {
        name: "packet_out",
        form: Form::Packet,
        methods: &[packet("emit", PacketMethod::Emit)],
    },
];

const fn packet(name: &'static str, method: PacketMethod) -> Function {
    Function { name, meaning: Meaning::Packet(method) }
}
