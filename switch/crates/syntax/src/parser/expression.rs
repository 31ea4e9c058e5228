//! Expressions: precedence climbing over the levels of the grammar.

use super::Parser;
use super::literal::string;
use super::row::Row;
use crate::Diagnostic;
use crate::token::{Token, TokenKind};
use crate::tree::{
    Argument, ArgumentValue, BinaryOperator, Expression, ExpressionKind, IntegerLiteral, KeyValue,
    PrefixedName, TypeRef, UnaryOperator,
};

/// Precedence of `+`.
pub(super) const SUM_PRECEDENCE: u8 = 9;

/// Precedence of a binary operator, weakest 1; and how many tokens it is.
fn binary_operator(parser: &Parser<'_>) -> Option<(BinaryOperator, u8, usize)> {
    use BinaryOperator::*;
    let token = parser.peek();
    if token.kind != TokenKind::Symbol {
        return None;
    }
    let next = parser.token(1);
    let touches = |text: &str| next.is(text) && !next.follows_space;
    let (operator, precedence) = match &*token.text {
        ">" if touches(">") && (parser.token(2).follows_space || !parser.token(2).is("=")) => {
            return Some((ShiftRight, 8, 2));
        }
        // `>>=` is an assignment.
        ">" if touches(">") || touches(">=") => return None,
        "||" => (LogicalOr, 1),
        "&&" => (LogicalAnd, 2),
        "==" => (Equal, 3),
        "!=" => (NotEqual, 3),
        "<" => (Less, 4),
        ">" => (Greater, 4),
        "<=" => (LessEqual, 4),
        ">=" => (GreaterEqual, 4),
        "|" => (BitOr, 5),
        "^" => (BitXor, 6),
        "&" => (BitAnd, 7),
        "<<" => (ShiftLeft, 8),
        "++" => (Concat, 9),
        // The `+` of a slice `[low +: width]`.
        "+" if next.is(":") => return None,
        "+" => (Add, 9),
        "-" => (Subtract, 9),
        "|+|" => (AddSaturating, 9),
        "|-|" => (SubtractSaturating, 9),
        "*" => (Multiply, 10),
        "/" => (Divide, 10),
        "%" => (Modulo, 10),
        _ => return None,
    };
    Some((operator, precedence, 1))
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Option<Expression> {
        self.nested(|parser| parser.conditional_expression())
    }

    /// `condition ? then : otherwise`, which binds weakest.
    fn conditional_expression(&mut self) -> Option<Expression> {
        let condition = self.binary_expression(1)?;
        if !self.eat("?") {
            return Some(condition);
        }
        let then = Box::new(self.expression()?);
        self.expect(":")?;
        let otherwise = Box::new(self.expression()?);
        let span = condition.span.to(otherwise.span);
        let condition = Box::new(condition);
        let kind = ExpressionKind::Conditional { condition, then, otherwise };
        Some(Expression { kind, span })
    }

    /// Operands of operators that bind at least as strongly as `weakest`. Nesting to the left
    /// counts as levels of depth too.
    pub(super) fn binary_expression(&mut self, weakest: u8) -> Option<Expression> {
        let mut row = Row::new(self.prefix_expression()?);
        let outer_depth = self.depth;
        let mut row_depth = outer_depth;
        while let Some((operator, precedence, length)) = binary_operator(self) {
            if precedence < weakest {
                break;
            }
            let start = self.span();
            (0..length).for_each(|_| {
                self.bump();
            });
            let operator_span = start.to(self.last_span());
            let Some(right) = self.nested(|parser| parser.binary_expression(precedence + 1)) else {
                self.depth = outer_depth;
                return None;
            };
            if !row.takes(operator) {
                row_depth = self.depth;
                row = Row::new(row.bracketed());
            }
            row.push(operator, operator_span, right);
            self.depth = row_depth + row.levels();
        }
        self.depth = outer_depth;
        Some(row.bracketed())
    }

    /// Operators in front, casts among them.
    fn prefix_expression(&mut self) -> Option<Expression> {
        let start = self.span();
        let operator = match &*self.peek().text {
            _ if self.peek().kind != TokenKind::Symbol => None,
            "!" => Some(UnaryOperator::Not),
            "~" => Some(UnaryOperator::Complement),
            "-" => Some(UnaryOperator::Negate),
            "+" => Some(UnaryOperator::Plus),
            _ => None,
        };
        if let Some(operator) = operator {
            self.bump();
            let operand = Box::new(self.nested(|parser| parser.prefix_expression())?);
            let span = start.to(operand.span);
            return Some(Expression { kind: ExpressionKind::Unary { operator, operand }, span });
        }
        if self.at("(") && self.cast_follows() {
            self.bump();
            let target = self.type_ref()?;
            self.expect(")")?;
            let operand = Box::new(self.nested(|parser| parser.prefix_expression())?);
            let span = start.to(operand.span);
            return Some(Expression { kind: ExpressionKind::Cast { target, operand }, span });
        }
        let primary = self.primary_expression()?;
        self.postfix_expression(primary)
    }

    /// `(type)`, not `(Type.member)` or `(Type(arguments).method())`. A name that is no known type
    /// is taken for one when what follows cannot continue an expression.
    fn cast_follows(&self) -> bool {
        let Some(close) = self.closing(0) else { return false };
        let ahead = if self.token(1).is(".") { 2 } else { 1 };
        let first = self.token(ahead);
        if self.type_ahead(1) {
            let next = self.token(ahead + 1);
            return ahead + 1 == close || next.is("<") || next.is("[");
        }
        let after = self.token(close + 1);
        let starts_operand = matches!(after.kind, TokenKind::Integer | TokenKind::String)
            || (after.kind == TokenKind::Word && !after.is("in"));
        ahead + 1 == close && super::is_name(first) && starts_operand
    }

    /// An expression without operators outside of brackets.
    pub(super) fn primary_expression(&mut self) -> Option<Expression> {
        let start = self.span();
        let kind = if self.at_type() && !self.at("_") {
            // In front of `.member` or `(arguments)`.
            ExpressionKind::Type(self.type_ref()?)
        } else {
            let token = self.peek();
            match token.kind {
                TokenKind::Integer => ExpressionKind::Integer(self.integer_token(token)),
                TokenKind::String => {
                    self.bump();
                    ExpressionKind::String(string(token))
                }
                _ => match &*token.text {
                    "true" | "false" => ExpressionKind::Bool(self.bump().is("true")),
                    "this" => {
                        self.bump();
                        ExpressionKind::This
                    }
                    "..." => {
                        self.bump();
                        ExpressionKind::Dots
                    }
                    "{#}" => {
                        self.bump();
                        ExpressionKind::InvalidHeader
                    }
                    "{" => self.nested(|parser| parser.braced_expression())?,
                    "(" => {
                        self.bump();
                        let inner = self.expression()?;
                        self.expect(")")?;
                        return Some(Expression { span: start.to(self.last_span()), ..inner });
                    }
                    _ if self.at_name() || (token.is(".") && super::is_name(self.token(1))) => {
                        ExpressionKind::Name(self.prefixed_name()?)
                    }
                    _ => {
                        self.expected("an expression");
                        return None;
                    }
                },
            }
        };
        Some(Expression { kind, span: start.to(self.last_span()) })
    }

    /// A number with its width and sign.
    fn integer_token(&mut self, token: &Token) -> IntegerLiteral {
        self.bump();
        self.integer(token)
    }

    /// A name, perhaps with a dot in front: the top level's.
    pub(super) fn prefixed_name(&mut self) -> Option<PrefixedName> {
        let is_global = self.eat(".");
        Some(PrefixedName { is_global, name: self.name()? })
    }

    /// `{a, b}` or `{a = x, b = y}`.
    fn braced_expression(&mut self) -> Option<ExpressionKind> {
        self.expect("{")?;
        let is_record = self.at_name() && self.token(1).is("=");
        let kind = if is_record {
            let mut has_dots = false;
            let mut fields = Vec::new();
            while !self.at("}") && !self.is_end() {
                if self.eat("...") {
                    has_dots = true;
                } else {
                    let field = self.kv_pair()?;
                    self.check_first(&fields, &field);
                    fields.push(field);
                }
                if !self.eat(",") {
                    break;
                }
            }
            ExpressionKind::Record { fields, has_dots }
        } else {
            ExpressionKind::List(self.comma_list("}", |parser| parser.expression())?)
        };
        self.expect("}")?;
        Some(kind)
    }

    /// The grammar has no meaning for a field given twice, so this is said here, whatever else is
    /// wrong with the program.
    fn check_first(&mut self, fields: &[KeyValue], field: &KeyValue) {
        let first = fields.iter().find(|first| first.key.text == field.key.text);
        if let Some(first) = first {
            let title = format!("field `{}` is given twice", field.key.text);
            self.report(
                Diagnostic::error("duplicate", field.key.span, title)
                    .related(first.key.span, "first given here"),
            );
        }
    }

    /// Members, indexes and calls behind a primary expression, as many as there are.
    fn postfix_expression(&mut self, primary: Expression) -> Option<Expression> {
        let start = primary.span;
        let mut base = primary;
        let outer_depth = self.depth;
        loop {
            let next = if self.eat(".") {
                let member = self.name()?;
                ExpressionKind::Member { base: Box::new(base), member }
            } else if self.at("[") {
                self.index_or_slice(base)?
            } else if self.at("(") {
                self.call(base, Vec::new())?
            } else if callable(&base) && self.type_arguments_follow() {
                let type_arguments = self.type_argument_list()?;
                self.call(base, type_arguments)?
            } else {
                self.depth = outer_depth;
                return Some(base);
            };
            // Each step nests one deeper.
            self.nested(|_| Some(()))?;
            self.depth += 1;
            base = Expression { kind: next, span: start.to(self.last_span()) };
        }
    }

    /// `[index]`, `[high:low]` or `[low +: width]`.
    fn index_or_slice(&mut self, base: Expression) -> Option<ExpressionKind> {
        self.expect("[")?;
        let base = Box::new(base);
        let first = Box::new(self.expression()?);
        let kind = if self.eat(":") {
            ExpressionKind::Slice { base, high: first, low: Box::new(self.expression()?) }
        } else if self.at("+") && self.token(1).is(":") {
            self.bump();
            self.bump();
            ExpressionKind::SlicePlus { base, low: first, width: Box::new(self.expression()?) }
        } else {
            ExpressionKind::Index { base, index: first }
        };
        self.expect("]")?;
        Some(kind)
    }

    /// `<types>(arguments)`.
    fn call(&mut self, callee: Expression, type_arguments: Vec<TypeRef>) -> Option<ExpressionKind> {
        let arguments = self.argument_list()?;
        Some(ExpressionKind::Call { callee: Box::new(callee), type_arguments, arguments })
    }

    /// `(argument, ...)`.
    pub(super) fn argument_list(&mut self) -> Option<Vec<Argument>> {
        self.expect("(")?;
        let list = self.comma_list(")", |parser| parser.argument())?;
        self.expect(")")?;
        Some(list)
    }

    /// `value`, `name = value` or `_`.
    fn argument(&mut self) -> Option<Argument> {
        let start = self.span();
        let name = if self.at_name() && self.token(1).is("=") {
            let name = self.name()?;
            self.bump();
            Some(name)
        } else {
            None
        };
        let value = if self.eat("_") {
            ArgumentValue::DontCare
        } else {
            ArgumentValue::Expression(self.expression()?)
        };
        Some(Argument { name, value, span: start.to(self.last_span()) })
    }
}

/// Only names and members take type arguments; after a number `<` compares.
fn callable(base: &Expression) -> bool {
    matches!(base.kind, ExpressionKind::Name(_) | ExpressionKind::Member { .. })
}
