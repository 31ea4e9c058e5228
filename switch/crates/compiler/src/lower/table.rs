//! Tables: keys, actions, default actions, properties.
//!
//! Before: a table declaration, its control entered. After: a `flat::Table` whose keys are fields
//! (a computed key is written to a field of its own before every application) and whose actions
//! have their steps.

use bits::Int;
use bmv2::{Expression, FieldRef};

use super::flat::{Action, DefaultAction, Key, ObjectKind, Table, UsedAction};
use super::lowering::Lowering;
use super::names;
use super::number::Range;
use super::step::TableId;
use super::storage::Leaf;
use super::value::{ScopeId, Value, leaf_value, number_of, truth_of};
use crate::architecture::BlockKind;
use crate::types::tree::{
    self, ActionCall, Argument, Direction, Id, MatchKind, PropertyValue, Type,
};
use syntax::{Diagnostic, Span};

/// How large a table is when the program does not say.
pub const TABLE_SIZE_DEFAULT: u32 = 1024;

impl Lowering<'_> {
    /// The flat table of a declaration in the current scope, and the steps that compute its keys.
    pub fn table(&mut self, id: Id<tree::Table>, at: Span) -> TableId {
        let place = (self.local.scope, id);
        let table = match self.made.tables.get(&place) {
            Some(table) => *table,
            None => self.new_table(id, at),
        };
        for index in 0..self.flat.tables[table.0].keys.len() {
            self.compute_key(table, index);
        }
        for (index, field) in self.flat.tables[table.0].selector_inputs.clone() {
            let key = &self.input.program.tables[id].keys[index].expression;
            let (value, place) = (self.value(key), leaf_value(self.leaf_of(&key.ty), field));
            self.assign_value(&place, &value, &key.ty, key.span);
        }
        table
    }

    /// Writes a computed key to its field; a key that is a field needs nothing.
    fn compute_key(&mut self, table: TableId, index: usize) {
        let key = &self.flat.tables[table.0].keys[index];
        let (target, index) = (key.target.clone(), key.index);
        let declaration = &self.input.program.tables[self.flat.tables[table.0].of].keys[index];
        let value = self.value(&declaration.expression);
        let Some(target) = target else { return };
        let place = leaf_value(self.leaf_of(&declaration.expression.ty), target);
        self.assign_value(&place, &value, &declaration.expression.ty, declaration.span);
    }

    /// The table in this scope, made with its first application.
    fn new_table(&mut self, id: Id<tree::Table>, at: Span) -> TableId {
        let declaration = &self.input.program.tables[id];
        if !matches!(self.local.kind, BlockKind::Ingress | BlockKind::Egress) {
            self.unsupported(
                at,
                "tables can be applied in ingress and egress only",
                "move the table, and keep its result in metadata",
            );
        }
        let prefix = self.flat.scopes[self.local.scope.0].name.clone();
        let name = names::qualified(&prefix, &declaration.annotations, &declaration.name.text);
        let keys = self.keys(declaration);
        self.flat.tables.push(Table {
            name,
            of: id,
            scope: self.local.scope,
            pipeline: usize::from(self.local.kind.is_egress()),
            keys,
            actions: Vec::new(),
            default_action: None,
            entries: None,
            size: None,
            profile: None,
            counter: None,
            meter: None,
            registers: None,
            selector_inputs: Vec::new(),
            support_timeout: false,
            at: declaration.span,
        });
        let table = TableId(self.flat.tables.len() - 1);
        self.made.tables.insert((self.local.scope, id), table);
        self.properties(declaration, table);
        self.table_actions(declaration, table);
        table
    }

    /// The fields that the switch compares.
    fn keys(&mut self, declaration: &tree::Table) -> Vec<Key> {
        let mut keys = Vec::new();
        for (index, key) in declaration.keys.iter().enumerate() {
            let kind = &*key.match_kind.text;
            // The input of an action selector; see `properties`.
            if kind == "selector" {
                continue;
            }
            let Some(match_kind) = key.known_match_kind() else {
                self.unsupported(
                    key.match_kind.span,
                    format!("this switch has no match kind `{kind}`"),
                    "use exact, lpm, ternary, range, optional or selector",
                );
                continue;
            };
            let Some(name) = self.key_name(key) else { continue };
            let target = self.key_target(key);
            keys.push(Key { name, match_kind, target, index });
        }
        self.check_prefixes(declaration, &keys);
        keys
    }

    /// The switch searches one longest prefix a table.
    fn check_prefixes(&mut self, declaration: &tree::Table, keys: &[Key]) {
        let is_prefix = |key: &&Key| key.match_kind == MatchKind::Lpm && key.target.is_some();
        let mut prefixes = keys.iter().filter(is_prefix);
        if let (Some(_), Some(second)) = (prefixes.next(), prefixes.next()) {
            self.unsupported(
                declaration.keys[second.index].span,
                "a table can have one lpm key",
                "make the others ternary",
            );
        }
    }

    /// The control plane's name of a key.
    fn key_name(&mut self, key: &tree::Key) -> Option<String> {
        let given = names::text(&key.annotations, "name").map(str::to_owned);
        let name = given
            .or_else(|| names::key_name(self.input.program, self.input.sources, &key.expression));
        if name.is_none() {
            self.unsupported(
                key.span,
                "a key that is an expression needs a name",
                "write @name(\"...\") behind the match kind: the control plane has to call it \
                 something",
            );
        }
        name
    }

    /// The field that the switch looks at: the key itself where it is one, otherwise a new one.
    fn key_target(&mut self, key: &tree::Key) -> Option<FieldRef> {
        let kind = self.leaf_of(&key.expression.ty);
        if matches!(kind, Leaf::Number { width: 0, .. }) {
            return None;
        }
        if matches!(kind, Leaf::Varbit { .. }) {
            self.unsupported(
                key.span,
                "a varbit field cannot be a key",
                "match on its length, or copy a part of it to a field of fixed size",
            );
        }
        // Evaluated only to see what it is; its steps are written with every application.
        let mut value = Value::Void;
        self.steps_of(|this| value = this.value(&key.expression));
        let field = match value {
            Value::Number(Expression::Field(field))
                if self.flat.storage.is_as_wide(&field, kind) =>
            {
                field
            }
            Value::Bool(truth) => match number_of(truth) {
                Expression::Field(field) => field,
                _ => self.temporary_field(kind),
            },
            _ => self.temporary_field(kind),
        };
        Some(field)
    }

    /// The architecture's table properties.
    fn properties(&mut self, declaration: &tree::Table, table: TableId) {
        if let Some(size) = &declaration.size {
            let size = self.value(size);
            self.flat.tables[table.0].size = size.constant().and_then(Int::to_u32);
        }
        for property in &declaration.properties {
            let PropertyValue::Expression(value) = &property.value else { continue };
            match names::table_property(&property.name.text) {
                "implementation" => self.implementation(declaration, property, value, table),
                "counters" => {
                    let Some(index) = self.property_object(property, value) else { continue };
                    self.flat.tables[table.0].counter = Some(index);
                    if let ObjectKind::DirectCounter { table: of, .. } =
                        &mut self.flat.objects[index].kind
                    {
                        let other = of.replace(table.0);
                        self.check_single_table(other, property.span);
                    }
                }
                "meters" => {
                    let Some(index) = self.property_object(property, value) else { continue };
                    self.flat.tables[table.0].meter = Some(index);
                    if let ObjectKind::DirectMeter { table: of, .. } =
                        &mut self.flat.objects[index].kind
                    {
                        let other = of.replace(table.0);
                        self.check_single_table(other, property.span);
                    }
                }
                "registers" | "filters" => self.direct_registers(property, value, table),
                "support_timeout" => {
                    let notifies = match value.ty {
                        Type::Enum(_) => self.enumerator_name(value) == "NOTIFY_CONTROL",
                        _ => self.value(value).constant_bool().unwrap_or(false),
                    };
                    self.flat.tables[table.0].support_timeout = notifies;
                }
                _ => {}
            }
        }
    }

    /// Direct objects have a cell for each entry of one table.
    fn check_single_table(&mut self, other: Option<usize>, at: Span) {
        if other.is_some() {
            self.unsupported(
                at,
                "a direct counter or meter belongs to one table",
                "declare one for each table",
            );
        }
    }

    /// The object that a property names. One made in place is called what the property's `@name`
    /// says, without the control's prefix.
    fn property_object(
        &mut self,
        property: &tree::Property,
        value: &tree::Expression,
    ) -> Option<usize> {
        let Value::Object(object) = self.value(value) else { return None };
        let index = self.declare_object(object)?;
        if self.input.program.instances[object.instance].name.is_none() {
            let name = names::qualified("", &property.annotations, &property.name.text);
            self.check_name_is_free(index, &name, property);
            self.flat.objects[index].name = name;
        }
        Some(index)
    }

    /// Objects made in place are called after the property, so that two tables with one would share
    /// it on the control plane. p4c refuses them, too.
    fn check_name_is_free(&mut self, index: usize, name: &str, property: &tree::Property) {
        let kind = std::mem::discriminant(&self.flat.objects[index].kind);
        let is_twin = |(at, object): (usize, &super::flat::Object)| {
            at != index && object.name == name && std::mem::discriminant(&object.kind) == kind
        };
        if self.flat.objects.iter().enumerate().any(is_twin) {
            let what = &property.name.text;
            let title = format!("another table's `{what}` has the name `{name}` already");
            self.unsupported(
                property.span,
                title,
                format!(
                    "declare the object and name it here, or write @name(\"...\") before `{what}`"
                ),
            );
        }
    }

    /// An action profile or selector; the keys of kind `selector` are what it hashes.
    fn implementation(
        &mut self,
        declaration: &tree::Table,
        property: &tree::Property,
        value: &tree::Expression,
        table: TableId,
    ) {
        let Some(index) = self.property_object(property, value) else { return };
        self.flat.tables[table.0].profile = Some(index);
        let mut input = Vec::new();
        let keys = declaration.keys.iter().enumerate();
        for (position, key) in keys.filter(|(_, key)| &*key.match_kind.text == "selector") {
            let mut value = Value::Void;
            let steps = self.steps_of(|this| value = this.value(&key.expression));
            match value {
                Value::Number(Expression::Field(field)) if steps.is_empty() => input.push(field),
                Value::Bool(truth) => {
                    if let Expression::Field(field) = number_of(truth) {
                        input.push(field);
                    }
                }
                // A slice, for instance: written to a field before each application.
                _ => {
                    let field = self.temporary_field(self.leaf_of(&key.expression.ty));
                    input.push(field.clone());
                    self.flat.tables[table.0].selector_inputs.push((position, field));
                }
            }
        }
        let object = &mut self.flat.objects[index];
        if let ObjectKind::ActionProfile { selector: Some((_, known)), .. } = &mut object.kind {
            if !known.is_empty() && *known != input {
                self.unsupported(
                    property.span,
                    "tables that share a selector must have the same selector keys",
                    "give each table a selector of its own, or make the keys equal",
                );
            } else {
                *known = input;
            }
        }
    }

    /// The actions that entries may name, and the one of a miss.
    fn table_actions(&mut self, declaration: &tree::Table, table: TableId) {
        for action in &declaration.actions {
            let index = self.action(&action.call);
            self.flat.tables[table.0].actions.push(index);
        }
        if let Some(default) = &declaration.default_action {
            let index = declaration
                .actions
                .iter()
                .position(|action| action.call.action == default.call.action);
            let data = self.action_data(&default.call);
            self.flat.tables[table.0].default_action =
                index.map(|action| DefaultAction { action, data, is_const: default.is_const });
        }
        self.check_profile_default(declaration, table);
        self.entries(declaration, table);
    }

    /// The switch does nothing on a miss in a table with an action profile or selector.
    fn check_profile_default(&mut self, declaration: &tree::Table, table: TableId) {
        let Some(default) = &declaration.default_action else { return };
        let is_written = default.call.span != declaration.name.span;
        let action = &self.input.program.actions[default.call.action];
        if self.flat.tables[table.0].profile.is_none()
            || !is_written
            || action.body.statements.is_empty()
        {
            return;
        }
        let title = "simple_switch ignores the default action of a table with an action profile";
        self.diagnostics.push(
            Diagnostic::warning("default-ignored", default.call.span, title)
                .hint("on a miss nothing happens; test `apply().miss` and do it there"),
        );
    }

    /// The flat action of a table's action. Where the table binds arguments, its body is written
    /// for this table alone.
    fn action(&mut self, call: &ActionCall) -> usize {
        let program = self.input.program;
        let declaration = &program.actions[call.action];
        let is_bound =
            call.arguments.iter().any(|argument| matches!(argument, Argument::Expression(_)));
        let scope = self.action_scope(call.action);
        self.use_action(call.action, true);
        let pipeline = usize::from(self.local.kind.is_egress());
        let place = (scope, call.action, pipeline);
        if !is_bound && let Some(known) = self.made.actions.get(&place) {
            return *known;
        }
        let prefix = self.flat.scopes[scope.0].name.clone();
        let name = names::qualified(&prefix, &declaration.annotations, &declaration.name.text);
        let mut parameters = Vec::new();
        let mut bound = Vec::new();
        let mut arguments = Vec::new();
        for (parameter, argument) in declaration.parameters.iter().zip(&call.arguments) {
            if self.direction(*parameter) == Direction::None {
                let index = parameters.len() as u32;
                let value = self.runtime_parameter(*parameter, index, &mut parameters);
                self.local.bindings.insert(*parameter, value);
            } else {
                bound.push(*parameter);
                arguments.push(argument.clone());
            }
        }
        let outside = self.outside(&declaration.body, &declaration.parameters);
        let steps = self.steps_of(|this| {
            this.inline(&bound, &arguments, &outside, call.span, |this| {
                this.action_body(&declaration.body);
            });
        });
        let action = Action { name, of: call.action, parameters, steps };
        self.flat.actions.push(action);
        let index = self.flat.actions.len() - 1;
        if !is_bound {
            self.made.actions.insert(place, index);
        }
        index
    }

    /// Remembers that the current control uses an action, for the controller's list of actions. An
    /// action that only another action calls has become part of that one.
    pub fn use_action(&mut self, of: Id<tree::Action>, in_table: bool) {
        if self.local.action_depth > 0 {
            return;
        }
        let (scope, user) = (self.action_scope(of), self.local.scope);
        let used = self.flat.used_actions.iter_mut();
        if let Some(known) = used.into_iter().find(|used| used.user == user && used.of == of) {
            known.in_table |= in_table;
            return;
        }
        let declaration = &self.input.program.actions[of];
        let prefix = &self.flat.scopes[scope.0].name;
        let name = names::qualified(prefix, &declaration.annotations, &declaration.name.text);
        self.flat.used_actions.push(UsedAction { name, of, scope, user, in_table });
    }

    /// Top-level actions are the same in every control.
    fn action_scope(&self, action: Id<tree::Action>) -> ScopeId {
        let is_top_level = self.input.program.top_level.iter().any(|declaration| {
            matches!(declaration, tree::LocalDeclaration::Action(id) if *id == action)
        });
        if is_top_level { ScopeId(0) } else { self.local.scope }
    }

    /// A parameter that the control plane gives.
    fn runtime_parameter(
        &mut self,
        parameter: Id<tree::Variable>,
        index: u32,
        parameters: &mut Vec<(String, u32)>,
    ) -> Value {
        let variable = &self.input.program.variables[parameter];
        let name = names::text(&variable.annotations, "name").unwrap_or(&variable.name.text);
        let kind = super::storage::leaf(self.input.program, &variable.ty);
        parameters.push((name.to_owned(), kind.map_or(0, Leaf::width)));
        match kind {
            // The control plane's values are bits without a sign.
            Some(Leaf::Number { width, is_signed }) => {
                let bits = Expression::Local(index);
                let range = Range { width, is_signed };
                Value::Number(if is_signed { range.wrap(bits) } else { bits })
            }
            Some(Leaf::Bool) => Value::Bool(truth_of(Expression::Local(index))),
            _ => {
                self.unsupported(
                    variable.span,
                    "the control plane can give numbers only",
                    "use one parameter for each field",
                );
                Value::Void
            }
        }
    }

    /// The constants that a call gives to the parameters of the control plane.
    pub fn action_data(&mut self, call: &ActionCall) -> Vec<Int> {
        let parameters = self.input.program.actions[call.action].parameters.clone();
        let mut data = Vec::new();
        for (parameter, argument) in parameters.into_iter().zip(&call.arguments) {
            if self.direction(parameter) != Direction::None {
                continue;
            }
            let Argument::Expression(expression) = argument else { continue };
            match self.constant_number(expression) {
                // As on the wire: a negative number is the bits that stand for it.
                Some(number) => {
                    let width = self.leaf_of(&self.input.program.variables[parameter].ty).width();
                    data.push(number.truncate(width as usize));
                }
                None => self.unsupported(
                    expression.span,
                    "an argument of an action in a table must be known at compile time",
                    "use a constant, or a parameter with a direction in the list of actions",
                ),
            }
        }
        data
    }

    /// The number of a constant expression; truth values as 0 and 1.
    pub fn constant_number(&mut self, expression: &tree::Expression) -> Option<Int> {
        match self.value(expression) {
            Value::Number(Expression::Hex(number)) => Some(number),
            Value::Bool(Expression::Bool(truth)) => Some(Int::from(u32::from(truth))),
            _ => None,
        }
    }
}
