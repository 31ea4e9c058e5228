//! State that is local to the block being lowered: gone when the next block of the architecture
//! begins.

use std::collections::BTreeMap;

use bmv2::Expression;

use super::flat::Goal;
use super::step::{Label, Step};
use super::target::Target;
use super::value::{ObjectRef, ScopeId, Value};
use crate::architecture::BlockKind;
use crate::types::tree::{self, Id, Type};

/// The surroundings of the steps of one body.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// The end of the body.
    pub end: Option<Label>,
    /// Where the result of a function goes.
    pub result: Option<Value>,
    /// Ends and continuations of the loops around, innermost last.
    pub loops: Vec<(Label, Label)>,
}

/// The state of one block of the architecture.
#[derive(Debug)]
pub struct Local {
    pub kind: BlockKind,
    /// The instantiation whose body is being lowered.
    pub scope: ScopeId,
    /// The object whose method's body is being lowered.
    pub this: Option<ObjectRef>,
    /// The values of variables, parameters and constructor parameters.
    ///
    /// One map by id is enough because P4 has no recursion: while a body is being inlined, none of
    /// its variables can be in use by an enclosing copy of the same body.
    pub bindings: BTreeMap<Id<tree::Variable>, Value>,
    pub steps: Vec<Step>,
    /// The body around.
    pub frame: Frame,
    /// The values to copy to callers before `exit`, outermost call first.
    pub copies_out: Vec<Vec<(Target, Value, Type)>>,
    /// Whether places being evaluated are used later than at once, so that a variable index has
    /// to be kept apart from its variable.
    pub pins_indexes: bool,
    /// The condition of the calls of the checksum functions being lowered.
    pub checksum_condition: Expression,
    /// How many choices surround the steps being written.
    pub choices: usize,
    /// Names of the headers emitted until now.
    pub emitted: Vec<String>,
    /// How many actions, one called by the other, are being written.
    pub action_depth: usize,
    /// How many nested blocks of steps are being written.
    pub nesting: usize,
    /// The states of the parser being lowered.
    pub parsing: Parsing,
}

/// Where the writing of a parser stands.
#[derive(Clone, Debug, Default)]
pub struct Parsing {
    /// The state being written; its steps are in [`Local::steps`].
    pub current: usize,
    /// For each parser around, innermost last: the flat states of its states, and where `accept`
    /// leads.
    pub around: Vec<(Vec<usize>, Goal)>,
    /// The state that ends the parser with `error.NoMatch`, once a `select` has needed it.
    pub no_match: Option<usize>,
}

impl Local {
    /// Nothing written yet, at the top level of the program.
    pub fn new(kind: BlockKind) -> Local {
        Local {
            kind,
            this: None,
            scope: ScopeId(0),
            bindings: BTreeMap::new(),
            steps: Vec::new(),
            frame: Frame::default(),
            copies_out: Vec::new(),
            pins_indexes: false,
            checksum_condition: Expression::Bool(true),
            choices: 0,
            emitted: Vec::new(),
            action_depth: 0,
            nesting: 0,
            parsing: Parsing::default(),
        }
    }
}
