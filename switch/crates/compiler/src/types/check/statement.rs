//! Statements.
//!
//! Before: statements as written. After: typed statements in which every variable is declared
//! before it is used and every target can be written to. Computations that an expression needs
//! first (indexes that `op=` uses twice) come before its statement.

use super::lvalue::has_effects;
use super::scope::Binding;
use super::{BodyKind, Checker};
use crate::types::tree::{
    Block, Expression, ExpressionKind, For, ForCollection, ForIn, Id, Link, Statement,
    StatementKind, Type, Variable, VariableKind, synthetic_name,
};
use syntax::tree::{self as ast, BinaryOperator};
use syntax::{Diagnostic, Span};

impl<'a> Checker<'a, '_> {
    /// `{ ... }` in a scope of its own.
    pub(super) fn block(&mut self, block: &'a ast::BlockStatement) -> Block {
        self.scopes.push();
        let annotations = self.annotations(&block.annotations);
        let statements = self.statements(&block.statements);
        self.scopes.pop();
        Block { annotations, statements }
    }

    /// One after the other, in the scope of now.
    pub(super) fn statements(&mut self, list: &'a [ast::Statement]) -> Vec<Statement> {
        let mut statements = Vec::with_capacity(list.len());
        for statement in list {
            self.statement(statement, &mut statements);
        }
        statements
    }

    /// Any statement as a block.
    fn statement_block(&mut self, statement: &'a ast::Statement) -> Block {
        if let ast::StatementKind::Block(block) = &statement.kind {
            return self.block(block);
        }
        self.scopes.push();
        let mut statements = Vec::new();
        self.statement(statement, &mut statements);
        self.scopes.pop();
        Block { annotations: Vec::new(), statements }
    }

    /// The statement, behind what it needs to run first.
    pub(super) fn statement(&mut self, statement: &'a ast::Statement, out: &mut Vec<Statement>) {
        let span = statement.span;
        let outer_prelude = std::mem::take(&mut self.prelude);
        let kind = self.statement_kind(statement, span);
        out.append(&mut self.prelude);
        self.prelude = outer_prelude;
        out.extend(kind.map(|kind| Statement { kind, span }));
    }

    /// The checked statement; `None` if nothing is left of it.
    fn statement_kind(
        &mut self,
        statement: &'a ast::Statement,
        span: Span,
    ) -> Option<StatementKind> {
        use ast::StatementKind as Kind;
        match &statement.kind {
            Kind::Assignment { target, operator, value } => {
                self.assignment(target, *operator, value, span)
            }
            Kind::Block(block) => Some(StatementKind::Block(self.block(block))),
            Kind::Break => self.loop_exit(StatementKind::Break, span),
            Kind::Call(call) => self.call_statement(call),
            Kind::Conditional { links, otherwise } => {
                let link = |link: &'a ast::ConditionalLink| Link {
                    condition: self.boolean(&link.condition),
                    then: self.statement_block(&link.then),
                    span: link.span,
                };
                let links = links.iter().map(link).collect();
                let otherwise = otherwise.as_ref().map(|branch| self.statement_block(branch));
                Some(StatementKind::If { links, otherwise })
            }
            Kind::Constant(declaration) => {
                self.constant_declaration(declaration);
                None
            }
            Kind::Continue => self.loop_exit(StatementKind::Continue, span),
            Kind::Empty => None,
            Kind::Exit => self.exit(span),
            Kind::For(statement) => self.for_statement(statement),
            Kind::ForIn(statement) => self.for_in_statement(statement),
            Kind::Return(value) => self.return_statement(value.as_ref(), span),
            Kind::Switch { subject, cases } => self.switch(subject, cases, span),
            Kind::Variable(declaration) => {
                let (variable, value) = self.variable(declaration);
                Some(StatementKind::Declare { variable, value })
            }
        }
    }

    /// A local variable and its first value.
    pub(super) fn variable(
        &mut self,
        declaration: &'a ast::VariableDeclaration,
    ) -> (Id<Variable>, Option<Expression>) {
        let ty = self.type_ref(&declaration.type_ref);
        if matches!(
            ty,
            Type::Integer
                | Type::String
                | Type::MatchKind
                | Type::Extern(_)
                | Type::Package(_)
                | Type::Control(_)
                | Type::Parser(_)
                | Type::ControlType(..)
                | Type::ParserType(..)
        ) {
            let title = format!("a variable cannot have the type `{}`", self.show(&ty));
            let hint = match ty {
                Type::Integer => "give it a width: bit<32>",
                Type::Extern(_) | Type::Control(_) | Type::Parser(_) => {
                    "an object is made with arguments: Type(...) name;"
                }
                _ => "constants can have it",
            };
            self.report(Diagnostic::error("type", declaration.type_ref.span, title).hint(hint));
        }
        let value = declaration.initializer.as_ref().map(|value| self.expression_of(value, &ty));
        let annotations = self.annotations(&declaration.annotations);
        let variable = Variable {
            annotations,
            name: declaration.name.clone(),
            ty,
            kind: VariableKind::Local,
            span: declaration.span,
        };
        let id = self.program.variables.push(variable);
        self.declare(&declaration.name, Binding::Variable(id));
        (id, value)
    }

    /// `target = value`, or `target op= value` as `target = target op value`.
    fn assignment(
        &mut self,
        target: &'a ast::Expression,
        operator: Option<BinaryOperator>,
        value: &'a ast::Expression,
        span: Span,
    ) -> Option<StatementKind> {
        let mut target = self.expression(target, None);
        let wanted = target.ty.clone();
        let value = match operator {
            None => self.expression_of(value, &wanted),
            Some(operator) => {
                target = self.evaluate_once(target);
                let operand = self.expression(value, Some(&wanted));
                let whole = self.apply_binary(operator, target.clone(), operand, span);
                self.convert(whole, &wanted)
            }
        };
        (self.require_lvalue(&target) && value.ty != Type::Wrong)
            .then_some(StatementKind::Assign { target, value })
    }

    /// The place with every index that has side effects kept in a variable: `op=` names it twice.
    fn evaluate_once(&mut self, target: Expression) -> Expression {
        if !has_effects(&target) {
            return target;
        }
        let span = target.span;
        let kind = match target.kind {
            ExpressionKind::Field { base, field } => {
                ExpressionKind::Field { base: Box::new(self.evaluate_once(*base)), field }
            }
            ExpressionKind::Index { base, index } => {
                let base = Box::new(self.evaluate_once(*base));
                ExpressionKind::Index { base, index: Box::new(self.keep(*index)) }
            }
            ExpressionKind::Slice { base, high, low } => {
                ExpressionKind::Slice { base: Box::new(self.evaluate_once(*base)), high, low }
            }
            ExpressionKind::SliceFrom { base, low } => {
                let base = Box::new(self.evaluate_once(*base));
                ExpressionKind::SliceFrom { base, low: Box::new(self.keep(*low)) }
            }
            other => other,
        };
        Expression { kind, ty: target.ty, span }
    }

    /// A new variable with this value, declared in front of the statement.
    fn keep(&mut self, value: Expression) -> Expression {
        let (ty, span) = (value.ty.clone(), value.span);
        let id = self.program.variables.push(Variable {
            annotations: Vec::new(),
            name: synthetic_name("index"),
            ty: ty.clone(),
            kind: VariableKind::Local,
            span,
        });
        let kind = StatementKind::Declare { variable: id, value: Some(value) };
        self.prelude.push(Statement { kind, span });
        Expression { kind: ExpressionKind::Variable(id), ty, span }
    }

    /// A call for its effects.
    fn call_statement(&mut self, call: &'a ast::Expression) -> Option<StatementKind> {
        let value = self.expression(call, None);
        match value.kind {
            ExpressionKind::Call(call) => Some(StatementKind::Call(*call)),
            ExpressionKind::TableResult { call, .. } => Some(StatementKind::Call(*call)),
            // Folded away: `static_assert` and the sizes of types.
            _ => None,
        }
    }

    /// `break` or `continue`.
    fn loop_exit(&mut self, kind: StatementKind, span: Span) -> Option<StatementKind> {
        if self.body.loop_depth == 0 {
            self.error("loop", span, "there is no loop around this");
            return None;
        }
        Some(kind)
    }

    /// Ends the packet in this block; a parser ends by its transitions, a function does not know
    /// its caller.
    fn exit(&mut self, span: Span) -> Option<StatementKind> {
        if matches!(self.body.kind, BodyKind::Action | BodyKind::Control) {
            return Some(StatementKind::Exit);
        }
        self.error("exit", span, "`exit` is possible in controls and actions only");
        None
    }

    /// Must fit the result of the function; elsewhere there is none.
    fn return_statement(
        &mut self,
        value: Option<&'a ast::Expression>,
        span: Span,
    ) -> Option<StatementKind> {
        if self.body.kind == BodyKind::Parser {
            self.error("return", span, "a parser has no `return`; use `transition`");
            return None;
        }
        let wanted = self.body.return_type.clone().unwrap_or(Type::Void);
        match (value, wanted) {
            (None, Type::Void | Type::Wrong) => Some(StatementKind::Return(None)),
            (None, wanted) => {
                let title = format!("`return` needs a value of type `{}` here", self.show(&wanted));
                self.error("return", span, title);
                None
            }
            (Some(value), Type::Void) => {
                self.error("return", value.span, "nothing can be returned here");
                None
            }
            (Some(value), wanted) => {
                let value = self.expression_of(value, &wanted);
                Some(StatementKind::Return(Some(value)))
            }
        }
    }

    /// Variables of the head live as long as the loop.
    fn for_statement(&mut self, statement: &'a ast::ForStatement) -> Option<StatementKind> {
        self.scopes.push();
        let annotations = self.annotations(&statement.annotations);
        let init = self.statements(&statement.init);
        let condition = self.boolean(&statement.condition);
        let update = self.statements(&statement.update);
        self.body.loop_depth += 1;
        let body = self.statement_block(&statement.body);
        self.body.loop_depth -= 1;
        self.scopes.pop();
        let made = For { annotations, init, condition, update, body };
        Some(StatementKind::For(Box::new(made)))
    }

    /// The variable is a new one in every round.
    fn for_in_statement(&mut self, statement: &'a ast::ForInStatement) -> Option<StatementKind> {
        self.scopes.push();
        let annotations = self.annotations(&statement.annotations);
        let ty = self.type_ref(&statement.type_ref);
        let collection = match &statement.collection {
            ast::ForCollection::Range { low, high } => ForCollection::Range {
                low: self.expression_of(low, &ty),
                high: self.expression_of(high, &ty),
            },
            ast::ForCollection::Expression(list) => {
                let list = self.expression(list, None);
                let list = self.elements_of(list, &ty);
                ForCollection::Elements(list)
            }
        };
        let variable_annotations = self.annotations(&statement.variable_annotations);
        let variable = self.program.variables.push(Variable {
            annotations: variable_annotations,
            name: statement.name.clone(),
            ty,
            kind: VariableKind::Local,
            span: statement.name.span,
        });
        self.declare(&statement.name, Binding::Variable(variable));
        self.body.loop_depth += 1;
        let body = self.statement_block(&statement.body);
        self.body.loop_depth -= 1;
        self.scopes.pop();
        Some(StatementKind::ForIn(Box::new(ForIn { annotations, variable, collection, body })))
    }

    /// Something a loop can run through, with elements of type `ty`.
    fn elements_of(&mut self, list: Expression, ty: &Type) -> Expression {
        match &list.ty {
            Type::Stack(element, _) if **element == *ty => list,
            Type::List(element) if **element == *ty => list,
            Type::Tuple(_) => self.convert(list, &Type::List(Box::new(ty.clone()))),
            Type::Wrong => list,
            other => {
                let title = format!(
                    "a loop cannot run through a `{}` with a `{}`",
                    self.show(other),
                    self.show(ty)
                );
                self.report(
                    Diagnostic::error("loop", list.span, title)
                        .hint("loops run through ranges (1 .. 5), lists and header stacks"),
                );
                list
            }
        }
    }
}
