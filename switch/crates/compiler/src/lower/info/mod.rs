//! The flat program as P4Info: what a controller can see and change.
//!
//! Before: the flat program. After: the P4Info that p4c makes for the same program: the same ids,
//! names, aliases and order, so that a controller cannot tell which compiler was used.

mod annotate;
mod entities;
mod order;
mod tables;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use p4info::{Ids, P4Info, PkgInfo, PlatformProperties, Prefix};

use super::flat::{Flat, Object, ObjectKind};
use super::names;
use super::tofino::cells;
use crate::types::tree::{
    Annotation, AnnotationBody, AnnotationValue, DerivedKind, Id, Program, Struct, Value,
};
use order::Order;
use syntax::{Diagnostic, Diagnostics, Span};

/// The names of an object on the control plane: a register of structs has one for each field.
fn object_names(program: &Program, object: &Object) -> Vec<String> {
    match &object.kind {
        ObjectKind::Register { element, .. } => {
            let cells = cells(program, element).into_iter();
            cells.map(|cell| format!("{}{}", object.name, cell.name)).collect()
        }
        _ => vec![object.name.clone()],
    }
}

/// Makes the P4Info of a program.
pub fn p4info(program: &Program, flat: &Flat, diagnostics: &mut Diagnostics) -> P4Info {
    let order = Order::new(program, flat);
    let mut writer =
        Writer { program, flat, diagnostics, ids: Ids::default(), info: P4Info::default() };
    writer.check_action_names();
    writer.collect(&order);
    writer.ids.assign();
    writer.package();
    if flat.calls_extern_function || !flat.objects.is_empty() {
        writer.types();
    }
    for table in &order.tables {
        writer.table(*table);
    }
    for action in &order.actions {
        writer.action(*action);
    }
    writer.objects(&order);
    writer.controller_headers();
    writer.value_sets();
    writer.digests();
    writer.info
}

/// The P4Info being written.
struct Writer<'a> {
    program: &'a Program,
    flat: &'a Flat,
    diagnostics: &'a mut Diagnostics,
    ids: Ids,
    info: P4Info,
}

impl Writer<'_> {
    /// Announces every entity, so that ids and aliases are known before they are used.
    fn collect(&mut self, order: &Order) {
        for table in &order.tables {
            let (flat, program) = (self.flat, self.program);
            let declaration = &program.tables[flat.tables[*table].of];
            let name = &flat.tables[*table].name;
            self.add(Prefix::Table, name, &declaration.annotations, declaration.span);
        }
        for action in &order.actions {
            let (flat, program) = (self.flat, self.program);
            let declaration = &program.actions[flat.used_actions[*action].of];
            let name = &flat.used_actions[*action].name;
            self.add(Prefix::Action, name, &declaration.annotations, declaration.span);
        }
        for object in &order.objects {
            let (flat, program) = (self.flat, self.program);
            let object = &flat.objects[*object];
            let instance = &program.instances[object.of.instance];
            let Some(prefix) = prefix(&object.kind) else { continue };
            for name in object_names(program, object) {
                self.add(prefix, &name, &instance.annotations, object.at);
            }
        }
        for set in &self.flat.value_sets {
            let declaration = &self.program.value_sets[set.of];
            self.add(Prefix::ValueSet, &set.set.name, &declaration.annotations, declaration.span);
        }
        for digest in &self.flat.digests {
            self.add(Prefix::Digest, &digest.name, &[], Span::NONE);
        }
        for id in self.controller_header_types() {
            let declaration = &self.program.structs[id];
            let name = names::type_name(declaration);
            self.add(Prefix::ControllerHeader, &name, &declaration.annotations, declaration.span);
        }
    }

    /// Two actions cannot have one name on the control plane, which `@name(".name")` could give them.
    /// An action of a control that is instantiated twice has two names; one of the top level is the
    /// same everywhere.
    fn check_action_names(&mut self) {
        let mut by_name: BTreeMap<&str, Vec<Span>> = BTreeMap::new();
        for used in &self.flat.used_actions {
            let place = self.program.actions[used.of].name.span;
            let places = by_name.entry(&used.name).or_default();
            if !places.contains(&place) {
                places.push(place);
            }
        }
        for (name, mut places) in by_name {
            places.sort();
            for second in places.iter().skip(1) {
                let title = format!("two actions are called `{name}` by the control plane");
                self.diagnostics.push(
                    Diagnostic::error("duplicate", *second, title)
                        .related(places[0], "the other one")
                        .hint("the name is made of @name, or of the controls around; give one a @name"),
                );
            }
        }
    }

    /// One entity; an id given by the program must be free.
    fn add(&mut self, prefix: Prefix, name: &str, annotations: &[Annotation], at: Span) {
        let id = names::number(annotations, "id");
        if let Err(error) = self.ids.add(prefix, name, id) {
            let (title, hint) = match error {
                p4info::ids::IdError::Taken => (
                    format!("the @id of `{name}` is used already"),
                    "give every table, action and extern an id of its own",
                ),
                p4info::ids::IdError::WrongPrefix => (
                    format!("the @id of `{name}` has the first byte of another kind of entity"),
                    "leave the first byte zero, the compiler fills it in",
                ),
            };
            self.diagnostics.push(Diagnostic::error("p4info-id", at, title).hint(hint));
        }
    }

    /// Header types with `@controller_header`, in order of declaration.
    fn controller_header_types(&self) -> Vec<Id<Struct>> {
        let headers = self.program.structs.iter().filter(|(_, declaration)| {
            declaration.kind == DerivedKind::Header
                && names::annotation(&declaration.annotations, "controller_header").is_some()
                && names::annotation(&declaration.annotations, "hidden").is_none()
        });
        headers.map(|(id, _)| id).collect()
    }

    /// `@pkginfo(...)` and `@platform_property(...)` on the package.
    fn package(&mut self) {
        let Some(main) = self.program.main else { return };
        let annotations = &self.program.instances[main].annotations;
        let architecture = self.program.architecture().map_or("", |known| known.name);
        let mut package = PkgInfo { arch: architecture.to_owned(), ..PkgInfo::default() };
        for (key, value) in pairs(annotations, "pkginfo") {
            let AnnotationValue::Value(Value::Text(text)) = value else { continue };
            let text = text.to_string();
            match key.as_str() {
                "arch" => package.arch = text,
                "contact" => package.contact = text,
                "name" => package.name = text,
                "organization" => package.organization = text,
                "url" => package.url = text,
                "version" => package.version = text,
                _ => {}
            }
        }
        package.platform_properties = platform_properties(annotations);
        let is_own = |name: &str| matches!(name, "pkginfo" | "platform_property");
        let (texts, structured) = self.annotations(annotations, is_own);
        package.annotations = texts;
        package.structured_annotations = structured;
        package.doc = annotate::documentation(annotations);
        self.info.pkg_info = Some(package);
    }
}

/// The program's requirements for the multicast engine.
fn platform_properties(annotations: &[Annotation]) -> Option<PlatformProperties> {
    names::annotation(annotations, "platform_property")?;
    let mut properties = PlatformProperties::default();
    for (key, value) in pairs(annotations, "platform_property") {
        let AnnotationValue::Value(Value::Integer(number)) = value else { continue };
        let number = number.to_i64().and_then(|number| i32::try_from(number).ok());
        let number = number.unwrap_or(i32::MAX);
        match key.as_str() {
            "multicast_group_table_size" => properties.multicast_group_table_size = number,
            "multicast_group_table_total_replicas" => {
                properties.multicast_group_table_total_replicas = number;
            }
            "multicast_group_table_max_replicas_per_entry" => {
                properties.multicast_group_table_max_replicas_per_entry = number;
            }
            _ => {}
        }
    }
    Some(properties)
}

/// The pairs of `@name(key = value, ...)`, in either kind of brackets.
fn pairs(annotations: &[Annotation], name: &str) -> Vec<(String, AnnotationValue)> {
    let Some(annotation) = names::annotation(annotations, name) else { return Vec::new() };
    match &annotation.body {
        AnnotationBody::KeyValues(pairs) => {
            pairs.iter().map(|(key, value)| (key.text.to_string(), value.clone())).collect()
        }
        AnnotationBody::Unstructured { tokens, .. } => {
            let tokens: Vec<&str> = tokens.iter().map(|token| &**token).collect();
            tokens.split(|token| *token == ",").filter_map(pair).collect()
        }
        AnnotationBody::Empty | AnnotationBody::List(_) => Vec::new(),
    }
}

/// `key = value` from tokens; adjacent string literals are one.
fn pair(tokens: &[&str]) -> Option<(String, AnnotationValue)> {
    let [key, "=", value @ ..] = tokens else { return None };
    let text: String = value.iter().filter_map(|token| literal(token)).collect();
    let value = match value {
        [number] if !number.starts_with('"') => Value::Integer(number.parse().ok()?),
        _ => Value::Text(text.into()),
    };
    Some(((*key).to_owned(), AnnotationValue::Value(value)))
}

/// The characters of a string literal.
fn literal(token: &str) -> Option<&str> {
    token.strip_prefix('"')?.strip_suffix('"')
}

/// The entity type of an extern object, if controllers know it as one.
fn prefix(kind: &ObjectKind) -> Option<Prefix> {
    Some(match kind {
        ObjectKind::ActionProfile { .. } => Prefix::ActionProfile,
        ObjectKind::Counter { .. } => Prefix::Counter,
        ObjectKind::DirectCounter { .. } => Prefix::DirectCounter,
        ObjectKind::DirectMeter { .. } => Prefix::DirectMeter,
        ObjectKind::Meter { .. } => Prefix::Meter,
        ObjectKind::Register { .. } => Prefix::Register,
        // A digest is known by the type that is packed for it.
        ObjectKind::Digest { .. } | ObjectKind::Instance => return None,
    })
}

/// Numbers for match fields and parameters: `@id` where given, otherwise counted from 1 past those.
fn field_ids(annotations: &[&[Annotation]]) -> Vec<u32> {
    let given: Vec<Option<u32>> =
        annotations.iter().map(|annotations| names::number(annotations, "id")).collect();
    let mut taken: BTreeSet<u32> = given.iter().copied().flatten().collect();
    let mut next = 1;
    let mut ids = Vec::new();
    for given in given {
        ids.push(match given {
            Some(id) => {
                next += 1;
                id
            }
            None => {
                while taken.contains(&next) {
                    next += 1;
                }
                taken.insert(next);
                next
            }
        });
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_without_ids_are_counted_from_one() {
        assert_eq!(field_ids(&[&[], &[], &[]]), [1, 2, 3]);
    }

    #[test]
    fn pairs_are_read_from_tokens() {
        let (key, value) = pair(&["version", "=", "\"1.2\""]).unwrap();
        assert_eq!(key, "version");
        assert_eq!(value, AnnotationValue::Value(Value::Text("1.2".into())));
    }
}
