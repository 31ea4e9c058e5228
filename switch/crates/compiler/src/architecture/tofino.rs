//! The declarations of `tna.p4` and `t2na.p4`: the Tofino Native Architecture.
//!
//! The metadata that the chip puts in front of a packet are headers here too: parsers extract them.

use super::v1model::{anywhere, block};
use super::{
    Architecture, Block, BlockKind, Form, Function, Meaning, Object, Operand, ParserCounter,
    Passed, Tofino,
};
use Operand::{Constant, Destination, Fields, LearnList, Number, Result, This};
use Passed::{Headers, Intrinsic, Packet, User};

pub const TNA: Architecture = Architecture {
    name: "tna",
    package: "Switch",
    file: "tna.p4",
    marks: &["ingress_intrinsic_metadata_for_tm_t"],
    main: "Switch(Pipeline(parser, ingress, deparser, parser, egress, deparser))",
    blocks: BLOCKS,
    metadata_type: "ingress_intrinsic_metadata_for_tm_t",
    deciding_fields: &["ucast_egress_port", "mcast_grp_a", "mcast_grp_b"],
    deciding_hint: "set ig_intr_md_for_tm.ucast_egress_port: a packet that goes nowhere is dropped",
    functions: FUNCTIONS,
    objects: OBJECTS,
};

pub const T2NA: Architecture = Architecture {
    name: "t2na",
    file: "t2na.p4",
    marks: &["ingress_intrinsic_metadata_for_tm_t", "ghost_intrinsic_metadata_t"],
    ..TNA
};

const BLOCKS: &[Block] = &[
    block(
        BlockKind::Parser,
        "ingress_parser",
        &[0, 0],
        &[Packet, INGRESS_HEADERS, INGRESS_USER, INGRESS, FOR_TM, FROM_INGRESS_PARSER],
    ),
    block(
        BlockKind::Ingress,
        "ingress",
        &[0, 1],
        &[
            INGRESS_HEADERS,
            INGRESS_USER,
            INGRESS,
            FROM_INGRESS_PARSER,
            FOR_INGRESS_DEPARSER,
            FOR_TM,
            Headers("ghost"),
        ],
    ),
    block(
        BlockKind::IngressDeparser,
        "ingress_deparser",
        &[0, 2],
        &[Packet, INGRESS_HEADERS, INGRESS_USER, FOR_INGRESS_DEPARSER, INGRESS],
    ),
    block(
        BlockKind::EgressParser,
        "egress_parser",
        &[0, 3],
        &[Packet, EGRESS_HEADERS, EGRESS_USER, EGRESS, FROM_EGRESS_PARSER, FOR_EGRESS_DEPARSER],
    ),
    block(
        BlockKind::Egress,
        "egress",
        &[0, 4],
        &[
            EGRESS_HEADERS,
            EGRESS_USER,
            EGRESS,
            FROM_EGRESS_PARSER,
            FOR_EGRESS_DEPARSER,
            Intrinsic("eg_intr_md_for_oport"),
        ],
    ),
    block(
        BlockKind::Deparser,
        "egress_deparser",
        &[0, 5],
        &[Packet, EGRESS_HEADERS, EGRESS_USER, FOR_EGRESS_DEPARSER, EGRESS, FROM_EGRESS_PARSER],
    ),
];

const INGRESS_HEADERS: Passed = Headers("ingress");
const EGRESS_HEADERS: Passed = Headers("egress");
const INGRESS_USER: Passed = User("ingress");
const EGRESS_USER: Passed = User("egress");
const INGRESS: Passed = Headers("ig_intr_md");
const EGRESS: Passed = Headers("eg_intr_md");
/// Under the names that the pipeline looks for.
const FOR_TM: Passed = Intrinsic("ig_intr_md_for_tm");
const FROM_INGRESS_PARSER: Passed = Intrinsic("ig_intr_md_from_prsr");
const FOR_INGRESS_DEPARSER: Passed = Intrinsic("ig_intr_md_for_dprsr");
const FROM_EGRESS_PARSER: Passed = Intrinsic("eg_intr_md_from_prsr");
const FOR_EGRESS_DEPARSER: Passed = Intrinsic("eg_intr_md_for_dprsr");

const FUNCTIONS: &[Function] = &[
    tofino("funnel_shift_right", Tofino::FunnelShift),
    Function { name: "invalidate", meaning: Meaning::Nothing },
    tofino("is_validated", Tofino::IsValidated),
    tofino("max", Tofino::Maximum),
    tofino("min", Tofino::Minimum),
    tofino("port_metadata_unpack", Tofino::PortMetadata),
    tofino("sizeInBits", Tofino::SizeInBits),
    tofino("sizeInBytes", Tofino::SizeInBytes),
];

const OBJECTS: &[Object] = &[
    Object { name: "ActionProfile", form: Form::ActionProfile { size: 0 }, methods: &[] },
    Object { name: "ActionSelector", form: Form::TofinoSelector, methods: &[] },
    Object { name: "Alpm", form: Form::Nothing, methods: &[] },
    Object { name: "Atcam", form: Form::Nothing, methods: &[] },
    Object { name: "CRCPolynomial", form: Form::Tofino, methods: &[] },
    Object {
        name: "Checksum",
        form: Form::Instance,
        methods: &[
            anywhere("add", "_InternetChecksum_add", &[This, Fields(0)]),
            anywhere("get", "_InternetChecksum_get", &[This, Result]),
            anywhere("subtract", "_InternetChecksum_subtract", &[This, Fields(0)]),
            anywhere(
                "subtract_all_and_deposit",
                "_InternetChecksum_get_state",
                &[This, Destination(0)],
            ),
            tofino("update", Tofino::Checksum),
            tofino("verify", Tofino::ChecksumVerify),
        ],
    },
    Object {
        name: "Counter",
        form: Form::Counter { size: 0, unit: 1 },
        methods: &[anywhere("count", "count", &[This, Number(0)])],
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
        name: "DirectLpf",
        form: Form::State { cell: "__lpf_cell_t", size: None },
        methods: &[tofino("execute", Tofino::Filter)],
    },
    Object {
        name: "DirectMeter",
        form: Form::DirectMeter { unit: 0 },
        methods: &[tofino("execute", Tofino::DirectMeter)],
    },
    Object {
        name: "DirectRegister",
        form: Form::DirectRegister { initial: 0 },
        methods: &[tofino("read", Tofino::DirectRead), tofino("write", Tofino::DirectWrite)],
    },
    Object {
        name: "DirectRegisterAction",
        form: Form::Tofino,
        methods: &[
            Function { name: "apply", meaning: Meaning::Nothing },
            tofino("execute", Tofino::ExecuteDirect),
            tofino("predicate", Tofino::Predicate),
        ],
    },
    Object {
        name: "DirectWred",
        form: Form::State { cell: "__wred_cell_t", size: None },
        methods: &[tofino("execute", Tofino::Wred)],
    },
    Object { name: "Hash", form: Form::Tofino, methods: &[tofino("get", Tofino::Hash)] },
    Object {
        name: "Lpf",
        form: Form::State { cell: "__lpf_cell_t", size: Some(0) },
        methods: &[tofino("execute", Tofino::Filter)],
    },
    Object { name: "MathUnit", form: Form::Tofino, methods: &[tofino("execute", Tofino::Math)] },
    Object {
        name: "Meter",
        form: Form::Meter { size: 0, unit: 1 },
        methods: &[tofino("execute", Tofino::Meter)],
    },
    Object { name: "Mirror", form: Form::Tofino, methods: &[tofino("emit", Tofino::Mirror)] },
    Object {
        name: "ParserCounter",
        form: Form::Tofino,
        methods: &[
            counter("decrement", ParserCounter::Decrement),
            counter("increment", ParserCounter::Increment),
            counter("is_negative", ParserCounter::IsNegative),
            counter("is_zero", ParserCounter::IsZero),
            counter("set", ParserCounter::Set),
        ],
    },
    Object {
        name: "ParserPriority",
        form: Form::Tofino,
        // Which packet a busy parser takes first: nothing is busy here.
        methods: &[Function { name: "set", meaning: Meaning::Nothing }],
    },
    Object { name: "Random", form: Form::Tofino, methods: &[tofino("get", Tofino::Random)] },
    Object {
        name: "Register",
        form: Form::Register { size: 0, initial: Some(1) },
        methods: &[tofino("read", Tofino::RegisterRead), tofino("write", Tofino::RegisterWrite)],
    },
    Object {
        name: "RegisterAction",
        form: Form::Tofino,
        methods: &[
            Function { name: "apply", meaning: Meaning::Nothing },
            tofino("execute", Tofino::Execute),
            tofino("execute_log", Tofino::Unavailable),
            tofino("predicate", Tofino::Predicate),
        ],
    },
    Object {
        name: "RegisterParam",
        form: Form::Cell { initial: 0 },
        methods: &[tofino("read", Tofino::Parameter)],
    },
    Object { name: "Resubmit", form: Form::Tofino, methods: &[tofino("emit", Tofino::Resubmit)] },
    unavailable(
        "SelectorAction",
        &[
            Function { name: "apply", meaning: Meaning::Nothing },
            tofino("execute", Tofino::Unavailable),
        ],
    ),
    Object {
        name: "Wred",
        form: Form::State { cell: "__wred_cell_t", size: Some(0) },
        methods: &[tofino("execute", Tofino::Wred)],
    },
];

const fn tofino(name: &'static str, what: Tofino) -> Function {
    Function { name, meaning: Meaning::Tofino(what) }
}

const fn counter(name: &'static str, what: ParserCounter) -> Function {
    tofino(name, Tofino::ParserCounter(what))
}

const fn unavailable(name: &'static str, methods: &'static [Function]) -> Object {
    Object { name, form: Form::Tofino, methods }
}
