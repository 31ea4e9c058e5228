//! The declarations of `psa.p4`: the Portable Switch Architecture as BMv2's psa_switch has it.

use super::v1model::{anywhere, block};
use super::{
    Architecture, BlockKind, Form, Function, Meaning, Object, Operand, Passed, Primitive, Way,
};
use Operand::{Constant, Fields, Given, LearnList, Number, Result, This, Truth, Value};
use Passed::{Headers, Intrinsic, Packet, User};

pub const PSA: Architecture = Architecture {
    name: "psa",
    package: "PSA_Switch",
    file: "psa.p4",
    marks: &[],
    main: "PSA_Switch(ingress, PacketReplicationEngine(), egress, BufferingQueueingEngine())",
    blocks: &[
        block(
            BlockKind::Parser,
            "ingress_parser",
            &[0, 0],
            &[
                Packet,
                INGRESS_HEADERS,
                INGRESS_USER,
                Intrinsic("psa_ingress_parser_input_metadata"),
                RESUBMITTED,
                RECIRCULATED,
            ],
        ),
        block(
            BlockKind::Ingress,
            "ingress",
            &[0, 1],
            &[
                INGRESS_HEADERS,
                INGRESS_USER,
                Intrinsic("psa_ingress_input_metadata"),
                INGRESS_OUTPUT,
            ],
        ),
        block(
            BlockKind::IngressDeparser,
            "ingress_deparser",
            &[0, 2],
            &[
                Packet,
                CLONED_IN_INGRESS,
                RESUBMITTED,
                NORMAL,
                INGRESS_HEADERS,
                INGRESS_USER,
                INGRESS_OUTPUT,
            ],
        ),
        block(
            BlockKind::EgressParser,
            "egress_parser",
            &[2, 0],
            &[
                Packet,
                EGRESS_HEADERS,
                EGRESS_USER,
                Intrinsic("psa_egress_parser_input_metadata"),
                NORMAL,
                CLONED_IN_INGRESS,
                CLONED_IN_EGRESS,
            ],
        ),
        block(
            BlockKind::Egress,
            "egress",
            &[2, 1],
            &[EGRESS_HEADERS, EGRESS_USER, Intrinsic("psa_egress_input_metadata"), EGRESS_OUTPUT],
        ),
        block(
            BlockKind::Deparser,
            "egress_deparser",
            &[2, 2],
            &[
                Packet,
                CLONED_IN_EGRESS,
                RECIRCULATED,
                EGRESS_HEADERS,
                EGRESS_USER,
                EGRESS_OUTPUT,
                Intrinsic("psa_egress_deparser_input_metadata"),
            ],
        ),
    ],
    metadata_type: "psa_ingress_output_metadata_t",
    deciding_fields: &["drop", "egress_port", "multicast_group"],
    deciding_hint: "call send_to_port(ostd, port) or multicast(ostd, group): a packet that goes \
                    nowhere is dropped",
    functions: FUNCTIONS,
    objects: OBJECTS,
};

const INGRESS_HEADERS: Passed = Headers("ingress");
const EGRESS_HEADERS: Passed = Headers("egress");
const INGRESS_USER: Passed = User("ingress");
const EGRESS_USER: Passed = User("egress");
const INGRESS_OUTPUT: Passed = Intrinsic("psa_ingress_output_metadata");
const EGRESS_OUTPUT: Passed = Intrinsic("psa_egress_output_metadata");
/// The metadata that travels with a packet, under the names that the pipeline looks for.
const NORMAL: Passed = Passed::Way("normal_meta");
const RESUBMITTED: Passed = Passed::Way("resubmit_meta");
const RECIRCULATED: Passed = Passed::Way("recirculate_meta");
const CLONED_IN_INGRESS: Passed = Passed::Way("clone_i2e_meta");
const CLONED_IN_EGRESS: Passed = Passed::Way("clone_e2e_meta");

const FUNCTIONS: &[Function] = &[
    anywhere("assert", "assert", &[Truth(0)]),
    anywhere("assume", "assume", &[Truth(0)]),
    goes("psa_clone_e2e", Way::Clone),
    goes("psa_clone_i2e", Way::Clone),
    goes("psa_normal", Way::Normal),
    goes("psa_recirculate", Way::Recirculate),
    goes("psa_resubmit", Way::Resubmit),
];

const OBJECTS: &[Object] = &[
    Object { name: "ActionProfile", form: Form::ActionProfile { size: 0 }, methods: &[] },
    Object {
        name: "ActionSelector",
        form: Form::ActionSelector { algorithm: 0, size: 1 },
        methods: &[],
    },
    Object { name: "BufferingQueueingEngine", form: Form::Nothing, methods: &[] },
    Object {
        name: "Checksum",
        form: Form::Instance,
        methods: &[
            anywhere("clear", "_Checksum_clear", &[This]),
            anywhere("get", "_Checksum_get", &[This, Result]),
            anywhere("update", "_Checksum_update", &[This, Fields(0)]),
        ],
    },
    Object {
        name: "Counter",
        form: Form::Counter { size: 0, unit: 1 },
        methods: &[anywhere("count", "_Counter_count", &[This, Number(0)])],
    },
    Object {
        name: "Digest",
        form: Form::Digest,
        methods: &[anywhere("pack", "generate_digest", &[Constant(0), LearnList(0)])],
    },
    Object {
        name: "DirectCounter",
        form: Form::DirectCounter { unit: 0 },
        // It counts with every match of its table.
        methods: &[Function { name: "count", meaning: Meaning::Nothing }],
    },
    Object {
        name: "DirectMeter",
        form: Form::DirectMeter { unit: 0 },
        methods: &[Function { name: "execute", meaning: Meaning::DirectMeterColor }],
    },
    Object {
        name: "Hash",
        form: Form::Instance,
        methods: &[Function {
            name: "get_hash",
            meaning: Meaning::ByCount(&[
                (1, primitive("_Hash_get_hash", &[This, Result, Fields(0)])),
                (
                    3,
                    primitive(
                        "_Hash_get_hash_mod",
                        &[This, Result, Number(0), Fields(1), Number(2)],
                    ),
                ),
            ]),
        }],
    },
    Object {
        name: "InternetChecksum",
        form: Form::Instance,
        methods: &[
            anywhere("add", "_InternetChecksum_add", &[This, Fields(0)]),
            anywhere("clear", "_InternetChecksum_clear", &[This]),
            anywhere("get", "_InternetChecksum_get", &[This, Result]),
            anywhere("get_state", "_InternetChecksum_get_state", &[This, Result]),
            anywhere("set_state", "_InternetChecksum_set_state", &[This, Number(0)]),
            anywhere("subtract", "_InternetChecksum_subtract", &[This, Fields(0)]),
        ],
    },
    Object {
        name: "Meter",
        form: Form::Meter { size: 0, unit: 1 },
        methods: &[Function {
            name: "execute",
            meaning: Meaning::ByCount(&[
                (1, primitive("_Meter_execute", &[This, Number(0), Result])),
                (2, primitive("_Meter_execute", &[This, Number(0), Result, Number(1)])),
            ]),
        }],
    },
    Object { name: "PacketReplicationEngine", form: Form::Nothing, methods: &[] },
    Object {
        name: "Random",
        form: Form::Instance,
        methods: &[anywhere("read", "modify_field_rng_uniform", &[Result, Given(0), Given(1)])],
    },
    Object {
        name: "Register",
        form: Form::Register { size: 0, initial: Some(1) },
        methods: &[
            anywhere("read", "register_read", &[Result, This, Number(0)]),
            anywhere("write", "register_write", &[This, Number(0), Value(1)]),
        ],
    },
];

const fn primitive(name: &'static str, operands: &'static [Operand]) -> Primitive {
    Primitive { name, operands, place: None }
}

const fn goes(name: &'static str, way: Way) -> Function {
    Function { name, meaning: Meaning::Goes(way) }
}
