//! Tables.

use super::{Action, Annotation, Argument, Expression, Id, Keyset, Name};
use bits::Int;
use syntax::Span;

#[derive(Clone, Debug)]
pub struct Table {
    pub annotations: Vec<Annotation>,
    pub name: Name,
    /// In written order.
    pub keys: Vec<Key>,
    /// The `key` property; the table's name where it has none.
    pub keys_span: Span,
    /// In written order; one that is implied comes last.
    pub actions: Vec<TableAction>,
    /// The action when no entry matches.
    pub default_action: Option<DefaultAction>,
    /// Entries in the program, if it has an `entries` property.
    pub entries: Option<Entries>,
    /// `size`, constant after substitution of constructor parameters.
    pub size: Option<Expression>,
    /// All other properties: `implementation`, `counters`, `meters`, `support_timeout`, ...
    pub properties: Vec<Property>,
    pub span: Span,
}

/// One element of a table's key.
#[derive(Clone, Debug)]
pub struct Key {
    /// The key.
    pub expression: Expression,
    /// A member of `match_kind`.
    pub match_kind: Name,
    /// Annotations, `@name` among them.
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

impl Key {
    /// Its match kind; none for `selector`, and for kinds that only the program declares.
    pub fn known_match_kind(&self) -> Option<MatchKind> {
        MatchKind::of_name(&self.match_kind.text)
    }
}

/// How a key is compared: the match kinds that the switch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchKind {
    /// All bits.
    Exact,
    Lpm,
    /// All bits or none.
    Optional,
    /// Two bounds.
    Range,
    /// Value and mask.
    Ternary,
}

impl MatchKind {
    /// The kind of a name in a program, if the switch has it.
    pub fn of_name(name: &str) -> Option<MatchKind> {
        Some(match name {
            // Of Tofino; how its memory is searched makes no difference here.
            "exact" | "atcam_partition_index" | "dleft_hash" => MatchKind::Exact,
            "lpm" => MatchKind::Lpm,
            "optional" => MatchKind::Optional,
            "range" => MatchKind::Range,
            "ternary" => MatchKind::Ternary,
            _ => return None,
        })
    }
}

/// An action that entries of a table may have.
#[derive(Clone, Debug)]
pub struct TableAction {
    /// Annotations: `@tableonly`, `@defaultonly`, ...
    pub annotations: Vec<Annotation>,
    /// The action and the arguments of its parameters with a direction.
    pub call: ActionCall,
    /// The table does not name it: `NoAction`, there because of a missing `default_action`; as if
    /// it had `@defaultonly`.
    pub is_implied: bool,
}

/// An action with arguments.
#[derive(Clone, Debug)]
pub struct ActionCall {
    pub action: Id<Action>,
    /// One for each parameter; in a list of actions those without direction are
    /// [`Argument::Omitted`], for the control plane to give.
    pub arguments: Vec<Argument>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct DefaultAction {
    /// The action with all its arguments.
    pub call: ActionCall,
    /// Whether the control plane may not change it.
    pub is_const: bool,
}

#[derive(Clone, Debug)]
pub struct Entries {
    /// Whether the control plane may not change them.
    pub is_const: bool,
    /// In written order.
    pub list: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub struct Entry {
    /// Whether it is `const` on its own (in a table whose entries are not).
    pub is_const: bool,
    /// `priority`, where written.
    pub priority: Option<Int>,
    /// One element a key.
    pub keyset: Keyset,
    /// The action with all its arguments.
    pub call: ActionCall,
    pub annotations: Vec<Annotation>,
    pub span: Span,
}

/// A property that P4 itself does not know.
#[derive(Clone, Debug)]
pub struct Property {
    pub annotations: Vec<Annotation>,
    pub name: Name,
    /// Whether it is `const`.
    pub is_const: bool,
    /// Its value: a constant, an instance (by name or made in place), ...
    pub value: PropertyValue,
    pub span: Span,
}

/// The value of an architecture's property.
#[derive(Clone, Debug)]
pub enum PropertyValue {
    /// A value or an object.
    Expression(Expression),
    /// A list of objects, `{ a, b }`.
    List(Vec<Expression>),
}
