//! Types: how wide the controller sees them, and the descriptions of those that have names.

use bits::Int;
use p4info::{
    BitstringSpec, EnumMember, HeaderMember, HeaderUnionMember, NewTypeRepresentation,
    P4BitTypeSpec, P4BitstringLikeTypeSpec, P4BoolType, P4DataTypeSpec, P4EnumTypeSpec,
    P4ErrorType, P4ErrorTypeSpec, P4HeaderStackTypeSpec, P4HeaderTypeSpec,
    P4HeaderUnionStackTypeSpec, P4HeaderUnionTypeSpec, P4IntTypeSpec, P4NamedType, P4NewTypeSpec,
    P4NewTypeTranslation, P4SerializableEnumTypeSpec, P4StructTypeSpec, P4TupleTypeSpec,
    P4TypeInfo, P4VarbitTypeSpec, SdnString, SdnType, SerializableEnumMember, StructMember,
    TypeSpec,
};

use super::super::names;
use super::super::storage::{Leaf, leaf};
use super::Writer;
use super::tables::padded;
use crate::types::tree::{
    self, AnnotationBody, AnnotationValue, DerivedKind, Id, NewType, Type, Value,
};

impl Writer<'_> {
    pub fn types(&mut self) -> &mut P4TypeInfo {
        self.info.type_info.get_or_insert_default()
    }

    /// Bits of a value on the way between controller and switch; 0 for strings.
    pub fn control_width(&self, ty: &Type) -> u32 {
        if let Type::New(id) = ty {
            match self.translation(*id).and_then(|translation| translation.sdn_type) {
                Some(SdnType::Bitwidth(width)) => return width as u32,
                Some(SdnType::String(_)) => return 0,
                None => return leaf(self.program, ty).map_or(0, Leaf::width),
            }
        }
        match ty {
            Type::Error => 0,
            ty => leaf(self.program, ty).map_or(0, Leaf::width),
        }
    }

    /// The name of a type made with `type`.
    pub fn type_name(&self, ty: &Type) -> Option<P4NamedType> {
        match ty {
            Type::New(id) => Some(named(&self.program.new_types[*id].name.text)),
            _ => None,
        }
    }

    /// Parameters name enums without underlying type too.
    pub fn parameter_type_name(&self, ty: &Type) -> Option<P4NamedType> {
        match ty {
            Type::Enum(id) if self.program.enums[*id].underlying.is_none() => {
                Some(named(&self.enum_name(*id)))
            }
            ty => self.type_name(ty),
        }
    }

    /// By which name an enum is known.
    fn enum_name(&self, id: Id<tree::Enum>) -> String {
        let declaration = &self.program.enums[id];
        names::qualified("", &declaration.annotations, &declaration.name.text)
    }

    /// Describes a type, and every named type it is made of in [`P4TypeInfo`].
    pub fn describe(&mut self, ty: &Type) -> P4DataTypeSpec {
        self.types();
        let spec = match ty {
            Type::Bit(_) | Type::Int(_) | Type::Varbit(_) => TypeSpec::Bitstring(bitstring(ty)),
            Type::Bool => TypeSpec::Bool(P4BoolType {}),
            Type::Enum(id) => self.describe_enum(*id),
            Type::Error => self.describe_error(),
            Type::List(element) => {
                let members = vec![self.describe(element)];
                TypeSpec::Tuple(P4TupleTypeSpec { members })
            }
            Type::New(id) => self.describe_new(*id),
            Type::Record(fields) => {
                let members = fields.iter().map(|(_, ty)| self.describe(ty)).collect();
                TypeSpec::Tuple(P4TupleTypeSpec { members })
            }
            Type::Stack(element, size) => self.describe_stack(element, *size),
            Type::Struct(id) => self.describe_struct(*id),
            Type::Tuple(elements) => {
                let members = elements.iter().map(|ty| self.describe(ty)).collect();
                TypeSpec::Tuple(P4TupleTypeSpec { members })
            }
            // No other type reaches the controller.
            _ => return P4DataTypeSpec { type_spec: None },
        };
        P4DataTypeSpec { type_spec: Some(spec) }
    }

    /// An enum with its members and their values.
    fn describe_enum(&mut self, id: Id<tree::Enum>) -> TypeSpec {
        let program = self.program;
        let declaration = &program.enums[id];
        let name = self.enum_name(id);
        let Some(underlying) = &declaration.underlying else {
            let member = |member: &tree::Enumerator| EnumMember {
                name: member.name.text.to_string(),
                ..EnumMember::default()
            };
            let members = declaration.members.iter().map(member).collect();
            let spec = P4EnumTypeSpec { members, ..P4EnumTypeSpec::default() };
            self.types().enums.entry(name.clone()).or_insert(spec);
            return TypeSpec::Enum(named(&name));
        };
        let width = leaf(program, underlying).map_or(0, Leaf::width);
        let member = |member: &tree::Enumerator| {
            let value = match &member.value {
                Some(Value::Integer(value)) => value.clone(),
                _ => Int::zero(),
            };
            SerializableEnumMember {
                name: member.name.text.to_string(),
                value: padded(&value, width),
                ..SerializableEnumMember::default()
            }
        };
        let spec = P4SerializableEnumTypeSpec {
            underlying_type: Some(P4BitTypeSpec { bitwidth: width as i32 }),
            members: declaration.members.iter().map(member).collect(),
            ..P4SerializableEnumTypeSpec::default()
        };
        self.types().serializable_enums.entry(name.clone()).or_insert(spec);
        TypeSpec::SerializableEnum(named(&name))
    }

    /// The members of `error`.
    fn describe_error(&mut self) -> TypeSpec {
        let members = self.program.errors.iter().map(|name| name.text.to_string()).collect();
        self.types().error.get_or_insert(P4ErrorTypeSpec { members });
        TypeSpec::Error(P4ErrorType {})
    }

    /// A type with another name, or with a string form for controllers.
    fn describe_new(&mut self, id: Id<NewType>) -> TypeSpec {
        let program = self.program;
        let declaration = &program.new_types[id];
        let name = declaration.name.text.to_string();
        // The controller sees the type at the end of a chain of new types.
        let mut original = &declaration.original;
        while let Type::New(inner) = original {
            original = &program.new_types[*inner].original;
        }
        let original = self.describe(original);
        let representation = match self.translation(id) {
            Some(translation) => NewTypeRepresentation::Translated(translation),
            None => NewTypeRepresentation::Original(original),
        };
        let (annotations, structured_annotations) =
            self.annotations(&declaration.annotations, |name| name == "p4runtime_translation");
        let spec = P4NewTypeSpec {
            representation: Some(representation),
            annotations,
            structured_annotations,
            annotation_locations: Vec::new(),
        };
        self.types().new_types.entry(name.clone()).or_insert(spec);
        TypeSpec::NewType(named(&name))
    }

    /// `@p4runtime_translation("uri", 32)`, or `string` as second argument.
    fn translation(&self, id: Id<NewType>) -> Option<P4NewTypeTranslation> {
        let annotations = &self.program.new_types[id].annotations;
        let annotation = names::annotation(annotations, "p4runtime_translation")?;
        let uri = match names::values(annotation).first() {
            Some(AnnotationValue::Value(Value::Text(uri))) => uri.to_string(),
            _ => match &annotation.body {
                AnnotationBody::Unstructured { tokens, .. } => {
                    super::literal(tokens.first()?)?.to_owned()
                }
                _ => return None,
            },
        };
        Some(P4NewTypeTranslation { uri, sdn_type: Some(sdn_type(annotation)) })
    }

    /// A stack by its element type.
    fn describe_stack(&mut self, element: &Type, size: u32) -> TypeSpec {
        let size = size as i32;
        match self.describe(element).type_spec {
            Some(TypeSpec::HeaderUnion(union)) => {
                let header_union = Some(union);
                TypeSpec::HeaderUnionStack(P4HeaderUnionStackTypeSpec { header_union, size })
            }
            Some(TypeSpec::Header(header)) => {
                TypeSpec::HeaderStack(P4HeaderStackTypeSpec { header: Some(header), size })
            }
            _ => TypeSpec::HeaderStack(P4HeaderStackTypeSpec { header: None, size }),
        }
    }

    /// A struct or header by its fields.
    fn describe_struct(&mut self, id: Id<tree::Struct>) -> TypeSpec {
        let program = self.program;
        let declaration = &program.structs[id];
        let name = names::type_name(declaration);
        match declaration.kind {
            DerivedKind::Header => {
                let mut members = Vec::new();
                header_members(program, id, "", &mut members);
                let spec = P4HeaderTypeSpec { members, ..P4HeaderTypeSpec::default() };
                self.types().headers.entry(name.clone()).or_insert(spec);
                TypeSpec::Header(named(&name))
            }
            DerivedKind::HeaderUnion => {
                let mut members = Vec::new();
                for field in &declaration.fields {
                    if let Some(TypeSpec::Header(header)) = self.describe(&field.ty).type_spec {
                        let name = field.name.text.to_string();
                        members.push(HeaderUnionMember { name, header: Some(header) });
                    }
                }
                let spec = P4HeaderUnionTypeSpec { members, ..P4HeaderUnionTypeSpec::default() };
                self.types().header_unions.entry(name.clone()).or_insert(spec);
                TypeSpec::HeaderUnion(named(&name))
            }
            DerivedKind::Struct => {
                let member = |field: &tree::Field| StructMember {
                    name: field_name(field),
                    type_spec: Some(self.describe(&field.ty)),
                };
                let members = declaration.fields.iter().map(member).collect();
                let spec = P4StructTypeSpec { members, ..P4StructTypeSpec::default() };
                self.types().structs.entry(name.clone()).or_insert(spec);
                TypeSpec::Struct(named(&name))
            }
        }
    }
}

/// A field as the program calls it.
fn field_name(field: &tree::Field) -> String {
    names::text(&field.annotations, "name").unwrap_or(&field.name.text).to_owned()
}

/// The fields of a header with their widths.
fn header_members(
    program: &tree::Program,
    id: Id<tree::Struct>,
    prefix: &str,
    members: &mut Vec<HeaderMember>,
) {
    for field in &program.structs[id].fields {
        let name = format!("{prefix}{}", field_name(field));
        match &field.ty {
            Type::Struct(inner) => {
                header_members(program, *inner, &format!("{name}."), members);
            }
            ty => members.push(HeaderMember { name, type_spec: Some(header_bits(program, ty)) }),
        }
    }
}

/// A field of a header as a bit string.
fn header_bits(program: &tree::Program, ty: &Type) -> P4BitstringLikeTypeSpec {
    match (ty, leaf(program, ty)) {
        (Type::Bit(_) | Type::Int(_) | Type::Varbit(_), _) => bitstring(ty),
        (_, Some(Leaf::Number { width, is_signed: true })) => bitstring(&Type::Int(width)),
        (_, leaf) => bitstring(&Type::Bit(leaf.map_or(0, Leaf::width))),
    }
}

/// A number as P4Info describes it.
fn bitstring(ty: &Type) -> P4BitstringLikeTypeSpec {
    let spec = match ty {
        Type::Int(width) => BitstringSpec::Int(P4IntTypeSpec { bitwidth: *width as i32 }),
        Type::Varbit(width) => {
            BitstringSpec::Varbit(P4VarbitTypeSpec { max_bitwidth: *width as i32 })
        }
        Type::Bit(width) => BitstringSpec::Bit(P4BitTypeSpec { bitwidth: *width as i32 }),
        _ => BitstringSpec::Bit(P4BitTypeSpec::default()),
    };
    P4BitstringLikeTypeSpec { type_spec: Some(spec), ..P4BitstringLikeTypeSpec::default() }
}

/// The second argument of a translation: a number of bits, `bit<W>`, or `string`.
fn sdn_type(annotation: &tree::Annotation) -> SdnType {
    let width = match names::values(annotation) {
        [_, AnnotationValue::Value(Value::Integer(width))] => {
            width.to_i64().and_then(|width| i32::try_from(width).ok())
        }
        _ => match &annotation.body {
            AnnotationBody::Unstructured { tokens, .. } => {
                tokens.iter().skip(1).find_map(|token| token.parse().ok())
            }
            _ => None,
        },
    };
    width.map_or(SdnType::String(SdnString {}), SdnType::Bitwidth)
}

/// A struct, header or enum by its name.
fn named(name: &str) -> P4NamedType {
    P4NamedType { name: name.to_owned() }
}
