//! The program as one list of steps, every name resolved.
//!
//! A primitive of BMv2 JSON becomes one [`Step`], and so does a node of a control: a condition, a
//! table, a call. All of them stand in one list, actions first, then controls. Steps run in order;
//! nodes and jumps go to an index, and an action ends with [`Step::Return`], which goes to the node
//! that comes after the table or call that ran it. Two things are shorter than that: the
//! assignments that end an action are one step with its end, and a condition made of tests of
//! fields is a step a test.
//!
//! ```text
//!    0  Finish egress_spec <- param 0  set_next_hop
//!              ttl <- ttl - 1
//!    1  Drop                           drop
//!    2  Return
//!    3  Test ipv4.$valid$ in 1..       ingress: to 4 or 5
//!    4  Apply ipv4_routes              an entry runs 0 or 1, then END
//!    5  Call drop                      runs 1, then END
//! ```
//!
//! The list is data, not closures: `native` makes of it what a compiler to machine code reads.

mod apply;
mod headers;
mod load;
mod moves;
mod run;

pub(crate) use headers::set_valid;
pub(crate) use load::{Names, action_number, load_actions, load_routine};
pub(crate) use moves::Move;
pub(crate) use run::Machine;
pub use run::ROUNDS_MAX;

use bmv2::SourceInfo;

use crate::calculation::Recipe;
use crate::expression::{Condition, HeaderRef, Number, Subject, UnionRef, Wide};
use crate::instances::Asked;
use crate::place::{Bits, Cell, Place, Variable};
use crate::queues::QueueFunction;

/// The parts of a log message.
#[derive(Clone, Debug)]
pub(crate) enum LogPart {
    Text(String),
    Value(Wide),
}

/// Where a number goes.
#[derive(Clone, Debug)]
pub(crate) enum Destination {
    Cell(Cell),
    /// A field of a header found at run time; nowhere if there is none.
    Found {
        header: HeaderRef,
        field: Place,
    },
    Place(Place),
    Register {
        array: u32,
        index: Number,
    },
}

/// A step. Its tag is a byte of its own, so that finding out which it is costs one load.
///
/// Steps that decide the way, and those of nearly every packet, are here; the rest is a kind of its
/// own, and one call away. Each kind is run by one match without a catch-all: a step without code
/// does not compile.
#[derive(Clone, Debug)]
#[repr(u8)]
pub(crate) enum Step {
    /// Looks a table up and runs what it finds.
    Apply {
        table: u32,
    },
    /// The packet is dropped unless the condition holds; the text says what and where.
    Assert {
        condition: Condition,
        what: String,
    },
    Assign(Assign),
    /// Runs an action without parameters.
    Call {
        action: u32,
        next: u32,
    },
    Count {
        array: u32,
        index: Number,
    },
    Exit,
    Extern(ExternStep),
    /// The moves that end an action, and its end.
    Finish {
        moves: Box<[Move]>,
    },
    Header(HeaderStep),
    /// Goes on at one of two steps: if the condition does not hold, if it holds.
    If {
        condition: Condition,
        next: [u32; 2],
        /// Which of the conditions' names is its own.
        name: u32,
    },
    Jump {
        to: u32,
    },
    JumpUnless {
        condition: Condition,
        to: u32,
    },
    Move(Move),
    /// A register of up to 64 bits goes to a field.
    RegisterReadNarrow {
        to: Cell,
        array: u32,
        index: Number,
    },
    RegisterWriteNarrow {
        array: u32,
        index: Number,
        value: Number,
    },
    Request(Request),
    /// The end of an action.
    Return,
    SetCell {
        to: Cell,
        value: Number,
    },
    /// Goes on at one of two steps: if the test fails, if it succeeds.
    Test {
        subject: Subject,
        next: [u32; 2],
        /// The value of the condition that the test belongs to, if the test settles it.
        settles: [Option<bool>; 2],
        /// Which of the conditions' names is its own.
        name: u32,
    },
}

impl Step {
    /// Whether it reads the state of the queues.
    pub fn reads_queues(&self) -> bool {
        matches!(self, Step::Extern(ExternStep::Queues(_)))
    }
}

/// An assignment that is more than a number put into a window.
#[derive(Clone, Debug)]
pub(crate) enum Assign {
    CopyBits { to: Bits, from: Bits },
    CopyVariable { to: Variable, from: Variable },
    SetFound { header: HeaderRef, field: Cell, value: Number },
    SetWide { to: Destination, value: Wide },
}

/// Something done to a counter, meter, register, hash or random number, or asked of the queues.
#[derive(Clone, Debug)]
pub(crate) enum ExternStep {
    Hash { to: Destination, base: Number, calculation: u32, size: Number },
    Instance { instance: u32, does: Box<InstanceStep> },
    Meter { array: u32, index: Number, to: Destination, numbering: Colors },
    Queues(Box<QueuesStep>),
    Random { to: Destination, low: Number, high: Number },
    RegisterRead { to: Destination, array: u32, index: Number },
    RegisterWrite { array: u32, index: Number, value: Wide },
}

/// A read of the state of the queues.
#[derive(Clone, Debug)]
pub(crate) struct QueuesStep {
    pub function: QueueFunction,
    pub inputs: Vec<Number>,
    pub to: [Destination; 2],
}

/// How a primitive numbers colours.
#[derive(Clone, Debug)]
pub(crate) enum Colors {
    /// Green, yellow, red: simple_switch.
    Bmv2,
    /// Red, green, yellow: PSA. The packet may have one already.
    Psa { before: Option<Box<Number>> },
}

/// A method of an extern instance.
#[derive(Clone, Debug)]
pub(crate) enum InstanceStep {
    Clear,
    /// The hash of data; with a range, `base + hash % size`.
    Hash {
        to: Destination,
        data: Recipe,
        range: Option<[Number; 2]>,
    },
    SetState {
        state: Number,
    },
    /// Data is added, or taken away again.
    Take {
        data: Recipe,
        is_added: bool,
    },
    Value {
        to: Destination,
        asked: Asked,
    },
    /// Whether the checksum is this number.
    Verify {
        to: Destination,
        expected: Number,
    },
}

/// Something done to whole headers, stacks or unions.
#[derive(Clone, Debug)]
pub(crate) enum HeaderStep {
    Add {
        header: HeaderRef,
        clear: bool,
    },
    Copy {
        to: HeaderRef,
        from: HeaderRef,
    },
    CopyStack {
        to: u32,
        from: u32,
    },
    CopyUnion {
        to: UnionRef,
        from: UnionRef,
    },
    CopyUnionStack {
        to: u32,
        from: u32,
    },
    /// Elements of a stack move to lower indexes.
    Pop {
        stack: u32,
        count: Number,
    },
    PopUnions {
        stack: u32,
        count: Number,
    },
    /// Elements of a stack move to higher indexes.
    Push {
        stack: u32,
        count: Number,
    },
    PushUnions {
        stack: u32,
        count: Number,
    },
    Remove {
        header: HeaderRef,
    },
}

/// A request for something that happens to the packet later, or that it carries.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    Clone {
        session: Number,
        field_list: Number,
    },
    Digest {
        list: Number,
    },
    /// `egress_spec` gets the drop port, the multicast group is cleared.
    Drop {
        egress_spec: Option<Cell>,
        group: Option<Cell>,
    },
    Log {
        parts: Vec<LogPart>,
    },
    /// The packet's place in queues that are ordered by rank.
    Rank {
        rank: Number,
    },
    Recirculate {
        field_list: Number,
    },
    Resubmit {
        field_list: Number,
    },
    Truncate {
        length: Number,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Action {
    pub name: String,
    /// Names and widths of its parameters.
    pub params: Vec<(String, u32)>,
    /// Limbs all parameters take together.
    pub limbs: usize,
    pub start: u32,
    /// The step behind its last one.
    pub end: u32,
    /// Where each of its primitives stands in the source.
    pub primitives: Vec<Option<SourceInfo>>,
}

/// Steps that stand alone: those of a parser state or a deparser.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routine(Vec<Step>);

impl Routine {
    pub fn steps(&self) -> &[Step] {
        &self.0
    }
}
