//! Statements.

use super::Parser;
use crate::token::TokenKind;
use crate::tree::{
    Annotation, BinaryOperator, BlockStatement, ConditionalLink, ConstantDeclaration, Expression,
    ExpressionKind, ForCollection, ForInStatement, ForStatement, Statement, StatementKind,
    SwitchCase, SwitchLabel, VariableDeclaration,
};
use crate::{Diagnostic, Span};

impl Parser<'_> {
    /// `{ ... }` in a scope of its own.
    pub(super) fn block_statement(
        &mut self,
        annotations: Vec<Annotation>,
    ) -> Option<BlockStatement> {
        let start = self.expect("{")?;
        self.type_names.push();
        let statements = self.braced(|parser| parser.statement_or_declaration());
        self.type_names.pop();
        Some(BlockStatement {
            annotations,
            statements: statements?,
            span: start.to(self.last_span()),
        })
    }

    /// In a block variables, constants and objects stand between statements.
    pub(super) fn statement_or_declaration(&mut self) -> Option<Statement> {
        self.nested(|parser| parser.statement())
    }

    /// A statement, one level deeper.
    fn statement(&mut self) -> Option<Statement> {
        let start = self.span();
        let annotations = self.opt_annotations()?;
        let word = if self.peek().kind == TokenKind::String { "" } else { &*self.peek().text };
        let kind = match word {
            "{" => StatementKind::Block(self.block_statement(annotations)?),
            ";" => {
                self.bump();
                StatementKind::Empty
            }
            "break" => self.keyword_statement(StatementKind::Break)?,
            "continue" => self.keyword_statement(StatementKind::Continue)?,
            "exit" => self.keyword_statement(StatementKind::Exit)?,
            "const" => StatementKind::Constant(self.constant_declaration(annotations, start)?),
            "if" => self.conditional_statement()?,
            // The rest is read as if it were right.
            "elif" | "elseif" | "elsif" if self.token(1).is("(") && self.block_follows() => {
                let title = format!("syntax error: P4 has no `{word}`");
                self.report(
                    Diagnostic::error("syntax", self.span(), title)
                        .hint("write `else if`")
                        .fix(self.span(), "else if"),
                );
                self.conditional_statement()?
            }
            "switch" => self.switch_statement()?,
            "return" => {
                self.bump();
                let value = if self.at(";") { None } else { Some(self.expression()?) };
                self.expect(";")?;
                StatementKind::Return(value)
            }
            "for" => self.for_statement(annotations)?,
            _ => {
                let kind = self.simple_statement(annotations, start)?;
                self.expect(";")?;
                kind
            }
        };
        Some(Statement { kind, span: start.to(self.last_span()) })
    }

    /// Whether a block stands behind the parentheses that follow the next token.
    fn block_follows(&self) -> bool {
        self.closing(1).is_some_and(|close| self.token(close + 1).is("{"))
    }

    /// A statement that its first word tells.
    fn keyword_statement(&mut self, kind: StatementKind) -> Option<StatementKind> {
        self.bump();
        self.expect(";")?;
        Some(kind)
    }

    /// A declaration, assignment or call without its semicolon.
    fn simple_statement(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Option<StatementKind> {
        if self.declaration_follows() {
            let declaration = self.variable_declaration_without_semicolon(annotations, start)?;
            return Some(StatementKind::Variable(declaration));
        }
        self.assignment_or_method_call()
    }

    /// A type followed by a name: a variable declaration. (A type followed by `.apply` is a call.)
    fn declaration_follows(&self) -> bool {
        let global = usize::from(self.at("."));
        if super::is_name(self.token(global)) && super::is_name(self.token(global + 1)) {
            return true;
        }
        if !self.at_type() {
            return false;
        }
        let next = self.token(global + 1);
        if next.is("<") {
            // `Type<...>.apply` or `Type<...> name`.
            let mut depth = 0usize;
            for ahead in global + 1.. {
                let token = self.token(ahead);
                if token.is("<") {
                    depth += 1;
                } else if token.is(">") {
                    depth -= 1;
                    if depth == 0 {
                        return !self.token(ahead + 1).is(".");
                    }
                } else if token.is(";") || token.kind == TokenKind::End {
                    return true;
                }
            }
        }
        !next.is(".") && !next.is("(")
    }

    /// Both begin with an expression; what follows tells.
    fn assignment_or_method_call(&mut self) -> Option<StatementKind> {
        // The target of an assignment is parsed as an expression; whether it can be written to is
        // the type checker's question.
        let target = self.expression()?;
        let Some((operator, length)) = self.assignment_operator() else {
            if matches!(target.kind, ExpressionKind::Call { .. }) {
                return Some(StatementKind::Call(target));
            }
            self.no_statement(&target);
            return None;
        };
        (0..length).for_each(|_| {
            self.bump();
        });
        let value = self.expression()?;
        Some(StatementKind::Assignment { target, operator, value })
    }

    /// Reports that an expression stands where a statement should; a name alone was to be applied or
    /// called.
    fn no_statement(&mut self, expression: &Expression) {
        let found = self.peek();
        let what = found.describe();
        let title =
            format!("syntax error: expected `=` or `(` after this expression, found {what}");
        let mut diagnostic = Diagnostic::error("syntax", found.span, title);
        if let ExpressionKind::Name(name) = &expression.kind
            && found.is(";")
        {
            let name = &name.name.text;
            let hint =
                format!("a table is applied by `{name}.apply();`, an action called by `{name}();`");
            diagnostic = diagnostic.hint(hint);
        }
        self.report(diagnostic);
    }

    /// `=` or one of `+=`, `|+|=`, ...
    fn assignment_operator(&self) -> Option<(Option<BinaryOperator>, usize)> {
        use BinaryOperator::*;
        let token = self.peek();
        if token.kind != TokenKind::Symbol {
            return None;
        }
        let operator = match &*token.text {
            "=" => return Some((None, 1)),
            ">" if self.token(1).is(">=") => return Some((Some(ShiftRight), 2)),
            "*=" => Multiply,
            "/=" => Divide,
            "%=" => Modulo,
            "+=" => Add,
            "-=" => Subtract,
            "|+|=" => AddSaturating,
            "|-|=" => SubtractSaturating,
            "<<=" => ShiftLeft,
            "&=" => BitAnd,
            "|=" => BitOr,
            "^=" => BitXor,
            _ => return None,
        };
        Some((Some(operator), 1))
    }

    /// `if (condition) then else if (condition) then ... else otherwise`. The grammar nests such a
    /// chain; authors think of it as a list.
    fn conditional_statement(&mut self) -> Option<StatementKind> {
        let mut links = Vec::new();
        let otherwise = loop {
            let start = self.span();
            self.bump();
            self.expect("(")?;
            let condition = self.expression()?;
            self.expect(")")?;
            let then = self.statement_or_declaration()?;
            links.push(ConditionalLink { condition, then, span: start });
            if !self.eat("else") {
                break None;
            }
            if !self.at("if") {
                break Some(Box::new(self.statement_or_declaration()?));
            }
        };
        let end = self.last_span();
        links.iter_mut().for_each(|link| link.span = link.span.to(end));
        Some(StatementKind::Conditional { links, otherwise })
    }

    /// `switch (subject) { label: { ... } }`.
    fn switch_statement(&mut self) -> Option<StatementKind> {
        self.bump();
        self.expect("(")?;
        let subject = self.expression()?;
        self.expect(")")?;
        self.expect("{")?;
        let cases = self.braced(|parser| parser.switch_case())?;
        Some(StatementKind::Switch { subject, cases })
    }

    /// A label, with or without a block.
    fn switch_case(&mut self) -> Option<SwitchCase> {
        let start = self.span();
        let label = if self.eat("default") {
            SwitchLabel::Default
        } else {
            SwitchLabel::Expression(self.expression()?)
        };
        let span = start.to(self.last_span());
        self.expect(":")?;
        let is_block = self.at("{") || self.at("@");
        let body = if is_block {
            let annotations = self.opt_annotations()?;
            Some(self.block_statement(annotations)?)
        } else {
            None
        };
        Some(SwitchCase { label, span, body })
    }

    /// `for (init; condition; update)` or `for (type name in collection)`.
    fn for_statement(&mut self, annotations: Vec<Annotation>) -> Option<StatementKind> {
        self.bump();
        self.expect("(")?;
        self.type_names.push();
        let statement = self.for_header_and_body(annotations);
        self.type_names.pop();
        statement
    }

    /// Its `in` identifies the head.
    fn for_header_and_body(&mut self, annotations: Vec<Annotation>) -> Option<StatementKind> {
        let start = self.span();
        let variable_annotations = self.opt_annotations()?;
        if self.declaration_follows() {
            let (at, type_ref) = (self.at, self.type_ref()?);
            let name = self.name()?;
            if self.eat("in") {
                let collection = self.for_collection()?;
                self.expect(")")?;
                self.type_names.declare(&name.text, false);
                let body = self.statement_or_declaration()?;
                return Some(StatementKind::ForIn(Box::new(ForInStatement {
                    annotations,
                    variable_annotations,
                    type_ref,
                    name,
                    collection,
                    body,
                })));
            }
            self.at = at;
        }
        let init = self.for_statements(";", start, variable_annotations)?;
        self.expect(";")?;
        let condition = self.expression()?;
        self.expect(";")?;
        let update = self.for_statements(")", self.span(), Vec::new())?;
        self.expect(")")?;
        let body = self.statement_or_declaration()?;
        let statement = ForStatement { annotations, init, condition, update, body };
        Some(StatementKind::For(Box::new(statement)))
    }

    /// `low .. high`, or a list or stack.
    fn for_collection(&mut self) -> Option<ForCollection> {
        let first = self.expression()?;
        if self.eat("..") {
            return Some(ForCollection::Range { low: first, high: self.expression()? });
        }
        Some(ForCollection::Expression(first))
    }

    /// Statements with commas between them.
    fn for_statements(
        &mut self,
        close: &str,
        start: Span,
        annotations: Vec<Annotation>,
    ) -> Option<Vec<Statement>> {
        let mut first_annotations = Some(annotations);
        self.comma_list(close, |parser| {
            let from = if first_annotations.is_some() { start } else { parser.span() };
            let annotations = match first_annotations.take() {
                Some(annotations) if !annotations.is_empty() => annotations,
                _ => parser.opt_annotations()?,
            };
            let kind = parser.simple_statement(annotations, from)?;
            Some(Statement { kind, span: from.to(parser.last_span()) })
        })
    }

    /// `type name`, perhaps `= value`.
    pub(super) fn variable_declaration_without_semicolon(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Option<VariableDeclaration> {
        let type_ref = self.type_ref()?;
        let name = self.name()?;
        let initializer = if self.eat("=") { Some(self.expression()?) } else { None };
        self.type_names.declare(&name.text, false);
        let span = start.to(self.last_span());
        Some(VariableDeclaration { annotations, type_ref, name, initializer, span })
    }

    /// `const type name = value;`.
    pub(super) fn constant_declaration(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Option<ConstantDeclaration> {
        self.expect("const")?;
        let type_ref = self.type_ref()?;
        let name = self.name()?;
        self.expect("=")?;
        let value = self.expression()?;
        self.expect(";")?;
        self.type_names.declare(&name.text, false);
        let span = start.to(self.last_span());
        Some(ConstantDeclaration { annotations, type_ref, name, value, span })
    }
}
