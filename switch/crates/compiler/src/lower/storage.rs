//! Where values live on the switch: header instances, stacks, unions, and one metadata header,
//! `scalars`, for everything else.
//!
//! P4 types become BMv2's flat ones here. A struct inside a header becomes fields with dotted
//! names; a struct that holds headers becomes several headers; every variable that is neither
//! header, stack nor union becomes fields of `scalars`.

use std::collections::BTreeMap;

use bmv2::FieldRef;

use crate::architecture::Architecture;
use crate::types::tree::{self, Type};

/// Before fields of a header that only the switch itself reads, such as a bridged one: the compiler
/// may place them as it likes.
const FLEXIBLE: &str = "flexible";

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
/// The limit for the elements of all stacks of a program together.
pub const ELEMENT_COUNT_MAX: usize = 1 << 16;

/// The switch counts the elements of a stack in one byte.
pub const STACK_SIZE_MAX: u32 = 255;

/// A field of a BMv2 header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, dotted where it came from a nested struct.
    pub name: String,
    pub kind: Leaf,
}

/// The kind of value in one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Leaf {
    /// `bool`, in one bit.
    Bool,
    /// `bit<width>` or `int<width>`.
    Number {
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

#[derive(Clone, Debug)]
pub struct Header {
    /// Its name, unique.
    pub name: String,
    /// Index into [`Storage::header_types`].
    pub header_type: usize,
}

#[derive(Clone, Debug)]
pub struct Stack {
    /// Its name, unique.
    pub name: String,
    /// Index into [`Storage::header_types`].
    pub header_type: usize,
    /// Element 0 first.
    pub elements: Vec<HeaderId>,
}

#[derive(Clone, Debug)]
pub struct Union {
    /// Its name, unique.
    pub name: String,
    /// The P4 type.
    pub of: tree::Id<tree::Struct>,
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
    /// A stack has this many elements, more than [`STACK_SIZE_MAX`].
    StackTooLong(u32),
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
        let is_flexible =
            |field: &tree::Field| super::names::annotation(&field.annotations, FLEXIBLE).is_some();
        // Headers between the parts of a Tofino need not be whole bytes: the parser and the deparser
        // of such a header agree on what follows its last bit.
        let is_tofino = program.declared_architecture.is_some_and(Architecture::is_tofino);
        if is_tofino || declaration.fields.iter().any(is_flexible) {
            pad(&mut fields);
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

    /// Whether a field is as wide as what it stands for. A cast to more bits takes no step, so that
    /// sixteen bits may be a field of eight: where the switch looks at the field itself, as in a
    /// key, that is another value.
    pub fn is_as_wide(&self, field: &FieldRef, kind: Leaf) -> bool {
        let fields = match self.headers.iter().find(|header| header.name == field.header) {
            Some(header) => &self.header_types[header.header_type].fields,
            None => &self.scalars,
        };
        let stored = fields.iter().find(|known| known.name == field.field);
        // The one bit that is no field of its header says whether that is valid.
        stored.map_or(1, |stored| stored.kind.width()) == kind.width()
    }

    /// The headers of the union that a header belongs to, itself included.
    pub fn union_around(&self, header: HeaderId) -> Option<&[HeaderId]> {
        let around = self.unions.iter().find(|union| union.members.contains(&header));
        around.map(|union| union.members.as_slice())
    }

    /// The name of a stored header.
    pub fn header_name(&self, header: HeaderId) -> &str {
        &self.headers[header.0].name
    }
}

/// Fills the last byte of a header whose layout the compiler may choose.
fn pad(fields: &mut Vec<Field>) {
    let width: u32 = fields.iter().map(|field| field.kind.width()).sum();
    let missing = width.next_multiple_of(8) - width;
    if missing > 0 {
        let kind = Leaf::Number { width: missing, is_signed: false };
        fields.push(Field { name: "_padding".to_owned(), kind });
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

/// The fields that hold a value of a type; the only one has no name.
pub fn parts(program: &tree::Program, ty: &Type) -> Vec<Field> {
    let mut fields = Vec::new();
    match flatten_field(program, "", ty, &mut fields) {
        Ok(()) => fields,
        Err(_) => Vec::new(),
    }
}

/// The leaf of a type that one field can hold.
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
