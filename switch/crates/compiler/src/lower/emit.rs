//! The flat program as BMv2 JSON's structs.
//!
//! Before: the flat program. After: a `bmv2::Program`; ids are positions, sections are in the order
//! of the format.

use std::collections::BTreeMap;

use bmv2::{
    CounterArray, Deparser, FieldRef, FieldType, FieldWidth, Header, HeaderStack, HeaderType,
    HeaderUnion, HeaderUnionStack, HeaderUnionType, MeterArray, MeterUnit, PrimitiveCall, Program,
    RegisterArray, RuntimeData,
};

use super::flat::{Flat, ObjectKind};
use super::graph::{Graph, Node};
use super::primitives::primitives;
use super::step::Step;
use super::storage::{Field, HeaderId, Leaf, SCALARS, Storage};
use super::{parse_states, pipelines, source_info};
use crate::types::tree::{self, Type};
use syntax::{Diagnostic, Diagnostics, SourceMap};

/// The version of the format that is written.
const VERSION: (u32, u32) = (2, 23);

pub fn emit(
    program: &tree::Program,
    mut flat: Flat,
    sources: &SourceMap,
    diagnostics: &mut Diagnostics,
) -> Program {
    check_header_widths(program, &flat.storage, diagnostics);
    give_meters_a_field(&mut flat);
    let mut actions: Vec<bmv2::Action> = flat
        .actions
        .iter()
        .enumerate()
        .map(|(id, action)| table_action(id, action, sources))
        .collect();
    let mut counters = pipelines::Counters::default();
    let pipelines = [0, 1].map(|index| {
        pipelines::pipeline(&mut flat, index, &mut actions, &mut counters, sources, diagnostics)
    });
    let parsers = parse_states::parsers(&mut flat);
    let deparsers = deparsers(&flat, sources, diagnostics);
    let (counter_arrays, meter_arrays, register_arrays) = arrays(program, &flat, sources);
    let storage = &flat.storage;
    let error_count = 0..program.errors.len() as u32;
    Program {
        program: sources.files().first().map(|file| file.name.to_string()),
        version: VERSION,
        compiler: Some("vitrine-p4c".to_owned()),
        header_types: header_types(&flat),
        headers: headers(&flat),
        header_stacks: header_stacks(&flat),
        header_union_types: union_types(program, storage),
        header_unions: unions(program, &flat),
        header_union_stacks: union_stacks(program, storage),
        field_lists: flat.field_lists.clone(),
        errors: program.errors.iter().map(|name| name.text.to_string()).zip(error_count).collect(),
        enums: enums(program),
        parsers,
        parse_vsets: flat.value_sets.iter().map(|set| set.set.clone()).collect(),
        deparsers,
        meter_arrays,
        counter_arrays,
        register_arrays,
        calculations: flat.calculations.clone(),
        learn_lists: flat.learn_lists.clone(),
        actions,
        pipelines: pipelines.into(),
        checksums: flat.checksums.clone(),
        force_arith: Vec::new(),
        extern_instances: flat.foreign.clone(),
        field_aliases: flat.field_aliases.clone(),
    }
}

/// The switch writes the colour of a table's meter to a field, also where the program never reads
/// it: a controller may still set its rates.
fn give_meters_a_field(flat: &mut Flat) {
    for object in &mut flat.objects {
        if let ObjectKind::DirectMeter { table: Some(_), result: result @ None, .. } =
            &mut object.kind
        {
            let name = flat.storage.unique_name("tmp");
            let kind = Leaf::Number { width: 32, is_signed: false };
            flat.storage.scalars.push(Field { name: name.clone(), kind });
            *result = Some(FieldRef::new(SCALARS, name));
        }
    }
}

/// An action that tables run, with the data that the control plane gives.
fn table_action(id: usize, action: &super::flat::Action, sources: &SourceMap) -> bmv2::Action {
    let data = |(name, width_bits): &(String, u32)| RuntimeData {
        name: name.clone(),
        width_bits: *width_bits,
    };
    bmv2::Action {
        name: action.name.clone(),
        id: id as u32,
        runtime_data: action.parameters.iter().map(data).collect(),
        primitives: primitives(&action.steps, sources),
    }
}

/// Headers on the wire are whole bytes.
fn check_header_widths(program: &tree::Program, storage: &Storage, diagnostics: &mut Diagnostics) {
    for ty in &storage.header_types {
        let width: u32 = ty.fields.iter().map(|field| field.kind.width()).sum();
        let varbits = ty.fields.iter().filter(|field| matches!(field.kind, Leaf::Varbit { .. }));
        let at = program.structs[ty.of].name.span;
        if !width.is_multiple_of(8) {
            diagnostics.push(
                Diagnostic::error(
                    super::lowering::TARGET,
                    at,
                    format!("the fields of `{}` are {width} bits together", ty.name),
                )
                .label("not a multiple of 8")
                .hint(format!("add a field of {} bits: headers are whole bytes", 8 - width % 8)),
            );
        }
        if varbits.count() > 1 {
            let title = format!("`{}` has more than one varbit field", ty.name);
            diagnostics.push(
                Diagnostic::error(super::lowering::TARGET, at, title)
                    .hint("split the header: each part can have one"),
            );
        }
    }
}

/// The switch's own, those of the program, and one for each width of a varbit variable.
fn header_types(flat: &Flat) -> Vec<HeaderType> {
    let storage = &flat.storage;
    let mut types = vec![header_type("scalars_0", &storage.scalars, true)];
    let intrinsic = flat.intrinsic.iter();
    types.extend(intrinsic.map(|own| header_type(&own.type_name, &own.fields, true)));
    types.extend(storage.header_types.iter().map(|ty| header_type(&ty.name, &ty.fields, false)));
    let mut widths: Vec<u32> = storage.varbits.iter().map(|(_, width)| *width).collect();
    widths.sort_unstable();
    widths.dedup();
    for width_max in widths {
        let field = Field { name: "field".to_owned(), kind: Leaf::Varbit { width_max } };
        types.push(header_type(&varbit_type(width_max), &[field], false));
    }
    for (id, ty) in types.iter_mut().enumerate() {
        ty.id = id as u32;
    }
    types
}

/// Metadata is padded to whole bytes; of headers that is the program's duty.
fn header_type(name: &str, fields: &[Field], is_padded: bool) -> HeaderType {
    let width: u32 = fields.iter().map(|field| field.kind.width()).sum();
    let is_variable = fields.iter().any(|field| matches!(field.kind, Leaf::Varbit { .. }));
    let mut fields: Vec<FieldType> = fields.iter().map(field_type).collect();
    let missing = width.next_multiple_of(8) - width;
    if is_padded && missing > 0 {
        fields.push(FieldType {
            name: "_padding".to_owned(),
            width: FieldWidth::Bits(missing),
            signed: false,
            saturating: false,
        });
    }
    HeaderType {
        name: name.to_owned(),
        id: 0,
        fields,
        length_expression: None,
        length_bytes_max: is_variable.then_some(width.div_ceil(8)),
    }
}

/// A field's name, width and sign.
fn field_type(field: &Field) -> FieldType {
    let (width, signed) = match field.kind {
        Leaf::Bool => (FieldWidth::Bits(1), false),
        Leaf::Number { width, is_signed } => (FieldWidth::Bits(width), is_signed),
        Leaf::Varbit { .. } => (FieldWidth::Variable, false),
    };
    FieldType { name: field.name.clone(), width, signed, saturating: false }
}

/// The name of the header type that holds a varbit variable.
fn varbit_type(width_max: u32) -> String {
    format!("$varbit{width_max}")
}

/// Ids count `scalars` and the switch's own metadata, too.
fn header_id(flat: &Flat, id: HeaderId) -> u32 {
    (1 + flat.intrinsic.len() + id.0) as u32
}

/// All headers; metadata are headers that are not on the wire.
fn headers(flat: &Flat) -> Vec<Header> {
    let storage = &flat.storage;
    let header = |name: &str, header_type: &str, metadata: bool| Header {
        name: name.to_owned(),
        id: 0,
        header_type: header_type.to_owned(),
        metadata,
        pi_omit: Some(true),
    };
    let mut headers = vec![header(SCALARS, "scalars_0", true)];
    headers.extend(flat.intrinsic.iter().map(|own| header(own.name, &own.type_name, true)));
    for stored in &storage.headers {
        let ty = &storage.header_types[stored.header_type].name;
        headers.push(header(&stored.name, ty, false));
    }
    for (name, width_max) in &storage.varbits {
        headers.push(header(name, &varbit_type(*width_max), true));
    }
    for (id, header) in headers.iter_mut().enumerate() {
        header.id = id as u32;
    }
    headers
}

/// Stacks by the ids of their elements.
fn header_stacks(flat: &Flat) -> Vec<HeaderStack> {
    let storage = &flat.storage;
    let stack = |(id, stack): (usize, &super::storage::Stack)| HeaderStack {
        name: stack.name.clone(),
        id: id as u32,
        header_type: storage.header_types[stack.header_type].name.clone(),
        header_ids: stack.elements.iter().map(|element| header_id(flat, *element)).collect(),
    };
    storage.stacks.iter().enumerate().map(stack).collect()
}

/// The name of a union's type.
fn union_name(program: &tree::Program, of: tree::Id<tree::Struct>) -> String {
    super::names::type_name(&program.structs[of])
}

/// Unions by the types of their members.
fn union_types(program: &tree::Program, storage: &Storage) -> Vec<HeaderUnionType> {
    let mut types: Vec<HeaderUnionType> = Vec::new();
    let mut known = BTreeMap::new();
    for union in &storage.unions {
        if known.insert(union.of, ()).is_some() {
            continue;
        }
        let fields = program.structs[union.of].fields.iter().zip(&union.members);
        types.push(HeaderUnionType {
            name: union_name(program, union.of),
            id: types.len() as u32,
            headers: fields
                .map(|(field, member)| {
                    let header_type = storage.headers[member.0].header_type;
                    let type_name = storage.header_types[header_type].name.clone();
                    (field.name.text.to_string(), type_name)
                })
                .collect(),
        });
    }
    types
}

/// Unions by the ids of their members.
fn unions(program: &tree::Program, flat: &Flat) -> Vec<HeaderUnion> {
    let storage = &flat.storage;
    let union = |(id, union): (usize, &super::storage::Union)| HeaderUnion {
        name: union.name.clone(),
        id: id as u32,
        union_type: union_name(program, union.of),
        header_ids: union.members.iter().map(|member| header_id(flat, *member)).collect(),
        pi_omit: Some(true),
    };
    storage.unions.iter().enumerate().map(union).collect()
}

/// Stacks of unions.
fn union_stacks(program: &tree::Program, storage: &Storage) -> Vec<HeaderUnionStack> {
    let stack = |(id, stack): (usize, &super::storage::UnionStack)| HeaderUnionStack {
        name: stack.name.clone(),
        id: id as u32,
        union_type: union_name(program, stack.of),
        header_union_ids: stack.elements.iter().map(|element| element.0 as u32).collect(),
    };
    storage.union_stacks.iter().enumerate().map(stack).collect()
}

/// Enums without underlying type, whose numbers are chosen here; for people who read field values.
fn enums(program: &tree::Program) -> Vec<bmv2::Enum> {
    let mut enums = Vec::new();
    for (_, declaration) in program.enums.iter() {
        let is_plain = declaration.underlying.is_none();
        if is_plain && is_stored(program, &declaration.name.text) {
            let names = declaration.members.iter().map(|member| member.name.text.to_string());
            let name = declaration.name.text.to_string();
            enums.push(bmv2::Enum { name, entries: names.zip(0..).collect() });
        }
    }
    enums
}

/// Whether any struct, header or variable holds values of an enum.
fn is_stored(program: &tree::Program, name: &str) -> bool {
    let is_it = |ty: &Type| matches!(ty, Type::Enum(id) if &*program.enums[*id].name.text == name);
    let in_struct = |declaration: &tree::Struct| declaration.fields.iter().any(|f| is_it(&f.ty));
    program.structs.iter().any(|(_, declaration)| in_struct(declaration))
        || program
            .variables
            .iter()
            .any(|(_, variable)| variable.kind == tree::VariableKind::Local && is_it(&variable.ty))
}

/// For each deparser the order of emission, and primitives before it.
fn deparsers(flat: &Flat, sources: &SourceMap, diagnostics: &mut Diagnostics) -> Vec<Deparser> {
    let written = flat.deparsers.iter().enumerate();
    written
        .map(|(id, deparser)| Deparser {
            name: deparser.name.to_owned(),
            id: id as u32,
            source_info: deparser.at.and_then(|at| source_info::of(sources, at)),
            order: deparser.order.clone(),
            primitives: match deparser.may_branch {
                true => primitives(&deparser.steps, sources),
                false => straight(&deparser.steps, sources, diagnostics),
            },
        })
        .collect()
}

/// The primitives of a deparser that cannot branch.
fn straight(
    steps: &[Step],
    sources: &SourceMap,
    diagnostics: &mut Diagnostics,
) -> Vec<PrimitiveCall> {
    let graph = Graph::new(steps);
    let mut calls = Vec::new();
    let mut next = graph.entry;
    while let Some(at) = next {
        match &graph.nodes[at] {
            Node::Run { steps, next: after } => {
                calls.extend(primitives(steps, sources));
                next = *after;
            }
            Node::Apply { at, .. } | Node::Branch { at, .. } => {
                diagnostics.push(
                    Diagnostic::error(
                        super::lowering::TARGET,
                        *at,
                        "this deparser cannot decide anything",
                    )
                    .hint(
                        "decide in egress with setValid and setInvalid: what is not valid is not \
                           emitted",
                    ),
                );
                break;
            }
            Node::Jump(_) | Node::Tail => break,
        }
    }
    calls
}

fn arrays(
    program: &tree::Program,
    flat: &Flat,
    sources: &SourceMap,
) -> (Vec<CounterArray>, Vec<MeterArray>, Vec<RegisterArray>) {
    let (mut counters, mut meters, mut registers) = (Vec::new(), Vec::new(), Vec::new());
    let table_name = |table: usize| flat.tables[table].name.clone();
    for object in &flat.objects {
        let name = object.name.clone();
        let source_info = source_info::of(sources, object.at);
        match &object.kind {
            ObjectKind::Counter { size, .. } => counters.push(CounterArray {
                name,
                id: counters.len() as u32,
                source_info,
                size: Some(*size),
                is_direct: false,
                binding: None,
            }),
            ObjectKind::DirectCounter { table: Some(table), .. } => counters.push(CounterArray {
                name,
                id: counters.len() as u32,
                source_info,
                size: None,
                is_direct: true,
                binding: Some(table_name(*table)),
            }),
            ObjectKind::Meter { size, unit } => {
                let id = meters.len() as u32;
                let meter = MeterArray { name, id, source_info, size: *size, ..meter(unit) };
                meters.push(meter);
            }
            ObjectKind::DirectMeter { table: Some(table), unit, result: Some(result) } => {
                meters.push(MeterArray {
                    name,
                    id: meters.len() as u32,
                    source_info,
                    size: flat.tables[*table].size.unwrap_or(super::table::TABLE_SIZE_DEFAULT),
                    is_direct: true,
                    binding: Some(table_name(*table)),
                    result_target: Some(FieldRef::clone(result)),
                    ..meter(unit)
                });
            }
            ObjectKind::Register { size, element, initial } => {
                for part in super::tofino::cells(program, element) {
                    registers.push(RegisterArray {
                        name: format!("{name}{}", part.name),
                        id: registers.len() as u32,
                        source_info: source_info.clone(),
                        size: *size,
                        width_bits: part.kind.width(),
                        initial_value: (!initial.is_zero()).then(|| initial.clone()),
                    });
                }
            }
            // Bound to no table: the switch need not know.
            ObjectKind::ActionProfile { .. }
            | ObjectKind::Digest { .. }
            | ObjectKind::DirectCounter { .. }
            | ObjectKind::DirectMeter { .. }
            | ObjectKind::Instance => {}
        }
    }
    (counters, meters, registers)
}

/// A meter with the two rates of P4.
fn meter(unit: &str) -> MeterArray {
    let unit = if unit == "bytes" { MeterUnit::Bytes } else { MeterUnit::Packets };
    MeterArray { rate_count: 2, unit, ..MeterArray::default() }
}
