//! Tables and actions.

use bits::Int;
use p4info::{
    Action, ActionRef, Argument, Bytes, IdleTimeoutBehavior, MatchField, MatchType, Param, Prefix,
    Scope, Table, TableActionCall,
};

use super::super::flat;
use super::super::names;
use super::super::table::TABLE_SIZE_DEFAULT;
use super::{Writer, annotate, field_ids};
use crate::types::tree::{self, Annotation, Direction, MatchKind, Type, VariableKind};

impl Writer<'_> {
    pub fn table(&mut self, index: usize) {
        let (flat, program) = (self.flat, self.program);
        let table = &flat.tables[index];
        let declaration = &program.tables[table.of];
        self.types();
        if names::annotation(&declaration.annotations, "hidden").is_some() {
            return;
        }
        let preamble =
            self.preamble(Prefix::Table, &table.name, &declaration.annotations, |_| false);
        let default = table.default_action.as_ref();
        let default_id = default.map(|default| self.action_id(table.actions[default.action]));
        let is_const_default = default.is_some_and(|default| default.is_const);
        let written = Table {
            preamble: Some(preamble),
            match_fields: self.match_fields(table, declaration),
            action_refs: self.action_refs(table, declaration),
            const_default_action_id: default_id.filter(|_| is_const_default).unwrap_or(0),
            initial_default_action: default.map(|default| self.default_call(table, default)),
            implementation_id: self.object_id(table.profile),
            direct_resource_ids: [table.counter, table.meter]
                .into_iter()
                .filter(Option::is_some)
                .map(|object| self.object_id(object))
                .collect(),
            size: i64::from(table.size.filter(|size| *size > 0).unwrap_or(TABLE_SIZE_DEFAULT)),
            idle_timeout_behavior: if table.support_timeout {
                IdleTimeoutBehavior::NotifyControl
            } else {
                IdleTimeoutBehavior::NoTimeout
            },
            is_const_table: declaration.entries.as_ref().is_some_and(|entries| entries.is_const),
            has_initial_entries: table.entries.as_ref().is_some_and(|list| !list.is_empty()),
            other_properties: None,
        };
        self.info.tables.push(written);
    }

    /// The id of an action.
    fn action_id(&self, action: usize) -> u32 {
        self.ids.id(Prefix::Action, &self.flat.actions[action].name)
    }

    /// The id of an extern object; 0 for none.
    pub fn object_id(&self, object: Option<usize>) -> u32 {
        let object = object.map(|object| &self.flat.objects[object]);
        let id = |object: &flat::Object| {
            super::prefix(&object.kind).map(|prefix| self.ids.id(prefix, &object.name))
        };
        object.and_then(id).unwrap_or(0)
    }

    /// Keys with their match kinds.
    fn match_fields(&mut self, table: &flat::Table, declaration: &tree::Table) -> Vec<MatchField> {
        let annotations: Vec<&[Annotation]> =
            declaration.keys.iter().map(|key| &key.annotations[..]).collect();
        let ids = field_ids(&annotations);
        let mut fields = Vec::new();
        for key in &table.keys {
            let declared = &declaration.keys[key.index];
            let ty = &declared.expression.ty;
            let (texts, structured) = self.annotations(&declared.annotations, |_| false);
            self.describe(ty);
            fields.push(MatchField {
                id: ids[key.index],
                name: key.name.clone(),
                annotations: texts,
                bitwidth: self.control_width(ty) as i32,
                match_type: match_type(key.match_kind),
                doc: annotate::documentation(&declared.annotations),
                other_match_type: String::new(),
                type_name: self.type_name(ty),
                structured_annotations: structured,
                annotation_locations: Vec::new(),
            });
        }
        fields
    }

    /// The actions, and where each may stand.
    fn action_refs(&self, table: &flat::Table, declaration: &tree::Table) -> Vec<ActionRef> {
        let mut refs = Vec::new();
        for (action, declared) in table.actions.iter().zip(&declaration.actions) {
            let (mut annotations, structured_annotations) =
                self.annotations(&declared.annotations, |_| false);
            let has = |name| names::annotation(&declared.annotations, name).is_some();
            if declared.is_implied {
                annotations.push("@defaultonly".to_owned());
            }
            let scope = if has("tableonly") {
                Scope::TableOnly
            } else if has("defaultonly") || declared.is_implied {
                Scope::DefaultOnly
            } else {
                Scope::TableAndDefault
            };
            refs.push(ActionRef {
                id: self.action_id(*action),
                annotations,
                scope,
                structured_annotations,
                annotation_locations: Vec::new(),
            });
        }
        refs
    }

    /// The default action with its arguments.
    fn default_call(&self, table: &flat::Table, default: &flat::DefaultAction) -> TableActionCall {
        let action = &self.flat.actions[table.actions[default.action]];
        let ids = self.parameter_ids(action.of);
        let arguments = action.parameters.iter().zip(&default.data).zip(ids);
        TableActionCall {
            action_id: self.action_id(table.actions[default.action]),
            arguments: arguments
                .map(|(((_, width), value), param_id)| Argument {
                    param_id,
                    value: padded(value, *width),
                })
                .collect(),
        }
    }

    /// The parameters that the control plane gives, with their numbers.
    fn control_parameters(&self, action: tree::Id<tree::Action>) -> Vec<tree::Id<tree::Variable>> {
        let is_control = |parameter: &tree::Id<tree::Variable>| {
            let kind = self.program.variables[*parameter].kind;
            kind == VariableKind::Parameter(Direction::None)
        };
        let parameters = &self.program.actions[action].parameters;
        parameters.iter().copied().filter(is_control).collect()
    }

    /// Parameters are numbered from 1, unless `@id` says otherwise.
    fn parameter_ids(&self, action: tree::Id<tree::Action>) -> Vec<u32> {
        let parameters = self.control_parameters(action);
        let annotations: Vec<&[Annotation]> = parameters
            .iter()
            .map(|parameter| &self.program.variables[*parameter].annotations[..])
            .collect();
        field_ids(&annotations)
    }

    pub fn action(&mut self, index: usize) {
        let (flat, program) = (self.flat, self.program);
        let action = &flat.used_actions[index];
        let declaration = &program.actions[action.of];
        if names::annotation(&declaration.annotations, "hidden").is_some() {
            return;
        }
        let preamble =
            self.preamble(Prefix::Action, &action.name, &declaration.annotations, |_| false);
        let ids = self.parameter_ids(action.of);
        let mut params = Vec::new();
        let parameters =
            if action.in_table { self.control_parameters(action.of) } else { Vec::new() };
        for (parameter, id) in parameters.into_iter().zip(ids) {
            let variable = &program.variables[parameter];
            let (texts, structured) = self.annotations(&variable.annotations, |_| false);
            self.describe(&variable.ty);
            let is_plain_enum = matches!(variable.ty, Type::Enum(of)
                if program.enums[of].underlying.is_none());
            let name = names::text(&variable.annotations, "name").unwrap_or(&variable.name.text);
            params.push(Param {
                id,
                name: name.to_owned(),
                annotations: texts,
                bitwidth: if is_plain_enum { 0 } else { self.control_width(&variable.ty) as i32 },
                doc: annotate::documentation(&variable.annotations),
                type_name: self.parameter_type_name(&variable.ty),
                structured_annotations: structured,
                annotation_locations: Vec::new(),
            });
        }
        self.info.actions.push(Action { preamble: Some(preamble), params });
    }
}

/// A match kind in P4Info's words.
pub fn match_type(kind: MatchKind) -> MatchType {
    match kind {
        MatchKind::Exact => MatchType::Exact,
        MatchKind::Lpm => MatchType::Lpm,
        MatchKind::Optional => MatchType::Optional,
        MatchKind::Range => MatchType::Range,
        MatchKind::Ternary => MatchType::Ternary,
    }
}

/// A number in as many bytes as its width needs.
pub fn padded(value: &Int, width: u32) -> Bytes {
    let mut bytes = vec![0; width.div_ceil(8) as usize];
    value.truncate(width as usize).write_be_bytes(&mut bytes);
    Bytes(bytes)
}
