//! Typed statements to steps.
//!
//! Before: statements of the typed tree. After: steps; loops, `switch`, `return` and `break` are
//! blocks that are left.

use bmv2::{BinaryOperator as Operator, Expression};

use super::expression::{not, or};
use super::lowering::Lowering;
use super::step::{Apply, Outcome, Step};
use super::value::{Value, binary, hex};
use crate::types::tree::{
    self, Block, Callee, ExpressionKind, For, ForCollection, ForIn, Link, Statement, StatementKind,
    Switch, SwitchLabel, TableResult, Type,
};
use syntax::Span;

/// Longest `else if` chain that becomes branches inside each other.
const NESTED_LINKS_MAX: usize = 16;

impl Lowering<'_> {
    /// The steps of a block.
    pub fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            if self.is_exhausted() {
                return;
            }
            self.statement(statement);
        }
    }

    /// The steps of one statement.
    fn statement(&mut self, statement: &Statement) {
        let at = statement.span;
        match &statement.kind {
            StatementKind::Assign { target, value } => self.assignment(target, value, at),
            StatementKind::Block(block) => self.block(block),
            StatementKind::Break => self.leave_loop(|(end, _)| end),
            StatementKind::Call(call) => {
                let ty = Type::Void;
                self.call(call, &ty);
            }
            StatementKind::Continue => self.leave_loop(|(_, next)| next),
            StatementKind::Declare { variable, value } => {
                self.declare(*variable, value.as_ref(), at);
            }
            StatementKind::Exit => self.exit(at),
            StatementKind::For(round) => self.for_loop(round, at),
            StatementKind::ForIn(round) => self.for_in(round, at),
            StatementKind::If { links, otherwise } => {
                self.if_statement(links, otherwise.as_ref(), at);
            }
            StatementKind::Return(value) => self.return_statement(value.as_ref(), at),
            StatementKind::Switch(switch) => self.switch(switch, at),
        }
    }

    /// `target = value`: the target's indexes first, then the value, then the write.
    fn assignment(&mut self, target: &tree::Expression, value: &tree::Expression, at: Span) {
        let pins = std::mem::replace(
            &mut self.local.pins_indexes,
            super::effects::has_effects(self.input.program, value),
        );
        let place = self.place(target);
        self.local.pins_indexes = pins;
        let result = self.value(value);
        self.assign(&place, &result, &target.ty, at);
    }

    /// Gives a variable a place, and its first value.
    pub fn declare(
        &mut self,
        variable: tree::Id<tree::Variable>,
        value: Option<&tree::Expression>,
        at: Span,
    ) {
        let declaration = &self.input.program.variables[variable];
        let first = value.map(|value| self.value(value));
        // A variable keeps its place when its body is inlined again: only one copy is live.
        let place = match self.made.places.get(&variable) {
            Some(place) => place.clone(),
            None => self.allocate(&declaration.name.text, &declaration.ty, at),
        };
        self.made.places.insert(variable, place.clone());
        self.local.bindings.insert(variable, place.clone());
        match first {
            Some(first) => self.assign_value(&place, &first, &declaration.ty, at),
            None => self.invalidate(&place, at),
        }
    }

    /// `break` or `continue`.
    fn leave_loop(
        &mut self,
        which: impl FnOnce((super::step::Label, super::step::Label)) -> super::step::Label,
    ) {
        if let Some(labels) = self.local.frame.loops.last().copied() {
            self.push(Step::Leave(which(labels)));
        }
    }

    /// `exit`: what calls owe their callers is copied first, innermost call first.
    fn exit(&mut self, at: Span) {
        for copies in self.local.copies_out.clone().into_iter().rev() {
            for (target, value, ty) in copies {
                self.assign(&target, &value, &ty, at);
            }
        }
        self.push(Step::Exit(at));
    }

    /// Writes the result, then leaves the body.
    fn return_statement(&mut self, value: Option<&tree::Expression>, at: Span) {
        if let Some(expression) = value {
            let value = self.value(expression);
            if let Some(result) = self.local.frame.result.clone() {
                self.assign_value(&result, &value, &expression.ty, at);
            }
        }
        if let Some(end) = self.local.frame.end {
            self.push(Step::Leave(end));
        }
    }

    /// A chain of conditions. As it is written in the grammar: each `else` holds the rest. A long one
    /// becomes a row of branches that leave it, so that nothing nests as deep as the chain is long.
    fn if_statement(&mut self, links: &[Link], otherwise: Option<&Block>, at: Span) {
        if links.len() <= NESTED_LINKS_MAX {
            return self.nested_links(links, otherwise);
        }
        if self.is_checksum_block() {
            // Their conditions would have to say everything that is not so.
            let title = "too many conditions in a row for a checksum control";
            let hint = format!("at most {NESTED_LINKS_MAX}; conditions may be nested");
            return self.unsupported(at, title, hint);
        }
        let end = self.new_label();
        let body = self.steps_of(|this| {
            this.by_choice(|this| {
                for link in links {
                    let then = |this: &mut Self| {
                        this.block(&link.then);
                        this.push(Step::Leave(end));
                    };
                    this.branch_on(link, then, |_| {});
                }
                otherwise.iter().for_each(|block| this.block(block));
            });
        });
        self.push(Step::Block { label: end, body });
    }

    /// The first of `links`, with the others where it does not hold.
    fn nested_links(&mut self, links: &[Link], otherwise: Option<&Block>) {
        match links {
            [] => otherwise.iter().for_each(|block| self.block(block)),
            [first, others @ ..] => self.branch_on(
                first,
                |this| this.block(&first.then),
                |this| this.nested_links(others, otherwise),
            ),
        }
    }

    /// A branch; a condition known now leaves only one side.
    fn branch_on(
        &mut self,
        link: &Link,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        // `if (t.apply().hit)` needs no variable for the result.
        if let ExpressionKind::TableResult { call, result } = &link.condition.kind
            && let Callee::Table(table) = call.callee
        {
            let then = self.steps_of(then);
            let otherwise = self.steps_of(otherwise);
            let (hit, miss) =
                if *result == TableResult::Miss { (otherwise, then) } else { (then, otherwise) };
            return self.apply_table(table, Outcome::ByHit { hit, miss }, call.span);
        }
        let condition = self.truth(&link.condition);
        match condition {
            Expression::Bool(true) => then(self),
            Expression::Bool(false) => otherwise(self),
            condition => {
                // The checksum controls keep conditions in the checksums themselves.
                let then = self.steps_of(|this| this.under_condition(condition.clone(), then));
                let otherwise =
                    self.steps_of(|this| this.under_condition(not(condition.clone()), otherwise));
                if !(self.is_checksum_block() && then.is_empty() && otherwise.is_empty()) {
                    self.push(Step::If { condition, then, otherwise, at: link.condition.span });
                }
            }
        }
    }

    /// `t.apply().hit` where a value is wanted.
    pub fn table_result(&mut self, call: &tree::Call, result: TableResult) -> Value {
        let at = call.span;
        let Callee::Table(table) = call.callee else { return Value::Void };
        let place = self.temporary(&Type::Bool, at);
        let [hit, miss] = [true, false].map(|is_hit| {
            let truth = is_hit == (result == TableResult::Hit);
            self.steps_of(|this| {
                let value = Value::Bool(Expression::Bool(truth));
                this.assign_value(&place, &value, &Type::Bool, at);
            })
        });
        self.apply_table(table, Outcome::ByHit { hit, miss }, at);
        place
    }

    pub fn apply_table(&mut self, table: tree::Id<tree::Table>, outcome: Outcome, at: Span) {
        let table = self.table(table, at);
        self.push(Step::Apply(Box::new(Apply { table, outcome, at })));
    }

    /// On an action or on a value.
    fn switch(&mut self, switch: &Switch, at: Span) {
        match &switch.subject.kind {
            ExpressionKind::TableResult { call, result: TableResult::ActionRun } => {
                self.switch_on_action(call, switch, at);
            }
            _ => self.switch_on_value(switch, at),
        }
    }

    /// The table says which action ran.
    fn switch_on_action(&mut self, call: &tree::Call, switch: &Switch, at: Span) {
        let Callee::Table(table) = call.callee else { return };
        let declared = &self.input.program.tables[table].actions;
        let mut cases = Vec::new();
        let mut otherwise = Vec::new();
        for case in &switch.cases {
            let body = self.steps_of(|this| this.block(&case.body));
            for label in &case.labels {
                match label {
                    SwitchLabel::Action(action) => {
                        let index = declared.iter().position(|one| one.call.action == *action);
                        cases.extend(index.map(|index| (index, body.clone())));
                    }
                    SwitchLabel::Default => otherwise = body.clone(),
                    SwitchLabel::Value(_) => {}
                }
            }
        }
        self.apply_table(table, Outcome::ByAction { cases, otherwise }, at);
    }

    /// A chain of tests in written order.
    fn switch_on_value(&mut self, switch: &Switch, at: Span) {
        let ty = &switch.subject.ty;
        let subject = self.value(&switch.subject);
        let subject = match &subject {
            Value::Number(Expression::Field(_)) => subject,
            computed => self.freeze(computed.clone(), ty, at),
        };
        let end = self.new_label();
        let body = self.steps_of(|this| {
            let mut default = None;
            for case in &switch.cases {
                let mut fits = Expression::Bool(false);
                for label in &case.labels {
                    match label {
                        SwitchLabel::Value(value) => {
                            let value = this.value(value);
                            fits = or(fits, this.equal(&subject, &value, ty, case.span));
                            // Many labels of one case would nest as deep as they are many.
                            let bounded =
                                this.within_bounds(Value::Bool(fits), &Type::Bool, case.span);
                            let Value::Bool(truth) = bounded else { return };
                            fits = truth;
                        }
                        SwitchLabel::Default => default = Some(&case.body),
                        SwitchLabel::Action(_) => {}
                    }
                }
                let then = this.steps_of(|this| {
                    this.by_choice(|this| this.block(&case.body));
                    this.push(Step::Leave(end));
                });
                if fits != Expression::Bool(false) {
                    let step =
                        Step::If { condition: fits, then, otherwise: Vec::new(), at: case.span };
                    this.push(step);
                }
            }
            this.by_choice(|this| default.into_iter().for_each(|body| this.block(body)));
        });
        self.push(Step::Block { label: end, body });
    }

    /// A loop: tested in front, `continue` goes to the update.
    fn for_loop(&mut self, round: &For, at: Span) {
        round.init.iter().for_each(|statement| self.statement(statement));
        self.repeat(
            at,
            |this| this.truth(&round.condition),
            |this| this.block(&round.body),
            |this| round.update.iter().for_each(|statement| this.statement(statement)),
        );
    }

    /// A loop: left where `test` fails; `continue` goes to `update`.
    fn repeat(
        &mut self,
        at: Span,
        test: impl FnOnce(&mut Self) -> Expression,
        body: impl FnOnce(&mut Self),
        update: impl FnOnce(&mut Self),
    ) {
        let (end, next) = (self.new_label(), self.new_label());
        let steps = self.steps_of(|this| {
            let condition = not(test(this));
            let then = vec![Step::Leave(end)];
            this.push(Step::If { condition, then, otherwise: Vec::new(), at });
            this.local.frame.loops.push((end, next));
            let body = this.steps_of(|this| this.by_choice(body));
            this.local.frame.loops.pop();
            this.push(Step::Block { label: next, body });
            update(this);
        });
        self.push(Step::Block { label: end, body: vec![Step::Loop(steps)] });
    }

    /// `for (name in collection)`: a range counts, a list or stack gives a round for each element.
    fn for_in(&mut self, round: &ForIn, at: Span) {
        match &round.collection {
            ForCollection::Elements(collection) => self.for_each(round, collection, at),
            ForCollection::Range { low, high } => self.for_range(round, low, high, at),
        }
    }

    /// `low .. high` with both ends included: a flag marks the last round, since the counter may
    /// have no value beyond `high`.
    fn for_range(
        &mut self,
        round: &ForIn,
        low: &tree::Expression,
        high: &tree::Expression,
        at: Span,
    ) {
        let bounds = self.operands(&[low, high]);
        let [Value::Number(low_value), Value::Number(high_value)] = &bounds[..] else { return };
        let range = self.range(&low.ty);
        let kind = self.leaf_of(&low.ty);
        let [counter, last] = [low_value, high_value].map(|value| {
            let field = Expression::Field(self.temporary_field(kind));
            self.assign_number(&field, value.clone(), at);
            field
        });
        let more = Expression::Field(self.temporary_field(super::storage::Leaf::Bool));
        let starts =
            super::number::compare(tree::BinaryOperator::LessEqual, counter.clone(), last.clone());
        self.assign_number(&more, super::value::number_of(starts), at);
        self.declare(round.variable, None, at);
        let variable = self.variable(round.variable);
        self.repeat(
            at,
            |_| super::value::truth_of(more.clone()),
            |this| {
                let value = Value::Number(counter.clone());
                this.assign_value(&variable, &value, &low.ty, at);
                this.block(&round.body);
            },
            |this| {
                let goes_on = binary(Operator::Less, counter.clone(), last.clone());
                this.assign_number(&more, super::value::number_of(goes_on), at);
                let next = range.wrap(binary(Operator::Add, counter.clone(), hex(1)));
                this.assign_number(&counter, next, at);
            },
        );
    }

    /// The elements are known one by one, so the rounds are written one by one.
    fn for_each(&mut self, round: &ForIn, collection: &tree::Expression, at: Span) {
        let is_list = matches!(collection.ty, Type::List(_));
        let value = self.value(collection);
        let ty = self.input.program.variables[round.variable].ty.clone();
        let mut elements = self.flat.storage.stack_values(&value);
        if is_list {
            // A list is evaluated once: no round may change what a later one sees.
            elements = elements.into_iter().map(|each| self.freeze(each, &ty, at)).collect();
        }
        let end = self.new_label();
        let body = self.steps_of(|this| {
            for element in elements {
                let next = this.new_label();
                this.declare(round.variable, None, at);
                let variable = this.variable(round.variable);
                this.assign_value(&variable, &element, &ty, at);
                this.local.frame.loops.push((end, next));
                let body = this.steps_of(|this| this.by_choice(|this| this.block(&round.body)));
                this.local.frame.loops.pop();
                this.push(Step::Block { label: next, body });
            }
        });
        self.push(Step::Block { label: end, body });
    }
}
