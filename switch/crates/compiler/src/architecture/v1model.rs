//! The declarations of `v1model.p4`, including the functions that it calls deprecated: programs in
//! the field are full of them.

use super::{
    Architecture, Block, BlockKind, Form, Function, Meaning, Object, Operand, Passed, Place,
    Primitive,
};
use Operand::{
    Calculation, Destination, FieldList, Kept, LearnList, NoFields, Number, This, Truth, Value,
    Vector,
};

pub const V1MODEL: Architecture = Architecture {
    name: "v1model",
    package: "V1Switch",
    file: "v1model.p4",
    marks: &[],
    main: "V1Switch(parser, verify, ingress, egress, compute, deparser)",
    blocks: &[
        block(BlockKind::Parser, "parser", &[0], &[Passed::Packet, HEADERS, USER, STANDARD]),
        block(BlockKind::VerifyChecksum, "", &[1], &[HEADERS, USER]),
        block(BlockKind::Ingress, "ingress", &[2], &[HEADERS, USER, STANDARD]),
        block(BlockKind::Egress, "egress", &[3], &[HEADERS, USER, STANDARD]),
        block(BlockKind::ComputeChecksum, "", &[4], &[HEADERS, USER]),
        block(BlockKind::Deparser, "deparser", &[5], &[Passed::Packet, HEADERS]),
    ],
    metadata_type: "standard_metadata_t",
    deciding_fields: &["egress_spec", "mcast_grp"],
    deciding_hint: "set standard_metadata.egress_spec, or call mark_to_drop(standard_metadata)",
    functions: FUNCTIONS,
    objects: OBJECTS,
};

const HEADERS: Passed = Passed::Headers("headers");
const USER: Passed = Passed::User("metadata");
const STANDARD: Passed = Passed::Intrinsic("standard_metadata");

pub(super) const fn block(
    kind: BlockKind,
    name: &'static str,
    position: &'static [usize],
    parameters: &'static [Passed],
) -> Block {
    Block { kind, name, position, parameters }
}

const FUNCTIONS: &[Function] = &[
    anywhere("assert", "assert", &[Truth(0)]),
    anywhere("assume", "assume", &[Truth(0)]),
    Function {
        name: "clone",
        meaning: Meaning::ByEnumerator(
            0,
            &[
                ("I2E", from_ingress(&[Number(1), NoFields])),
                ("E2E", from_egress(&[Number(1), NoFields])),
            ],
        ),
    },
    Function {
        name: "clone3",
        meaning: Meaning::ByEnumerator(
            0,
            &[
                ("I2E", from_ingress(&[Number(1), Kept(2)])),
                ("E2E", from_egress(&[Number(1), Kept(2)])),
            ],
        ),
    },
    Function {
        name: "clone_preserving_field_list",
        meaning: Meaning::ByEnumerator(
            0,
            &[
                ("I2E", from_ingress(&[Number(1), FieldList(2)])),
                ("E2E", from_egress(&[Number(1), FieldList(2)])),
            ],
        ),
    },
    anywhere("digest", "generate_digest", &[Number(0), LearnList(1)]),
    anywhere(
        "hash",
        "modify_field_with_hash_based_offset",
        &[Destination(0), Number(2), Calculation { algorithm: 1, data: 3 }, Number(4)],
    ),
    anywhere("log_msg", "log_msg", &[Value(0), Vector(1)]),
    Function { name: "mark_to_drop", meaning: Meaning::MarkToDrop },
    anywhere("random", "modify_field_rng_uniform", &[Destination(0), Number(1), Number(2)]),
    recirculate("recirculate", &[Kept(0)]),
    recirculate("recirculate_preserving_field_list", &[FieldList(0)]),
    resubmit("resubmit", &[Kept(0)]),
    resubmit("resubmit_preserving_field_list", &[FieldList(0)]),
    anywhere("truncate", "truncate", &[Number(0)]),
    checksum("update_checksum", false),
    checksum("update_checksum_with_payload", true),
    checksum("verify_checksum", false),
    checksum("verify_checksum_with_payload", true),
];

const OBJECTS: &[Object] = &[
    Object { name: "action_profile", form: Form::ActionProfile { size: 0 }, methods: &[] },
    Object {
        name: "action_selector",
        form: Form::ActionSelector { algorithm: 0, size: 1 },
        methods: &[],
    },
    Object {
        name: "counter",
        form: Form::Counter { size: 0, unit: 1 },
        methods: &[anywhere("count", "count", &[This, Number(0)])],
    },
    Object {
        name: "direct_counter",
        form: Form::DirectCounter { unit: 0 },
        // It counts with every match of its table.
        methods: &[Function { name: "count", meaning: Meaning::Nothing }],
    },
    Object {
        name: "direct_meter",
        form: Form::DirectMeter { unit: 0 },
        methods: &[Function { name: "read", meaning: Meaning::DirectMeterRead }],
    },
    Object {
        name: "meter",
        form: Form::Meter { size: 0, unit: 1 },
        methods: &[anywhere("execute_meter", "execute_meter", &[This, Number(0), Destination(1)])],
    },
    Object {
        name: "register",
        form: Form::Register { size: 0, initial: None },
        methods: &[
            anywhere("read", "register_read", &[Destination(0), This, Number(1)]),
            anywhere("write", "register_write", &[This, Number(0), Value(1)]),
        ],
    },
];

/// A function that is one primitive.
pub(super) const fn anywhere(
    name: &'static str,
    primitive: &'static str,
    operands: &'static [Operand],
) -> Function {
    let primitive = Primitive { name: primitive, operands, place: None };
    Function { name, meaning: Meaning::Primitive(primitive) }
}

/// A clone of the packet as it came in.
const fn from_ingress(operands: &'static [Operand]) -> Primitive {
    let place = Place {
        blocks: &[BlockKind::Ingress],
        emitted: &[],
        title: "a clone of type I2E is possible in ingress only",
        hint: "use CloneType.I2E in ingress and CloneType.E2E in egress",
    };
    Primitive { name: "clone_ingress_pkt_to_egress", operands, place: Some(place) }
}

/// A clone of the packet as it leaves.
const fn from_egress(operands: &'static [Operand]) -> Primitive {
    let place = Place {
        blocks: &[BlockKind::Egress],
        emitted: &[],
        title: "a clone of type E2E is possible in egress only",
        hint: "use CloneType.I2E in ingress and CloneType.E2E in egress",
    };
    Primitive { name: "clone_egress_pkt_to_egress", operands, place: Some(place) }
}

/// The packet comes back to ingress as it leaves.
const fn recirculate(name: &'static str, operands: &'static [Operand]) -> Function {
    let place = Place {
        blocks: &[BlockKind::Egress],
        // p4c passes it on; simple_switch then recirculates when egress is done.
        emitted: &[BlockKind::Ingress],
        title: "recirculate is possible in egress only",
        hint: "resubmit belongs to ingress, recirculate to egress",
    };
    let primitive = Primitive { name: "recirculate", operands, place: Some(place) };
    Function { name, meaning: Meaning::Primitive(primitive) }
}

/// The packet comes back to ingress as it arrived.
const fn resubmit(name: &'static str, operands: &'static [Operand]) -> Function {
    let place = Place {
        blocks: &[BlockKind::Ingress],
        emitted: &[],
        title: "resubmit is possible in ingress only",
        hint: "resubmit belongs to ingress, recirculate to egress",
    };
    let primitive = Primitive { name: "resubmit", operands, place: Some(place) };
    Function { name, meaning: Meaning::Primitive(primitive) }
}

const fn checksum(name: &'static str, with_payload: bool) -> Function {
    let place = Place {
        blocks: &[BlockKind::VerifyChecksum, BlockKind::ComputeChecksum],
        emitted: &[],
        title: "checksums can be computed in the checksum controls only",
        hint: "move the call to the control that the package gives for it, or use hash()",
    };
    Function { name, meaning: Meaning::Checksum { with_payload, place } }
}
