//! Types as written to types.

use super::note::Wanted;
use super::scope::Binding;
use super::template::Template;
use super::{BodyKind, Checker, Later};
use crate::architecture;
use crate::types::tree::{ExpressionKind, Type, Value};
use syntax::suggest::{nearest, same_letters};
use syntax::tree::{self as ast, DerivedKind, PrefixedName, TypeKind};
use syntax::{Diagnostic, Span};

/// Widest `bit`, `int` or `varbit`, and largest stack.
pub(super) const WIDTH_MAX: u32 = 1 << 16;

/// Most numbers, bools, ... that one value may consist of. Types made of types made of types grow
/// exponentially; everything later walks over their parts.
const WEIGHT_MAX: usize = 1 << 16;

impl<'a> Checker<'a, '_> {
    /// The type of a value or object; `void` is an error here.
    pub(super) fn type_ref(&mut self, type_ref: &'a ast::TypeRef) -> Type {
        let ty = self.type_argument(type_ref);
        if ty == Type::Void {
            self.error("type", type_ref.span, "nothing can have the type `void` here");
            return Type::Wrong;
        }
        ty
    }

    /// A function's return type; `void` allowed.
    pub(super) fn return_type(&mut self, type_ref: &'a ast::TypeRef) -> Type {
        let ty = self.type_argument(type_ref);
        if ty == Type::Integer {
            self.report(
                Diagnostic::error("type", type_ref.span, "a function cannot return an `int`")
                    .hint("give it a width: bit<32>"),
            );
            return Type::Wrong;
        }
        ty
    }

    /// `_` becomes a type variable called `_`: to be inferred.
    pub(super) fn type_argument(&mut self, type_ref: &'a ast::TypeRef) -> Type {
        match &type_ref.kind {
            TypeKind::Array { element, size } => self.array_type(element, size),
            TypeKind::Bit(None) => Type::Bit(1),
            TypeKind::Bit(Some(width)) => self.width(width, 0).map_or(Type::Wrong, Type::Bit),
            TypeKind::Bool => Type::Bool,
            TypeKind::DontCare => Type::Variable("_".into()),
            TypeKind::Error => self.error_type(type_ref.span),
            TypeKind::Int(width) => self.width(width, 1).map_or(Type::Wrong, Type::Int),
            TypeKind::Integer => Type::Integer,
            TypeKind::List(element) => Type::List(Box::new(self.type_ref(element))),
            TypeKind::MatchKind => Type::MatchKind,
            TypeKind::Missing => Type::Wrong,
            TypeKind::Name(name) => self.named_type(name, &[], type_ref.span),
            TypeKind::Specialized { name, arguments } => {
                let arguments: Vec<Type> =
                    arguments.iter().map(|argument| self.type_argument(argument)).collect();
                self.named_type(name, &arguments, type_ref.span)
            }
            TypeKind::String => Type::String,
            TypeKind::Tuple(elements) => {
                let types: Vec<Type> =
                    elements.iter().map(|element| self.type_ref(element)).collect();
                if let Some((at, object)) = types.iter().enumerate().find(|(_, ty)| is_object(ty)) {
                    let title = format!("a tuple cannot have a `{}`", self.show(object));
                    let place = elements.get(at).map_or(type_ref.span, |element| element.span);
                    self.error("type", place, title);
                    return Type::Wrong;
                }
                self.limit_weight(Type::Tuple(types), type_ref.span)
            }
            TypeKind::Varbit(width) => self.width(width, 0).map_or(Type::Wrong, Type::Varbit),
            TypeKind::Void => Type::Void,
        }
    }

    /// `error`: a type only where some errors are declared, as core.p4 does.
    fn error_type(&mut self, span: Span) -> Type {
        if self.program.errors.is_empty() {
            let title = "there is no type `error` here: no errors are declared";
            self.report(
                Diagnostic::error("unknown-name", span, title)
                    .hint("core.p4 declares it: #include <core.p4>"),
            );
            return Type::Wrong;
        }
        Type::Error
    }

    /// `Type[size]`: a header stack.
    fn array_type(&mut self, element: &'a ast::TypeRef, size: &'a ast::Expression) -> Type {
        let element_type = self.type_ref(element);
        let Some(size) = self.width(size, 1) else { return Type::Wrong };
        let is_header = match &element_type {
            Type::Struct(id) => self.program.structs[*id].kind != DerivedKind::Struct,
            Type::Wrong | Type::Variable(_) => true,
            _ => false,
        };
        if !is_header {
            let shown = self.show(&element_type);
            self.report(
                Diagnostic::error(
                    "type",
                    element.span,
                    format!("a stack of `{shown}` is not possible"),
                )
                .hint("only headers and header unions can be stacked"),
            );
            return Type::Wrong;
        }
        Type::Stack(Box::new(element_type), size)
    }

    /// A width or size: a constant of at least `least`.
    fn width(&mut self, expression: &'a ast::Expression, least: u32) -> Option<u32> {
        let value = self.expression(expression, Some(&Type::Integer));
        if value.ty == Type::Wrong {
            return None;
        }
        let ExpressionKind::Constant(Value::Integer(number)) = &value.kind else {
            let title = "a width or size must be a number known at compile time";
            self.error("type", value.span, title);
            return None;
        };
        let width = number.to_u32().filter(|width| (least..=WIDTH_MAX).contains(width));
        if width.is_none() {
            let title = format!("{number} is not a possible width or size");
            self.report(
                Diagnostic::error("type", value.span, title)
                    .hint(format!("from {least} to {WIDTH_MAX} is possible")),
            );
        }
        width
    }

    /// A type by name, with its arguments.
    fn named_type(&mut self, name: &PrefixedName, arguments: &[Type], span: Span) -> Type {
        let binding = self.resolve(name);
        match binding {
            Some(Binding::Type(ty)) if arguments.is_empty() => ty,
            Some(Binding::Type(ty)) => {
                let title = format!("type `{}` takes no type arguments", self.show(&ty));
                self.error("type", span, title);
                Type::Wrong
            }
            Some(Binding::Template(index)) => self.template_type(index, arguments, span),
            Some(_) => {
                let title = format!("`{}` is not a type", name.name.text);
                self.error("type", name.name.span, title);
                Type::Wrong
            }
            None => {
                self.report_unknown("type", &name.name);
                Type::Wrong
            }
        }
    }

    /// A generic type with its arguments: as many as it has parameters, and only types of values.
    fn template_type(&mut self, index: usize, arguments: &[Type], span: Span) -> Type {
        let Some(template) = self.templates.get(index) else { return Type::Wrong };
        let wanted = template.type_parameters().len();
        if wanted != arguments.len() {
            let title = format!(
                "`{}` takes {wanted} type arguments, not {}",
                template.name().text,
                arguments.len()
            );
            self.error("type", span, title);
            return Type::Wrong;
        }
        let name = template.name().text.clone();
        // An extern may return nothing: `RegisterAction<bit<32>, bit<8>, void>`.
        let may_be_void = matches!(template, Template::Extern(_));
        for argument in arguments {
            if self.mentions(argument, index) {
                let title = format!("`{name}` cannot be an argument of itself");
                self.error("type", span, title);
                return Type::Wrong;
            }
            if is_block(argument) || (*argument == Type::Void && !may_be_void) {
                let title = format!("`{}` cannot be a type argument", self.show(argument));
                self.error("type", span, title);
                return Type::Wrong;
            }
        }
        self.instantiate(index, arguments, span)
    }

    /// The type, unless its values have too many parts.
    pub(super) fn limit_weight(&mut self, ty: Type, span: Span) -> Type {
        if self.weight(&ty) <= WEIGHT_MAX {
            return ty;
        }
        let title = format!("a value of this type has more than {WEIGHT_MAX} parts");
        self.error("type", span, title);
        Type::Wrong
    }

    /// How many parts a value of the type has.
    pub(super) fn weight(&self, ty: &Type) -> usize {
        let sum = |types: &mut dyn Iterator<Item = &Type>| {
            types.fold(1usize, |sum, ty| sum.saturating_add(self.weight(ty)))
        };
        match ty {
            Type::Tuple(elements) => sum(&mut elements.iter()),
            Type::Stack(element, size) => self.weight(element).saturating_mul(*size as usize),
            Type::Struct(id) => self.struct_weights.get(id).copied().unwrap_or(1),
            _ => 1,
        }
    }

    /// Whether a type is an instance of a template or has one inside.
    fn mentions(&self, ty: &Type, index: usize) -> bool {
        match ty {
            Type::Tuple(elements) => elements.iter().any(|ty| self.mentions(ty, index)),
            Type::List(element) | Type::Stack(element, _) => self.mentions(element, index),
            _ => self.templates.origin(ty).is_some_and(|(of, arguments)| {
                of == index || arguments.iter().any(|ty| self.mentions(ty, index))
            }),
        }
    }

    /// There is no such name.
    pub(super) fn report_unknown(&mut self, what: &str, name: &ast::Name) {
        if self.is_asked(name) {
            self.offer_scope(match what {
                "action" => Wanted::Action,
                "type" => Wanted::Type,
                _ => Wanted::Value,
            });
        }
        if let Some(later) = self.later.iter().find(|later| later.name.text == name.text) {
            return self.report_later(later.clone(), name);
        }
        let title = format!("there is no {what} `{}` here", name.text);
        let diagnostic = Diagnostic::error("unknown-name", name.span, title);
        if self.diagnostics.is_full() {
            return self.report(diagnostic);
        }
        let twin = same_letters(&name.text, self.scopes.names().map(|name| &**name));
        if let Some(twin) = twin.map(str::to_owned) {
            let diagnostic = diagnostic.hint(format!("is `{twin}` meant?")).fix(name.span, twin);
            return self.report(diagnostic);
        }
        let names = self.scopes.names().map(|name| &**name);
        let diagnostic = match (architecture::file_of(&name.text), nearest(&name.text, names)) {
            (Some(file), _) => diagnostic
                .hint(format!("{file} declares it: write #include <{file}> at the top"))
                .fix(Span::NONE, format!("#include <{file}>\n")),
            (None, Some(similar)) => {
                diagnostic.hint(format!("is `{similar}` meant?")).fix(name.span, similar)
            }
            (None, None) => diagnostic.hint("a name must be declared before it is used"),
        };
        self.report(diagnostic);
    }

    /// The control declares the name further below.
    fn report_later(&mut self, later: Later, name: &ast::Name) {
        let is_table_in_action = later.what == "table" && self.body.kind == BodyKind::Action;
        let (code, title, hint) = if is_table_in_action {
            let hint = format!("apply `{}` in the `apply` block of the control", name.text);
            ("call", "an action cannot apply a table".to_owned(), hint)
        } else {
            let title = format!("the {} `{}` is declared further below", later.what, name.text);
            ("unknown-name", title, "a name must be declared before it is used".to_owned())
        };
        self.report(
            Diagnostic::error(code, name.span, title)
                .related(later.name.span, "declared here")
                .hint(hint),
        );
    }
}

/// Parsers, controls, packages and their types.
pub(super) fn is_block(ty: &Type) -> bool {
    is_object(ty) && !matches!(ty, Type::Extern(_))
}

/// Whether a type exists at compile time only.
fn is_object(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Extern(_)
            | Type::Control(_)
            | Type::Parser(_)
            | Type::Package(_)
            | Type::ControlType(..)
            | Type::ParserType(..)
    )
}
