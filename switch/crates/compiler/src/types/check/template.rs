//! Templates: declarations with type parameters, and their instances for given type arguments.
//!
//! Structs, externs, packages, parser types and control types are templates even with no type
//! parameters, so that there is one way to make and compare them. The declaration is read again
//! for every new list of arguments, with the parameters standing for the arguments.

use super::Checker;
use super::scope::Binding;
use crate::architecture;
use crate::types::index::Kind;
use crate::types::tree::{Extern, Field, Id, Method, Package, ParameterInfo, Struct, Text, Type};
use syntax::tree as ast;
use syntax::{Diagnostic, Span};

/// A declaration that can be instantiated.
#[derive(Clone, Copy)]
pub(super) enum Template<'a> {
    ControlType(&'a ast::Signature),
    Extern(&'a ast::ExternDeclaration),
    Function(&'a ast::FunctionDeclaration),
    Package(&'a ast::PackageTypeDeclaration),
    ParserType(&'a ast::Signature),
    Struct(&'a ast::DerivedTypeDeclaration),
}

impl<'a> Template<'a> {
    /// The type parameters of the declaration.
    pub fn type_parameters(self) -> &'a [ast::Name] {
        match self {
            Template::ControlType(found) | Template::ParserType(found) => &found.type_parameters,
            Template::Extern(found) => &found.type_parameters,
            Template::Function(found) => &found.prototype.type_parameters,
            Template::Package(found) => &found.type_parameters,
            Template::Struct(found) => &found.type_parameters,
        }
    }

    /// The whole declaration.
    pub fn span(self) -> Span {
        match self {
            Template::ControlType(found) | Template::ParserType(found) => found.span,
            Template::Extern(found) => found.span,
            Template::Function(found) => found.prototype.span,
            Template::Package(found) => found.span,
            Template::Struct(found) => found.span,
        }
    }

    pub fn name(self) -> &'a ast::Name {
        match self {
            Template::ControlType(found) | Template::ParserType(found) => &found.name,
            Template::Extern(found) => &found.name,
            Template::Function(found) => &found.prototype.name,
            Template::Package(found) => &found.name,
            Template::Struct(found) => &found.name,
        }
    }
}

/// All templates, and which template each instance comes from.
#[derive(Default)]
pub(super) struct Templates<'a> {
    pub list: Vec<Template<'a>>,
    /// Instances made until now: template, arguments, type.
    made: Vec<(usize, Vec<Type>, Type)>,
}

impl<'a> Templates<'a> {
    /// By index.
    pub fn get(&self, index: usize) -> Option<Template<'a>> {
        self.list.get(index).copied()
    }

    /// The instance for these arguments, if it was made before.
    pub fn known(&self, index: usize, arguments: &[Type]) -> Option<Type> {
        let found = self.made.iter().find(|(of, with, _)| *of == index && with == arguments);
        found.map(|(_, _, ty)| ty.clone())
    }

    /// Template and arguments of an instance.
    pub fn origin(&self, ty: &Type) -> Option<(usize, &[Type])> {
        let found = self.made.iter().find(|(_, _, made)| made == ty);
        found.map(|(of, with, _)| (*of, with.as_slice()))
    }

    /// Keeps an instance, so that the same arguments give the same type.
    pub fn remember(&mut self, index: usize, arguments: Vec<Type>, ty: Type) {
        self.made.push((index, arguments, ty));
    }
}

/// Instances of one template may not nest without end.
const INSTANCE_COUNT_MAX: usize = 10_000;

impl<'a> Checker<'a, '_> {
    /// Adds a template and gives its name the meaning.
    pub(super) fn declare_template(&mut self, template: Template<'a>) -> usize {
        self.templates.list.push(template);
        let index = self.templates.list.len() - 1;
        self.declare(template.name(), Binding::Template(index));
        index
    }

    /// Runs `check` where only the top level and the type parameters can be seen.
    pub(super) fn with_type_parameters<T>(
        &mut self,
        names: &[ast::Name],
        arguments: &[Type],
        check: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let inner = self.scopes.take_inner();
        self.scopes.push();
        for (name, argument) in names.iter().zip(arguments) {
            self.declare(name, Binding::Type(argument.clone()));
        }
        let result = check(self);
        self.scopes.restore_inner(inner);
        result
    }

    /// The type that a template is for these arguments.
    pub(super) fn instantiate(&mut self, index: usize, arguments: &[Type], span: Span) -> Type {
        if let Some(known) = self.templates.known(index, arguments) {
            return known;
        }
        let Some(template) = self.templates.get(index) else { return Type::Wrong };
        if self.templates.made.len() > INSTANCE_COUNT_MAX {
            self.error("generic", span, "type arguments nest without end here");
            return Type::Wrong;
        }
        match template {
            Template::ControlType(found) => {
                Type::ControlType(found.name.text.clone(), arguments.to_vec())
            }
            Template::ParserType(found) => {
                Type::ParserType(found.name.text.clone(), arguments.to_vec())
            }
            Template::Extern(found) => self.instantiate_extern(index, found, arguments, span),
            Template::Package(found) => self.instantiate_package(index, found, arguments),
            Template::Struct(found) => self.instantiate_struct(index, found, arguments),
            Template::Function(_) => Type::Wrong,
        }
    }

    /// A struct, header or union for these types.
    fn instantiate_struct(
        &mut self,
        index: usize,
        declaration: &'a ast::DerivedTypeDeclaration,
        arguments: &[Type],
    ) -> Type {
        let made = self.with_type_parameters(&declaration.type_parameters, arguments, |checker| {
            let fields = checker.struct_fields(declaration);
            Struct {
                annotations: checker.annotations(&declaration.annotations),
                kind: declaration.kind,
                name: declaration.name.clone(),
                type_arguments: arguments.to_vec(),
                fields,
                span: declaration.span,
            }
        });
        // Once more with the real types: a header of T is no header for every T.
        for (field, written) in made.fields.iter().zip(&declaration.fields) {
            if !self.may_be_field(declaration.kind, &field.ty) {
                self.report_field(declaration.kind, &field.ty, written.span);
            }
        }
        for (field, written) in made.fields.iter().zip(&declaration.fields) {
            self.note_part(Kind::Field, &field.name, Some(&field.ty), written.span);
        }
        let weight = made
            .fields
            .iter()
            .fold(1usize, |sum, field| sum.saturating_add(self.weight(&field.ty)));
        let id = self.program.structs.push(made);
        self.struct_weights.insert(id, weight);
        let ty = self.limit_weight(Type::Struct(id), declaration.name.span);
        self.templates.remember(index, arguments.to_vec(), ty.clone());
        ty
    }

    /// Its fields, with the parameters standing for the arguments.
    fn struct_fields(&mut self, declaration: &'a ast::DerivedTypeDeclaration) -> Vec<Field> {
        let fields = declaration.fields.iter();
        fields
            .map(|field| Field {
                annotations: self.annotations(&field.annotations),
                name: field.name.clone(),
                ty: self.type_ref(&field.type_ref),
            })
            .collect()
    }

    /// An extern for these types.
    fn instantiate_extern(
        &mut self,
        index: usize,
        declaration: &'a ast::ExternDeclaration,
        arguments: &[Type],
        span: Span,
    ) -> Type {
        let made = Extern {
            annotations: self.annotations(&declaration.annotations),
            name: declaration.name.clone(),
            type_arguments: arguments.to_vec(),
            methods: Vec::new(),
            known: architecture::object(self.program.declared_architecture, &declaration.name.text),
            span: declaration.span,
        };
        let id = self.program.externs.push(made);
        // Methods may mention the extern itself: it is known before they are read.
        self.templates.remember(index, arguments.to_vec(), Type::Extern(id));
        let ((), messages) = self.capture(|checker| {
            let methods = declaration.methods.iter();
            let object = &declaration.name.text;
            let made =
                checker.with_type_parameters(&declaration.type_parameters, arguments, |checker| {
                    methods.map(|method| checker.method(method, object)).collect()
                });
            checker.program.externs[id].methods = made;
            checker.check_methods(id);
        });
        if arguments == rigid_variables(&declaration.type_parameters) {
            messages.into_iter().for_each(|message| self.report(message));
        } else if let Some(first) = messages.into_iter().next() {
            // The declaration itself is right: it is these types that make it wrong.
            let name = &declaration.name.text;
            let title = format!("`{name}` cannot have these types: {}", first.title);
            self.report(
                Diagnostic::error("type", span, title)
                    .related(first.primary.span, "because of this"),
            );
        }
        Type::Extern(id)
    }

    /// No method takes the extern itself, no two are called the same way.
    fn check_methods(&mut self, id: Id<Extern>) {
        let mut errors: Vec<(Span, String)> = Vec::new();
        let methods = &self.program.externs[id].methods;
        for (at, method) in methods.iter().enumerate() {
            let own = method.parameters.iter().find(|info| info.ty == Type::Extern(id));
            errors.extend(own.map(|info| {
                (
                    info.name.span,
                    format!("`{}` cannot take an object of its own type", method.name.text),
                )
            }));
            let block = method.parameters.iter().find(|info| {
                matches!(info.ty, Type::ControlType(..) | Type::ParserType(..) | Type::Package(_))
            });
            errors.extend(block.map(|info| {
                (info.name.span, format!("`{}` cannot take parsers or controls", method.name.text))
            }));
            let names = |method: &Method| -> Vec<Text> {
                method.parameters.iter().map(|info| info.name.text.clone()).collect()
            };
            let is_same = |other: &Method| {
                other.name.text == method.name.text && names(other) == names(method)
            };
            if methods.iter().take(at).any(is_same) {
                let title =
                    format!("`{}` is declared twice with these parameters", method.name.text);
                errors.push((method.name.span, title));
            }
        }
        errors.into_iter().for_each(|(span, title)| self.error("extern", span, title));
    }

    /// One method; its own type parameters stay open.
    fn method(&mut self, method: &'a ast::MethodPrototype, object: &Text) -> Method {
        let prototype = &method.prototype;
        if method.kind != ast::MethodKind::Constructor && prototype.name.text == *object {
            let title = "a constructor returns nothing: it has no type in front of its name";
            self.error("extern", prototype.span, title);
        }
        self.scopes.push();
        let type_parameters = self.declare_type_variables(&prototype.type_parameters);
        let made = Method {
            annotations: self.annotations(&method.annotations),
            kind: method.kind,
            name: prototype.name.clone(),
            type_parameters,
            parameters: self.parameter_infos(&prototype.parameters),
            return_type: self.return_type(&prototype.return_type),
            known: architecture::object(self.program.declared_architecture, object)
                .and_then(|object| object.method(&prototype.name.text)),
        };
        self.scopes.pop();
        self.note_part(Kind::Method, &prototype.name, None, prototype.span);
        made
    }

    /// Type parameters that calls will solve for.
    pub(super) fn declare_type_variables(&mut self, names: &[ast::Name]) -> Vec<Text> {
        for name in names {
            self.declare(name, Binding::Type(Type::Variable(name.text.clone())));
        }
        names.iter().map(|name| name.text.clone()).collect()
    }

    /// A package for these types.
    fn instantiate_package(
        &mut self,
        index: usize,
        declaration: &'a ast::PackageTypeDeclaration,
        arguments: &[Type],
    ) -> Type {
        let made =
            self.with_type_parameters(&declaration.type_parameters, arguments, |checker| Package {
                annotations: checker.annotations(&declaration.annotations),
                name: declaration.name.clone(),
                type_arguments: arguments.to_vec(),
                parameters: checker.parameter_infos(&declaration.parameters),
                span: declaration.span,
            });
        let ty = Type::Package(self.program.packages.push(made));
        self.templates.remember(index, arguments.to_vec(), ty.clone());
        ty
    }

    /// Parameters of something without a body.
    pub(super) fn parameter_infos(
        &mut self,
        parameters: &'a [ast::Parameter],
    ) -> Vec<ParameterInfo> {
        self.check_parameter_names(parameters);
        parameters
            .iter()
            .filter_map(|parameter| {
                // `RegisterAction<T, I, void>` has no output.
                let ty = match is_optional(parameter) {
                    true => self.type_argument(&parameter.type_ref),
                    false => self.type_ref(&parameter.type_ref),
                };
                if ty == Type::Void {
                    return None;
                }
                self.check_direction(parameter, &ty, false);
                let default = parameter.default.as_ref().map(|value| {
                    let value = self.expression(value, Some(&ty));
                    self.convert(value, &ty)
                });
                Some(ParameterInfo {
                    annotations: self.annotations(&parameter.annotations),
                    name: parameter.name.clone(),
                    direction: parameter.direction,
                    ty,
                    is_optional: is_optional(parameter),
                    default,
                })
            })
            .collect()
    }
}

/// `@optional` in front of a parameter.
pub(super) fn is_optional(parameter: &ast::Parameter) -> bool {
    parameter.annotations.iter().any(|annotation| &*annotation.name.text == "optional")
}

/// One type variable for each parameter, equal to nothing else: the parameters' names with a
/// prime, so that no call's variables are taken for them.
pub(super) fn rigid_variables(names: &[ast::Name]) -> Vec<Type> {
    names.iter().map(|name| Type::Variable(format!("{}'", name.text).into())).collect()
}
