//! Where values live on the switch: header instances, stacks, unions, and one metadata header,
//! `scalars`, for everything else.
//!
//! P4 types become BMv2's flat ones here. A struct inside a header becomes fields with dotted
//! names; a struct that holds headers becomes several headers; every variable that is neither
//! header, stack nor union becomes fields of `scalars`.

use std::collections::BTreeMap;

use bmv2::{Expression, FieldRef};

use super::value::{HeaderRef, UnionRef, Value, truth_of};
use crate::types::tree::{self, DerivedKind, Type};

/// Index into [`Storage::headers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeaderId(pub usize);
/// Index into [`Storage::stacks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StackId(pub usize);
/// Index into [`Storage::unions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnionId(pub usize);
/// Index into [`Storage::union_stacks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnionStackId(pub usize);

/// The name of the metadata header for everything that is no header.
pub const SCALARS: &str = "scalars";
/// Bits of an enum without underlying type and of `error`.
const ENUM_WIDTH: u32 = 32;
/// A program must not ask for more elements than this in all its stacks together.
const ELEMENT_COUNT_MAX: usize = 1 << 16;

/// A field of a BMv2 header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, dotted where it came from a nested struct.
    pub name: String,
    /// Its kind.
    pub kind: Leaf,
}

/// What one field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Leaf {
    /// `bool`, in one bit.
    Bool,
    /// `bit<width>` or `int<width>`.
    Number {
        /// Bits.
        width: u32,
        /// `int`.
        is_signed: bool,
    },
    /// `varbit<width_max>`.
    Varbit {
        /// Bits at most.
        width_max: u32,
    },
}

impl Leaf {
    /// Bits, at most.
    pub fn width(self) -> u32 {
        match self {
            Leaf::Bool => 1,
            Leaf::Number { width, .. } => width,
            Leaf::Varbit { width_max } => width_max,
        }
    }
}

/// A header type as BMv2 has it.
#[derive(Clone, Debug)]
pub struct HeaderType {
    /// Its name, unique.
    pub name: String,
    /// The P4 type.
    pub of: tree::Id<tree::Struct>,
    /// Its fields, nested structs flattened.
    pub fields: Vec<Field>,
}

/// A header instance.
#[derive(Clone, Debug)]
pub struct Header {
    /// Its name, unique.
    pub name: String,
    /// Index into [`Storage::header_types`].
    pub header_type: usize,
}

/// A stack of headers.
#[derive(Clone, Debug)]
pub struct Stack {
    /// Its name, unique.
    pub name: String,
    /// Index into [`Storage::header_types`].
    pub header_type: usize,
    /// Element 0 first.
    pub elements: Vec<HeaderId>,
}

/// A header union.
#[derive(Clone, Debug)]
pub struct Union {
    /// Its name, unique.
    pub name: String,
    /// The P4 type.
    pub of: tree::Id<tree::Struct>,
    /// Its headers.
    pub members: Vec<HeaderId>,
}

/// A stack of header unions.
#[derive(Clone, Debug)]
pub struct UnionStack {
    /// Its name, unique.
    pub name: String,
    /// The P4 type of the elements.
    pub of: tree::Id<tree::Struct>,
    /// Element 0 first.
    pub elements: Vec<UnionId>,
}

/// Everything the program stores.
#[derive(Clone, Debug, Default)]
pub struct Storage {
    /// In order of first use.
    pub header_types: Vec<HeaderType>,
    /// In order of allocation.
    pub headers: Vec<Header>,
    /// In order of allocation.
    pub stacks: Vec<Stack>,
    /// In order of allocation.
    pub unions: Vec<Union>,
    /// In order of allocation.
    pub union_stacks: Vec<UnionStack>,
    /// The fields of [`SCALARS`].
    pub scalars: Vec<Field>,
    /// Variable-length bit strings outside headers; each is a metadata header with one field.
    pub varbits: Vec<(String, u32)>,
    /// How often each name has been asked for, so that the next one gets a number.
    names: BTreeMap<String, u32>,
}

/// Why something cannot be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorageError {
    /// The program needs more headers than a switch can reasonably have.
    TooManyHeaders,
    /// This type has no counterpart on the switch.
    Type(Type),
}

impl Storage {
    /// Reserves a name; when it is taken, the same with a number behind it.
    pub fn unique_name(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while let Some(count) = self.names.get_mut(&name) {
            let suffix = *count;
            *count += 1;
            name = format!("{wanted}_{suffix}");
        }
        self.names.insert(name.clone(), 0);
        name
    }

    /// Allocates a place for a value of a type.
    pub fn allocate(
        &mut self,
        program: &tree::Program,
        name: &str,
        ty: &Type,
    ) -> Result<Value, StorageError> {
        if let Some(kind) = leaf(program, ty) {
            return Ok(self.allocate_leaf(name, kind));
        }
        match ty {
            Type::Struct(id) => match program.structs[*id].kind {
                DerivedKind::Header => {
                    let header = self.allocate_header(program, name, *id)?;
                    Ok(Value::Header(HeaderRef::Instance(header)))
                }
                DerivedKind::HeaderUnion => {
                    let union = self.allocate_union(program, name, *id)?;
                    Ok(Value::Union(UnionRef::Instance(union)))
                }
                DerivedKind::Struct => {
                    let fields = &program.structs[*id].fields;
                    let named = fields.iter().map(|field| (&*field.name.text, &field.ty));
                    self.allocate_fields(program, name, named)
                }
            },
            Type::Tuple(elements) => {
                let names: Vec<String> = (0..elements.len()).map(|at| format!("f{at}")).collect();
                let named = names.iter().map(String::as_str).zip(elements);
                self.allocate_fields(program, name, named)
            }
            Type::Record(fields) => {
                let named = fields.iter().map(|(name, ty)| (&**name, ty));
                self.allocate_fields(program, name, named)
            }
            Type::New(id) => self.allocate(program, name, &program.new_types[*id].original),
            Type::Stack(element, size) => self.allocate_stack(program, name, element, *size),
            Type::Void => Ok(Value::Void),
            _ => Err(StorageError::Type(ty.clone())),
        }
    }

    /// Each field of a struct.
    fn allocate_fields<'a>(
        &mut self,
        program: &tree::Program,
        prefix: &str,
        fields: impl Iterator<Item = (&'a str, &'a Type)>,
    ) -> Result<Value, StorageError> {
        let parts = fields
            .map(|(name, ty)| self.allocate(program, &format!("{prefix}.{name}"), ty))
            .collect::<Result<Vec<Value>, StorageError>>()?;
        Ok(Value::Struct(parts))
    }

    /// A number or bit string.
    fn allocate_leaf(&mut self, name: &str, kind: Leaf) -> Value {
        let name = self.unique_name(name);
        if let Leaf::Varbit { width_max } = kind {
            self.varbits.push((name.clone(), width_max));
            return Value::Varbit(FieldRef::new(name, "field"));
        }
        self.scalars.push(Field { name: name.clone(), kind });
        leaf_value(kind, FieldRef::new(SCALARS, name))
    }

    /// Allocates a header under a name of its own.
    pub fn allocate_header(
        &mut self,
        program: &tree::Program,
        name: &str,
        of: tree::Id<tree::Struct>,
    ) -> Result<HeaderId, StorageError> {
        if self.headers.len() >= ELEMENT_COUNT_MAX {
            return Err(StorageError::TooManyHeaders);
        }
        let header_type = self.header_type(program, of)?;
        let name = self.unique_name(name);
        self.headers.push(Header { name, header_type });
        Ok(HeaderId(self.headers.len() - 1))
    }

    /// A union and its members.
    fn allocate_union(
        &mut self,
        program: &tree::Program,
        name: &str,
        of: tree::Id<tree::Struct>,
    ) -> Result<UnionId, StorageError> {
        let name = self.unique_name(name);
        let mut members = Vec::new();
        for field in &program.structs[of].fields {
            let Type::Struct(member) = field.ty else {
                return Err(StorageError::Type(field.ty.clone()));
            };
            let member_name = format!("{name}.{}", field.name.text);
            members.push(self.allocate_header(program, &member_name, member)?);
        }
        self.unions.push(Union { name, of, members });
        Ok(UnionId(self.unions.len() - 1))
    }

    /// A stack and its elements.
    fn allocate_stack(
        &mut self,
        program: &tree::Program,
        name: &str,
        element: &Type,
        size: u32,
    ) -> Result<Value, StorageError> {
        let Type::Struct(of) = element else {
            return self.allocate_array(program, name, element, size);
        };
        if size == 0 {
            return Ok(Value::StackOf(Vec::new()));
        }
        match program.structs[*of].kind {
            DerivedKind::Header => {
                let name = self.unique_name(name);
                let header_type = self.header_type(program, *of)?;
                let elements = (0..size)
                    .map(|at| self.allocate_header(program, &format!("{name}[{at}]"), *of))
                    .collect::<Result<_, _>>()?;
                self.stacks.push(Stack { name, header_type, elements });
                Ok(Value::Stack(StackId(self.stacks.len() - 1)))
            }
            DerivedKind::HeaderUnion => {
                let name = self.unique_name(name);
                let elements = (0..size)
                    .map(|at| self.allocate_union(program, &format!("{name}[{at}]"), *of))
                    .collect::<Result<_, _>>()?;
                self.union_stacks.push(UnionStack { name, of: *of, elements });
                Ok(Value::UnionStack(UnionStackId(self.union_stacks.len() - 1)))
            }
            DerivedKind::Struct => self.allocate_array(program, name, element, size),
        }
    }

    /// An array of anything else is one place an element.
    fn allocate_array(
        &mut self,
        program: &tree::Program,
        name: &str,
        element: &Type,
        size: u32,
    ) -> Result<Value, StorageError> {
        if size as usize >= ELEMENT_COUNT_MAX {
            return Err(StorageError::TooManyHeaders);
        }
        let elements = (0..size)
            .map(|at| self.allocate(program, &format!("{name}[{at}]"), element))
            .collect::<Result<_, _>>()?;
        Ok(Value::StackOf(elements))
    }

    /// The BMv2 type of a P4 header type, made when first asked for.
    pub fn header_type(
        &mut self,
        program: &tree::Program,
        of: tree::Id<tree::Struct>,
    ) -> Result<usize, StorageError> {
        if let Some(known) = self.header_types.iter().position(|ty| ty.of == of) {
            return Ok(known);
        }
        let declaration = &program.structs[of];
        let mut fields = Vec::new();
        for field in &declaration.fields {
            flatten_field(program, &field.name.text, &field.ty, &mut fields)?;
        }
        let wanted = super::names::type_name(declaration);
        let taken = |name: &str| self.header_types.iter().any(|ty| ty.name == name);
        let name = (0..)
            .map(|at| if at == 0 { wanted.clone() } else { format!("{wanted}_{at}") })
            .find(|name| !taken(name))
            .unwrap_or_default();
        self.header_types.push(HeaderType { name, of, fields });
        Ok(self.header_types.len() - 1)
    }

    /// The type of a header.
    pub fn type_of(&self, header: &HeaderRef) -> &HeaderType {
        let index = match header {
            HeaderRef::Instance(id) => self.headers[id.0].header_type,
            HeaderRef::At { stack, .. } | HeaderRef::Last(stack) | HeaderRef::Next(stack) => {
                self.stacks[stack.0].header_type
            }
            HeaderRef::OfUnion { union, member } => {
                let stack = match **union {
                    UnionRef::At { stack, .. } | UnionRef::Last(stack) | UnionRef::Next(stack) => {
                        stack
                    }
                    UnionRef::Instance(id) => {
                        let member = self.unions[id.0].members[*member];
                        return self.type_of(&HeaderRef::Instance(member));
                    }
                };
                let first = self.union_stacks[stack.0].elements[0];
                let member = self.unions[first.0].members[*member];
                self.headers[member.0].header_type
            }
        };
        &self.header_types[index]
    }

    /// The name of a stored header.
    pub fn header_name(&self, header: HeaderId) -> &str {
        &self.headers[header.0].name
    }
}

/// The fields that a field of a header becomes.
fn flatten_field(
    program: &tree::Program,
    name: &str,
    ty: &Type,
    fields: &mut Vec<Field>,
) -> Result<(), StorageError> {
    if let Some(kind) = leaf(program, ty) {
        fields.push(Field { name: name.to_owned(), kind });
        return Ok(());
    }
    let nested: Vec<(&str, &Type)> = match ty {
        Type::New(id) => {
            return flatten_field(program, name, &program.new_types[*id].original, fields);
        }
        Type::Struct(id) => {
            program.structs[*id].fields.iter().map(|field| (&*field.name.text, &field.ty)).collect()
        }
        _ => return Err(StorageError::Type(ty.clone())),
    };
    for (inner, ty) in nested {
        flatten_field(program, &format!("{name}.{inner}"), ty, fields)?;
    }
    Ok(())
}

/// What a type is when one field can hold it.
pub fn leaf(program: &tree::Program, ty: &Type) -> Option<Leaf> {
    let unsigned = |width| Leaf::Number { width, is_signed: false };
    Some(match ty {
        Type::Bit(width) => unsigned(*width),
        Type::Bool => Leaf::Bool,
        Type::Enum(id) => match &program.enums[*id].underlying {
            Some(underlying) => leaf(program, underlying)?,
            None => unsigned(ENUM_WIDTH),
        },
        Type::Error => unsigned(ENUM_WIDTH),
        Type::Int(width) => Leaf::Number { width: *width, is_signed: true },
        Type::New(id) => leaf(program, &program.new_types[*id].original)?,
        Type::Varbit(width_max) => Leaf::Varbit { width_max: *width_max },
        _ => return None,
    })
}

/// What is read from a field.
pub fn leaf_value(kind: Leaf, field: FieldRef) -> Value {
    match kind {
        Leaf::Bool => Value::Bool(truth_of(Expression::Field(field))),
        Leaf::Number { .. } => Value::Number(Expression::Field(field)),
        Leaf::Varbit { .. } => Value::Varbit(field),
    }
}
