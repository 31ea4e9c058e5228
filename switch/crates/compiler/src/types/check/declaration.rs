//! Declarations at the top level: types, constants, errors, match kinds.
//!
//! Before: a declaration as written. After: its name is bound to what it means, and what it declares is
//! in the program. A name can be used from here on, not before; that is why a type cannot contain itself.

use super::lvalue::has_effects;
use super::scope::{Binding, FunctionBinding};
use super::template::{Template, rigid_variables};
use super::{Checker, is_constant};
use crate::architecture;
use crate::types::index;
use crate::types::tree::{
    Constant, DerivedKind as Kind, Enum, Enumerator, ExpressionKind, ExternFunction, InstanceKind,
    LocalDeclaration, NewType, Type, Value,
};
use std::collections::BTreeSet;
use syntax::tree::{self as ast, Declaration, DerivedKind, Name};
use syntax::{Diagnostic, Span};

impl<'a> Checker<'a, '_> {
    /// Any declaration of the top level.
    pub(super) fn declaration(&mut self, declaration: &'a Declaration) {
        match declaration {
            Declaration::Action(action) => {
                let action = self.action(action);
                self.program.top_level.extend(action);
            }
            Declaration::Constant(constant) => self.constant_declaration(constant),
            Declaration::Control(control) => self.control(control),
            Declaration::ControlType(signature) => {
                self.signature_type(Template::ControlType(signature), signature);
            }
            Declaration::Derived(derived) => self.derived_type(derived),
            Declaration::Enum(declared) => self.enum_declaration(declared),
            Declaration::Error(names) => self.error_names(names),
            Declaration::Extern(declared) => self.extern_object(declared),
            Declaration::ExternFunction { annotations, prototype } => {
                self.extern_function(annotations, prototype);
            }
            Declaration::Function(function) => self.function_declaration(function),
            Declaration::Instantiation(instantiation) => {
                if let Some(id) = self.instantiation(instantiation) {
                    self.program.top_level.push(LocalDeclaration::Instance(id));
                }
            }
            Declaration::MatchKind(names) => self.match_kind_names(names),
            Declaration::Package(package) => self.package(package),
            Declaration::Parser(parser) => self.parser(parser),
            Declaration::ParserType(signature) => {
                self.signature_type(Template::ParserType(signature), signature);
            }
            Declaration::Typedef(typedef) => self.typedef(typedef),
            Declaration::Variable(variable) => self.report(
                Diagnostic::error(
                    "declaration",
                    variable.span,
                    "there are no variables outside of controls, parsers and functions",
                )
                .hint("write `const` in front, or move it inside"),
            ),
        }
    }

    /// After everything: is there a `main`?
    pub(super) fn find_main(&mut self) {
        let Some((binding, span)) = self.scopes.find_top("main").cloned() else { return };
        if let Binding::Instance(id) = binding
            && matches!(self.program.instances[id].kind, InstanceKind::Package(_))
        {
            self.program.main = Some(id);
        } else if !matches!(binding, Binding::Variable(_)) {
            // A variable stands for an instance that is reported already.
            self.error("package", span, "`main` must be an instance of a package");
        }
    }

    /// The value is kept with the name, and every use of the name is that value.
    pub(super) fn constant_declaration(&mut self, declaration: &'a ast::ConstantDeclaration) {
        let ty = self.type_ref(&declaration.type_ref);
        if matches!(ty, Type::Extern(_) | Type::Control(_) | Type::Parser(_) | Type::Package(_)) {
            let title = format!("a constant cannot have the type `{}`", self.show(&ty));
            self.error("type", declaration.name.span, title);
        }
        let annotations = self.annotations(&declaration.annotations);
        let value = self.expression_of(&declaration.value, &ty);
        let is_value = is_constant(&value) || value.ty == Type::Wrong;
        if !is_value && (has_effects(&value) || !self.is_compile_time(&value)) {
            let title = "the value of a constant must be known at compile time";
            self.error("constant", value.span, title);
        }
        let constant =
            Constant { annotations, name: declaration.name.clone(), value, span: declaration.span };
        let id = self.program.constants.push(constant);
        self.declare(&declaration.name, Binding::Constant(id));
    }

    /// All `error { ... }` of a program are one type.
    fn error_names(&mut self, names: &[Name]) {
        for name in names {
            let known = self.program.errors.iter().find(|known| known.text == name.text);
            match known.map(|known| known.span) {
                Some(first) => self.report_twice("error", name, first),
                None => {
                    self.note_part(index::Kind::Error, name, None, name.span);
                    self.program.errors.push(name.clone());
                }
            }
        }
    }

    /// All `match_kind { ... }` of a program are one type.
    fn match_kind_names(&mut self, names: &[Name]) {
        for name in names {
            let known = self.program.match_kinds.iter().find(|known| known.text == name.text);
            match known.map(|known| known.span) {
                Some(first) => self.report_twice("match_kind", name, first),
                None => {
                    self.note_part(index::Kind::MatchKind, name, None, name.span);
                    self.program.match_kinds.push(name.clone());
                }
            }
        }
    }

    /// A name that exists already among its like.
    pub(super) fn report_twice(&mut self, what: &str, name: &Name, first: Span) {
        let title = format!("{what} `{}` is declared twice", name.text);
        self.report(
            Diagnostic::error("duplicate", name.span, title).related(first, "first declared here"),
        );
    }

    /// Members of one declaration must have different names.
    pub(super) fn check_distinct(&mut self, what: &str, names: &[&Name]) {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for name in names {
            if !seen.insert(&name.text) {
                let first = names.iter().find(|first| first.text == name.text);
                self.report_twice(what, name, first.map_or(name.span, |first| first.span));
            }
        }
    }

    /// A struct, header or header union; generic or not, it is a template.
    fn derived_type(&mut self, declaration: &'a ast::DerivedTypeDeclaration) {
        let names: Vec<&Name> = declaration.fields.iter().map(|field| &field.name).collect();
        self.check_distinct("field", &names);
        // Checked once with unknown types for the parameters: before the name is declared, so that
        // a type cannot contain itself.
        if !self.check_fields(declaration) {
            self.declare(&declaration.name, Binding::Type(Type::Wrong));
            return;
        }
        let index = self.declare_template(Template::Struct(declaration));
        if declaration.type_parameters.is_empty() {
            self.instantiate(index, &[], declaration.span);
        }
    }

    /// Whether nothing is wrong with the fields.
    fn check_fields(&mut self, declaration: &'a ast::DerivedTypeDeclaration) -> bool {
        let before = self.error_count();
        let rigid = rigid_variables(&declaration.type_parameters);
        self.with_type_parameters(&declaration.type_parameters, &rigid, |checker| {
            for field in &declaration.fields {
                let ty = checker.type_ref(&field.type_ref);
                if !checker.may_be_field(declaration.kind, &ty) {
                    checker.report_field(declaration.kind, &ty, field.span);
                }
            }
        });
        self.check_one_varbit(declaration);
        self.error_count() == before
    }

    /// `extract` takes one length, so there can be one field of variable length.
    fn check_one_varbit(&mut self, declaration: &'a ast::DerivedTypeDeclaration) {
        let is_varbit =
            |field: &&ast::StructField| matches!(field.type_ref.kind, ast::TypeKind::Varbit(_));
        let mut varbits = declaration.fields.iter().filter(is_varbit);
        if let (Some(first), Some(second), DerivedKind::Header) =
            (varbits.next(), varbits.next(), declaration.kind)
            // Two fields of one name are reported as that.
            && first.name.text != second.name.text
        {
            self.report(
                Diagnostic::error("type", first.span, "a header can have one varbit field only")
                    .related(second.span, "the other one"),
            );
        }
    }

    /// A type that cannot be in a struct, header or union; the hint says what can.
    pub(super) fn report_field(&mut self, kind: DerivedKind, ty: &Type, span: Span) {
        let (place, hint) = match kind {
            DerivedKind::Header => {
                ("a header", "its fields are bit, int, varbit, bool and structs of these")
            }
            DerivedKind::HeaderUnion => ("a header union", "its fields are headers"),
            DerivedKind::Struct => ("a struct", "its fields are values, headers and structs"),
        };
        let title = format!("{place} cannot have a field of type `{}`", self.show(ty));
        self.report(Diagnostic::error("type", span, title).hint(hint));
    }

    /// Whether a field can have the type. Headers are what lies on the wire, so each bit of them
    /// must have a place: no enums without numbers, no headers inside of headers.
    pub(super) fn may_be_field(&self, kind: DerivedKind, ty: &Type) -> bool {
        match (kind, ty) {
            (_, Type::Wrong | Type::Variable(_)) => true,
            (DerivedKind::HeaderUnion, Type::Struct(id)) => {
                self.program.structs[*id].kind == Kind::Header
            }
            (DerivedKind::HeaderUnion, _) => false,
            (DerivedKind::Header, Type::Struct(id)) => {
                let found = &self.program.structs[*id];
                found.kind == Kind::Struct
                    && found.fields.iter().all(|field| self.may_be_field(kind, &field.ty))
            }
            (DerivedKind::Header, Type::Enum(id)) => self.program.enums[*id].underlying.is_some(),
            (DerivedKind::Header, Type::New(_)) => self.may_be_field(kind, self.original(ty)),
            (DerivedKind::Header, _) => {
                matches!(ty, Type::Bit(_) | Type::Int(_) | Type::Varbit(_) | Type::Bool)
            }
            (DerivedKind::Struct, _) => !matches!(
                ty,
                Type::Integer
                    | Type::String
                    | Type::MatchKind
                    | Type::Extern(_)
                    | Type::Package(_)
                    | Type::Parser(_)
                    | Type::Control(_)
                    | Type::ParserType(..)
                    | Type::ControlType(..)
            ),
        }
    }

    /// With an underlying type its members are numbers, otherwise only names.
    fn enum_declaration(&mut self, declaration: &'a ast::EnumDeclaration) {
        let names: Vec<&Name> = declaration.members.iter().map(|member| &member.name).collect();
        self.check_distinct("enum member", &names);
        let annotations = self.annotations(&declaration.annotations);
        let underlying = declaration.underlying.as_ref().map(|written| {
            let ty = self.type_ref(written);
            if !matches!(ty, Type::Bit(_) | Type::Int(_) | Type::Wrong) {
                let title = format!("an enum cannot be made of `{}`", self.show(&ty));
                let hint = "it can be made of bit<N> or int<N>";
                self.report(Diagnostic::error("type", written.span, title).hint(hint));
                return Type::Wrong;
            }
            ty
        });
        let members = declaration.members.iter();
        let members = members.map(|member| self.enumerator(member, underlying.as_ref())).collect();
        let found = Enum {
            annotations,
            name: declaration.name.clone(),
            underlying,
            members,
            span: declaration.span,
        };
        let id = self.program.enums.push(found);
        self.declare(&declaration.name, Binding::Type(Type::Enum(id)));
    }

    /// A member with the value it must or must not have.
    fn enumerator(&mut self, member: &'a ast::Enumerator, underlying: Option<&Type>) -> Enumerator {
        self.note_part(index::Kind::Enumerator, &member.name, underlying, member.name.span);
        let name = member.name.clone();
        let value = match (&member.value, underlying) {
            (None, None) => None,
            (Some(written), Some(ty)) => {
                let value = self.expression_of(written, &self.original(ty).clone());
                match value.kind {
                    ExpressionKind::Constant(value @ Value::Integer(_)) => Some(value),
                    _ => {
                        if value.ty != Type::Wrong {
                            let title = "the value of an enum member must be a constant";
                            self.error("constant", value.span, title);
                        }
                        Some(Value::Integer(0.into()))
                    }
                }
            }
            (None, Some(_)) => {
                let title = format!("enum member `{}` needs a value", name.text);
                self.report(
                    Diagnostic::error("enum", name.span, title)
                        .hint("every member of an enum with a type has one: name = value"),
                );
                Some(Value::Integer(0.into()))
            }
            (Some(written), None) => {
                let title = "only members of an enum with a type have values";
                self.report(
                    Diagnostic::error("enum", written.span, title)
                        .hint("write enum bit<8> NAME { ... }"),
                );
                None
            }
        };
        Enumerator { name, value }
    }

    /// `typedef` is another name for a type; `type` is a new type with the same values.
    fn typedef(&mut self, typedef: &'a ast::TypedefDeclaration) {
        if let Some(derived) = &typedef.derived {
            self.declaration(derived);
        }
        let ty = self.type_ref(&typedef.type_ref);
        let annotations = self.annotations(&typedef.annotations);
        if !typedef.is_new_type {
            self.declare(&typedef.name, Binding::Type(ty));
            return;
        }
        let is_possible = matches!(
            self.original(&ty),
            Type::Bit(_)
                | Type::Int(_)
                | Type::Bool
                | Type::Wrong
                | Type::Enum(_)
                | Type::Varbit(_)
        );
        if !is_possible {
            let title = format!("`type` cannot be made of `{}`", self.show(&ty));
            let hint = "it can be made of bit<N>, int<N> and bool; `typedef` takes every type";
            self.report(Diagnostic::error("type", typedef.type_ref.span, title).hint(hint));
        }
        let made =
            NewType { annotations, name: typedef.name.clone(), original: ty, span: typedef.span };
        let id = self.program.new_types.push(made);
        self.declare(&typedef.name, Binding::Type(Type::New(id)));
    }

    /// The methods are read once with open types, so that mistakes in them are found even if no
    /// such object is made.
    fn extern_object(&mut self, declaration: &'a ast::ExternDeclaration) {
        let parameters: Vec<&Name> = declaration.type_parameters.iter().collect();
        self.check_distinct("type parameter", &parameters);
        let index = self.declare_template(Template::Extern(declaration));
        let rigid = rigid_variables(&declaration.type_parameters);
        // Reads the methods once, whether the extern is used or not.
        self.instantiate(index, &rigid, declaration.span);
    }

    /// Its type parameters stay open: each call solves them.
    fn extern_function(
        &mut self,
        annotations: &'a [ast::Annotation],
        prototype: &'a ast::FunctionPrototype,
    ) {
        self.scopes.push();
        let type_parameters = self.declare_type_variables(&prototype.type_parameters);
        let function = ExternFunction {
            annotations: self.annotations(annotations),
            name: prototype.name.clone(),
            type_parameters,
            parameters: self.parameter_infos(&prototype.parameters),
            return_type: self.return_type(&prototype.return_type),
            known: architecture::function(self.program.declared_architecture, &prototype.name.text),
            span: prototype.span,
        };
        self.scopes.pop();
        let id = self.program.extern_functions.push(function);
        self.declare_function(&prototype.name, FunctionBinding::Extern(id));
    }

    /// A parser or control type: what it asks of parameters is kept for packages.
    fn signature_type(&mut self, template: Template<'a>, signature: &'a ast::Signature) {
        self.declare_template(template);
        self.scopes.push();
        let names = self.declare_type_variables(&signature.type_parameters);
        let infos = self.parameter_infos(&signature.parameters);
        for info in &infos {
            self.check_apply_type(&info.ty, info.name.span);
        }
        self.scopes.pop();
        self.remember_signature(template, (names, infos));
    }

    /// Read once with open types, as an extern is.
    fn package(&mut self, declaration: &'a ast::PackageTypeDeclaration) {
        let index = self.declare_template(Template::Package(declaration));
        let rigid = rigid_variables(&declaration.type_parameters);
        self.instantiate(index, &rigid, declaration.span);
    }
}
