//! The structs, in the order of `docs/JSON_format.md`. Names, not ids, connect the objects, except
//! where the format itself uses ids (actions in tables, headers in stacks, field lists in clones).

use bits::Int;

use crate::{Expression, FieldRef};

/// A whole program: what p4c writes for one .p4 file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The P4 file, for people.
    pub program: Option<String>,
    /// Version of the format: major and minor.
    pub version: (u32, u32),
    /// The producer of the JSON, for people.
    pub compiler: Option<String>,
    /// Header and metadata types.
    pub header_types: Vec<HeaderType>,
    /// Header and metadata instances.
    pub headers: Vec<Header>,
    /// Stacks of headers.
    pub header_stacks: Vec<HeaderStack>,
    /// Types of header unions.
    pub header_union_types: Vec<HeaderUnionType>,
    /// Header unions.
    pub header_unions: Vec<HeaderUnion>,
    /// Stacks of header unions.
    pub header_union_stacks: Vec<HeaderUnionStack>,
    /// The fields that clones, resubmitted and recirculated packets keep.
    pub field_lists: Vec<FieldList>,
    /// Error codes by name.
    pub errors: Vec<(String, u32)>,
    /// Enums, for debugging.
    pub enums: Vec<Enum>,
    /// Parsers.
    pub parsers: Vec<Parser>,
    /// Parser value sets.
    pub parse_vsets: Vec<ParseValueSet>,
    /// Deparsers.
    pub deparsers: Vec<Deparser>,
    /// Meters, indirect and direct.
    pub meter_arrays: Vec<MeterArray>,
    /// Counters, indirect and direct.
    pub counter_arrays: Vec<CounterArray>,
    /// Registers.
    pub register_arrays: Vec<RegisterArray>,
    /// Named hash computations.
    pub calculations: Vec<Calculation>,
    /// Digests.
    pub learn_lists: Vec<FieldList>,
    /// Actions.
    pub actions: Vec<Action>,
    /// Controls: `ingress` and `egress`.
    pub pipelines: Vec<Pipeline>,
    /// Checksums to verify after parsing and update before deparsing.
    pub checksums: Vec<Checksum>,
    /// Fields the standard switch keeps as numbers; no meaning here.
    pub force_arith: Vec<FieldRef>,
    /// Instances of target-specific externs.
    pub extern_instances: Vec<ExternInstance>,
    /// Names the switch knows a field by, when they differ from the program's.
    pub field_aliases: Vec<FieldAlias>,
}

/// Where in the P4 source an object comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceInfo {
    /// File.
    pub filename: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The text there.
    pub source_fragment: String,
}

/// A header or metadata type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderType {
    pub name: String,
    /// Unique among header types.
    pub id: u32,
    /// Its fields, in the order of the wire.
    pub fields: Vec<FieldType>,
    /// Width in bits of the variable-length field, where `extract` does not give it (P4_14).
    pub length_expression: Option<Expression>,
    /// The longest form of the header in bytes, where it has a variable-length field.
    pub length_bytes_max: Option<u32>,
}

/// A field of a header type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldType {
    pub name: String,
    pub width: FieldWidth,
    /// `int<N>` rather than `bit<N>`.
    pub signed: bool,
    /// Assignments clamp instead of wrapping (never made by p4c).
    pub saturating: bool,
}

/// How wide a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldWidth {
    /// Always this many bits.
    Bits(u32),
    /// `varbit`: known when the header is extracted.
    Variable,
}

/// A header or metadata instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    pub name: String,
    /// Unique among headers.
    pub id: u32,
    /// Name of its type.
    pub header_type: String,
    /// Metadata: always valid, never on the wire.
    pub metadata: bool,
    /// p4c's hint to leave the header out of P4Info.
    pub pi_omit: Option<bool>,
}

/// A stack of headers of one type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderStack {
    pub name: String,
    /// Unique among stacks.
    pub id: u32,
    /// Name of its element type.
    pub header_type: String,
    /// Ids of its headers, element 0 first.
    pub header_ids: Vec<u32>,
}

/// A type of header unions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderUnionType {
    pub name: String,
    /// Unique among union types.
    pub id: u32,
    /// Member names and the names of their header types.
    pub headers: Vec<(String, String)>,
}

/// A header union: at most one of its headers is valid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderUnion {
    pub name: String,
    /// Unique among unions.
    pub id: u32,
    /// Name of its type.
    pub union_type: String,
    /// Ids of its headers, in the order of the type's members.
    pub header_ids: Vec<u32>,
    /// p4c's hint to leave the union out of P4Info.
    pub pi_omit: Option<bool>,
}

/// A stack of header unions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderUnionStack {
    pub name: String,
    /// Unique among stacks of unions.
    pub id: u32,
    /// Name of its element type.
    pub union_type: String,
    /// Ids of its unions, element 0 first.
    pub header_union_ids: Vec<u32>,
}

/// A list of fields: for clones (`field_lists`) or digests (`learn_lists`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldList {
    /// Unique among lists of its kind.
    pub id: u32,
    pub name: String,
    /// Where it comes from.
    pub source_info: Option<SourceInfo>,
    /// Its elements.
    pub elements: Vec<FieldListElement>,
}

/// An element of a [`FieldList`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldListElement {
    /// A constant of a width.
    Constant {
        value: Int,
        width_bits: u32,
    },
    Field(FieldRef),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Enum {
    pub name: String,
    /// Its constants and their values.
    pub entries: Vec<(String, u32)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parser {
    pub name: String,
    /// Unique among parsers.
    pub id: u32,
    /// Name of the start state; none accepts at once.
    pub init_state: Option<String>,
    pub parse_states: Vec<ParseState>,
}

/// A parser state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParseState {
    pub name: String,
    /// Unique among the states of all parsers.
    pub id: u32,
    /// Its operations, in order.
    pub operations: Vec<ParserOperation>,
    /// The key of the transitions.
    pub transition_key: Vec<TransitionKey>,
    /// The first that matches is taken; none matching is the error `NoMatch`.
    pub transitions: Vec<Transition>,
}

/// A step of a parser state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParserOperation {
    /// Skips a number of bits.
    Advance {
        /// How many.
        width_bits: Expression,
    },
    /// Extracts a header.
    Extract(ExtractTarget),
    /// Extracts a header with a variable-length field.
    ExtractVariable {
        /// Which header.
        target: ExtractTarget,
        /// Width in bits of the field.
        width_bits: Expression,
    },
    /// Calls a primitive.
    Primitive(PrimitiveCall),
    /// Assigns to a field.
    Set { target: FieldRef, source: SetSource },
    /// Stops the parser with an error unless the condition holds.
    Verify {
        condition: Expression,
        /// The error code.
        error: Expression,
    },
}

/// The target of an extraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExtractTarget {
    /// A header instance.
    Header(String),
    /// The next element of a stack.
    Stack(String),
    /// A member of the next element of a stack of unions.
    UnionStack { stack: String, member: String },
}

/// The value that a parser assigns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetSource {
    /// The value of an expression.
    Expression(Expression),
    /// Bits ahead in the packet.
    Lookahead(Lookahead),
}

/// Bits ahead of the parser's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookahead {
    /// How far ahead they start.
    pub offset_bits: u32,
    /// How many they are.
    pub width_bits: u32,
}

/// A component of a transition key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransitionKey {
    Field(FieldRef),
    /// Bits ahead in the packet.
    Lookahead(Lookahead),
    /// A field of the last extracted header of a stack.
    StackField {
        stack: String,
        field: String,
    },
    /// A field of the last extracted union of a stack.
    UnionStackField {
        stack: String,
        /// The union's member.
        member: String,
        field: String,
    },
}

/// A transition of a parser state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// When it is taken.
    pub matches: TransitionMatch,
    /// Name of the next state; none accepts the packet.
    pub next_state: Option<String>,
}

/// When a transition is taken. Keys, values and masks have each component padded to whole bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransitionMatch {
    /// Always.
    Default,
    /// When the key equals a value, in the bits of the mask if there is one.
    Value {
        /// The value, big-endian.
        value: Vec<u8>,
        /// The bits that count.
        mask: Option<Vec<u8>>,
    },
    /// When the key is a member of a value set.
    ValueSet {
        name: String,
        /// The bits that count.
        mask: Option<Vec<u8>>,
    },
}

/// A parser value set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParseValueSet {
    pub name: String,
    /// Unique among value sets.
    pub id: u32,
    /// Width of a member without padding.
    pub width_bits: u32,
    /// How many members P4 asks room for.
    pub size_max: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deparser {
    pub name: String,
    /// Unique among deparsers.
    pub id: u32,
    /// Where it comes from.
    pub source_info: Option<SourceInfo>,
    /// Names of the headers to emit, in order; those not valid are skipped.
    pub order: Vec<String>,
    /// Primitives run before emitting.
    pub primitives: Vec<PrimitiveCall>,
}

/// The quantity that a meter measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MeterUnit {
    /// Bytes a microsecond.
    Bytes,
    /// Packets a microsecond.
    #[default]
    Packets,
}

/// An array of meters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeterArray {
    pub name: String,
    /// Unique among meter arrays.
    pub id: u32,
    /// Where it comes from.
    pub source_info: Option<SourceInfo>,
    /// How many meters; a direct array has none of its own.
    pub size: u32,
    /// How many rates a meter has; P4 uses two.
    pub rate_count: u32,
    /// The quantity that it measures.
    pub unit: MeterUnit,
    /// One meter an entry of a table, rather than an array.
    pub is_direct: bool,
    /// The table, for a direct array.
    pub binding: Option<String>,
    /// Where the colour goes, for a direct array.
    pub result_target: Option<FieldRef>,
}

/// An array of counters; each counts packets and bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterArray {
    pub name: String,
    /// Unique among counter arrays.
    pub id: u32,
    /// Where it comes from.
    pub source_info: Option<SourceInfo>,
    /// How many counters; a direct array has none of its own.
    pub size: Option<u32>,
    /// One counter an entry of a table, rather than an array.
    pub is_direct: bool,
    /// The table, for a direct array.
    pub binding: Option<String>,
}

/// An array of registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisterArray {
    pub name: String,
    /// Unique among register arrays.
    pub id: u32,
    /// Where it comes from.
    pub source_info: Option<SourceInfo>,
    /// How many cells.
    pub size: u32,
    /// Width of a cell.
    pub width_bits: u32,
    /// The initial value of cells, if not 0: this kit's own, which other switches ignore.
    pub initial_value: Option<Int>,
}

/// A named hash computation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calculation {
    pub name: String,
    /// Unique among calculations.
    pub id: u32,
    /// Where it comes from.
    pub source_info: Option<SourceInfo>,
    /// `crc16`, `csum16`, ...
    pub algorithm: String,
    /// The hashed values, in order.
    pub input: Vec<CalculationInput>,
}

/// A component of a hash's input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CalculationInput {
    /// A constant of a width.
    Constant { value: Int, width_bits: u32 },
    /// A field, skipped while its header is not valid.
    Field(FieldRef),
    /// All fields of a header, skipped while it is not valid.
    Header(String),
    /// The packet after the last header that was an input.
    Payload,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Action {
    /// Its name; not unique.
    pub name: String,
    /// Unique among actions.
    pub id: u32,
    /// The parameters its callers fill: action data.
    pub runtime_data: Vec<RuntimeData>,
    /// Its primitives.
    pub primitives: Vec<PrimitiveCall>,
}

/// A parameter of an action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeData {
    pub name: String,
    pub width_bits: u32,
}

/// A call of a primitive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrimitiveCall {
    /// Name of the primitive.
    pub operation: String,
    pub parameters: Vec<Parameter>,
    /// Where it comes from.
    pub source_info: Option<SourceInfo>,
}

/// An argument of a primitive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter {
    Calculation(String),
    /// An array of counters.
    CounterArray(String),
    /// Anything an expression can say; a field, header or stack may be assigned to.
    Expression(Expression),
    /// An extern instance.
    Extern(String),
    /// A list of fields.
    FieldList(Vec<FieldRef>),
    /// An array of meters.
    MeterArray(String),
    /// An array of registers.
    RegisterArray(String),
    /// The action's parameter of this index.
    RuntimeData(u32),
    /// Text.
    String(String),
    /// Several arguments.
    Vector(Vec<Parameter>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pipeline {
    /// `ingress` or `egress`.
    pub name: String,
    /// Unique among pipelines.
    pub id: u32,
    /// Where it comes from.
    pub source_info: Option<SourceInfo>,
    /// Name of its first table, conditional or action call; none for an empty control.
    pub init_table: Option<String>,
    pub tables: Vec<Table>,
    /// The action profiles of its tables.
    pub action_profiles: Vec<ActionProfile>,
    pub conditionals: Vec<Conditional>,
    /// Its direct calls of actions.
    pub action_calls: Vec<ActionCall>,
}

/// An action profile, with or without a selector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionProfile {
    pub name: String,
    /// Unique among action profiles.
    pub id: u32,
    /// Where it comes from.
    pub source_info: Option<SourceInfo>,
    /// How many members P4 asks room for.
    pub size_max: u32,
    /// How a member of a group is chosen.
    pub selector: Option<Selector>,
}

/// How a member of a group is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    pub algorithm: String,
    /// The fields hashed.
    pub input: Vec<FieldRef>,
}

/// The match kind of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchType {
    /// Equal.
    #[default]
    Exact,
    /// Equal in the first bits; the longest prefix wins.
    Lpm,
    /// Between two values.
    Range,
    /// Equal in the bits of a mask. P4's `optional` is written as this too.
    Ternary,
    /// Validity of a header (P4_14).
    Valid,
}

/// How a table finds its action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TableKind {
    /// The entry names a member of an action profile.
    Indirect { action_profile: String },
    /// The entry names a member or a group of an action profile.
    IndirectWithSelector { action_profile: String },
    /// The entry holds the action and its data.
    #[default]
    Simple,
}

/// A match-action table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    pub name: String,
    /// Unique among tables.
    pub id: u32,
    /// Where it comes from.
    pub source_info: Option<SourceInfo>,
    pub key: Vec<TableKey>,
    /// The most general match type of its keys.
    pub match_type: MatchType,
    /// How it finds its action.
    pub kind: TableKind,
    /// How many entries it must hold.
    pub size_max: u32,
    /// It has a counter an entry.
    pub with_counters: bool,
    /// Its entries can time out.
    pub support_timeout: bool,
    /// The array of its direct meters.
    pub direct_meters: Option<String>,
    /// Registers with a cell an entry: an extension of ours, for Tofino.
    pub direct_registers: Option<DirectRegisters>,
    /// Ids of its actions.
    pub action_ids: Vec<u32>,
    /// Names of its actions, in the order of `action_ids`.
    pub actions: Vec<String>,
    /// The node after a miss without a default action.
    pub base_default_next: Option<String>,
    /// The next nodes.
    pub next_tables: NextTables,
    /// The action on a miss.
    pub default_entry: Option<DefaultEntry>,
    /// Fixed entries; a table that has them takes no others.
    pub entries: Option<Vec<TableEntry>>,
}

/// Registers whose cells belong to the entries of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectRegisters {
    /// The field for the number of the entry that a packet hits; all ones after a miss.
    pub number: FieldRef,
    /// Their arrays, of which an entry that is added begins with the initial value.
    pub arrays: Vec<String>,
}

/// The node after a table: names of tables, conditionals or action calls; none ends the control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextTables {
    /// By the action that ran.
    ByAction(Vec<(String, Option<String>)>),
    /// By hit and miss.
    HitMiss {
        /// After a hit.
        hit: Option<String>,
        /// After a miss.
        miss: Option<String>,
    },
}

impl Default for NextTables {
    fn default() -> NextTables {
        NextTables::ByAction(Vec::new())
    }
}

/// A key of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableKey {
    /// How it is compared.
    pub match_type: MatchType,
    /// Its name in the control API.
    pub name: Option<String>,
    /// The field; for [`MatchType::Valid`] the header's `$valid$`.
    pub target: Option<FieldRef>,
    /// A fixed mask applied to the field, big-endian, padded to whole bytes.
    pub mask: Option<Vec<u8>>,
}

/// The action on a miss.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefaultEntry {
    /// Id of the action.
    pub action_id: u32,
    /// The control plane cannot choose another action.
    pub action_const: bool,
    /// The action's data.
    pub action_data: Vec<Int>,
    /// The control plane cannot change the data either.
    pub action_entry_const: bool,
}

/// An entry that the program gives a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableEntry {
    /// Where it comes from.
    pub source_info: Option<SourceInfo>,
    /// One a key.
    pub match_key: Vec<MatchKey>,
    /// Id of the action.
    pub action_id: u32,
    /// The action's data.
    pub action_data: Vec<Int>,
    /// The lowest number wins (BMv2; P4Runtime is the other way round).
    pub priority: i32,
    /// Whether it is const, in a table whose other entries come and go. The format does not have it:
    /// without it all entries are const, and the table takes no others.
    pub is_const: Option<bool>,
}

/// An entry's match for one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatchKey {
    /// Equal.
    Exact {
        /// To this.
        key: Int,
    },
    /// Equal in the first bits.
    Lpm {
        /// To this.
        key: Int,
        /// How many bits.
        prefix_length: u32,
    },
    /// Between two values.
    Range { start: Int, end: Int },
    /// Equal in the bits of a mask.
    Ternary {
        /// To this.
        key: Int,
        /// In these bits.
        mask: Int,
    },
    /// The header is valid, or is not.
    Valid {
        /// Which.
        key: bool,
    },
}

/// An `if` of a control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conditional {
    pub name: String,
    /// Unique among conditionals.
    pub id: u32,
    /// Where it comes from.
    pub source_info: Option<SourceInfo>,
    pub expression: Expression,
    /// The next node if it holds.
    pub true_next: Option<String>,
    /// The next node if it does not.
    pub false_next: Option<String>,
}

/// A direct call of an action in a control.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionCall {
    pub name: String,
    /// Unique among action calls.
    pub id: u32,
    /// Where it comes from.
    pub source_info: Option<SourceInfo>,
    /// Id of the action, which has no parameters.
    pub action_id: u32,
    /// The next node.
    pub next_node: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksum {
    pub name: String,
    /// Unique among checksums.
    pub id: u32,
    /// Where it comes from.
    pub source_info: Option<SourceInfo>,
    /// The field it is in.
    pub target: FieldRef,
    /// Name of the calculation; reading gives one to the old type `ipv4`, which implies it.
    pub calculation: String,
    /// Compared after parsing.
    pub verify: bool,
    /// Written before deparsing.
    pub update: bool,
    /// Only where this holds.
    pub condition: Option<Expression>,
}

/// An instance of a target-specific extern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternInstance {
    pub name: String,
    /// Unique among extern instances.
    pub id: u32,
    /// Name of the extern type.
    pub extern_type: String,
    /// Where it comes from.
    pub source_info: Option<SourceInfo>,
    /// Names and values of its attributes.
    pub attributes: Vec<(String, ExternAttribute)>,
}

/// The value of an extern's attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExternAttribute {
    Expression(Expression),
    Hex(Int),
    /// Text.
    String(String),
}

/// A name the switch knows a field by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldAlias {
    /// `queueing_metadata.enq_qdepth`.
    pub alias: String,
    /// The field it stands for.
    pub field: FieldRef,
}
