//! Headers, stacks and unions resolved to offsets: names in, places out.
//!
//! Built once at load. Everything that runs per packet holds the resulting numbers and never asks
//! for a name again; what remains here at run time are the shapes that cannot be resolved before
//! the packet is there (which element of a stack, the length of a `varbit`).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use bmv2::{FieldRef, FieldWidth, Program};

use crate::error::{LoadError, unknown};
use crate::place::{Bits, Cell, Place, Slot, Variable};

/// Headers and metadata may take this much together: 64 kB hold any program of the field.
const AREA_SIZE_MAX: u64 = 1 << 16;
/// A stack's fill is one byte.
const STACK_SIZE_MAX: usize = 255;

/// A field of a header type; the place counts from the start of the header.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub name: String,
    pub place: Place,
    pub signed: bool,
    pub saturating: bool,
}

/// Which fields the program refers to, by header and name, and with an empty name which whole
/// headers; noted while it is loaded.
type Referred = RefCell<BTreeSet<(u32, String)>>;

/// A header type as its instances lie in memory.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    pub name: String,
    pub fields: Vec<Field>,
    /// Bits on the wire before the variable field, or all bits if there is none.
    pub bits_before: u32,
    /// Bits on the wire after the variable field.
    pub bits_after: u32,
    /// The variable field, if there is one.
    pub variable: Option<Variable>,
    /// The longest form in bytes that `extract` accepts; 0 is any.
    pub length_bytes_max: u32,
    /// Bits of the variable field, where the type says it: P4_14's way.
    pub length_expression: Option<bmv2::Expression>,
    /// Bytes in memory, the variable field and its length included.
    pub size: u32,
}

/// A header or metadata instance.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub name: String,
    pub kind: usize,
    /// Where its bytes start.
    pub base: u32,
    /// The byte that says whether it is valid.
    pub valid: u32,
    /// Its union, which has at most one valid header.
    pub union: Option<u32>,
}

/// A stack of headers.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    pub kind: usize,
    pub headers: Vec<u32>,
    /// The byte that says how many elements the parser has filled.
    pub next: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Union {
    pub headers: Vec<u32>,
}

/// A stack of header unions.
#[derive(Clone, Debug)]
pub(crate) struct UnionStack {
    pub unions: Vec<u32>,
    pub members: Vec<String>,
    /// The byte that says how many elements the parser has filled.
    pub next: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub kinds: Vec<Kind>,
    pub headers: Vec<Header>,
    pub stacks: Vec<Stack>,
    pub unions: Vec<Union>,
    pub union_stacks: Vec<UnionStack>,
    /// Bytes a packet's headers and metadata take.
    pub size: usize,
    /// Validity of metadata, which is always valid: the state of a fresh packet.
    pub metadata_valid: Vec<u32>,
    /// First and last byte of all metadata: one range to clear.
    pub metadata_bytes: std::ops::Range<usize>,
    header_of: BTreeMap<String, u32>,
    stack_of: BTreeMap<String, u32>,
    union_of: BTreeMap<String, u32>,
    union_stack_of: BTreeMap<String, u32>,
    aliases: BTreeMap<(String, String), FieldRef>,
    /// A field outside this list is not read by anybody, so the switch need not write it.
    referred: Referred,
}

/// A field of an instance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldAt {
    pub place: Place,
    pub signed: bool,
    pub saturating: bool,
    /// Index of the header.
    pub header: u32,
}

/// Name of the hidden field that is a header's validity.
const VALID: &str = "$valid$";

impl Kind {
    /// Bytes on the wire while the variable field is empty.
    pub fn fixed_length(&self) -> usize {
        (self.bits_before + self.bits_after).div_ceil(8) as usize
    }

    pub fn field(&self, name: &str) -> Result<usize, LoadError> {
        let names = self.fields.iter().map(|field| field.name.as_str());
        names
            .clone()
            .position(|candidate| candidate == name)
            .ok_or_else(|| unknown(&format!("field of header type {}", self.name), name, names))
    }
}

impl Layout {
    pub fn new(program: &Program) -> Result<Layout, LoadError> {
        let mut layout = Layout::default();
        let kinds = kinds(program)?;
        let positions = kind_positions(&kinds);
        let sizes: Vec<u32> = kinds.values().map(|kind| kind.size).collect();
        // Two bytes for validity and fill would do; eight before them let a validity byte be the
        // low byte of a window like any other cell.
        let fills = program.header_stacks.len() + program.header_union_stacks.len();
        let mut at = 8 + (program.headers.len() + fills) as u64;
        let mut kind_of = vec![0; program.headers.len()];
        // Metadata first, so that one range clears it.
        for metadata in [true, false] {
            let start = at as usize;
            for (index, header) in program.headers.iter().enumerate() {
                if header.metadata != metadata {
                    continue;
                }
                let kind = positions.get(&(header.header_type.as_str(), metadata));
                let path = format!("/headers/{index}/header_type");
                kind_of[index] = *kind.ok_or_else(|| {
                    let names = program.header_types.iter().map(|kind| kind.name.as_str());
                    unknown("header type", &header.header_type, names).under(&path)
                })?;
                at += u64::from(sizes[kind_of[index]]);
            }
            if metadata {
                layout.metadata_bytes = start..at as usize;
            }
        }
        if at + 8 > AREA_SIZE_MAX {
            let message = format!("headers take {at} bytes; at most {AREA_SIZE_MAX} are supported");
            return Err(LoadError::new("/headers", message));
        }
        layout.size = at as usize + 8;
        drop(positions);
        layout.kinds = kinds.into_values().collect();
        layout.place_headers(program, &kind_of)?;
        layout.place_stacks(program)?;
        layout.place_unions(program)?;
        for (index, alias) in program.field_aliases.iter().enumerate() {
            let path = format!("/field_aliases/{index}");
            let Some((header, field)) = alias.alias.split_once('.') else {
                return Err(LoadError::new(path, "an alias has the form \"header.field\""));
            };
            layout.look_up(&alias.field).map_err(|error| error.under(&path))?;
            layout.aliases.insert((header.to_owned(), field.to_owned()), alias.field.clone());
        }
        Ok(layout)
    }

    /// `kind_of` is the kind of each header.
    fn place_headers(&mut self, program: &Program, kind_of: &[usize]) -> Result<(), LoadError> {
        let fills = (program.header_stacks.len() + program.header_union_stacks.len()) as u32;
        let mut bases = [self.metadata_bytes.start as u32, self.metadata_bytes.end as u32];
        let mut ids = std::collections::BTreeSet::new();
        for (index, header) in program.headers.iter().enumerate() {
            let path = format!("/headers/{index}");
            let kind = kind_of[index];
            let base = &mut bases[usize::from(!header.metadata)];
            if !ids.insert(header.id) {
                return Err(LoadError::new(
                    path,
                    format!("another header has the id {}", header.id),
                ));
            }
            if self.header_of.insert(header.name.clone(), index as u32).is_some() {
                let message = format!("another header is called \"{}\"", header.name);
                return Err(LoadError::new(path, message));
            }
            let valid = 8 + fills + index as u32;
            if header.metadata {
                self.metadata_valid.push(valid);
            }
            self.headers.push(Header {
                name: header.name.clone(),
                kind,
                base: *base,
                valid,
                union: None,
            });
            *base += self.kinds[kind].size;
        }
        Ok(())
    }

    fn place_stacks(&mut self, program: &Program) -> Result<(), LoadError> {
        let positions = positions(program.headers.iter().map(|header| header.id));
        for (index, stack) in program.header_stacks.iter().enumerate() {
            let path = format!("/header_stacks/{index}");
            let headers = by_id(&positions, &stack.header_ids, &path)?;
            let kinds: Vec<usize> =
                headers.iter().map(|header| self.headers[*header as usize].kind).collect();
            let Some(kind) = kinds.first().copied() else {
                return Err(LoadError::new(path, "a stack has at least one header"));
            };
            if kinds.iter().any(|other| *other != kind) || kinds.len() > STACK_SIZE_MAX {
                let message =
                    format!("a stack has headers of one type, at most {STACK_SIZE_MAX} of them");
                return Err(LoadError::new(path, message));
            }
            self.stack_of.insert(stack.name.clone(), index as u32);
            let next = 8 + index as u32;
            self.stacks.push(Stack { kind, headers, next });
        }
        Ok(())
    }

    fn place_unions(&mut self, program: &Program) -> Result<(), LoadError> {
        let header_positions = positions(program.headers.iter().map(|header| header.id));
        let positions = positions(program.header_unions.iter().map(|union| union.id));
        for (index, union) in program.header_unions.iter().enumerate() {
            let path = format!("/header_unions/{index}");
            let headers = by_id(&header_positions, &union.header_ids, &path)?;
            for header in &headers {
                self.headers[*header as usize].union = Some(index as u32);
            }
            self.union_of.insert(union.name.clone(), index as u32);
            self.unions.push(Union { headers });
        }
        for (index, stack) in program.header_union_stacks.iter().enumerate() {
            let path = format!("/header_union_stacks/{index}");
            let unions = stack.header_union_ids.iter().map(|id| positions.get(id).copied());
            let unions: Option<Vec<u32>> = unions.collect();
            let kind = program.header_union_types.iter().find(|kind| kind.name == stack.union_type);
            let (Some(unions), Some(kind)) = (unions, kind) else {
                return Err(LoadError::new(
                    path,
                    "it refers to a union or type that does not exist",
                ));
            };
            if unions.is_empty() || unions.len() > STACK_SIZE_MAX {
                let message = format!("a stack has 1 to {STACK_SIZE_MAX} elements");
                return Err(LoadError::new(path, message));
            }
            self.union_stack_of.insert(stack.name.clone(), index as u32);
            self.union_stacks.push(UnionStack {
                unions,
                members: kind.headers.iter().map(|(name, _)| name.clone()).collect(),
                next: 8 + (program.header_stacks.len() + index) as u32,
            });
        }
        Ok(())
    }

    /// A header that the program refers to as a whole.
    pub fn header(&self, name: &str) -> Result<u32, LoadError> {
        let index = self.header_index(name)?;
        self.refer(index, "");
        Ok(index)
    }

    fn header_index(&self, name: &str) -> Result<u32, LoadError> {
        let names = self.header_of.keys().map(String::as_str);
        self.header_of.get(name).copied().ok_or_else(|| unknown("header", name, names))
    }

    pub fn stack(&self, name: &str) -> Result<u32, LoadError> {
        let names = self.stack_of.keys().map(String::as_str);
        self.stack_of.get(name).copied().ok_or_else(|| unknown("header stack", name, names))
    }

    pub fn union(&self, name: &str) -> Result<u32, LoadError> {
        let names = self.union_of.keys().map(String::as_str);
        self.union_of.get(name).copied().ok_or_else(|| unknown("header union", name, names))
    }

    pub fn union_stack(&self, name: &str) -> Result<u32, LoadError> {
        let names = self.union_stack_of.keys().map(String::as_str);
        let found = self.union_stack_of.get(name).copied();
        found.ok_or_else(|| unknown("stack of header unions", name, names))
    }

    /// The place of a field that the program refers to, by its own name or an alias.
    pub fn field(&self, field: &FieldRef) -> Result<FieldAt, LoadError> {
        let found = self.look_up(field)?;
        let target = self.aliases.get(&(field.header.clone(), field.field.clone()));
        let name = target.map_or(&field.field, |target| &target.field);
        self.refer(found.header, name);
        Ok(found)
    }

    /// Notes that the program refers to a field.
    pub fn refer(&self, header: u32, field: &str) {
        let _ = self.referred.borrow_mut().insert((header, field.to_owned()));
    }

    /// The place of a field.
    fn look_up(&self, field: &FieldRef) -> Result<FieldAt, LoadError> {
        let alias = (field.header.clone(), field.field.clone());
        if let Some(target) = self.aliases.get(&alias) {
            return self.look_up(target);
        }
        let index = self.header_index(&field.header)?;
        let header = &self.headers[index as usize];
        if field.field == VALID {
            let place = Place::Cell(Cell::low(header.valid - 7, 1));
            return Ok(FieldAt { place, signed: false, saturating: false, header: index });
        }
        let kind = &self.kinds[header.kind];
        let found = &kind.fields[kind.field(&field.field)?];
        Ok(FieldAt {
            place: found.place.at(header.base),
            signed: found.signed,
            saturating: found.saturating,
            header: index,
        })
    }

    /// The cell of a field the switch itself uses, if the program has it.
    pub fn known(&self, header: &str, field: &str) -> Option<Cell> {
        match self.field(&FieldRef::new(header, field)).ok()?.place {
            Place::Cell(cell) => Some(cell),
            _ => None,
        }
    }

    /// The same of a metadata field, which has its window to itself.
    pub fn slot(&self, header: &str, field: &str) -> Option<Slot> {
        let found = self.look_up(&FieldRef::new(header, field)).ok()?;
        let header = &self.headers[found.header as usize];
        let alone = self.metadata_valid.contains(&header.valid)
            && self.kinds[header.kind].variable.is_none();
        match found.place {
            Place::Cell(Cell { offset, mask, .. }) if alone => Some(Slot { offset, mask }),
            _ => None,
        }
    }

    /// A field as a slot, if it is one of metadata: it has its window to itself.
    pub fn alone(&self, cell: Cell) -> Option<Slot> {
        let holds = |header: &&Header| {
            let start = header.base;
            let kind = &self.kinds[header.kind];
            // With a variable field it is packed, and windows overlap.
            let slots = self.metadata_valid.contains(&header.valid) && kind.variable.is_none();
            slots && (start..start + kind.size).contains(&cell.offset)
        };
        let found = self.headers.iter().find(holds);
        let slot = Slot { offset: cell.offset, mask: cell.mask };
        found.filter(|_| cell.width > 0).map(|_| slot)
    }

    /// The same, if the program refers to the field.
    pub fn referred_slot(&self, header: &str, field: &str) -> Option<Slot> {
        let alias = (header.to_owned(), field.to_owned());
        let name = self.aliases.get(&alias).map_or(field, |target| target.field.as_str());
        let found = self.look_up(&FieldRef::new(header, field)).ok()?.header;
        let referred = self.referred.borrow();
        let whole = referred.contains(&(found, String::new()));
        (whole || referred.contains(&(found, name.to_owned()))).then(|| self.slot(header, field))?
    }

    /// Names of all aliases `header.*` that the program refers to, and their slots.
    pub fn aliases_of(&self, header: &str) -> Vec<(String, Slot)> {
        self.aliases
            .keys()
            .filter(|(candidate, _)| candidate == header)
            .filter_map(|(_, field)| Some((field.clone(), self.referred_slot(header, field)?)))
            .collect()
    }

    /// Bytes of a header on the wire as it is now.
    pub fn length(&self, area: &[u8], header: &Header) -> usize {
        let kind = &self.kinds[header.kind];
        let variable = kind.variable.map_or(0, |field| field.at(header.base).bytes(area).len());
        kind.fixed_length() + variable
    }
}

/// The position of each id in a list. Unions that a compiler wrote as headers have ids that others
/// have; the first in the list counts.
fn positions(ids: impl Iterator<Item = u32>) -> BTreeMap<u32, u32> {
    let mut positions = BTreeMap::new();
    for (position, id) in ids.enumerate() {
        let _ = positions.entry(id).or_insert(position as u32);
    }
    positions
}

/// The positions of headers with these ids.
fn by_id(positions: &BTreeMap<u32, u32>, ids: &[u32], path: &str) -> Result<Vec<u32>, LoadError> {
    let position = |id: &u32| {
        let missing =
            || LoadError::new(format!("{path}/header_ids"), format!("no header has the id {id}"));
        positions.get(id).copied().ok_or_else(missing)
    };
    ids.iter().map(position).collect()
}

/// The position of each shape, by the name of its type and whether it is that of metadata.
fn kind_positions(kinds: &BTreeMap<(String, bool), Kind>) -> BTreeMap<(&str, bool), usize> {
    let names = kinds.keys().enumerate();
    names.map(|(position, (name, metadata))| ((name.as_str(), *metadata), position)).collect()
}

/// Shapes of all types, each as headers (packed) and as metadata (a cell a field).
fn kinds(program: &Program) -> Result<BTreeMap<(String, bool), Kind>, LoadError> {
    let mut kinds = BTreeMap::new();
    for (index, kind) in program.header_types.iter().enumerate() {
        for metadata in [false, true] {
            let path = format!("/header_types/{index}");
            let shape = shape(kind, metadata).map_err(|error| error.under(&path))?;
            if kinds.insert((kind.name.clone(), metadata), shape).is_some() {
                let message = format!("another header type is called \"{}\"", kind.name);
                return Err(LoadError::new(path, message));
            }
        }
    }
    Ok(kinds)
}

/// Bits of all fields of fixed width, if a header can have that many.
fn fixed_bits(kind: &bmv2::HeaderType) -> Result<u32, LoadError> {
    let fixed = |field: &bmv2::FieldType| match field.width {
        FieldWidth::Bits(width) => u64::from(width),
        FieldWidth::Variable => 0,
    };
    let bits: u64 = kind.fields.iter().map(fixed).sum();
    if bits > AREA_SIZE_MAX * 8 || u64::from(kind.length_bytes_max.unwrap_or(0)) > AREA_SIZE_MAX {
        return Err(LoadError::new("", format!("a header type has at most {AREA_SIZE_MAX} bytes")));
    }
    Ok(bits as u32)
}

fn shape(kind: &bmv2::HeaderType, metadata: bool) -> Result<Kind, LoadError> {
    let mut shape = Kind {
        name: kind.name.clone(),
        fields: Vec::new(),
        bits_before: 0,
        bits_after: 0,
        variable: None,
        length_bytes_max: kind.length_bytes_max.unwrap_or(0),
        length_expression: kind.length_expression.clone(),
        size: 0,
    };
    let bits = fixed_bits(kind)?;
    let fixed_bytes = bits.div_ceil(8);
    // Metadata with a variable field is packed like a header: it is rare, and one shape suffices.
    let has_variable = kind.fields.iter().any(|field| field.width == FieldWidth::Variable);
    let cells = metadata && !has_variable;
    // Metadata: a cell or, beyond 64 bits, whole bytes a field. Headers: the wire.
    let mut first_bit = 0;
    for (index, field) in kind.fields.iter().enumerate() {
        let path = format!("/fields/{index}");
        let place = match field.width {
            FieldWidth::Variable if shape.variable.is_some() => {
                return Err(LoadError::new(
                    path,
                    "a header has at most one field of variable length",
                ));
            }
            FieldWidth::Variable => {
                let size = shape.length_bytes_max.saturating_sub(fixed_bytes);
                let variable =
                    Variable { length: Cell::low(fixed_bytes, 32), offset: fixed_bytes + 8, size };
                shape.variable = Some(variable);
                Place::Variable(variable)
            }
            FieldWidth::Bits(width) if cells => {
                let start = shape.size;
                shape.size += width.div_ceil(64) * 8;
                let bytes = width.div_ceil(8);
                match width {
                    0..=64 => Place::Cell(Cell::low(start, width as u8)),
                    _ => Place::Bits(Bits { offset: start, bit: (bytes * 8 - width) as u8, width }),
                }
            }
            FieldWidth::Bits(width) => {
                let place = Place::packed(0, first_bit, width);
                first_bit += width;
                let counted = match shape.variable {
                    Some(_) => &mut shape.bits_after,
                    None => &mut shape.bits_before,
                };
                *counted += width;
                place
            }
        };
        shape.fields.push(Field {
            name: field.name.clone(),
            place,
            signed: field.signed,
            saturating: field.saturating,
        });
    }
    if cells {
        return Ok(shape);
    }
    shape.size = shape.variable.map_or(fixed_bytes, |variable| variable.offset + variable.size);
    Ok(shape)
}

impl Layout {
    /// The headers that are invalid while this one is valid.
    pub fn siblings(&self, header: u32) -> impl Iterator<Item = &Header> {
        let union = self.headers[header as usize].union;
        let members = union.map_or(&[][..], |union| &self.unions[union as usize].headers);
        let others = members.iter().filter(move |member| **member != header);
        others.map(|member| &self.headers[*member as usize])
    }

    /// A stack of unions as one stack of headers for each member.
    pub fn member_stacks(&self, stack: &UnionStack) -> Vec<Vec<u32>> {
        let unions = || stack.unions.iter().map(|union| &self.unions[*union as usize].headers);
        let members = unions().map(Vec::len).min().unwrap_or(0);
        (0..members).map(|member| unions().map(|headers| headers[member]).collect()).collect()
    }
}
