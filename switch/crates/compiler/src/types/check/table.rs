//! Tables.
//!
//! Before: the properties as written. After: a [`Table`] with keys, actions, default action, entries and
//! size resolved; properties that only the architecture knows are kept as they are. Without
//! `default_action` a miss does nothing, which is spelled out as `NoAction`.
//!
//! Arguments of parameters with a direction are bound in the list of actions; entries, the default action
//! and the control plane give the others.

use super::scope::Binding;
use super::unify::Solution;
use super::{Body, BodyKind, Checker};
use crate::types::tree::{
    Action, ActionCall, Argument, Call, Callee, DefaultAction, Entries, Entry, Expression,
    ExpressionKind, Id, Key, Property, PropertyValue, Table, TableAction, Type, VariableKind,
};
use syntax::tree::{
    self as ast, ActionRef, Direction, PrefixedName, TableProperty, TablePropertyKind,
};
use syntax::{Diagnostic, Span};

impl<'a> Checker<'a, '_> {
    /// Keys and actions are read first, wherever they stand: entries and the default action need
    /// them.
    pub(super) fn table(&mut self, declaration: &'a ast::TableDeclaration) -> Id<Table> {
        let body = Body { kind: BodyKind::Control, ..Body::default() };
        let outer = std::mem::replace(&mut self.body, body);
        let id = self.declare_table(declaration);
        let mut table = self.program.tables[id].clone();
        table.annotations = self.annotations(&declaration.annotations);
        self.check_properties(declaration);
        let properties = || declaration.properties.iter();
        // The properties that entries and the default action refer to come first, in any order of
        // the source.
        for property in properties() {
            match &property.kind {
                TablePropertyKind::Key(keys) => {
                    table.keys = keys.iter().filter_map(|key| self.key(key)).collect();
                    table.keys_span = property.span;
                }
                TablePropertyKind::Actions(list) => self.action_list(list, &mut table),
                _ => {}
            }
        }
        for property in properties() {
            match &property.kind {
                TablePropertyKind::Entries(list) => {
                    table.entries = Some(self.entries(property, list, &table));
                }
                TablePropertyKind::Value(value) => {
                    self.value_property(property, value, &mut table);
                }
                _ => {}
            }
        }
        self.imply_default_action(declaration, &mut table);
        self.body = outer;
        self.check_entries(&table);
        self.check_priorities(&table);
        self.program.tables[id] = table;
        id
    }

    /// The table by its name only: known before its parts, so that they cannot mean something else
    /// of the same name.
    fn declare_table(&mut self, declaration: &ast::TableDeclaration) -> Id<Table> {
        let id = self.program.tables.push(Table {
            annotations: Vec::new(),
            name: declaration.name.clone(),
            keys: Vec::new(),
            keys_span: declaration.name.span,
            actions: Vec::new(),
            default_action: None,
            entries: None,
            size: None,
            properties: Vec::new(),
            span: declaration.span,
        });
        self.declare(&declaration.name, Binding::Table(id));
        id
    }

    /// Each property once, the actions among them, in an order in which one can be read after the
    /// other.
    fn check_properties(&mut self, declaration: &'a ast::TableDeclaration) {
        let errors = self.error_count();
        for (at, property) in declaration.properties.iter().enumerate() {
            let first = declaration
                .properties
                .iter()
                .take(at)
                .find(|earlier| earlier.name.text == property.name.text);
            if let Some(first) = first {
                self.report_twice("property", &property.name, first.name.span);
            }
        }
        self.check_property_order(declaration);
        let has_actions = declaration
            .properties
            .iter()
            .any(|property| matches!(property.kind, TablePropertyKind::Actions(_)));
        // One of two properties of a name may have been meant for the actions.
        if !has_actions && self.error_count() == errors {
            let title = format!("table `{}` has no `actions`", declaration.name.text);
            self.report(
                Diagnostic::error("table", declaration.name.span, title)
                    .hint("write actions = { ... } with what its entries may do"),
            );
        }
    }

    /// `entries` need the key, `default_action` the actions: they stand behind them.
    fn check_property_order(&mut self, declaration: &ast::TableDeclaration) {
        let place = |name: &str| {
            declaration.properties.iter().position(|property| &*property.name.text == name)
        };
        for (first, second) in
            [("key", "entries"), ("actions", "entries"), ("actions", "default_action")]
        {
            if let (Some(earlier), Some(later)) = (place(first), place(second))
                && later < earlier
                && let Some(property) = declaration.properties.get(later)
            {
                let title = format!("`{second}` must stand behind `{first}`");
                self.error("table", property.span, title);
            }
        }
    }

    /// One element of the key. The control plane has to call it something.
    fn key(&mut self, key: &'a ast::KeyElement) -> Option<Key> {
        let expression = self.expression(&key.expression, None);
        if self.is_asked(&key.match_kind) {
            self.offer_type_members(&Type::MatchKind);
        }
        let kinds = &self.program.match_kinds;
        let known = kinds.iter().find(|kind| kind.text == key.match_kind.text);
        if let Some(declared) = known.map(|kind| kind.span) {
            self.note_use(key.match_kind.span, declared);
        } else {
            let title = format!("there is no match kind `{}`", key.match_kind.text);
            let known: Vec<&str> = kinds.iter().map(|kind| &*kind.text).collect();
            let hint = format!("known are {}", known.join(", "));
            self.report(Diagnostic::error("unknown-name", key.match_kind.span, title).hint(hint));
            return None;
        }
        let annotations = self.annotations(&key.annotations);
        let has_name = annotations.iter().any(|annotation| &*annotation.name.text == "name");
        if !has_name && !has_key_name(&expression) {
            let title = "this key needs a name: it is computed";
            self.report(
                Diagnostic::error("table", expression.span, title)
                    .hint("write @name(\"...\") behind the match kind, for the control plane"),
            );
        }
        let is_possible = match self.original(&expression.ty) {
            Type::Wrong => return None,
            Type::Bit(_) | Type::Int(_) | Type::Bool | Type::Error | Type::Enum(_) => true,
            Type::Varbit(_) | Type::Variable(_) => true,
            _ => false,
        };
        if !is_possible {
            let title = format!("a `{}` cannot be a key", self.show(&expression.ty));
            let hint = "keys are numbers, bool, enums and errors: name the fields one by one";
            self.report(Diagnostic::error("table", expression.span, title).hint(hint));
            return None;
        }
        Some(Key { expression, match_kind: key.match_kind.clone(), annotations, span: key.span })
    }

    /// The actions that entries may use.
    fn action_list(&mut self, list: &'a [ast::ActionListElement], table: &mut Table) {
        for element in list {
            let Some(action) = self.action_named(&element.action.name) else { continue };
            let known = table.actions.iter().find(|known| known.call.action == action);
            if let Some(first) = known.map(|known| known.call.span) {
                self.report_twice("action", &element.action.name.name, first);
                continue;
            }
            let annotations = self.annotations(&element.annotations);
            if let Some(arguments) = self.bound_arguments(action, &element.action) {
                let call = ActionCall { action, arguments, span: element.action.span };
                table.actions.push(TableAction { annotations, call, is_implied: false });
            }
        }
    }

    /// The action that a name means.
    fn action_named(&mut self, name: &PrefixedName) -> Option<Id<Action>> {
        match self.resolve(name) {
            Some(Binding::Action(id)) => Some(id),
            Some(_) => {
                let title = format!("`{}` is no action", name.name.text);
                self.error("table", name.name.span, title);
                None
            }
            None => {
                self.report_unknown("action", &name.name);
                None
            }
        }
    }

    /// In the list of actions: arguments for the parameters with a direction only.
    fn bound_arguments(
        &mut self,
        action: Id<Action>,
        written: &'a ActionRef,
    ) -> Option<Vec<Argument>> {
        let found = &self.program.actions[action];
        let (name, variables) = (found.name.text.clone(), found.parameters.clone());
        let parameters = self.parameters_of(&variables);
        let bound: Vec<_> = parameters
            .iter()
            .filter(|parameter| parameter.direction != Direction::None)
            .cloned()
            .collect();
        let given = written.arguments.as_deref().unwrap_or_default();
        let mut solution = Solution::default();
        let mut arguments = self.arguments(&name, &bound, given, &mut solution, written.span)?;
        self.check_no_table(&arguments)?;
        arguments.resize(variables.len(), Argument::Omitted);
        Some(arguments)
    }

    /// In entries and `default_action`: all arguments. Those with a direction must be the same as in
    /// the list, and may be left out there as here.
    fn full_call(&mut self, written: &'a ActionRef, table: &Table) -> Option<ActionCall> {
        let given = written.arguments.as_deref().unwrap_or_default();
        let call = self.action_call(&written.name, given, written.span, table)?;
        let listed = table.actions.iter().find(|known| known.call.action == call.action);
        let is_default_only = listed.is_some_and(|known| {
            known.annotations.iter().any(|found| &*found.name.text == "defaultonly")
        });
        if is_default_only {
            let title = format!(
                "action `{}` is @defaultonly: no entry can have it",
                written.name.name.text
            );
            self.error("table", written.span, title);
        }
        Some(call)
    }

    /// An action of the list with its arguments, as the control plane or the program gives them.
    fn action_call(
        &mut self,
        name: &PrefixedName,
        given: &'a [ast::Argument],
        span: Span,
        table: &Table,
    ) -> Option<ActionCall> {
        let action = self.action_named(name)?;
        let Some(listed) = table.actions.iter().find(|known| known.call.action == action) else {
            let title = format!("action `{}` is not among the table's actions", name.name.text);
            self.report(
                Diagnostic::error("table", name.name.span, title)
                    .hint("add it to actions = { ... }"),
            );
            return None;
        };
        let bound = listed.call.arguments.clone();
        let variables = self.program.actions[action].parameters.clone();
        let callee = self.program.actions[action].name.text.clone();
        let mut parameters = self.parameters_of(&variables);
        for parameter in &mut parameters {
            parameter.is_constant = parameter.direction == Direction::None;
        }
        let free_count =
            parameters.iter().filter(|parameter| parameter.direction == Direction::None).count();
        let mut solution = Solution::default();
        if given.len() == free_count && free_count != parameters.len() {
            // The bound ones are repeated from the list.
            let free: Vec<_> =
                parameters.into_iter().filter(|p| p.direction == Direction::None).collect();
            let rest = self.arguments(&callee, &free, given, &mut solution, span)?;
            let is_bound = |id: &Id<_>| !is_free(self.program.variables[*id].kind);
            let bound_count = variables.iter().filter(|id| is_bound(id)).count();
            let arguments = bound.into_iter().take(bound_count).chain(rest).collect();
            return Some(ActionCall { action, arguments, span });
        }
        let arguments = self.arguments(&callee, &parameters, given, &mut solution, span)?;
        self.check_bound(&arguments, &bound, &variables, span);
        Some(ActionCall { action, arguments, span })
    }

    /// An argument that the list binds may be repeated, not changed.
    fn check_bound(
        &mut self,
        arguments: &[Argument],
        bound: &[Argument],
        variables: &[Id<crate::types::tree::Variable>],
        span: Span,
    ) {
        for ((given, listed), id) in arguments.iter().zip(bound).zip(variables) {
            if is_free(self.program.variables[*id].kind) {
                continue;
            }
            if let (Argument::Expression(given), Argument::Expression(listed)) = (given, listed)
                && !same_expression(given, listed)
            {
                let listed = listed.span;
                self.report(
                    Diagnostic::error(
                        "table",
                        span,
                        "this argument differs from the action list's",
                    )
                    .related(listed, "in the list it is this"),
                );
                return;
            }
        }
    }

    /// `entries`, `const` or not.
    fn entries(
        &mut self,
        property: &'a TableProperty,
        list: &'a [ast::Entry],
        table: &Table,
    ) -> Entries {
        let types: Vec<Type> = table.keys.iter().map(|key| key.expression.ty.clone()).collect();
        if types.is_empty() && !list.is_empty() {
            let title = format!("table `{}` has entries, but no key", table.name.text);
            self.report(
                Diagnostic::error("table", table.name.span, title)
                    .related(property.span, "the entries"),
            );
            return Entries { is_const: property.is_const, list: Vec::new() };
        }
        let list = list.iter().filter_map(|entry| self.entry(entry, &types, table)).collect();
        Entries { is_const: property.is_const, list }
    }

    /// One entry: its keys must be known at compile time.
    fn entry(&mut self, entry: &'a ast::Entry, types: &[Type], table: &Table) -> Option<Entry> {
        let priority = match &entry.priority {
            Some(priority) => Some(self.constant_number(priority)?),
            None => None,
        };
        let keyset = self.keyset(&entry.keyset, types, true);
        let call = self.full_call(&entry.action, table);
        Some(Entry {
            is_const: entry.is_const,
            priority,
            keyset: keyset?,
            call: call?,
            annotations: self.annotations(&entry.annotations),
            span: entry.span,
        })
    }

    /// A property with a value: `default_action`, `size`, or one of the architecture.
    fn value_property(
        &mut self,
        property: &'a TableProperty,
        value: &'a ast::Expression,
        table: &mut Table,
    ) {
        match &*property.name.text {
            "default_action" => {
                if let Some(call) = self.default_action(value, table) {
                    let is_const = property.is_const;
                    table.default_action = Some(DefaultAction { call, is_const });
                }
            }
            "size" => {
                let size = self.expression(value, Some(&Type::Integer));
                let is_number =
                    matches!(size.ty, Type::Integer | Type::Bit(_) | Type::Int(_) | Type::Wrong);
                if !is_number || (size.ty != Type::Wrong && !self.is_compile_time(&size)) {
                    self.error("table", size.span, "the size of a table must be a constant number");
                } else if size.ty != Type::Wrong {
                    table.size = Some(size);
                }
            }
            _ => {
                let annotations = self.annotations(&property.annotations);
                if let Some(value) = self.property_value(value) {
                    table.properties.push(Property {
                        annotations,
                        name: property.name.clone(),
                        is_const: property.is_const,
                        value,
                        span: property.span,
                    });
                }
            }
        }
    }

    /// A value, object or list, for the back end to understand.
    fn property_value(&mut self, value: &'a ast::Expression) -> Option<PropertyValue> {
        if let ast::ExpressionKind::List(elements) = &value.kind {
            let values: Vec<_> =
                elements.iter().map(|element| self.expression(element, None)).collect();
            let is_wrong = values.iter().any(|value| value.ty == Type::Wrong);
            return (!is_wrong).then_some(PropertyValue::List(values));
        }
        let value = self.expression(value, None);
        (value.ty != Type::Wrong).then_some(PropertyValue::Expression(value))
    }

    /// The action when no entry matches.
    fn default_action(&mut self, value: &'a ast::Expression, table: &Table) -> Option<ActionCall> {
        match &value.kind {
            ast::ExpressionKind::Name(name) => self.action_call(name, &[], value.span, table),
            ast::ExpressionKind::Call { callee, arguments, .. } => match &callee.kind {
                ast::ExpressionKind::Name(name) => {
                    self.action_call(name, arguments, value.span, table)
                }
                _ => self.no_action(value.span),
            },
            _ => self.no_action(value.span),
        }
    }

    /// The property names no action.
    fn no_action(&mut self, span: Span) -> Option<ActionCall> {
        self.error("table", span, "`default_action` must be an action of the table");
        None
    }

    /// Without `default_action` a miss does nothing.
    fn imply_default_action(&mut self, declaration: &ast::TableDeclaration, table: &mut Table) {
        let is_written =
            declaration.properties.iter().any(|property| &*property.name.text == "default_action");
        if is_written {
            return;
        }
        let action = match self.scopes.find_top("NoAction").cloned() {
            Some((Binding::Action(action), _))
                if self.program.actions[action].parameters.is_empty() =>
            {
                action
            }
            Some((_, span)) => {
                let title = "`NoAction` must be an action without parameters, as in core.p4";
                self.error("table", span, title);
                return;
            }
            None => return,
        };
        let call = ActionCall { action, arguments: Vec::new(), span: declaration.name.span };
        if !table.actions.iter().any(|known| known.call.action == action) {
            let call = call.clone();
            let annotations = Vec::new();
            table.actions.push(TableAction { annotations, call, is_implied: true });
        }
        table.default_action = Some(DefaultAction { call, is_const: false });
    }
}

/// Whether a parameter is the control plane's.
fn is_free(kind: VariableKind) -> bool {
    kind == VariableKind::Parameter(Direction::None)
}

/// Whether two expressions are the same apart from where they stand.
fn same_expression(left: &Expression, right: &Expression) -> bool {
    use ExpressionKind as Kind;
    let all = |pairs: &[(&Expression, &Expression)]| {
        pairs.iter().all(|(left, right)| same_expression(left, right))
    };
    match (&left.kind, &right.kind) {
        (Kind::Aggregate(l), Kind::Aggregate(r)) => {
            l.len() == r.len() && l.iter().zip(r).all(|(l, r)| same_expression(l, r))
        }
        (
            Kind::Binary { operator: lo, left: ll, right: lr },
            Kind::Binary { operator: ro, left: rl, right: rr },
        ) => lo == ro && all(&[(ll, rl), (lr, rr)]),
        (Kind::Call(l), Kind::Call(r)) => same_call(l, r),
        (Kind::Cast(l), Kind::Cast(r)) => left.ty == right.ty && same_expression(l, r),
        (
            Kind::Conditional { condition: lc, then: lt, otherwise: lo },
            Kind::Conditional { condition: rc, then: rt, otherwise: ro },
        ) => all(&[(lc, rc), (lt, rt), (lo, ro)]),
        (Kind::Field { base: l, field: lf }, Kind::Field { base: r, field: rf }) => {
            lf == rf && same_expression(l, r)
        }
        (Kind::Index { base: l, index: li }, Kind::Index { base: r, index: ri }) => {
            all(&[(l, r), (li, ri)])
        }
        (
            Kind::Slice { base: l, high: lh, low: ll },
            Kind::Slice { base: r, high: rh, low: rl },
        ) => lh == rh && ll == rl && same_expression(l, r),
        (Kind::SliceFrom { base: l, low: ll }, Kind::SliceFrom { base: r, low: rl }) => {
            left.ty == right.ty && all(&[(l, r), (ll, rl)])
        }
        (Kind::Unary { operator: lo, operand: l }, Kind::Unary { operator: ro, operand: r }) => {
            lo == ro && same_expression(l, r)
        }
        (Kind::Variable(l), Kind::Variable(r)) => l == r,
        _ => super::lvalue::same_value(left, right),
    }
}

/// Whether two calls are the same: of one function, or of `isValid`, with the same arguments.
fn same_call(left: &Call, right: &Call) -> bool {
    let is_same = match (&left.callee, &right.callee) {
        (Callee::Function(l), Callee::Function(r)) => l == r,
        (Callee::Builtin(l, of), Callee::Builtin(r, other)) => l == r && same_expression(of, other),
        _ => false,
    };
    let same_argument = |(left, right): (&Argument, &Argument)| match (left, right) {
        (Argument::Expression(left), Argument::Expression(right)) => same_expression(left, right),
        _ => false,
    };
    is_same && left.arguments.iter().zip(&right.arguments).all(same_argument)
}

/// Whether the expression as written is a name for the control plane.
fn has_key_name(key: &crate::types::tree::Expression) -> bool {
    use crate::types::tree::{BinaryOperator, Builtin, Callee, ExpressionKind as Kind};
    match &key.kind {
        Kind::Variable(_) | Kind::Constant(_) => true,
        Kind::Field { base, .. } | Kind::Slice { base, .. } => has_key_name(base),
        Kind::StackLast(base) | Kind::StackNext(base) | Kind::StackLastIndex(base) => {
            has_key_name(base)
        }
        Kind::Index { base, index } => has_key_name(base) && has_key_name(index),
        Kind::Binary { operator: BinaryOperator::BitAnd, left, right } => {
            (has_key_name(left) && matches!(right.kind, Kind::Constant(_)))
                || (has_key_name(right) && matches!(left.kind, Kind::Constant(_)))
        }
        Kind::Call(call) => match &call.callee {
            Callee::Builtin(Builtin::IsValid, base) => has_key_name(base),
            _ => false,
        },
        _ => false,
    }
}
