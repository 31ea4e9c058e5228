//! The messages of `p4/config/v1/p4info.proto`: one table of fields each.
//!
//! Rows stand in the order of their numbers, which is the order of both written forms; that is
//! why `annotations` precedes `scope` in [`ActionRef`]. Names are the protobuf names.

use crate::message::{Bytes, enumeration, message, oneof};
use crate::types::{P4DataTypeSpec, P4NamedType, P4TypeInfo, SourceLocation, StructuredAnnotation};

message! {
    /// Everything a controller needs to know about one program.
    pub struct P4Info {
        /// The program's author and architecture.
        [1] pkg_info: Option<PkgInfo>,
        [2] tables: Vec<Table>,
        [3] actions: Vec<Action>,
        [4] action_profiles: Vec<ActionProfile>,
        /// Counter arrays that actions index.
        [5] counters: Vec<Counter>,
        /// Counters with one cell for each entry of a table.
        [6] direct_counters: Vec<DirectCounter>,
        /// Meter arrays that actions index.
        [7] meters: Vec<Meter>,
        /// Meters with one cell for each entry of a table.
        [8] direct_meters: Vec<DirectMeter>,
        /// The headers of packet-in and packet-out.
        [9] controller_packet_metadata: Vec<ControllerPacketMetadata>,
        [10] value_sets: Vec<ValueSet>,
        [11] registers: Vec<Register>,
        [12] digests: Vec<Digest>,
        /// Externs of other architectures; v1model has none.
        [100] externs: Vec<Extern>,
        /// The user-defined types that the entities above name.
        [200] type_info: Option<P4TypeInfo>,
    }
}

message! {
    /// Text of `@brief` and `@description`.
    pub struct Documentation {
        [1] brief: String,
        [2] description: String,
    }
}

message! {
    /// The requirements of `@platform_property`; zero is none.
    pub struct PlatformProperties {
        [1] multicast_group_table_size: i32,
        [2] multicast_group_table_total_replicas: i32,
        [3] multicast_group_table_max_replicas_per_entry: i32,
    }
}

message! {
    /// The program as a package; all but `arch` comes from `@pkginfo`.
    pub struct PkgInfo {
        [1] name: String,
        [2] version: String,
        [3] doc: Option<Documentation>,
        [4] annotations: Vec<String>,
        /// `v1model` for every program this compiler takes.
        [5] arch: String,
        [6] organization: String,
        [7] contact: String,
        [8] url: String,
        [9] structured_annotations: Vec<StructuredAnnotation>,
        [10] annotation_locations: Vec<SourceLocation>,
        [11] platform_properties: Option<PlatformProperties>,
    }
}

message! {
    /// The common part of all entities.
    pub struct Preamble {
        /// Unique in the whole P4Info; the top byte is the [`crate::Prefix`].
        [1] id: u32,
        /// Fully qualified, such as `ingress.routing.ipv4_routes`.
        [2] name: String,
        /// The shortest suffix of `name` that no other entity shares.
        [3] alias: String,
        [4] annotations: Vec<String>,
        [5] doc: Option<Documentation>,
        [6] structured_annotations: Vec<StructuredAnnotation>,
        [7] annotation_locations: Vec<SourceLocation>,
    }
}

message! {
    /// Instances of an extern type that P4Info has no message for.
    pub struct Extern {
        [1] extern_type_id: u32,
        [2] extern_type_name: String,
        [3] instances: Vec<ExternInstance>,
    }
}

message! {
    /// One such instance.
    pub struct ExternInstance {
        [1] preamble: Option<Preamble>,
        [2] info: Option<Any>,
    }
}

message! {
    /// `google.protobuf.Any`: a message of a type that only its user knows.
    pub struct Any {
        [1] type_url: String,
        [2] value: Bytes,
    }
}

enumeration! {
    /// How a key field is compared. A type that is none of these is named in
    /// [`MatchField::other_match_type`] instead.
    pub enum MatchType {
        /// Not one of the standard types.
        0 "UNSPECIFIED" Unspecified,
        /// All bits equal.
        2 "EXACT" Exact,
        /// A prefix; the longest wins.
        3 "LPM" Lpm,
        /// Value and mask; the priority decides.
        4 "TERNARY" Ternary,
        /// Low and high, both included.
        5 "RANGE" Range,
        /// Exact or anything.
        6 "OPTIONAL" Optional,
    }
}

message! {
    /// One element of a table's key.
    ///
    /// `match_type` and `other_match_type` are a oneof in the schema; exactly one of them is set.
    pub struct MatchField {
        [1] id: u32,
        [2] name: String,
        [3] annotations: Vec<String>,
        [4] bitwidth: i32,
        [5] match_type: MatchType,
        [6] doc: Option<Documentation>,
        [7] other_match_type: String,
        /// Set when the key has a type made with `type`.
        [8] type_name: Option<P4NamedType>,
        [9] structured_annotations: Vec<StructuredAnnotation>,
        [10] annotation_locations: Vec<SourceLocation>,
    }
}

message! {
    /// An action with its arguments.
    pub struct TableActionCall {
        [1] action_id: u32,
        [2] arguments: Vec<Argument>,
    }
}

message! {
    /// One argument of a [`TableActionCall`].
    pub struct Argument {
        [2] param_id: u32,
        [3] value: Bytes,
    }
}

enumeration! {
    /// Whether entries may time out.
    pub enum IdleTimeoutBehavior {
        /// They stay until the controller removes them.
        0 "NO_TIMEOUT" NoTimeout,
        /// The controller is notified when an entry has not been hit for its time.
        1 "NOTIFY_CONTROL" NotifyControl,
    }
}

message! {
    /// A match-action table.
    pub struct Table {
        [1] preamble: Option<Preamble>,
        [2] match_fields: Vec<MatchField>,
        [3] action_refs: Vec<ActionRef>,
        /// Zero unless `const default_action` fixes it.
        [4] const_default_action_id: u32,
        /// The program's action for a packet that no entry matches.
        [5] initial_default_action: Option<TableActionCall>,
        /// The action profile, or zero.
        [6] implementation_id: u32,
        /// The direct counter and the direct meter, if any.
        [7] direct_resource_ids: Vec<u32>,
        /// Entries.
        [8] size: i64,
        [9] idle_timeout_behavior: IdleTimeoutBehavior,
        /// The program fixes the entries with `const entries`.
        [10] is_const_table: bool,
        /// The program lists at least one entry, constant or not.
        [11] has_initial_entries: bool,
        [100] other_properties: Option<Any>,
    }
}

enumeration! {
    /// Where a table may use an action.
    pub enum Scope {
        /// Anywhere.
        0 "TABLE_AND_DEFAULT" TableAndDefault,
        /// `@tableonly`: in entries only.
        1 "TABLE_ONLY" TableOnly,
        /// `@defaultonly`: as default action only.
        2 "DEFAULT_ONLY" DefaultOnly,
        /// In members of groups only.
        3 "GROUP_ACTION" GroupAction,
    }
}

message! {
    /// An action in a table's list.
    pub struct ActionRef {
        [1] id: u32,
        [2] annotations: Vec<String>,
        [3] scope: Scope,
        [4] structured_annotations: Vec<StructuredAnnotation>,
        [5] annotation_locations: Vec<SourceLocation>,
    }
}

message! {
    /// An action with the parameters that the controller supplies.
    pub struct Action {
        [1] preamble: Option<Preamble>,
        [2] params: Vec<Param>,
    }
}

message! {
    /// One parameter of an action.
    pub struct Param {
        [1] id: u32,
        [2] name: String,
        [3] annotations: Vec<String>,
        [4] bitwidth: i32,
        [5] doc: Option<Documentation>,
        [6] type_name: Option<P4NamedType>,
        [7] structured_annotations: Vec<StructuredAnnotation>,
        [8] annotation_locations: Vec<SourceLocation>,
    }
}

message! {
    /// Group sizes count weights.
    pub struct SumOfWeights {}
}

message! {
    /// Group sizes count members.
    pub struct SumOfMembers {
        [1] max_member_weight: i32,
    }
}

oneof! {
    /// The unit of [`ActionProfile::size`] and [`ActionProfile::max_group_size`].
    pub enum SelectorSizeSemantics {
        /// The weights of the members.
        6 "sum_of_weights" Weights(SumOfWeights),
        /// The members.
        7 "sum_of_members" Members(SumOfMembers),
    }
}

message! {
    /// An action profile or, `with_selector`, an action selector.
    pub struct ActionProfile {
        [1] preamble: Option<Preamble>,
        [2] table_ids: Vec<u32>,
        [3] with_selector: bool,
        [4] size: i64,
        [5] max_group_size: i32,
        [oneof] selector_size_semantics: Option<SelectorSizeSemantics>,
        [8] weights_disallowed: bool,
    }
}

enumeration! {
    /// The unit of a counter.
    pub enum CounterUnit {
        /// Unknown.
        0 "UNSPECIFIED" Unspecified,
        /// Bytes.
        1 "BYTES" Bytes,
        /// Packets.
        2 "PACKETS" Packets,
        /// Both.
        3 "BOTH" Both,
    }
}

message! {
    /// The unit of a counter.
    pub struct CounterSpec {
        [1] unit: CounterUnit,
    }
}

message! {
    /// A counter array.
    pub struct Counter {
        [1] preamble: Option<Preamble>,
        [2] spec: Option<CounterSpec>,
        [3] size: i64,
        [4] index_type_name: Option<P4NamedType>,
    }
}

message! {
    /// The counter of a table's entries.
    pub struct DirectCounter {
        [1] preamble: Option<Preamble>,
        [2] spec: Option<CounterSpec>,
        [3] direct_table_id: u32,
    }
}

enumeration! {
    /// The unit of a meter's rates.
    pub enum MeterUnit {
        /// Unknown.
        0 "UNSPECIFIED" Unspecified,
        /// Bytes.
        1 "BYTES" Bytes,
        /// Packets.
        2 "PACKETS" Packets,
    }
}

enumeration! {
    /// Which configurations a meter takes.
    pub enum MeterType {
        /// Two rates, three colours (RFC 2698).
        0 "TWO_RATE_THREE_COLOR" TwoRateThreeColor,
        /// One rate with an excess burst, three colours (RFC 2697).
        1 "SINGLE_RATE_THREE_COLOR" SingleRateThreeColor,
        /// One rate, red or green.
        2 "SINGLE_RATE_TWO_COLOR" SingleRateTwoColor,
    }
}

message! {
    /// The quantity that a meter measures.
    pub struct MeterSpec {
        [1] unit: MeterUnit,
        [2] r#type: MeterType,
    }
}

message! {
    /// A meter array.
    pub struct Meter {
        [1] preamble: Option<Preamble>,
        [2] spec: Option<MeterSpec>,
        [3] size: i64,
        [4] index_type_name: Option<P4NamedType>,
    }
}

message! {
    /// The meter of a table's entries.
    pub struct DirectMeter {
        [1] preamble: Option<Preamble>,
        [2] spec: Option<MeterSpec>,
        [3] direct_table_id: u32,
    }
}

message! {
    /// The header in front of a packet-in or packet-out.
    pub struct ControllerPacketMetadata {
        [1] preamble: Option<Preamble>,
        /// In the order of the header's bits.
        [2] metadata: Vec<PacketMetadata>,
    }
}

message! {
    /// One field of such a header.
    pub struct PacketMetadata {
        [1] id: u32,
        [2] name: String,
        [3] annotations: Vec<String>,
        [4] bitwidth: i32,
        [5] type_name: Option<P4NamedType>,
        [6] structured_annotations: Vec<StructuredAnnotation>,
        [7] annotation_locations: Vec<SourceLocation>,
    }
}

message! {
    /// A parser value set.
    pub struct ValueSet {
        [1] preamble: Option<Preamble>,
        [2] r#match: Vec<MatchField>,
        [3] size: i32,
    }
}

message! {
    /// A register array.
    pub struct Register {
        [1] preamble: Option<Preamble>,
        [2] type_spec: Option<P4DataTypeSpec>,
        [3] size: i32,
        [4] index_type_name: Option<P4NamedType>,
    }
}

message! {
    /// A kind of message the data plane sends to the controller.
    pub struct Digest {
        [1] preamble: Option<Preamble>,
        [2] type_spec: Option<P4DataTypeSpec>,
    }
}
