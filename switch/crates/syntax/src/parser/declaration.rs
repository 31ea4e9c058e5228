//! Declarations.

use super::Parser;
use crate::tree::{
    ActionDeclaration, Annotation, BlockStatement, ControlDeclaration, ControlLocalDeclaration,
    Declaration, DerivedKind, DerivedTypeDeclaration, Direction, EnumDeclaration, Enumerator,
    ExternDeclaration, FunctionDeclaration, FunctionPrototype, Instantiation, MethodKind,
    MethodPrototype, Name, ObjDeclaration, PackageTypeDeclaration, Parameter, PrefixedName,
    Program, Signature, StructField, TypeKind, TypeRef, TypedefDeclaration,
};
use crate::{Diagnostic, Span};

impl Parser<'_> {
    /// Declarations until the end; a semicolon on its own is none.
    pub(super) fn p4program(&mut self) -> Program {
        let mut declarations = Vec::new();
        while !self.is_end() {
            if self.eat(";") {
                continue;
            }
            let before = self.at;
            self.depth = 0;
            if self.at("header_type") && super::is_name(self.token(1)) && self.token(2).is("{") {
                self.report_p4_14();
                break;
            }
            match self.declaration() {
                Some(declaration) => declarations.push(declaration),
                None => self.skip_item(),
            }
            // A closing brace too many stops every skip.
            if self.at == before {
                self.expected("a declaration");
                self.bump();
            }
        }
        Program { declarations }
    }

    /// `header_type name {` begins a declaration of P4's first version, which no other rule of this
    /// grammar fits.
    fn report_p4_14(&mut self) {
        let title = "this program is written in P4_14, the first version of the language";
        let hint = "this compiler is for P4_16; p4test --std p4-14 --pp new.p4 translates the \
                    program";
        self.report(Diagnostic::error("p4-14", self.span(), title).hint(hint));
    }

    /// Any declaration of the top level; the first word tells which.
    fn declaration(&mut self) -> Option<Declaration> {
        let start = self.span();
        let annotations = self.opt_annotations()?;
        let is_block = self.token(1).is("{");
        Some(match &*self.peek().text {
            "const" => Declaration::Constant(self.constant_declaration(annotations, start)?),
            "extern" => self.extern_declaration(annotations, start)?,
            "action" => Declaration::Action(self.action_declaration(annotations, start)?),
            "parser" => self.parser_declaration(annotations, start)?,
            "control" => self.control_declaration(annotations, start)?,
            "package" => self.package_type_declaration(annotations, start)?,
            "struct" | "header" | "header_union" => {
                Declaration::Derived(self.derived_type_declaration(annotations, start)?)
            }
            "enum" => Declaration::Enum(self.enum_declaration(annotations, start)?),
            "error" if is_block => Declaration::Error(self.identifier_list()?),
            "match_kind" if is_block => Declaration::MatchKind(self.identifier_list()?),
            "typedef" => self.typedef_declaration(annotations, start)?,
            // `type` is a keyword only in front of a type.
            "type" if !self.token(1).is("(") && !self.token(1).is("<") => {
                self.typedef_declaration(annotations, start)?
            }
            _ => self.function_or_instantiation(annotations, start)?,
        })
    }

    /// `{ name, name }`.
    fn identifier_list(&mut self) -> Option<Vec<Name>> {
        self.bump();
        self.expect("{")?;
        let names = self.comma_list("}", |parser| parser.name())?;
        self.expect("}")?;
        Some(names)
    }

    /// Both begin with a type; what follows the name tells.
    fn function_or_instantiation(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Option<Declaration> {
        if self.instantiation_follows() {
            return Some(Declaration::Instantiation(self.instantiation(annotations, start)?));
        }
        let starts_type = self.at_type() || self.at_name() || self.at(".");
        if !starts_type {
            self.expected("a declaration");
            return None;
        }
        // A variable has no place here, but a name of its own in the message.
        let variable = self.attempt(|parser| {
            let declaration = parser.variable_declaration_without_semicolon(Vec::new(), start)?;
            parser.expect(";")?;
            Some(declaration)
        });
        if let Some(variable) = variable {
            return Some(Declaration::Variable(variable));
        }
        Some(Declaration::Function(self.function_declaration(annotations)?))
    }

    /// `Type(arguments) name` or `Type<...>(arguments) name`: what makes it an instantiation is
    /// the parenthesis right behind the type.
    pub(super) fn instantiation_follows(&self) -> bool {
        let mut ahead = usize::from(self.at("."));
        if !super::is_name(self.token(ahead)) {
            return false;
        }
        ahead += 1;
        if self.token(ahead).is("<") {
            let mut depth = 0usize;
            loop {
                let token = self.token(ahead);
                match &*token.text {
                    "<" => depth += 1,
                    ">" => depth -= 1,
                    ";" | "{" | "" => return false,
                    _ => {}
                }
                ahead += 1;
                if depth == 0 {
                    break;
                }
            }
        }
        self.token(ahead).is("(")
    }

    /// `Type(arguments) name;`, or with an initializer `= { ... }`.
    pub(super) fn instantiation(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Option<Instantiation> {
        let type_ref = self.type_ref()?;
        let arguments = self.argument_list()?;
        let name = self.name()?;
        let initializer = if self.eat("=") {
            self.expect("{")?;
            Some(self.braced(|parser| parser.obj_declaration())?)
        } else {
            None
        };
        self.expect(";")?;
        self.type_names.declare(&name.text, false);
        let span = start.to(self.last_span());
        Some(Instantiation { annotations, type_ref, arguments, name, initializer, span })
    }

    /// Inside of an initializer: a method or another object.
    fn obj_declaration(&mut self) -> Option<ObjDeclaration> {
        let start = self.span();
        let annotations = self.opt_annotations()?;
        if self.instantiation_follows() {
            return Some(ObjDeclaration::Instantiation(self.instantiation(annotations, start)?));
        }
        Some(ObjDeclaration::Function(self.function_declaration(annotations)?))
    }

    /// `type name<T>(parameters) { ... }`.
    fn function_declaration(
        &mut self,
        annotations: Vec<Annotation>,
    ) -> Option<FunctionDeclaration> {
        self.type_names.push();
        let function = self.function_prototype().and_then(|prototype| {
            let body = self.block_statement(Vec::new())?;
            Some(FunctionDeclaration { annotations, prototype, body })
        });
        self.type_names.pop();
        function
    }

    /// Declares its type parameters in the innermost scope.
    fn function_prototype(&mut self) -> Option<FunctionPrototype> {
        let start = self.span();
        let return_type = self.type_ref()?;
        let name = self.name()?;
        let type_parameters = self.opt_type_parameters()?;
        let parameters = self.parameter_list()?;
        let span = start.to(self.last_span());
        Some(FunctionPrototype { return_type, name, type_parameters, parameters, span })
    }

    /// `(parameter, ...)`.
    fn parameter_list(&mut self) -> Option<Vec<Parameter>> {
        self.expect("(")?;
        let list = self.comma_list(")", |parser| parser.parameter())?;
        self.expect(")")?;
        Some(list)
    }

    /// `direction type name`, perhaps `= default`.
    fn parameter(&mut self) -> Option<Parameter> {
        let start = self.span();
        let annotations = self.opt_annotations()?;
        let direction = match &*self.peek().text {
            "in" => Direction::In,
            "inout" => Direction::InOut,
            "out" => Direction::Out,
            _ => Direction::None,
        };
        if direction != Direction::None {
            self.bump();
        }
        let type_ref = self.type_ref()?;
        let name = self.name()?;
        let default = if self.eat("=") { Some(self.expression()?) } else { None };
        // A parameter hides a type of its name: `parser p(packet_in p)`.
        self.type_names.declare(&name.text, false);
        let span = start.to(self.last_span());
        Some(Parameter { annotations, direction, type_ref, name, default, span })
    }

    /// `(parameters)` behind those of `apply`.
    pub(super) fn opt_constructor_parameters(&mut self) -> Option<Vec<Parameter>> {
        if self.at("(") { self.parameter_list() } else { Some(Vec::new()) }
    }

    /// `action name(parameters) { ... }`.
    fn action_declaration(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Option<ActionDeclaration> {
        self.expect("action")?;
        let name = self.name()?;
        self.type_names.push();
        let parameters = self.parameter_list();
        let body = parameters.as_ref().and_then(|_| self.block_statement(Vec::new()));
        self.type_names.pop();
        let (parameters, body) = (parameters?, body?);
        let span = start.to(self.last_span());
        Some(ActionDeclaration { annotations, name, parameters, body, span })
    }

    /// `parser name<T>(parameters)`; type parameters go to the innermost scope.
    fn signature(&mut self, annotations: Vec<Annotation>, start: Span) -> Option<Signature> {
        self.bump();
        let name = self.name()?;
        let type_parameters = self.opt_type_parameters()?;
        let parameters = self.parameter_list()?;
        let span = start.to(self.last_span());
        Some(Signature { annotations, name, type_parameters, parameters, span })
    }

    /// `parser name(parameters)`: with a body a parser, with a semicolon the type of one.
    fn parser_declaration(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Option<Declaration> {
        self.declare_next_name();
        self.type_names.push();
        let declaration = self.signature(annotations, start).and_then(|signature| {
            Some(if self.eat(";") {
                Declaration::ParserType(signature)
            } else {
                Declaration::Parser(self.parser_body(signature)?)
            })
        });
        self.type_names.pop();
        declaration
    }

    /// `control name(parameters)`: with a body a control, with a semicolon the type of one.
    fn control_declaration(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Option<Declaration> {
        self.declare_next_name();
        self.type_names.push();
        let declaration = self.signature(annotations, start).and_then(|signature| {
            Some(if self.eat(";") {
                Declaration::ControlType(signature)
            } else {
                Declaration::Control(self.control_body(signature)?)
            })
        });
        self.type_names.pop();
        declaration
    }

    /// The name behind the keyword is a type from here on, in its own declaration too.
    fn declare_next_name(&mut self) {
        let name = self.token(1);
        self.type_names.declare(&name.text, true);
    }

    /// Locals, then `apply { ... }`.
    fn control_body(&mut self, signature: Signature) -> Option<ControlDeclaration> {
        let start = signature.span;
        let constructor_parameters = self.opt_constructor_parameters()?;
        let opened = self.expect("{")?;
        let mut locals = Vec::new();
        while !(self.at("apply") && (self.token(1).is("{") || self.token(1).is("@"))) {
            if self.at_close() {
                self.expected("`apply { ... }`");
                break;
            }
            let before = self.at;
            match self.control_local_declaration() {
                Some(local) => locals.push(local),
                None => self.skip_item(),
            }
            if self.at == before {
                self.bump();
            }
        }
        let body = if self.eat("apply") {
            let annotations = self.opt_annotations()?;
            self.block_statement(annotations)?
        } else {
            let span = self.last_span().after();
            BlockStatement { annotations: Vec::new(), statements: Vec::new(), span }
        };
        self.close(opened);
        let span = start.to(self.last_span());
        Some(ControlDeclaration { signature, constructor_parameters, locals, body, span })
    }

    /// A constant, action, table, instance or variable.
    fn control_local_declaration(&mut self) -> Option<ControlLocalDeclaration> {
        let start = self.span();
        let annotations = self.opt_annotations()?;
        Some(match &*self.peek().text {
            "const" => {
                ControlLocalDeclaration::Constant(self.constant_declaration(annotations, start)?)
            }
            "action" => {
                ControlLocalDeclaration::Action(self.action_declaration(annotations, start)?)
            }
            "table" => ControlLocalDeclaration::Table(self.table_declaration(annotations, start)?),
            _ if self.instantiation_follows() => {
                ControlLocalDeclaration::Instantiation(self.instantiation(annotations, start)?)
            }
            _ => {
                let variable = self.variable_declaration_without_semicolon(annotations, start)?;
                self.expect(";")?;
                ControlLocalDeclaration::Variable(variable)
            }
        })
    }

    /// `package name<T>(parameters);`.
    fn package_type_declaration(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Option<Declaration> {
        self.declare_next_name();
        self.type_names.push();
        let signature = self.signature(annotations, start);
        self.type_names.pop();
        let Signature { annotations, name, type_parameters, parameters, span } = signature?;
        self.expect(";")?;
        let package =
            PackageTypeDeclaration { annotations, name, type_parameters, parameters, span };
        Some(Declaration::Package(package))
    }

    /// An object with methods, or a function.
    fn extern_declaration(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Option<Declaration> {
        self.expect("extern")?;
        let is_object = self.at_name() && (self.token(1).is("{") || self.object_type_follows());
        if is_object {
            self.type_names.declare(&self.peek().text, true);
        }
        self.type_names.push();
        let declaration = if is_object {
            self.extern_object(annotations, start).map(Declaration::Extern)
        } else {
            self.function_prototype().and_then(|prototype| {
                self.expect(";")?;
                Some(Declaration::ExternFunction { annotations, prototype })
            })
        };
        self.type_names.pop();
        declaration
    }

    /// `name<...> {`: an extern object with type parameters, not a function that returns one.
    fn object_type_follows(&self) -> bool {
        if !self.token(1).is("<") {
            return false;
        }
        let close = (2..).find(|ahead| {
            let token = self.token(*ahead);
            token.is(">") || token.is(";") || token.text.is_empty()
        });
        close.is_some_and(|ahead| self.token(ahead + 1).is("{"))
    }

    /// `extern name<T> { methods }`.
    fn extern_object(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Option<ExternDeclaration> {
        let name = self.name()?;
        let type_parameters = self.opt_type_parameters()?;
        self.expect("{")?;
        let object_name = name.clone();
        let methods = self.braced(|parser| parser.method_prototype(&object_name))?;
        let span = start.to(self.last_span());
        Some(ExternDeclaration { annotations, name, type_parameters, methods, span })
    }

    /// `type name(parameters);`, perhaps `abstract`; a constructor has no type.
    fn method_prototype(&mut self, object: &Name) -> Option<MethodPrototype> {
        let annotations = self.opt_annotations()?;
        self.type_names.push();
        let is_constructor = self.at(&object.text) && self.token(1).is("(");
        let (kind, prototype) = if is_constructor {
            (MethodKind::Constructor, self.constructor_prototype())
        } else if self.eat("abstract") {
            (MethodKind::Abstract, self.function_prototype())
        } else {
            (MethodKind::Method, self.function_prototype())
        };
        self.type_names.pop();
        let prototype = prototype?;
        self.expect(";")?;
        Some(MethodPrototype { annotations, kind, prototype })
    }

    /// `name(parameters);` inside of the extern `name`.
    fn constructor_prototype(&mut self) -> Option<FunctionPrototype> {
        let start = self.span();
        let name = self.name()?;
        let parameters = self.parameter_list()?;
        let return_type = TypeRef { kind: TypeKind::Void, span: name.span };
        let span = start.to(self.last_span());
        Some(FunctionPrototype { return_type, name, type_parameters: Vec::new(), parameters, span })
    }

    /// `struct`, `header` or `header_union`, with fields.
    fn derived_type_declaration(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Option<DerivedTypeDeclaration> {
        let kind = match &*self.peek().text {
            "header" => DerivedKind::Header,
            "header_union" => DerivedKind::HeaderUnion,
            _ => DerivedKind::Struct,
        };
        self.declare_next_name();
        self.bump();
        let name = self.name()?;
        self.type_names.push();
        let type_parameters = self.opt_type_parameters();
        let fields = self.expect("{").and_then(|_| self.braced(|parser| parser.struct_field()));
        self.type_names.pop();
        let (type_parameters, fields) = (type_parameters?, fields?);
        let span = start.to(self.last_span());
        Some(DerivedTypeDeclaration { annotations, kind, name, type_parameters, fields, span })
    }

    /// `type name;`.
    fn struct_field(&mut self) -> Option<StructField> {
        let start = self.span();
        let annotations = self.opt_annotations()?;
        let type_ref = self.type_ref()?;
        let name = self.name()?;
        self.expect(";")?;
        Some(StructField { annotations, type_ref, name, span: start.to(self.last_span()) })
    }

    /// `enum name { a, b }` or `enum bit<8> name { a = 1 }`.
    fn enum_declaration(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Option<EnumDeclaration> {
        self.expect("enum")?;
        let has_type = !(self.at_name() && self.token(1).is("{"));
        let underlying = if has_type { Some(self.type_ref()?) } else { None };
        let name = self.name()?;
        self.type_names.declare(&name.text, true);
        self.expect("{")?;
        let members = self.comma_list("}", |parser| {
            let name = parser.name()?;
            let value = if parser.eat("=") { Some(parser.expression()?) } else { None };
            Some(Enumerator { name, value })
        })?;
        self.expect("}")?;
        let span = start.to(self.last_span());
        Some(EnumDeclaration { annotations, underlying, name, members, span })
    }

    /// `typedef type name;` or `type type name;`.
    fn typedef_declaration(
        &mut self,
        annotations: Vec<Annotation>,
        start: Span,
    ) -> Option<Declaration> {
        let is_new_type = self.bump().is("type");
        let from = self.span();
        let inner_annotations = self.opt_annotations()?;
        let inner = match &*self.peek().text {
            "struct" | "header" | "header_union" => {
                Some(Declaration::Derived(self.derived_type_declaration(inner_annotations, from)?))
            }
            "enum" => Some(Declaration::Enum(self.enum_declaration(inner_annotations, from)?)),
            _ => None,
        };
        let type_ref = match &inner {
            Some(Declaration::Derived(derived)) => type_name(&derived.name),
            Some(Declaration::Enum(declared)) => type_name(&declared.name),
            _ => self.type_ref()?,
        };
        let name = self.name()?;
        self.expect(";")?;
        self.type_names.declare(&name.text, true);
        let span = start.to(self.last_span());
        let derived = inner.map(Box::new);
        let typedef =
            TypedefDeclaration { annotations, is_new_type, type_ref, derived, name, span };
        Some(Declaration::Typedef(typedef))
    }
}

/// A name where a type is wanted.
fn type_name(name: &Name) -> TypeRef {
    let prefixed = PrefixedName { is_global: false, name: name.clone() };
    TypeRef { kind: TypeKind::Name(prefixed), span: name.span }
}
