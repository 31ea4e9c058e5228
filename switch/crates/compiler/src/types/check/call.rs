//! Calls: of functions, actions, methods, `apply`, constructors.
//!
//! Before: callee and arguments as written. After: an [`ExpressionKind::Call`] that names exactly what
//! is called: overloads are picked, type arguments solved, generic functions made for these types. A
//! call that is folded (`static_assert`, sizes of types) leaves a constant.
//!
//! Overloads are distinguished by number and names of their parameters, never by types
//! (specification, "Resolving calls"): so one is picked before any argument is looked at.

use super::parameter::Parameter;
use super::scope::{Binding, FunctionBinding};
use super::template::Template;
use super::unify::Solution;
use super::{BodyKind, Checker, constant, wrong};
use crate::architecture::Meaning;
use crate::types::tree::{
    Action, Argument, Call, Callee, Expression, ExpressionKind, ExternFunction, Function, Id,
    InstanceKind, Text, Type, Value,
};
use syntax::tree::{self as ast, MethodKind, PrefixedName};
use syntax::{Diagnostic, Span};

/// The written parts of a call.
#[derive(Clone, Copy)]
pub(super) struct CallSite<'a> {
    pub type_arguments: &'a [ast::TypeRef],
    pub arguments: &'a [ast::Argument],
    pub span: Span,
}

impl<'a> Checker<'a, '_> {
    /// `callee<types>(arguments)`.
    pub(super) fn call_expression(
        &mut self,
        callee: &'a ast::Expression,
        type_arguments: &'a [ast::TypeRef],
        arguments: &'a [ast::Argument],
        expected: Option<&Type>,
        span: Span,
    ) -> Expression {
        let site = CallSite { type_arguments, arguments, span };
        match &callee.kind {
            ast::ExpressionKind::Name(name) => self.call_name(name, site, expected),
            ast::ExpressionKind::Member { base, member } => {
                self.call_member(base, member, site, expected)
            }
            ast::ExpressionKind::Type(type_ref) => self.constructor_call(type_ref, site),
            _ => {
                self.error("type", callee.span, "this cannot be called");
                wrong(span)
            }
        }
    }

    /// A call of something that has a name of its own.
    fn call_name(
        &mut self,
        name: &'a PrefixedName,
        site: CallSite<'a>,
        expected: Option<&Type>,
    ) -> Expression {
        let binding = self.resolve(name);
        match binding {
            Some(Binding::Functions(list)) => self.call_function(&name.name, &list, site, expected),
            Some(Binding::Action(id)) => self.call_action(id, site),
            Some(Binding::Template(_) | Binding::Type(_)) => {
                self.error("type", name.name.span, "an object cannot be made here");
                wrong(site.span)
            }
            Some(Binding::Table(_)) => {
                let name = &name.name;
                let title = format!("`{}` is a table and cannot be called", name.text);
                self.report(
                    Diagnostic::error("type", name.span, title)
                        .hint(format!("apply it: {}.apply()", name.text))
                        .fix(name.span.after(), ".apply"),
                );
                wrong(site.span)
            }
            Some(_) => {
                let title = format!("`{}` cannot be called", name.name.text);
                self.error("type", name.name.span, title);
                wrong(site.span)
            }
            None => {
                self.report_unknown("function or action", &name.name);
                wrong(site.span)
            }
        }
    }

    /// A direct call: also the parameters for the control plane get arguments.
    fn call_action(&mut self, id: Id<Action>, site: CallSite<'a>) -> Expression {
        if !matches!(self.body.kind, BodyKind::Action | BodyKind::Control) {
            self.error("call", site.span, "an action can be called in controls and actions only");
            return wrong(site.span);
        }
        if let Some(first) = site.type_arguments.first() {
            self.error("type", first.span, "an action takes no type arguments");
            return wrong(site.span);
        }
        let action = &self.program.actions[id];
        let (name, variables) = (action.name.text.clone(), action.parameters.clone());
        let parameters = self.parameters_of(&variables);
        let mut solution = Solution::default();
        let arguments =
            self.arguments(&name, &parameters, site.arguments, &mut solution, site.span);
        let arguments = arguments.filter(|list| self.check_no_table(list).is_some());
        self.finish_call(Callee::Action(id), Vec::new(), arguments, Type::Void, site.span)
    }

    /// An action cannot apply a table, neither in its body nor in an argument.
    pub(super) fn check_no_table(&mut self, arguments: &[Argument]) -> Option<()> {
        let Some(table) = arguments.iter().find_map(table_apply) else { return Some(()) };
        self.error("call", table, "a table cannot be applied in an argument of an action");
        None
    }

    /// The call, if its arguments were right.
    pub(super) fn finish_call(
        &mut self,
        callee: Callee,
        type_arguments: Vec<Type>,
        arguments: Option<Vec<Argument>>,
        ty: Type,
        span: Span,
    ) -> Expression {
        let Some(arguments) = arguments else { return wrong(span) };
        let call = Call { callee, type_arguments, arguments, span };
        Expression { kind: ExpressionKind::Call(Box::new(call)), ty, span }
    }

    /// One of the functions of a name.
    fn call_function(
        &mut self,
        name: &ast::Name,
        candidates: &[FunctionBinding],
        site: CallSite<'a>,
        expected: Option<&Type>,
    ) -> Expression {
        let signatures: Vec<Vec<Parameter>> =
            candidates.iter().map(|candidate| self.function_parameters(*candidate)).collect();
        let Some(at) = self.pick_overload(&name.text, &signatures, site) else {
            return wrong(site.span);
        };
        if let Some(picked) = candidates.get(at) {
            let declared = self.name_of(*picked);
            self.note_use(name.span, declared);
        }
        match candidates.get(at) {
            Some(FunctionBinding::Extern(id)) => self.call_extern(*id, site, expected),
            Some(FunctionBinding::Plain(id)) => self.call_plain(*id, site),
            Some(FunctionBinding::Generic(index)) => self.call_generic(*index, site, expected),
            None => wrong(site.span),
        }
    }

    /// The parameters of one function; those of a generic one mention its type parameters.
    fn function_parameters(&mut self, candidate: FunctionBinding) -> Vec<Parameter> {
        match candidate {
            FunctionBinding::Extern(id) => {
                let function = &self.program.extern_functions[id];
                function.parameters.iter().map(Parameter::from_info).collect()
            }
            FunctionBinding::Plain(id) => {
                let variables = self.program.functions[id].parameters.clone();
                self.parameters_of(&variables)
            }
            FunctionBinding::Generic(index) => self.generic_signature(index).1,
        }
    }

    /// Which of several signatures the arguments are meant for; reports when none or several fit.
    /// With a single one the report is left to the check of its arguments.
    pub(super) fn pick_overload(
        &mut self,
        name: &str,
        signatures: &[Vec<Parameter>],
        site: CallSite<'a>,
    ) -> Option<usize> {
        if signatures.len() == 1 {
            return Some(0);
        }
        let fitting: Vec<usize> = (0..signatures.len())
            .filter(|at| {
                signatures
                    .get(*at)
                    .is_some_and(|parameters| Self::arguments_fit(parameters, site.arguments))
            })
            .collect();
        // Where defaults make several fit, the one with exactly these parameters is meant.
        let is_exact =
            |at: usize| signatures.get(at).is_some_and(|found| found.len() == site.arguments.len());
        let exact = fitting
            .iter()
            .find(|at| is_exact(**at))
            .filter(|_| fitting.iter().filter(|at| is_exact(**at)).count() == 1);
        match (fitting.as_slice(), exact) {
            ([only], _) => Some(*only),
            ([], _) => {
                let title = format!("no `{name}` takes these arguments");
                let counts: Vec<String> =
                    signatures.iter().map(|found| found.len().to_string()).collect();
                let hint = format!("there are ones with {} parameters", counts.join(", "));
                self.report(Diagnostic::error("argument", site.span, title).hint(hint));
                None
            }
            (_, Some(exact)) => Some(*exact),
            _ => {
                let title = format!("this call of `{name}` could mean several functions");
                self.error("argument", site.span, title);
                None
            }
        }
    }

    /// The solution with the written type arguments in it.
    pub(super) fn solution_for(
        &mut self,
        callee: &str,
        names: &[Text],
        site: CallSite<'a>,
    ) -> Option<Solution> {
        let mut solution = Solution::new(names);
        if site.type_arguments.is_empty() {
            return Some(solution);
        }
        if site.type_arguments.len() != names.len() {
            let title = format!(
                "`{callee}` takes {} type arguments, not {}",
                names.len(),
                site.type_arguments.len()
            );
            self.error("type", site.span, title);
            return None;
        }
        for (name, argument) in names.iter().zip(site.type_arguments) {
            let ty = self.type_argument(argument);
            solution.set(name, ty);
        }
        Some(solution)
    }

    /// The type arguments found, in the order of the parameters; a report if one is unknown.
    pub(super) fn solved(
        &mut self,
        callee: &str,
        names: &[Text],
        solution: &Solution,
        span: Span,
    ) -> Option<Vec<Type>> {
        let unknown = names.iter().find(|name| solution.get(name).is_none());
        if let Some(name) = unknown {
            let title = format!("the type `{name}` of this call of `{callee}` is not known");
            self.report(
                Diagnostic::error("type", span, title)
                    .hint(format!("write it: {callee}<...>(...)")),
            );
            return None;
        }
        Some(names.iter().filter_map(|name| solution.get(name).cloned()).collect())
    }

    /// A function of the target. Its type arguments stay with the call, for the back end.
    fn call_extern(
        &mut self,
        id: Id<ExternFunction>,
        site: CallSite<'a>,
        expected: Option<&Type>,
    ) -> Expression {
        let function = &self.program.extern_functions[id];
        let (name, names) = (function.name.text.clone(), function.type_parameters.clone());
        let parameters: Vec<Parameter> =
            function.parameters.iter().map(Parameter::from_info).collect();
        let return_type = function.return_type.clone();
        let Some(mut solution) = self.solution_for(&name, &names, site) else {
            return wrong(site.span);
        };
        if let Some(expected) = expected {
            self.unify_return(&return_type, expected, &mut solution);
        }
        let Some(arguments) =
            self.arguments(&name, &parameters, site.arguments, &mut solution, site.span)
        else {
            return wrong(site.span);
        };
        let Some(types) = self.solved(&name, &names, &solution, site.span) else {
            return wrong(site.span);
        };
        if !self.check_inferred(&name, &parameters, &names, &solution, &arguments) {
            return wrong(site.span);
        }
        let meaning = self.program.extern_functions[id].known.map(|function| function.meaning);
        if matches!(meaning, Some(Meaning::Verify)) && self.body.kind != BodyKind::Parser {
            self.error("call", site.span, "`verify` can be called in parsers only");
            return wrong(site.span);
        }
        if matches!(meaning, Some(Meaning::StaticAssert)) {
            return self.static_assert(&arguments, site.span);
        }
        let ty = self.substitute(&return_type, &solution, site.span);
        if !self.is_run_time() && ty != Type::Bool {
            self.error("call", site.span, "an extern function cannot be called here");
            return wrong(site.span);
        }
        self.finish_call(Callee::ExternFunction(id), types, Some(arguments), ty, site.span)
    }

    /// A type that only the result has may come from where the result goes.
    pub(super) fn unify_return(
        &mut self,
        return_type: &Type,
        expected: &Type,
        solution: &mut Solution,
    ) {
        if matches!(return_type, Type::Variable(name) if solution.get(name).is_none())
            && !matches!(expected, Type::Integer | Type::Wrong | Type::Variable(_))
        {
            self.unify(return_type, expected, solution);
        }
    }

    /// A run-time value of a generic parameter must have a width.
    pub(super) fn check_inferred(
        &mut self,
        callee: &str,
        parameters: &[Parameter],
        names: &[Text],
        solution: &Solution,
        arguments: &[Argument],
    ) -> bool {
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let Type::Variable(name) = &parameter.ty else { continue };
            if let Argument::Expression(value) = argument
                && names.contains(name)
                && is_object(&value.ty)
            {
                self.error("argument", value.span, format!("`{callee}` takes no objects"));
                return false;
            }
            let inferred = solution.get(name).filter(|_| names.contains(name));
            if let Argument::Expression(value) = argument {
                let problem = match inferred {
                    Some(Type::Record(_)) => {
                        Some("the struct that this is a value of is not known")
                    }
                    Some(Type::String) if !parameter.is_constant => {
                        Some("a string cannot be passed to a parameter with a direction")
                    }
                    _ => None,
                };
                if let Some(problem) = problem {
                    self.error("type", value.span, problem);
                    return false;
                }
            }
            let is_integer = names.contains(name) && solution.get(name) == Some(&Type::Integer);
            // A directionless parameter of an extern is known at compile time.
            if let (true, Argument::Expression(value)) = (is_integer, argument)
                && !parameter.is_constant
            {
                let title = format!("`{callee}` needs to know the width of this number");
                let hint = "give it one: 8w1, or (bit<8>) 1";
                self.report(Diagnostic::error("type", value.span, title).hint(hint));
                return false;
            }
        }
        true
    }

    /// Decided now; nothing is left of it at run time.
    fn static_assert(&mut self, arguments: &[Argument], span: Span) -> Expression {
        let value = |at: usize| match arguments.get(at) {
            Some(Argument::Expression(Expression {
                kind: ExpressionKind::Constant(value),
                ..
            })) => Some(value),
            _ => None,
        };
        match value(0) {
            Some(Value::Bool(true)) => {}
            Some(Value::Bool(false)) => {
                let title = match value(1) {
                    Some(Value::Text(text)) => format!("static_assert failed: {text}"),
                    _ => "static_assert failed".into(),
                };
                self.error("static-assert", span, title);
            }
            _ => self.error("constant", span, "static_assert needs a value known at compile time"),
        }
        constant(Value::Bool(true), Type::Bool, span)
    }

    /// A function with a body and without type parameters.
    fn call_plain(&mut self, id: Id<Function>, site: CallSite<'a>) -> Expression {
        let function = &self.program.functions[id];
        let (name, variables) = (function.name.text.clone(), function.parameters.clone());
        let ty = function.return_type.clone();
        let parameters = self.parameters_of(&variables);
        let Some(mut solution) = self.solution_for(&name, &[], site) else {
            return wrong(site.span);
        };
        let arguments =
            self.arguments(&name, &parameters, site.arguments, &mut solution, site.span);
        self.finish_call(Callee::Function(id), Vec::new(), arguments, ty, site.span)
    }

    /// Calls an instance of a generic function, made now if it is the first of its kind.
    fn call_generic(
        &mut self,
        index: usize,
        site: CallSite<'a>,
        expected: Option<&Type>,
    ) -> Expression {
        let Some(Template::Function(declaration)) = self.templates.get(index) else {
            return wrong(site.span);
        };
        let name = declaration.prototype.name.text.clone();
        let (names, parameters, return_type) = self.generic_signature(index);
        let Some(mut solution) = self.solution_for(&name, &names, site) else {
            return wrong(site.span);
        };
        if let Some(expected) = expected {
            self.unify_return(&return_type, expected, &mut solution);
        }
        let solved =
            self.arguments(&name, &parameters, site.arguments, &mut solution, site.span).and_then(
                |arguments| Some((arguments, self.solved(&name, &names, &solution, site.span)?)),
            );
        let Some((arguments, types)) = solved else { return wrong(site.span) };
        if !self.check_inferred(&name, &parameters, &names, &solution, &arguments) {
            return wrong(site.span);
        }
        let Some(id) = self.function_instance(index, declaration, &types) else {
            return wrong(site.span);
        };
        let ty = self.program.functions[id].return_type.clone();
        self.finish_call(Callee::Function(id), Vec::new(), Some(arguments), ty, site.span)
    }

    /// Type parameters, parameters and result of a generic function.
    fn generic_signature(&mut self, index: usize) -> (Vec<Text>, Vec<Parameter>, Type) {
        let Some(Template::Function(declaration)) = self.templates.get(index) else {
            return (Vec::new(), Vec::new(), Type::Wrong);
        };
        let prototype = &declaration.prototype;
        let inner = self.scopes.take_inner();
        self.scopes.push();
        let names = self.declare_type_variables(&prototype.type_parameters);
        let infos = self.parameter_infos(&prototype.parameters);
        let return_type = self.return_type(&prototype.return_type);
        self.scopes.restore_inner(inner);
        let mut parameters: Vec<Parameter> = infos.iter().map(Parameter::from_info).collect();
        parameters.iter_mut().for_each(|parameter| parameter.is_constant = false);
        (names, parameters, return_type)
    }

    /// `Type(arguments)` inside an expression: an object without a name.
    fn constructor_call(&mut self, type_ref: &'a ast::TypeRef, site: CallSite<'a>) -> Expression {
        match self.construct(type_ref, site.arguments, site.span) {
            Some(instance) => {
                if let InstanceKind::Extern { of, .. } = instance.kind
                    && self.program.externs[of]
                        .methods
                        .iter()
                        .any(|m| m.kind == MethodKind::Abstract)
                {
                    let title = "an extern with abstract methods needs a declaration of its own";
                    self.error("extern", site.span, title);
                    return wrong(site.span);
                }
                let id = self.program.instances.push(instance);
                let ty = self.instance_type(id);
                Expression { kind: ExpressionKind::Instance(id), ty, span: site.span }
            }
            None => wrong(site.span),
        }
    }
}

/// Whether a type exists at compile time only.
fn is_object(ty: &Type) -> bool {
    matches!(ty, Type::Extern(_) | Type::Control(_) | Type::Parser(_) | Type::Package(_))
}

/// Where the argument applies a table.
fn table_apply(argument: &Argument) -> Option<Span> {
    match argument {
        Argument::Expression(value) => table_result(value),
        Argument::DontCare(_) | Argument::Omitted => None,
    }
}

/// The first application of a table inside of a value.
fn table_result(value: &Expression) -> Option<Span> {
    match &value.kind {
        ExpressionKind::TableResult { .. } => Some(value.span),
        ExpressionKind::Call(call) => call.arguments.iter().find_map(table_apply),
        ExpressionKind::Binary { left, right, .. } => {
            table_result(left).or_else(|| table_result(right))
        }
        ExpressionKind::Conditional { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().find_map(|part| table_result(part))
        }
        ExpressionKind::Cast(inner) | ExpressionKind::Unary { operand: inner, .. } => {
            table_result(inner)
        }
        _ => None,
    }
}
