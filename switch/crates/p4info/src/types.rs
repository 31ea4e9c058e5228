//! The messages of `p4/config/v1/p4types.proto`: how P4Info names and describes types.

use std::collections::BTreeMap;

use crate::message::{Bytes, message, oneof};

message! {
    /// The user-defined types of the program that its entities use, by name.
    pub struct P4TypeInfo {
        [1] structs: BTreeMap<String, P4StructTypeSpec>,
        [2] headers: BTreeMap<String, P4HeaderTypeSpec>,
        [3] header_unions: BTreeMap<String, P4HeaderUnionTypeSpec>,
        [4] enums: BTreeMap<String, P4EnumTypeSpec>,
        [5] error: Option<P4ErrorTypeSpec>,
        [6] serializable_enums: BTreeMap<String, P4SerializableEnumTypeSpec>,
        [7] new_types: BTreeMap<String, P4NewTypeSpec>,
    }
}

message! {
    /// A type: described in place or by the name of an entry of [`P4TypeInfo`].
    pub struct P4DataTypeSpec {
        [oneof] type_spec: Option<TypeSpec>,
    }
}

oneof! {
    /// The alternatives of [`P4DataTypeSpec`].
    pub enum TypeSpec {
        /// `bit<W>`, `int<W>` or `varbit<W>`.
        1 "bitstring" Bitstring(P4BitstringLikeTypeSpec),
        /// `bool`.
        2 "bool" Bool(P4BoolType),
        /// `tuple<...>`.
        3 "tuple" Tuple(P4TupleTypeSpec),
        /// A struct by name.
        4 "struct" Struct(P4NamedType),
        /// A header by name.
        5 "header" Header(P4NamedType),
        /// A header union by name.
        6 "header_union" HeaderUnion(P4NamedType),
        /// A stack of headers.
        7 "header_stack" HeaderStack(P4HeaderStackTypeSpec),
        /// A stack of header unions.
        8 "header_union_stack" HeaderUnionStack(P4HeaderUnionStackTypeSpec),
        /// An enum by name.
        9 "enum" Enum(P4NamedType),
        /// `error`.
        10 "error" Error(P4ErrorType),
        /// An enum with an underlying type, by name.
        11 "serializable_enum" SerializableEnum(P4NamedType),
        /// A type made with `type`, by name.
        12 "new_type" NewType(P4NamedType),
    }
}

message! {
    /// A reference by name.
    pub struct P4NamedType {
        [1] name: String,
    }
}

message! {
    /// `bool`.
    pub struct P4BoolType {}
}

message! {
    /// `error`.
    pub struct P4ErrorType {}
}

oneof! {
    /// The alternatives of [`P4BitstringLikeTypeSpec`].
    pub enum BitstringSpec {
        /// `bit<W>`.
        1 "bit" Bit(P4BitTypeSpec),
        /// `int<W>`.
        2 "int" Int(P4IntTypeSpec),
        /// `varbit<W>`.
        3 "varbit" Varbit(P4VarbitTypeSpec),
    }
}

message! {
    /// A string of bits.
    pub struct P4BitstringLikeTypeSpec {
        [oneof] type_spec: Option<BitstringSpec>,
        [4] annotations: Vec<String>,
        [5] annotation_locations: Vec<SourceLocation>,
        [6] structured_annotations: Vec<StructuredAnnotation>,
    }
}

message! {
    /// `bit<W>`.
    pub struct P4BitTypeSpec {
        [1] bitwidth: i32,
    }
}

message! {
    /// `int<W>`.
    pub struct P4IntTypeSpec {
        [1] bitwidth: i32,
    }
}

message! {
    /// `varbit<W>`.
    pub struct P4VarbitTypeSpec {
        [1] max_bitwidth: i32,
    }
}

message! {
    /// `tuple<...>`.
    pub struct P4TupleTypeSpec {
        [1] members: Vec<P4DataTypeSpec>,
    }
}

message! {
    /// A struct.
    pub struct P4StructTypeSpec {
        [1] members: Vec<StructMember>,
        [2] annotations: Vec<String>,
        [3] annotation_locations: Vec<SourceLocation>,
        [4] structured_annotations: Vec<StructuredAnnotation>,
    }
}

message! {
    /// A field of a struct.
    pub struct StructMember {
        [1] name: String,
        [2] type_spec: Option<P4DataTypeSpec>,
    }
}

message! {
    /// A header; nested structs are flattened into it.
    pub struct P4HeaderTypeSpec {
        [1] members: Vec<HeaderMember>,
        [2] annotations: Vec<String>,
        [3] annotation_locations: Vec<SourceLocation>,
        [4] structured_annotations: Vec<StructuredAnnotation>,
    }
}

message! {
    /// A field of a header.
    pub struct HeaderMember {
        [1] name: String,
        [2] type_spec: Option<P4BitstringLikeTypeSpec>,
    }
}

message! {
    /// A header union.
    pub struct P4HeaderUnionTypeSpec {
        [1] members: Vec<HeaderUnionMember>,
        [2] annotations: Vec<String>,
        [3] annotation_locations: Vec<SourceLocation>,
        [4] structured_annotations: Vec<StructuredAnnotation>,
    }
}

message! {
    /// An alternative of a header union.
    pub struct HeaderUnionMember {
        [1] name: String,
        [2] header: Option<P4NamedType>,
    }
}

message! {
    /// A stack of headers.
    pub struct P4HeaderStackTypeSpec {
        [1] header: Option<P4NamedType>,
        [2] size: i32,
    }
}

message! {
    /// A stack of header unions.
    pub struct P4HeaderUnionStackTypeSpec {
        [1] header_union: Option<P4NamedType>,
        [2] size: i32,
    }
}

message! {
    /// `key = value` of a structured annotation.
    pub struct KeyValuePair {
        [1] key: String,
        [2] value: Option<Expression>,
    }
}

message! {
    /// `@name[key = value, ...]`.
    pub struct KeyValuePairList {
        [1] kv_pairs: Vec<KeyValuePair>,
    }
}

oneof! {
    /// The alternatives of [`Expression`].
    pub enum ExpressionValue {
        /// A string literal.
        1 "string_value" String(String),
        /// An integer that fits.
        2 "int64_value" Int64(i64),
        /// A boolean.
        3 "bool_value" Bool(bool),
    }
}

message! {
    /// A compile-time constant in a structured annotation.
    pub struct Expression {
        [oneof] value: Option<ExpressionValue>,
    }
}

message! {
    /// `@name[value, ...]`.
    pub struct ExpressionList {
        [1] expressions: Vec<Expression>,
    }
}

oneof! {
    /// The alternatives of [`StructuredAnnotation`].
    pub enum AnnotationBody {
        /// Values.
        2 "expression_list" Expressions(ExpressionList),
        /// Keys and values.
        3 "kv_pair_list" Pairs(KeyValuePairList),
    }
}

message! {
    /// An annotation in square brackets, which the compiler understands.
    pub struct StructuredAnnotation {
        [1] name: String,
        [oneof] body: Option<AnnotationBody>,
        [4] source_location: Option<SourceLocation>,
    }
}

message! {
    /// A place in the source; lines and columns count from 1.
    pub struct SourceLocation {
        [1] file: String,
        [2] line: i32,
        [3] column: i32,
    }
}

message! {
    /// An enum without an underlying type.
    pub struct P4EnumTypeSpec {
        [1] members: Vec<EnumMember>,
        [2] annotations: Vec<String>,
        [3] structured_annotations: Vec<StructuredAnnotation>,
        [4] annotation_locations: Vec<SourceLocation>,
    }
}

message! {
    /// An enumerator that is only a name.
    pub struct EnumMember {
        [1] name: String,
        [2] annotations: Vec<String>,
        [3] structured_annotations: Vec<StructuredAnnotation>,
        [4] annotation_locations: Vec<SourceLocation>,
    }
}

message! {
    /// An enum with an underlying type.
    pub struct P4SerializableEnumTypeSpec {
        [1] underlying_type: Option<P4BitTypeSpec>,
        [2] members: Vec<SerializableEnumMember>,
        [3] annotations: Vec<String>,
        [4] structured_annotations: Vec<StructuredAnnotation>,
        [5] annotation_locations: Vec<SourceLocation>,
    }
}

message! {
    /// An enumerator with its value, padded to the width of the type.
    pub struct SerializableEnumMember {
        [1] name: String,
        [2] value: Bytes,
        [3] annotations: Vec<String>,
        [4] structured_annotations: Vec<StructuredAnnotation>,
        [5] annotation_locations: Vec<SourceLocation>,
    }
}

message! {
    /// The program's errors, `core.p4`'s first.
    pub struct P4ErrorTypeSpec {
        [1] members: Vec<String>,
    }
}

message! {
    /// The controller sees a string.
    pub struct SdnString {}
}

oneof! {
    /// The controller's view of a translated type.
    pub enum SdnType {
        /// A number of this many bits.
        2 "sdn_bitwidth" Bitwidth(i32),
        /// A string.
        3 "sdn_string" String(SdnString),
    }
}

message! {
    /// `@p4runtime_translation(uri, width)`.
    pub struct P4NewTypeTranslation {
        [1] uri: String,
        [oneof] sdn_type: Option<SdnType>,
    }
}

oneof! {
    /// The alternatives of [`P4NewTypeSpec`].
    pub enum NewTypeRepresentation {
        /// The controller sees the type underneath.
        1 "original_type" Original(P4DataTypeSpec),
        /// The controller sees something else.
        2 "translated_type" Translated(P4NewTypeTranslation),
    }
}

message! {
    /// A type made with `type`.
    pub struct P4NewTypeSpec {
        [oneof] representation: Option<NewTypeRepresentation>,
        [3] annotations: Vec<String>,
        [4] structured_annotations: Vec<StructuredAnnotation>,
        [5] annotation_locations: Vec<SourceLocation>,
    }
}
