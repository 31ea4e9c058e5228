//! Instances: of externs, parsers, controls and packages.
//!
//! Before: `Type(arguments) name;` as written. After: an [`Instance`] with its type arguments found, its
//! constructor picked, its arguments converted, and a body for each abstract method.
//!
//! Nothing is elaborated: a control in a control that is instantiated twice is one instance here. The
//! back end makes the copies.

use super::Checker;
use super::argument::ARGUMENT;
use super::convert::MISMATCH;
use super::parameter::Parameter;
use super::scope::Binding;
use super::template::Template;
use super::unify::Solution;
use crate::architecture::Architecture;
use crate::types::tree::{
    Argument, Extern, Function, Id, Instance, InstanceKind, Package, Text, Type,
};
use syntax::tree::{
    self as ast, Instantiation, MethodKind, ObjDeclaration, PrefixedName, TypeKind,
};
use syntax::{Diagnostic, Span};

impl<'a> Checker<'a, '_> {
    /// `Type(arguments) name;`
    pub(super) fn instantiation(&mut self, declaration: &'a Instantiation) -> Option<Id<Instance>> {
        let made = self.construct(&declaration.type_ref, &declaration.arguments, declaration.span);
        let Some(mut instance) = made else {
            // Declared nevertheless: its uses are no errors of their own.
            if self.scopes.find_here(&declaration.name.text).is_none() {
                let variable = self.wrong_variable(declaration);
                self.declare(&declaration.name, Binding::Variable(variable));
            }
            return None;
        };
        instance.annotations = self.annotations(&declaration.annotations);
        instance.name = Some(declaration.name.clone());
        if let InstanceKind::Package(id) = instance.kind
            && !self.scopes.is_top()
        {
            let title =
                format!("package `{}` cannot be made here", self.program.packages[id].name.text);
            self.error("package", declaration.span, title);
        }
        if self.scopes.is_top()
            && matches!(instance.kind, InstanceKind::Control(_) | InstanceKind::Parser(_))
        {
            let title = "parsers and controls cannot be made at the top level";
            self.report(
                Diagnostic::error("instance", declaration.name.span, title)
                    .hint("make it inside of the control or parser that applies it"),
            );
        }
        let is_extern = matches!(instance.kind, InstanceKind::Extern { .. });
        if let (Some(initializer), false) = (&declaration.initializer, is_extern) {
            let place = initializer.first().map_or(declaration.span, ObjDeclaration::span);
            self.error("extern", place, "only externs take an initializer, `= { ... }`");
        }
        if let InstanceKind::Extern { of, .. } = instance.kind {
            let bodies = declaration.initializer.as_deref();
            instance.methods = self.abstract_methods(of, bodies, declaration.span);
        }
        let id = self.program.instances.push(instance);
        self.declare(&declaration.name, Binding::Instance(id));
        Some(id)
    }

    /// Stands for an instance that could not be made.
    fn wrong_variable(&mut self, declaration: &Instantiation) -> Id<crate::types::tree::Variable> {
        self.program.variables.push(crate::types::tree::Variable {
            annotations: Vec::new(),
            name: declaration.name.clone(),
            ty: Type::Wrong,
            kind: crate::types::tree::VariableKind::Local,
            span: declaration.span,
        })
    }

    /// An instance without a name.
    pub(super) fn construct(
        &mut self,
        type_ref: &'a ast::TypeRef,
        arguments: &'a [ast::Argument],
        span: Span,
    ) -> Option<Instance> {
        let (name, type_arguments): (&PrefixedName, &'a [ast::TypeRef]) = match &type_ref.kind {
            TypeKind::Name(name) => (name, &[]),
            TypeKind::Specialized { name, arguments } => (name, arguments),
            _ => {
                let ty = self.type_ref(type_ref);
                self.report_no_object(&ty, type_ref.span);
                return None;
            }
        };
        let binding = self.resolve(name);
        match binding {
            Some(Binding::Template(index)) => {
                self.construct_template(index, type_arguments, arguments, type_ref, span)
            }
            Some(Binding::Type(Type::Control(_) | Type::Parser(_)))
                if !type_arguments.is_empty() =>
            {
                let title = format!("`{}` has a body, so it cannot be generic", name.name.text);
                self.error("generic", type_ref.span, title);
                None
            }
            Some(Binding::Type(Type::Control(id))) => {
                let variables = self.program.controls[id].constructor_parameters.clone();
                let parameters = self.parameters_of(&variables);
                self.construct_with(
                    InstanceKind::Control(id),
                    &name.name.text,
                    parameters,
                    arguments,
                    span,
                )
            }
            Some(Binding::Type(Type::Parser(id))) => {
                let variables = self.program.parsers[id].constructor_parameters.clone();
                let parameters = self.parameters_of(&variables);
                self.construct_with(
                    InstanceKind::Parser(id),
                    &name.name.text,
                    parameters,
                    arguments,
                    span,
                )
            }
            Some(Binding::Type(Type::Extern(id))) if type_arguments.is_empty() => {
                self.construct_extern(Type::Extern(id), arguments, span)
            }
            _ => {
                let ty = self.type_ref(type_ref);
                self.report_no_object(&ty, type_ref.span);
                None
            }
        }
    }

    /// The type is one of values, not of objects.
    fn report_no_object(&mut self, ty: &Type, span: Span) {
        if *ty != Type::Wrong {
            let title = format!("no object can be made of `{}`", self.show(ty));
            self.error("type", span, title);
        }
    }

    /// An instance whose type and parameters are known.
    fn construct_with(
        &mut self,
        kind: InstanceKind,
        name: &str,
        mut parameters: Vec<Parameter>,
        arguments: &'a [ast::Argument],
        span: Span,
    ) -> Option<Instance> {
        parameters.iter_mut().for_each(|parameter| parameter.is_constant = true);
        let mut solution = Solution::default();
        let package = match kind {
            InstanceKind::Package(id) => Some(id),
            _ => None,
        };
        let arguments = self.blocks(package, name, &parameters, arguments, &mut solution, span)?;
        Some(instance(kind, arguments, span))
    }

    /// The arguments of a constructor. For a package that the program declares itself, a misfit is
    /// as likely in the declaration as in the argument, and messages show both, the declaration
    /// first; a package of the architecture is right.
    fn blocks(
        &mut self,
        package: Option<Id<Package>>,
        name: &str,
        parameters: &[Parameter],
        arguments: &'a [ast::Argument],
        solution: &mut Solution,
        span: Span,
    ) -> Option<Vec<Argument>> {
        let declared = package.map(|id| self.program.packages[id].name.span);
        let Some(declared) = declared.filter(|declared| declared.file == span.file) else {
            return self.arguments(name, parameters, arguments, solution, span);
        };
        let (made, messages) =
            self.capture(|checker| checker.arguments(name, parameters, arguments, solution, span));
        for message in messages {
            match message.code {
                MISMATCH | ARGUMENT => {
                    let title = format!("package `{name}` does not fit what it is made of here");
                    let mut moved = Diagnostic::error(message.code, declared, title)
                        .related(message.primary.span, message.title);
                    moved.related.extend(message.related);
                    self.report(Diagnostic { hint: message.hint, ..moved });
                }
                _ => self.report(message),
            }
        }
        made
    }

    /// An instance of an extern or package; type arguments that are not written are inferred.
    fn construct_template(
        &mut self,
        index: usize,
        written: &'a [ast::TypeRef],
        arguments: &'a [ast::Argument],
        type_ref: &'a ast::TypeRef,
        span: Span,
    ) -> Option<Instance> {
        let template = self.templates.get(index)?;
        let names: Vec<Text> =
            template.type_parameters().iter().map(|name| name.text.clone()).collect();
        if !matches!(template, Template::Extern(_) | Template::Package(_)) {
            let ty = self.type_ref(type_ref);
            self.report_no_object(&ty, type_ref.span);
            return None;
        }
        let infers = written.len() != names.len() || written.iter().any(is_dont_care);
        if !infers || !written.is_empty() && written.len() != names.len() {
            let ty = self.type_ref(type_ref);
            return match ty {
                Type::Extern(_) => self.construct_extern(ty, arguments, span),
                Type::Package(id) => {
                    let parameters = self.package_parameters(&Type::Package(id));
                    let name = template.name().text.clone();
                    self.construct_with(
                        InstanceKind::Package(id),
                        &name,
                        parameters,
                        arguments,
                        span,
                    )
                }
                _ => None,
            };
        }
        // The parameters with open types; what the arguments say closes them.
        let open: Vec<Type> = names.iter().map(|name| Type::Variable(name.clone())).collect();
        let pattern = self.instantiate(index, &open, type_ref.span);
        let name = template.name().text.clone();
        let parameters = match &pattern {
            Type::Extern(id) => self.constructor(*id, arguments, span)?.1,
            _ => self.package_parameters(&pattern),
        };
        let mut solution = Solution::new(&names);
        for (name, argument) in names.iter().zip(written) {
            let ty = self.type_argument(argument);
            solution.set(name, ty);
        }
        let package = match pattern {
            Type::Package(id) => Some(id),
            _ => None,
        };
        let made = self.blocks(package, &name, &parameters, arguments, &mut solution, span)?;
        self.take_type_of_register(&names, written, &made, &mut solution);
        let types =
            self.solved_types(&name, &names, written, &solution, &pattern, type_ref.span)?;
        let kind = match self.instantiate(index, &types, span) {
            Type::Package(id) => InstanceKind::Package(id),
            Type::Extern(of) => {
                let constructor = self.constructor(of, arguments, span)?.0;
                InstanceKind::Extern { of, constructor }
            }
            _ => return None,
        };
        Some(instance(kind, made, span))
    }

    /// `RegisterAction<_, bit<16>, bit<32>>(counts)`: the cells are those of the register, whose
    /// types the constructor's parameter leaves open.
    fn take_type_of_register(
        &self,
        names: &[Text],
        written: &[ast::TypeRef],
        made: &[Argument],
        solution: &mut Solution,
    ) {
        let (Some(name), Some(written)) = (names.first(), written.first()) else { return };
        let Some(Argument::Expression(register)) = made.first() else { return };
        if let (Type::Extern(of), true, None) =
            (&register.ty, is_dont_care(written), solution.get(name))
            && let Some(cell) = self.program.externs[*of].type_arguments.first()
        {
            solution.set(name, cell.clone());
        }
    }

    /// All types of a package are found through its arguments; of an extern they may have to be
    /// written. Tofino's leave the type of an index open: `Register<bit<32>, _>(1024)`.
    fn solved_types(
        &mut self,
        name: &str,
        names: &[Text],
        written: &[ast::TypeRef],
        solution: &Solution,
        pattern: &Type,
        span: Span,
    ) -> Option<Vec<Type>> {
        if matches!(pattern, Type::Package(_)) {
            let unused = |name: &Text| Type::Variable(name.clone());
            let found = |name: &Text| solution.get(name).cloned().unwrap_or_else(|| unused(name));
            return Some(names.iter().map(found).collect());
        }
        let is_tofino = self.program.declared_architecture.is_some_and(Architecture::is_tofino);
        let mut solution = solution.clone();
        for (name, _) in names.iter().zip(written).skip(1).filter(|_| is_tofino) {
            if solution.get(name).is_none() {
                solution.leave_open(name);
            }
        }
        self.solved(name, names, &solution, span)
    }

    /// The parameters of a package's constructor.
    fn package_parameters(&self, ty: &Type) -> Vec<Parameter> {
        match ty {
            Type::Package(id) => {
                self.program.packages[*id].parameters.iter().map(Parameter::from_info).collect()
            }
            _ => Vec::new(),
        }
    }

    /// An instance of an extern whose type arguments are known.
    fn construct_extern(
        &mut self,
        ty: Type,
        arguments: &'a [ast::Argument],
        span: Span,
    ) -> Option<Instance> {
        let Type::Extern(of) = ty else { return None };
        let name = self.program.externs[of].name.text.clone();
        let (constructor, parameters) = self.constructor(of, arguments, span)?;
        self.construct_with(
            InstanceKind::Extern { of, constructor },
            &name,
            parameters,
            arguments,
            span,
        )
    }

    /// The constructor that these arguments are for, and its parameters.
    fn constructor(
        &mut self,
        of: Id<Extern>,
        arguments: &'a [ast::Argument],
        span: Span,
    ) -> Option<(Option<usize>, Vec<Parameter>)> {
        let found = &self.program.externs[of];
        let name = found.name.text.clone();
        let constructors: Vec<(usize, Vec<Parameter>)> = found
            .methods
            .iter()
            .enumerate()
            .filter(|(_, method)| method.kind == MethodKind::Constructor)
            .map(|(at, method)| (at, method.parameters.iter().map(Parameter::from_info).collect()))
            .collect();
        if constructors.is_empty() {
            let title = format!("objects of `{name}` cannot be made: it has no constructor");
            self.error("extern", span, title);
            return None;
        }
        let signatures: Vec<Vec<Parameter>> =
            constructors.iter().map(|(_, parameters)| parameters.clone()).collect();
        let site = super::call::CallSite { type_arguments: &[], arguments, span };
        let picked = self.pick_overload(&name, &signatures, site)?;
        let (at, parameters) = constructors.into_iter().nth(picked)?;
        Some((Some(at), parameters))
    }

    /// Bodies for the abstract methods of an extern.
    fn abstract_methods(
        &mut self,
        of: Id<Extern>,
        bodies: Option<&'a [ObjDeclaration]>,
        span: Span,
    ) -> Vec<Id<Function>> {
        let mut methods = Vec::new();
        let declared = &self.program.externs[of].methods;
        let has_abstract = declared.iter().any(|method| method.kind == MethodKind::Abstract);
        if let (Some(bodies), false) = (bodies, has_abstract) {
            self.report_no_abstract(of, bodies, span);
            return methods;
        }
        let errors = self.error_count();
        self.scopes.push();
        for declaration in bodies.unwrap_or_default() {
            match declaration {
                ObjDeclaration::Instantiation(inner) => {
                    self.instantiation(inner);
                }
                ObjDeclaration::Function(function) => {
                    let outer = std::mem::take(&mut self.body);
                    let made = self.function(function, Vec::new(), Some(Type::Extern(of)));
                    self.body = outer;
                    // Mistakes inside of the body may be the reason that it does not fit.
                    if self.error_count() == errors {
                        self.check_method_body(of, &made, span);
                    }
                    methods.push(self.program.functions.push(made));
                }
            }
        }
        self.scopes.pop();
        if self.error_count() > errors {
            return methods;
        }
        let missing = self.program.externs[of].methods.iter().find(|method| {
            method.kind == MethodKind::Abstract
                && !method.annotations.iter().any(|annotation| &*annotation.name.text == "optional")
                && !methods
                    .iter()
                    .any(|id| self.program.functions[*id].name.text == method.name.text)
        });
        if let Some(name) = missing.map(|method| method.name.clone()) {
            let title = format!("abstract method `{}` needs a body here", name.text);
            self.report(
                Diagnostic::error("extern", span, title)
                    .related(name.span, "declared here")
                    .hint("write = { ... } behind the object's name"),
            );
        }
        methods
    }

    /// An initializer for an extern that has nothing to initialize. Mistakes in the methods'
    /// signatures are reported instead, as they may be the reason.
    fn report_no_abstract(&mut self, of: Id<Extern>, bodies: &'a [ObjDeclaration], span: Span) {
        let mut messages = Vec::new();
        for declaration in bodies {
            let ObjDeclaration::Function(function) = declaration else { continue };
            let outer = std::mem::take(&mut self.body);
            let (_, found) = self.capture(|checker| {
                checker.function(function, Vec::new(), Some(Type::Extern(of)));
            });
            self.body = outer;
            messages.extend(found.into_iter().filter(|message| message.code != "return"));
        }
        if messages.is_empty() {
            let title = "this extern has no abstract methods that `= { ... }` could be for";
            self.error("extern", span, title);
        }
        messages.into_iter().for_each(|message| self.report(message));
    }

    /// A body must have the very types of the method it is for.
    fn check_method_body(&mut self, of: Id<Extern>, function: &Function, span: Span) {
        let known = self.program.externs[of].methods.iter().find(|method| {
            method.name.text == function.name.text && method.kind == MethodKind::Abstract
        });
        let fits = known.is_some_and(|method| {
            let parameters = self.parameters_of(&function.parameters);
            // Those at the end may be left out if they are optional.
            let left_out = method.parameters.iter().skip(parameters.len());
            method.return_type == function.return_type
                && method.parameters.len() >= parameters.len()
                && left_out.into_iter().all(|parameter| parameter.is_optional)
                && method.parameters.iter().zip(&parameters).all(|(wanted, found)| {
                    wanted.ty == found.ty && wanted.direction == found.direction
                })
        });
        let name = &function.name;
        match known.map(|method| method.name.span) {
            None => {
                let title = format!("there is no abstract method `{}`", name.text);
                self.error("extern", name.span, title);
            }
            Some(declared) if !fits => {
                let title =
                    format!("the body of `{}` has other types than its declaration", name.text);
                self.report(
                    Diagnostic::error("extern", span, title)
                        .related(declared, "declared here")
                        .related(name.span, "the body"),
                );
            }
            Some(_) => {}
        }
    }
}

/// `_`: to be inferred.
fn is_dont_care(type_ref: &ast::TypeRef) -> bool {
    matches!(type_ref.kind, TypeKind::DontCare)
}

/// An instance that has no name yet.
fn instance(kind: InstanceKind, arguments: Vec<Argument>, span: Span) -> Instance {
    Instance {
        annotations: Vec::new(),
        name: None,
        kind,
        arguments,
        methods: Vec::new(),
        is_direct: false,
        span,
    }
}
