//! Calls of methods: of extern objects, `apply` of tables, parsers and controls, and the built-in
//! ones of headers, unions, stacks and types.
//!
//! Before: `base.member(arguments)` as written. After: a call of an extern's method, of `apply`, or of a
//! built-in method. Where each may stand is checked here, because it depends on what is called: tables
//! and controls are applied in controls, parsers in parsers, packets are read in parsers.

use super::call::CallSite;
use super::parameter::Parameter;
use super::scope::Binding;
use super::unify::Solution;
use super::{BodyKind, Checker, constant, wrong};
use crate::architecture::{Meaning, PacketMethod};
use crate::types::tree::{
    Argument, Builtin, Callee, Control, DerivedKind, Expression, ExpressionKind, Extern, Id,
    Instance, InstanceKind, LocalDeclaration, Table, Type, Value,
};
use syntax::tree::{self as ast, ArgumentValue, MethodKind, Name};
use syntax::{Diagnostic, Span};

impl<'a> Checker<'a, '_> {
    /// The base determines the kind of the call.
    pub(super) fn call_member(
        &mut self,
        base: &'a ast::Expression,
        member: &'a Name,
        site: CallSite<'a>,
        expected: Option<&Type>,
    ) -> Expression {
        if let ast::ExpressionKind::Type(type_ref) = &base.kind {
            return self.call_on_type(type_ref, member, site);
        }
        if let ast::ExpressionKind::Name(name) = &base.kind
            && let Some(Binding::Table(id)) = self.resolve(name)
        {
            return self.apply_table(id, member, site);
        }
        let base = self.expression(base, None);
        if self.is_asked(member) {
            self.offer_members(&base.ty);
        }
        match base.ty.clone() {
            Type::Wrong => wrong(site.span),
            Type::Extern(id) => self.call_method(base, id, member, site, expected),
            _ if &*member.text == "apply" => self.apply_object(base, member, site),
            _ => self.call_builtin(base, member, site),
        }
    }

    /// `object.apply(...)` of a parser or control.
    fn apply_object(
        &mut self,
        object: Expression,
        member: &'a Name,
        site: CallSite<'a>,
    ) -> Expression {
        let ty = object.ty.clone();
        let parameters = match &ty {
            Type::Control(id) => self.parameters_of(&self.program.controls[*id].parameters),
            Type::Parser(id) => self.parameters_of(&self.program.parsers[*id].parameters),
            Type::ControlType(name, arguments) | Type::ParserType(name, arguments) => {
                self.signature_parameters(name, arguments, site.span)
            }
            _ => return self.call_builtin(object, member, site),
        };
        let instance = Box::new(object);
        match ty {
            Type::Control(id) => {
                let callee = Callee::Control { control: Some(id), instance };
                self.apply_block(callee, &parameters, BodyKind::Control, site)
            }
            Type::ControlType(..) => {
                let callee = Callee::Control { control: None, instance };
                self.apply_block(callee, &parameters, BodyKind::Control, site)
            }
            Type::Parser(id) => {
                let callee = Callee::Parser { parser: Some(id), instance };
                self.apply_block(callee, &parameters, BodyKind::Parser, site)
            }
            _ => {
                let callee = Callee::Parser { parser: None, instance };
                self.apply_block(callee, &parameters, BodyKind::Parser, site)
            }
        }
    }

    /// `apply` of a control or parser, allowed in its like only.
    fn apply_block(
        &mut self,
        callee: Callee,
        parameters: &[Parameter],
        allowed_in: BodyKind,
        site: CallSite<'a>,
    ) -> Expression {
        if self.body.kind != allowed_in {
            let title = match allowed_in {
                BodyKind::Parser => "a parser can be applied in a parser only",
                _ => "a control can be applied in the `apply` of a control only",
            };
            self.error("call", site.span, title);
            return wrong(site.span);
        }
        let mut solution = Solution::default();
        let arguments =
            self.arguments("apply", parameters, site.arguments, &mut solution, site.span);
        self.finish_call(callee, Vec::new(), arguments, Type::Void, site.span)
    }

    /// `Type.apply(...)` and `Type.minSizeInBits()`.
    fn call_on_type(
        &mut self,
        type_ref: &'a ast::TypeRef,
        member: &'a Name,
        site: CallSite<'a>,
    ) -> Expression {
        if &*member.text != "apply" {
            let ty = self.type_ref(type_ref);
            if self.is_asked(member) {
                self.offer_type_members(&ty);
            }
            return match self.size_method(&ty, member, site.span) {
                Some(size) => size,
                None => {
                    if ty != Type::Wrong {
                        let title =
                            format!("type `{}` has no method `{}`", self.show(&ty), member.text);
                        self.error("unknown-field", member.span, title);
                    }
                    wrong(site.span)
                }
            };
        }
        let Some(mut instance) = self.construct(type_ref, &[], type_ref.span) else {
            return wrong(site.span);
        };
        let name = match instance.kind {
            InstanceKind::Control(id) => self.program.controls[id].name.clone(),
            InstanceKind::Parser(id) => self.program.parsers[id].name.clone(),
            _ => {
                self.error("call", site.span, "only parsers and controls can be applied");
                return wrong(site.span);
            }
        };
        if let Some(first) = self.direct_twin(&instance) {
            let title = format!("`{}` is applied by its type twice", name.text);
            self.report(
                Diagnostic::error("duplicate", site.span, title)
                    .related(first, "here it is applied first")
                    .hint(
                        "each makes an instance, and both would have the same names on the \
                         control plane: declare an instance and apply that, or two instances",
                    ),
            );
            return wrong(site.span);
        }
        instance.is_direct = true;
        instance.name = Some(Name { span: type_ref.span, ..name });
        let id: Id<Instance> = self.program.instances.push(instance);
        self.direct_instances.push(LocalDeclaration::Instance(id));
        let ty = self.instance_type(id);
        let object = Expression { kind: ExpressionKind::Instance(id), ty, span: type_ref.span };
        self.apply_object(object, member, site)
    }

    /// Where this control is applied by its type already, if the control plane would see both.
    fn direct_twin(&self, instance: &Instance) -> Option<Span> {
        let InstanceKind::Control(id) = instance.kind else { return None };
        let twin = self.direct_instances.iter().find_map(|local| match local {
            LocalDeclaration::Instance(id) => {
                let other = &self.program.instances[*id];
                (other.kind == instance.kind).then_some(other.span)
            }
            _ => None,
        })?;
        self.has_names(id).then_some(twin)
    }

    /// Whether the control plane sees a part of a control.
    fn has_names(&self, id: Id<Control>) -> bool {
        self.program.controls[id].locals.iter().any(|local| match local {
            LocalDeclaration::Action(_) | LocalDeclaration::Table(_) => true,
            LocalDeclaration::Instance(id) => match self.program.instances[*id].kind {
                InstanceKind::Control(inner) => self.has_names(inner),
                _ => true,
            },
            LocalDeclaration::ValueSet(_) | LocalDeclaration::Variable { .. } => false,
        })
    }

    /// The only method of a table.
    fn apply_table(&mut self, id: Id<Table>, member: &Name, site: CallSite<'a>) -> Expression {
        if self.is_asked(member) {
            self.offer_apply();
        }
        if &*member.text != "apply" {
            let title = format!("a table has no method `{}`", member.text);
            self.report(
                Diagnostic::error("unknown-field", member.span, title).hint("it has `apply()`"),
            );
            return wrong(site.span);
        }
        if self.body.kind != BodyKind::Control {
            let title = "a table can be applied in the `apply` of a control only";
            self.error("call", site.span, title);
            return wrong(site.span);
        }
        if let Some(argument) = site.arguments.first() {
            self.error("argument", argument.span, "`apply` of a table takes no arguments");
            return wrong(site.span);
        }
        let ty = Type::TableResult(id);
        self.finish_call(Callee::Table(id), Vec::new(), Some(Vec::new()), ty, site.span)
    }

    /// A method of an extern object.
    fn call_method(
        &mut self,
        object: Expression,
        id: Id<Extern>,
        member: &Name,
        site: CallSite<'a>,
        expected: Option<&Type>,
    ) -> Expression {
        let found: Vec<usize> = self.program.externs[id]
            .methods
            .iter()
            .enumerate()
            .filter(|(_, method)| {
                method.name.text == member.text && method.kind != MethodKind::Constructor
            })
            .map(|(at, _)| at)
            .collect();
        if found.is_empty() {
            let shown = self.show(&object.ty);
            let title = format!("`{shown}` has no method `{}`", member.text);
            self.error("unknown-field", member.span, title);
            return wrong(site.span);
        }
        let signatures: Vec<Vec<Parameter>> =
            found.iter().map(|at| self.method_parameters(id, *at)).collect();
        let picked = self.pick_overload(&member.text, &signatures, site);
        let (Some(at), Some(parameters)) = (
            picked.and_then(|picked| found.get(picked)).copied(),
            picked.and_then(|picked| signatures.get(picked)),
        ) else {
            return wrong(site.span);
        };
        let declared = self.program.externs[id].methods[at].name.span;
        self.note_use(member.span, declared);
        if !self.is_run_time() {
            self.error("call", site.span, "a method cannot be called here");
            return wrong(site.span);
        }
        self.check_method_place(id, at, site.span);
        self.finish_method(object, id, at, parameters, site, expected)
    }

    /// The parameters of one method.
    fn method_parameters(&self, id: Id<Extern>, at: usize) -> Vec<Parameter> {
        let method = self.program.externs[id].methods.get(at);
        let parameters = method.map(|method| method.parameters.as_slice()).unwrap_or_default();
        parameters.iter().map(Parameter::from_info).collect()
    }

    /// The method is picked: types, arguments, and what packets ask of them.
    fn finish_method(
        &mut self,
        object: Expression,
        id: Id<Extern>,
        at: usize,
        parameters: &[Parameter],
        site: CallSite<'a>,
        expected: Option<&Type>,
    ) -> Expression {
        let Some(method) = self.program.externs[id].methods.get(at) else {
            return wrong(site.span);
        };
        let (name, names) = (method.name.text.clone(), method.type_parameters.clone());
        let return_type = method.return_type.clone();
        let Some(mut solution) = self.solution_for(&name, &names, site) else {
            return wrong(site.span);
        };
        if let Some(expected) = expected {
            self.unify_return(&return_type, expected, &mut solution);
        }
        let Some(arguments) =
            self.arguments(&name, parameters, site.arguments, &mut solution, site.span)
        else {
            return wrong(site.span);
        };
        let Some(types) = self.solved(&name, &names, &solution, site.span) else {
            return wrong(site.span);
        };
        if !self.check_inferred(&name, parameters, &names, &solution, &arguments)
            || !self.check_packet_call(id, at, &arguments, &types, site.span)
        {
            return wrong(site.span);
        }
        let ty = self.substitute(&return_type, &solution, site.span);
        let callee = Callee::Method { object: Box::new(object), method: at };
        self.finish_call(callee, types, Some(arguments), ty, site.span)
    }

    /// The effect of a packet's method; `None` for methods of anything else.
    fn packet_method(&self, id: Id<Extern>, at: usize) -> Option<PacketMethod> {
        match self.program.externs[id].methods.get(at)?.known?.meaning {
            Meaning::Packet(method) => Some(method),
            _ => None,
        }
    }

    /// `packet_in` and `packet_out` belong to parsers and controls.
    fn check_method_place(&mut self, id: Id<Extern>, at: usize, span: Span) {
        let reads = self.packet_method(id, at).is_some_and(|method| method != PacketMethod::Emit);
        if reads && matches!(self.body.kind, BodyKind::Action) {
            let name = &self.program.externs[id].methods[at].name.text;
            let title = format!("`{name}` can be called in parsers only");
            self.error("call", span, title);
        }
    }

    /// The requirements of `extract` and `lookahead` for their types.
    fn check_packet_call(
        &mut self,
        id: Id<Extern>,
        at: usize,
        arguments: &[Argument],
        types: &[Type],
        span: Span,
    ) -> bool {
        let Some(ty) = types.first() else { return true };
        match self.packet_method(id, at) {
            Some(PacketMethod::Extract) => {
                if !self.is_header_or_union(ty) {
                    let title = format!("only headers can be extracted, not a `{}`", self.show(ty));
                    self.error("extract", span, title);
                    return false;
                }
                let has_varbit = self.has_varbit(ty);
                if has_varbit && arguments.len() == 1 {
                    let title = "this header has a varbit field: extract needs its length";
                    self.report(
                        Diagnostic::error("extract", span, title)
                            .hint("write packet.extract(header, length_in_bits)"),
                    );
                    return false;
                }
                if !has_varbit && arguments.len() == 2 {
                    let title = "this header has no varbit field: its length is fixed";
                    self.error("extract", span, title);
                    return false;
                }
            }
            Some(PacketMethod::Lookahead)
                if self.size_bits(ty, false).is_none() && *ty != Type::Wrong =>
            {
                let title = format!("a `{}` cannot be looked ahead", self.show(ty));
                self.error("extract", span, title);
                return false;
            }
            Some(PacketMethod::Lookahead) if self.has_varbit(ty) => {
                self.error("extract", span, "lookahead needs a type of fixed size");
                return false;
            }
            _ => {}
        }
        true
    }

    /// Whether the length of a value depends on the packet.
    fn has_varbit(&self, ty: &Type) -> bool {
        match ty {
            Type::Varbit(_) => true,
            Type::Struct(id) => {
                self.program.structs[*id].fields.iter().any(|field| self.has_varbit(&field.ty))
            }
            _ => false,
        }
    }

    /// A method of headers, unions and stacks, or a size.
    fn call_builtin(
        &mut self,
        base: Expression,
        member: &'a Name,
        site: CallSite<'a>,
    ) -> Expression {
        if let Some(first) = site.type_arguments.first() {
            let title = format!("`{}` takes no type arguments", member.text);
            self.error("type", first.span, title);
            return wrong(site.span);
        }
        if let Some(size) = self.size_method(&base.ty, member, site.span) {
            return size;
        }
        let kind = match &base.ty {
            Type::Struct(id) => Some(self.program.structs[*id].kind),
            _ => None,
        };
        let is_stack = matches!(base.ty, Type::Stack(..));
        let builtin = match (&*member.text, kind) {
            ("isValid", Some(DerivedKind::Header | DerivedKind::HeaderUnion)) => Builtin::IsValid,
            ("setValid", Some(DerivedKind::Header)) => Builtin::SetValid,
            ("setInvalid", Some(DerivedKind::Header)) => Builtin::SetInvalid,
            ("push_front", None) if is_stack => Builtin::PushFront,
            ("pop_front", None) if is_stack => Builtin::PopFront,
            _ => {
                let shown = self.show(&base.ty);
                let title = format!("a `{shown}` has no method `{}`", member.text);
                self.error("unknown-field", member.span, title);
                return wrong(site.span);
            }
        };
        let Some(arguments) = self.builtin_arguments(builtin, site) else {
            return wrong(site.span);
        };
        if builtin != Builtin::IsValid && !self.require_lvalue(&base) {
            return wrong(site.span);
        }
        let ty = if builtin == Builtin::IsValid { Type::Bool } else { Type::Void };
        let callee = Callee::Builtin(builtin, Box::new(base));
        self.finish_call(callee, Vec::new(), Some(arguments), ty, site.span)
    }

    /// `push_front` and `pop_front` take a constant count, the others nothing.
    fn builtin_arguments(&mut self, builtin: Builtin, site: CallSite<'a>) -> Option<Vec<Argument>> {
        let takes_count = matches!(builtin, Builtin::PushFront | Builtin::PopFront);
        match site.arguments {
            [] if !takes_count => Some(Vec::new()),
            [argument] if takes_count => match &argument.value {
                ArgumentValue::Expression(count) => {
                    let number = self.constant_number(count)?;
                    if number.is_negative() {
                        self.error("range", count.span, "the count cannot be negative");
                        return None;
                    }
                    let value = constant(Value::Integer(number), Type::Integer, count.span);
                    Some(vec![Argument::Expression(value)])
                }
                ArgumentValue::DontCare => None,
            },
            _ => {
                let wanted = usize::from(takes_count);
                let title = format!("this takes {wanted} arguments, not {}", site.arguments.len());
                self.error("argument", site.span, title);
                None
            }
        }
    }

    /// `minSizeInBits()` and its three relatives, on types and on values.
    fn size_method(&mut self, ty: &Type, member: &Name, span: Span) -> Option<Expression> {
        let (is_max, in_bytes) = match &*member.text {
            "minSizeInBits" => (false, false),
            "minSizeInBytes" => (false, true),
            "maxSizeInBits" => (true, false),
            "maxSizeInBytes" => (true, true),
            _ => return None,
        };
        let Some(bits) = self.size_bits(ty, is_max) else {
            if *ty != Type::Wrong {
                let title = format!("a `{}` has no size", self.show(ty));
                self.error("type", span, title);
            }
            return Some(wrong(span));
        };
        let size = if in_bytes { bits.div_ceil(8) } else { bits };
        Some(constant(Value::Integer(size.into()), Type::Integer, span))
    }

    /// How many bits a value of this type has at least or at most.
    pub(super) fn size_bits(&self, ty: &Type, is_max: bool) -> Option<u64> {
        let sum = |types: &mut dyn Iterator<Item = &Type>| -> Option<u64> {
            types.map(|ty| self.size_bits(ty, is_max)).sum()
        };
        match self.original(ty) {
            Type::Bool => Some(1),
            Type::Bit(width) | Type::Int(width) => Some(u64::from(*width)),
            Type::Varbit(width) => Some(if is_max { u64::from(*width) } else { 0 }),
            Type::Enum(id) => self.size_bits(self.program.enums[*id].underlying.as_ref()?, is_max),
            Type::Tuple(elements) => sum(&mut elements.iter()),
            Type::Stack(element, size) => {
                Some(self.size_bits(element, is_max)?.saturating_mul(u64::from(*size)))
            }
            Type::Struct(id) => {
                let found = &self.program.structs[*id];
                let sizes = found.fields.iter().map(|field| self.size_bits(&field.ty, is_max));
                if found.kind != DerivedKind::HeaderUnion {
                    return sizes.sum();
                }
                let sizes: Vec<u64> = sizes.collect::<Option<_>>()?;
                let least = if is_max { sizes.iter().max() } else { sizes.iter().min() };
                least.copied()
            }
            _ => None,
        }
    }

    /// The type of an instance.
    pub(super) fn instance_type(&self, id: Id<Instance>) -> Type {
        match self.program.instances[id].kind {
            InstanceKind::Control(id) => Type::Control(id),
            InstanceKind::Extern { of, .. } => Type::Extern(of),
            InstanceKind::Package(id) => Type::Package(id),
            InstanceKind::Parser(id) => Type::Parser(id),
        }
    }
}

/// Whether headers, stacks, tables or types have a method of this name.
pub(super) fn is_built_in_method(name: &str) -> bool {
    matches!(
        name,
        "apply"
            | "isValid"
            | "setValid"
            | "setInvalid"
            | "push_front"
            | "pop_front"
            | "minSizeInBits"
            | "minSizeInBytes"
            | "maxSizeInBits"
            | "maxSizeInBytes"
    )
}
