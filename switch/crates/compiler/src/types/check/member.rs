//! `base.member` where it is no call: fields, enum members, errors, properties of stacks, results
//! of tables.

use super::method::is_built_in_method;
use super::{BodyKind, Checker, constant, is_constant, wrong};
use crate::types::tree::{Expression, ExpressionKind, TableResult, Text, Type, Value};
use syntax::suggest::{nearest, same_letters};
use syntax::tree::{self as ast, Name};
use syntax::{Diagnostic, Span};

/// Methods that every header has, as people misspell them: `is_valid`, `valid`.
const HEADER_METHODS: [&str; 1] = ["isValid"];

impl<'a> Checker<'a, '_> {
    /// `base.member`.
    pub(super) fn member(
        &mut self,
        base: &'a ast::Expression,
        member: &Name,
        span: Span,
    ) -> Expression {
        if let ast::ExpressionKind::Type(type_ref) = &base.kind {
            let ty = self.type_ref(type_ref);
            if self.is_asked(member) {
                self.offer_type_members(&ty);
            }
            return self.type_member(&ty, member, span);
        }
        let base = self.expression(base, None);
        if self.is_asked(member) {
            self.offer_members(&base.ty);
        }
        match base.ty.clone() {
            Type::Wrong => wrong(span),
            Type::Struct(_) | Type::Record(_) => self.field(base, member, span),
            Type::Stack(element, size) => self.stack_property(base, &element, size, member, span),
            Type::TableResult(_) => self.table_result(base, member, span),
            other => {
                let title = format!("a `{}` has no member `{}`", self.show(&other), member.text);
                self.error("unknown-field", member.span, title);
                wrong(span)
            }
        }
    }

    /// A member of an enum, of `error` or of `match_kind`.
    fn type_member(&mut self, ty: &Type, member: &Name, span: Span) -> Expression {
        match ty {
            Type::Wrong => wrong(span),
            Type::Enum(id) => {
                let found = &self.program.enums[*id];
                let at = found.members.iter().position(|known| known.name.text == member.text);
                match at {
                    Some(at) => {
                        let declared = found.members[at].name.span;
                        self.note_use(member.span, declared);
                        constant(Value::Enumerator(*id, at), ty.clone(), span)
                    }
                    None => {
                        let names: Vec<_> =
                            found.members.iter().map(|known| known.name.text.clone()).collect();
                        self.report_no_member(&self.show(ty), member, &names);
                        wrong(span)
                    }
                }
            }
            Type::Error => {
                let at = self.program.errors.iter().position(|known| known.text == member.text);
                match at {
                    Some(at) => {
                        self.note_use(member.span, self.program.errors[at].span);
                        constant(Value::Error(at), Type::Error, span)
                    }
                    None => {
                        let names: Vec<_> =
                            self.program.errors.iter().map(|known| known.text.clone()).collect();
                        self.report_no_member("error", member, &names);
                        wrong(span)
                    }
                }
            }
            Type::MatchKind => {
                let kinds = &self.program.match_kinds;
                match kinds.iter().position(|known| known.text == member.text) {
                    Some(at) => constant(Value::MatchKind(at), Type::MatchKind, span),
                    None => {
                        self.report_no_member("match_kind", member, &[]);
                        wrong(span)
                    }
                }
            }
            other => {
                let title = format!("type `{}` has no member `{}`", self.show(other), member.text);
                self.error("unknown-field", member.span, title);
                wrong(span)
            }
        }
    }

    /// There is no such member; perhaps a similar one.
    fn report_no_member(&mut self, of: &str, member: &Name, names: &[Text]) {
        let title = format!("`{of}` has no member `{}`", member.text);
        let mut diagnostic = Diagnostic::error("unknown-field", member.span, title);
        if is_built_in_method(&member.text) {
            diagnostic = diagnostic
                .hint(format!("it is a method: write {}()", member.text))
                .fix(member.span.after(), "()");
        } else if let Some(method) = same_letters(&member.text, HEADER_METHODS.into_iter())
            .or((&*member.text == "valid").then_some("isValid"))
        {
            diagnostic = diagnostic
                .hint(format!("whether a header is valid: write {method}()"))
                .fix(member.span, format!("{method}()"));
        } else if !self.diagnostics.is_full()
            && let Some(similar) = nearest(&member.text, names.iter().map(|name| &**name))
        {
            diagnostic =
                diagnostic.hint(format!("is `{similar}` meant?")).fix(member.span, similar);
        }
        self.report(diagnostic);
    }

    /// There is no such field; perhaps a header inside has it: `hdr.ttl` for `hdr.ipv4.ttl`.
    fn report_no_field(&mut self, of: &Type, member: &Name, parts: &[(Text, Type)]) {
        let inside = parts.iter().find(|(_, ty)| match ty {
            Type::Struct(id) => {
                self.program.structs[*id].fields.iter().any(|field| field.name.text == member.text)
            }
            _ => false,
        });
        let Some((part, _)) = inside else {
            let names: Vec<_> = parts.iter().map(|(name, _)| name.clone()).collect();
            return self.report_no_member(&self.show(of), member, &names);
        };
        let title = format!("`{}` has no member `{}`", self.show(of), member.text);
        let hint = format!("is `{part}.{}` meant?", member.text);
        let fix = format!("{part}.{}", member.text);
        let diagnostic = Diagnostic::error("unknown-field", member.span, title);
        self.report(diagnostic.hint(hint).fix(member.span, fix));
    }

    /// A field, taken now from a constant.
    fn field(&mut self, base: Expression, member: &Name, span: Span) -> Expression {
        let parts: Vec<_> = match &base.ty {
            Type::Struct(id) => {
                let fields = &self.program.structs[*id].fields;
                fields.iter().map(|field| (field.name.text.clone(), field.ty.clone())).collect()
            }
            Type::Record(fields) => fields.clone(),
            _ => Vec::new(),
        };
        let Some(at) = parts.iter().position(|(name, _)| *name == member.text) else {
            self.report_no_field(&base.ty, member, &parts);
            return wrong(span);
        };
        self.note_field(&base.ty, at, member.span);
        if let ExpressionKind::Aggregate(values) = &base.kind
            && is_constant(&base)
            && let Some(value) = values.get(at)
        {
            return Expression { span, ..value.clone() };
        }
        let ty = parts.into_iter().nth(at).map_or(Type::Wrong, |(_, ty)| ty);
        Expression { kind: ExpressionKind::Field { base: Box::new(base), field: at }, ty, span }
    }

    /// The properties of a header stack. `size` is a constant; the others follow the parser.
    fn stack_property(
        &mut self,
        base: Expression,
        element: &Type,
        size: u32,
        member: &Name,
        span: Span,
    ) -> Expression {
        let inner = Box::new(base);
        let (kind, ty) = match &*member.text {
            "size" => {
                let value = Value::Integer(size.into());
                return constant(value, Type::Bit(32), span);
            }
            "next" => (ExpressionKind::StackNext(inner), element.clone()),
            "last" => (ExpressionKind::StackLast(inner), element.clone()),
            "lastIndex" => (ExpressionKind::StackLastIndex(inner), Type::Bit(32)),
            _ => {
                let title = format!("a header stack has no member `{}`", member.text);
                self.report(
                    Diagnostic::error("unknown-field", member.span, title)
                        .hint("it has next, last, lastIndex and size"),
                );
                return wrong(span);
            }
        };
        if self.body.kind != BodyKind::Parser {
            let title = format!("`{}` of a header stack exists only in parsers", member.text);
            self.error("stack", span, title);
            return wrong(span);
        }
        Expression { kind, ty, span }
    }

    /// `hit`, `miss` or `action_run` of an application: the application happens here.
    fn table_result(&mut self, base: Expression, member: &Name, span: Span) -> Expression {
        let (result, ty) = match &*member.text {
            "hit" => (TableResult::Hit, Type::Bool),
            "miss" => (TableResult::Miss, Type::Bool),
            "action_run" => (TableResult::ActionRun, Type::Action),
            _ => {
                let title = format!("the result of a table has no member `{}`", member.text);
                self.report(
                    Diagnostic::error("unknown-field", member.span, title)
                        .hint("it has hit, miss and action_run"),
                );
                return wrong(span);
            }
        };
        match base.kind {
            ExpressionKind::Call(call) => {
                Expression { kind: ExpressionKind::TableResult { call, result }, ty, span }
            }
            _ => wrong(span),
        }
    }
}
