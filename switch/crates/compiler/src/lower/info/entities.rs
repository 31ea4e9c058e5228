//! Counters, meters, registers, action profiles, packet headers, value sets and digests.

use p4info::{
    ActionProfile, ControllerPacketMetadata, Counter, CounterSpec, CounterUnit, Digest,
    DirectCounter, DirectMeter, MatchField, MatchType, Meter, MeterSpec, MeterType, MeterUnit,
    P4DataTypeSpec, PacketMetadata, Prefix, Register, SelectorSizeSemantics, SumOfMembers,
    SumOfWeights, ValueSet,
};

use super::super::flat::{Object, ObjectKind};
use super::super::names;
use super::super::storage::{Leaf, leaf};
use super::super::tofino::cells;
use super::order::Order;
use super::tables::match_type;
use super::{Writer, annotate, field_ids};
use crate::types::tree::{
    self, Annotation, AnnotationValue, DerivedKind, Id, MatchKind, PropertyValue, Struct, Type,
    Value,
};

/// Annotations of action profiles that have fields of their own.
const PROFILE_ANNOTATIONS: [&str; 3] =
    ["max_group_size", "max_member_weight", "selector_size_semantics"];

impl Writer<'_> {
    /// All extern objects. Direct ones come in the order of their tables.
    pub fn objects(&mut self, order: &Order) {
        let (flat, program) = (self.flat, self.program);
        for index in &order.objects {
            let object = &flat.objects[*index];
            let annotations = &program.instances[object.of.instance].annotations;
            self.object(object, annotations);
        }
        for table in &order.tables {
            let table = &flat.tables[*table];
            for index in [table.counter, table.meter].into_iter().flatten() {
                let object = &flat.objects[index];
                let annotations = &program.instances[object.of.instance].annotations;
                self.direct_object(object, annotations, &table.name);
            }
        }
    }

    /// A register whose cells are structs: one register for each field, as the switch has it.
    fn struct_register(&mut self, object: &Object, annotations: &[Annotation]) -> bool {
        let ObjectKind::Register { size, element, .. } = &object.kind else { return false };
        let cells = cells(self.program, element);
        if cells.iter().all(|part| part.name.is_empty()) {
            return false;
        }
        for part in cells {
            let name = format!("{}{}", object.name, part.name);
            let preamble = Some(self.preamble(Prefix::Register, &name, annotations, |_| false));
            let type_spec = Some(self.describe(&Type::Bit(part.kind.width())));
            let size = *size as i32;
            let register = Register { preamble, type_spec, size, index_type_name: None };
            self.info.registers.push(register);
        }
        true
    }

    /// A counter, meter, register or action profile.
    fn object(&mut self, object: &Object, annotations: &[Annotation]) {
        if self.struct_register(object, annotations) {
            return;
        }
        let is_own = |name: &str| PROFILE_ANNOTATIONS.contains(&name);
        let preamble = match super::prefix(&object.kind) {
            None => return,
            Some(Prefix::ActionProfile) => {
                let own = self.profile_annotations(object, annotations);
                self.preamble(Prefix::ActionProfile, &object.name, &own, is_own)
            }
            Some(prefix) => self.preamble(prefix, &object.name, annotations, |_| false),
        };
        let preamble = Some(preamble);
        match &object.kind {
            ObjectKind::Counter { size, unit } => self.info.counters.push(Counter {
                preamble,
                spec: Some(CounterSpec { unit: counter_unit(unit) }),
                size: i64::from(*size),
                index_type_name: None,
            }),
            ObjectKind::Meter { size, unit } => self.info.meters.push(Meter {
                preamble,
                spec: Some(meter_spec(unit)),
                size: i64::from(*size),
                index_type_name: None,
            }),
            ObjectKind::Register { size, element, .. } => {
                let type_spec = Some(self.describe(element));
                let size = *size as i32;
                let register = Register { preamble, type_spec, size, index_type_name: None };
                self.info.registers.push(register);
            }
            ObjectKind::ActionProfile { size, selector } => {
                let own = self.profile_annotations(object, annotations);
                let with_selector = selector.is_some();
                let profile = ActionProfile {
                    preamble,
                    table_ids: self.users(object),
                    with_selector,
                    size: i64::from(*size),
                    max_group_size: max_group_size(&own, with_selector),
                    selector_size_semantics: size_semantics(&own).filter(|_| with_selector),
                    weights_disallowed: false,
                };
                self.info.action_profiles.push(profile);
            }
            ObjectKind::Digest { .. }
            | ObjectKind::DirectCounter { .. }
            | ObjectKind::DirectMeter { .. }
            | ObjectKind::Instance => {}
        }
    }

    /// A profile made in place has the annotations of the property that makes it.
    fn profile_annotations(&self, object: &Object, annotations: &[Annotation]) -> Vec<Annotation> {
        if self.program.instances[object.of.instance].name.is_some() {
            return annotations.to_vec();
        }
        let makes = |property: &&tree::Property| match &property.value {
            PropertyValue::Expression(value) => matches!(value.kind,
                tree::ExpressionKind::Instance(id) if id == object.of.instance),
            PropertyValue::List(_) => false,
        };
        let properties = self.program.tables.iter().flat_map(|(_, table)| &table.properties);
        let property = properties.into_iter().find(makes);
        property.map(|property| property.annotations.clone()).unwrap_or_default()
    }

    /// Ids of the tables of a profile, in the order of the tables' names.
    fn users(&self, object: &Object) -> Vec<u32> {
        let is_it = |profile: usize| self.flat.objects[profile].name == object.name;
        let tables = self.flat.tables.iter().filter(|table| table.profile.is_some_and(is_it));
        let mut names: Vec<&str> = tables.map(|table| table.name.as_str()).collect();
        names.sort_unstable();
        names.into_iter().map(|name| self.ids.id(Prefix::Table, name)).collect()
    }

    /// A counter or meter with a cell for each entry.
    fn direct_object(&mut self, object: &Object, annotations: &[Annotation], table: &str) {
        let Some(prefix) = super::prefix(&object.kind) else { return };
        let preamble = Some(self.preamble(prefix, &object.name, annotations, |_| false));
        let direct_table_id = self.ids.id(Prefix::Table, table);
        match &object.kind {
            ObjectKind::DirectCounter { unit, .. } => {
                let spec = Some(CounterSpec { unit: counter_unit(unit) });
                let counter = DirectCounter { preamble, spec, direct_table_id };
                self.info.direct_counters.push(counter);
            }
            ObjectKind::DirectMeter { unit, .. } => {
                let spec = Some(meter_spec(unit));
                let meter = DirectMeter { preamble, spec, direct_table_id };
                self.info.direct_meters.push(meter);
            }
            _ => {}
        }
    }

    /// Header types with `@controller_header`.
    pub fn controller_headers(&mut self) {
        for id in self.controller_header_types() {
            let declaration = &self.program.structs[id];
            let type_name = names::type_name(declaration);
            let annotations = &declaration.annotations;
            let shown = names::text(annotations, "controller_header").unwrap_or(&type_name);
            let mut preamble =
                self.preamble(Prefix::ControllerHeader, &type_name, annotations, |_| false);
            preamble.name = shown.to_owned();
            preamble.alias = shown.to_owned();
            let mut fields = Vec::new();
            packet_fields(self.program, id, "", &mut fields);
            let annotations: Vec<&[Annotation]> =
                fields.iter().map(|(_, field)| &field.annotations[..]).collect();
            let ids = field_ids(&annotations);
            let mut metadata = Vec::new();
            for ((name, field), id) in fields.into_iter().zip(ids) {
                if names::annotation(&field.annotations, "hidden").is_some() {
                    continue;
                }
                let (texts, structured) = self.annotations(&field.annotations, |_| false);
                self.describe(&field.ty);
                metadata.push(PacketMetadata {
                    id,
                    name,
                    annotations: texts,
                    bitwidth: self.control_width(&field.ty) as i32,
                    type_name: self.type_name(&field.ty),
                    structured_annotations: structured,
                    annotation_locations: Vec::new(),
                });
            }
            let header = ControllerPacketMetadata { preamble: Some(preamble), metadata };
            self.info.controller_packet_metadata.push(header);
        }
    }

    pub fn value_sets(&mut self) {
        let (flat, program) = (self.flat, self.program);
        for set in &flat.value_sets {
            let declaration = &program.value_sets[set.of];
            let annotations = &declaration.annotations;
            let preamble = self.preamble(Prefix::ValueSet, &set.set.name, annotations, |_| false);
            let r#match = self.value_set_fields(&declaration.element);
            let size = set.set.size_max.unwrap_or(0) as i32;
            self.info.value_sets.push(ValueSet { preamble: Some(preamble), r#match, size });
        }
    }

    /// The fields of the members of a value set.
    fn value_set_fields(&self, element: &Type) -> Vec<MatchField> {
        let field = |id: u32, name: &str, ty: &Type| MatchField {
            id,
            name: name.to_owned(),
            bitwidth: leaf(self.program, ty).map_or(0, Leaf::width) as i32,
            match_type: MatchType::Exact,
            ..MatchField::default()
        };
        match element {
            Type::Struct(id) => {
                let fields = &self.program.structs[*id].fields;
                let annotations: Vec<&[Annotation]> =
                    fields.iter().map(|field| &field.annotations[..]).collect();
                let ids = field_ids(&annotations);
                let with_annotations = |(declared, id): (&tree::Field, u32)| {
                    let (texts, structured) =
                        self.annotations(&declared.annotations, |name| name == "match");
                    MatchField {
                        annotations: texts,
                        match_type: field_match(&declared.annotations),
                        doc: annotate::documentation(&declared.annotations),
                        structured_annotations: structured,
                        ..field(id, &declared.name.text, &declared.ty)
                    }
                };
                fields.iter().zip(ids).map(with_annotations).collect()
            }
            Type::Enum(id) if self.program.enums[*id].underlying.is_some() => {
                let members = &self.program.enums[*id].members;
                let member =
                    |(id, member): (u32, &tree::Enumerator)| field(id, &member.name.text, element);
                (1..).zip(members).map(member).collect()
            }
            ty => vec![field(1, "", ty)],
        }
    }

    pub fn digests(&mut self) {
        let flat = self.flat;
        for digest in &flat.digests {
            let preamble = self.preamble(Prefix::Digest, &digest.name, &[], |_| false);
            let type_spec: P4DataTypeSpec = self.describe(&digest.ty);
            self.info.digests.push(Digest { preamble: Some(preamble), type_spec: Some(type_spec) });
        }
    }
}

/// The fields of a packet header, nested structs flattened.
fn packet_fields<'a>(
    program: &'a tree::Program,
    id: Id<Struct>,
    prefix: &str,
    found: &mut Vec<(String, &'a tree::Field)>,
) {
    for field in &program.structs[id].fields {
        let own = names::text(&field.annotations, "name").unwrap_or(&field.name.text);
        let name = format!("{prefix}{own}");
        match field.ty {
            Type::Struct(inner) if program.structs[inner].kind == DerivedKind::Struct => {
                packet_fields(program, inner, &format!("{name}."), found);
            }
            _ => found.push((name, field)),
        }
    }
}

/// `@match(lpm)` on a field of a value set's struct.
fn field_match(annotations: &[Annotation]) -> MatchType {
    let values = names::annotation(annotations, "match").map(names::values).unwrap_or_default();
    let kind = match values {
        [AnnotationValue::Name(name)] => MatchKind::of_name(name),
        _ => None,
    };
    kind.map_or(MatchType::Exact, match_type)
}

/// The unit of a counter.
fn counter_unit(unit: &str) -> CounterUnit {
    match unit {
        "bytes" => CounterUnit::Bytes,
        "packets" => CounterUnit::Packets,
        "packets_and_bytes" => CounterUnit::Both,
        _ => CounterUnit::Unspecified,
    }
}

/// The quantity of a meter.
fn meter_spec(unit: &str) -> MeterSpec {
    let unit = match unit {
        "bytes" => MeterUnit::Bytes,
        "packets" => MeterUnit::Packets,
        _ => MeterUnit::Unspecified,
    };
    MeterSpec { unit, r#type: MeterType::TwoRateThreeColor }
}

/// How large a group of a selector may become.
fn max_group_size(annotations: &[Annotation], with_selector: bool) -> i32 {
    let size = names::number(annotations, "max_group_size").unwrap_or(0);
    if with_selector { size as i32 } else { 0 }
}

/// The unit of the sizes of groups.
fn size_semantics(annotations: &[Annotation]) -> Option<SelectorSizeSemantics> {
    let annotation = names::annotation(annotations, "selector_size_semantics")?;
    let [AnnotationValue::Value(Value::Text(text))] = names::values(annotation) else {
        return None;
    };
    let weight = names::number(annotations, "max_member_weight").unwrap_or(0);
    match text.to_ascii_lowercase().as_str() {
        "sum_of_members" => {
            Some(SelectorSizeSemantics::Members(SumOfMembers { max_member_weight: weight as i32 }))
        }
        "sum_of_weights" => Some(SelectorSizeSemantics::Weights(SumOfWeights {})),
        _ => None,
    }
}
