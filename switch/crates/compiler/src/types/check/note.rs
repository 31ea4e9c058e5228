//! The checker's entries into the [`Index`]; none if there is no index.

use super::Checker;
use super::scope::{Binding, FunctionBinding};
use super::template::Template;
use crate::types::index::{CURSOR, Index, Kind, Symbol};
use crate::types::tree::{DerivedKind, Name, Text, Type, VariableKind};
use syntax::Span;
use syntax::tree::{MethodKind, PrefixedName};

/// The kind of thing that is wanted where a name is to be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Action,
    Type,
    /// Also what a value or a call can begin with: a table, an enum.
    Value,
}

impl Checker<'_, '_> {
    /// The meaning of a name here.
    pub(super) fn resolve(&mut self, name: &PrefixedName) -> Option<Binding> {
        let (binding, declared) =
            self.scopes.find_declared(&name.name.text, name.is_global)?.clone();
        self.note_use(name.name.span, declared);
        Some(binding)
    }

    /// The name at a place refers to the declaration at another.
    pub(super) fn note_use(&mut self, at: Span, declared: Span) {
        if let Some(index) = &mut self.index
            && declared != Span::NONE
        {
            index.resolve(at, declared);
        }
    }

    /// A name is bound.
    pub(super) fn note_binding(&mut self, name: &Name, binding: &Binding) {
        if self.index.is_some() {
            let symbol = self.symbol(&name.text, name.span, binding);
            self.note(symbol);
        }
    }

    /// Something that no scope has: a field, a member, a state.
    pub(super) fn note_part(&mut self, kind: Kind, name: &Name, ty: Option<&Type>, whole: Span) {
        if self.index.is_some() {
            let symbol = self.part(kind, name, ty, whole);
            self.note(symbol);
        }
    }

    /// A field of a struct is named.
    pub(super) fn note_field(&mut self, of: &Type, field: usize, at: Span) {
        if let Type::Struct(id) = of
            && let Some(found) = self.program.structs[*id].fields.get(field)
        {
            let declared = found.name.span;
            self.note_use(at, declared);
        }
    }

    fn note(&mut self, symbol: Symbol) {
        if let Some(index) = &mut self.index
            && symbol.declared != Some(Span::NONE)
        {
            index.declare(symbol);
        }
    }

    fn part(&self, kind: Kind, name: &Name, ty: Option<&Type>, whole: Span) -> Symbol {
        let ty = ty.map(|ty| self.show(ty));
        Symbol { kind, name: name.text.clone(), ty, declared: Some(name.span), whole }
    }

    /// The symbol of a bound name.
    fn symbol(&self, name: &Text, declared: Span, binding: &Binding) -> Symbol {
        let program = &self.program;
        let (kind, ty, whole) = match binding {
            Binding::Action(id) => (Kind::Action, None, program.actions[*id].span),
            Binding::Constant(id) => {
                let found = &program.constants[*id];
                (Kind::Constant, Some(self.show(&found.value.ty)), found.span)
            }
            Binding::Functions(list) => {
                (Kind::Function, None, list.first().map_or(declared, |one| self.whole(*one)))
            }
            Binding::Instance(id) => {
                let ty = self.show(&self.instance_type(*id));
                (Kind::Object, Some(ty), program.instances[*id].span)
            }
            Binding::Table(id) => (Kind::Table, None, program.tables[*id].span),
            Binding::Template(index) => {
                (Kind::Type, None, self.templates.get(*index).map_or(declared, Template::span))
            }
            Binding::Type(Type::Control(id)) => (Kind::Block, None, program.controls[*id].span),
            Binding::Type(Type::Parser(id)) => (Kind::Block, None, program.parsers[*id].span),
            Binding::Type(Type::Enum(id)) => (Kind::Type, None, program.enums[*id].span),
            Binding::Type(ty) => (Kind::Type, Some(self.show(ty)), declared),
            Binding::ValueSet(id) => (Kind::ValueSet, None, program.value_sets[*id].span),
            Binding::Variable(id) => {
                let found = &program.variables[*id];
                let kind = match found.kind {
                    VariableKind::Local => Kind::Variable,
                    _ => Kind::Parameter,
                };
                (kind, Some(self.show(&found.ty)), found.span)
            }
        };
        Symbol { kind, name: name.clone(), ty, declared: Some(declared), whole }
    }

    /// Where a function has its name.
    pub(super) fn name_of(&self, function: FunctionBinding) -> Span {
        match function {
            FunctionBinding::Extern(id) => self.program.extern_functions[id].name.span,
            FunctionBinding::Generic(index) => {
                self.templates.get(index).map_or(Span::NONE, |found| found.name().span)
            }
            FunctionBinding::Plain(id) => self.program.functions[id].name.span,
        }
    }

    fn whole(&self, function: FunctionBinding) -> Span {
        match function {
            FunctionBinding::Extern(id) => self.program.extern_functions[id].span,
            FunctionBinding::Generic(index) => {
                self.templates.get(index).map_or(Span::NONE, Template::span)
            }
            FunctionBinding::Plain(id) => self.program.functions[id].span,
        }
    }

    /// Whether completions of this name are wanted.
    pub(super) fn is_asked(&self, name: &Name) -> bool {
        self.index.is_some() && &*name.text == CURSOR
    }

    /// All names that can be seen here and are of use.
    pub(super) fn offer_scope(&mut self, wanted: Wanted) {
        let visible = self.scopes.visible();
        let symbols = visible.into_iter().map(|(name, binding, at)| self.symbol(name, at, binding));
        let of_use = |symbol: &Symbol| match wanted {
            Wanted::Action => symbol.kind == Kind::Action,
            Wanted::Type => matches!(symbol.kind, Kind::Type | Kind::Block),
            Wanted::Value => true,
        };
        let offered = symbols.filter(of_use).collect();
        self.offer(offered);
    }

    /// The actions that a table has.
    pub(super) fn offer_actions(
        &mut self,
        table: crate::types::tree::Id<crate::types::tree::Table>,
    ) {
        let actions = &self.program.tables[table].actions;
        let actions = actions.iter().filter(|action| !action.is_implied);
        let actions = actions.map(|action| &self.program.actions[action.call.action]);
        let offered = actions
            .map(|action| self.part(Kind::Action, &action.name, None, action.span))
            .collect();
        self.offer(offered);
    }

    /// Names that are all of one kind.
    pub(super) fn offer_names<'n>(
        &mut self,
        kind: Kind,
        names: impl IntoIterator<Item = &'n Name>,
    ) {
        let names = names.into_iter();
        let offered = names.map(|name| self.part(kind, name, None, name.span)).collect();
        self.offer(offered);
    }

    /// The states of a parser.
    pub(super) fn offer_states(&mut self, names: &[&Name]) {
        self.offer_names(Kind::State, names.iter().copied());
        self.offer(vec![built_in(Kind::State, "accept"), built_in(Kind::State, "reject")]);
    }

    /// The completions behind a value and a dot.
    pub(super) fn offer_members(&mut self, ty: &Type) {
        let program = &self.program;
        let offered = match ty {
            Type::Control(_) | Type::ControlType(..) | Type::Parser(_) | Type::ParserType(..) => {
                methods(&["apply"])
            }
            Type::Extern(id) => {
                let methods = program.externs[*id].methods.iter();
                let methods = methods.filter(|method| method.kind != MethodKind::Constructor);
                methods
                    .map(|method| self.part(Kind::Method, &method.name, None, method.name.span))
                    .collect()
            }
            Type::Stack(..) => {
                let mut parts = methods(&["push_front", "pop_front"]);
                parts.extend(
                    ["next", "last", "lastIndex", "size"].map(|name| built_in(Kind::Field, name)),
                );
                parts
            }
            Type::Struct(id) => {
                let found = &program.structs[*id];
                let fields = found.fields.iter();
                let mut parts: Vec<Symbol> = fields
                    .map(|field| {
                        self.part(Kind::Field, &field.name, Some(&field.ty), field.name.span)
                    })
                    .collect();
                parts.extend(match found.kind {
                    DerivedKind::Header => methods(&["isValid", "setValid", "setInvalid"]),
                    DerivedKind::HeaderUnion => methods(&["isValid"]),
                    DerivedKind::Struct => Vec::new(),
                });
                parts
            }
            Type::TableResult(_) => {
                ["hit", "miss", "action_run"].map(|name| built_in(Kind::Field, name)).to_vec()
            }
            _ => Vec::new(),
        };
        self.offer(offered);
    }

    /// The completions behind a type and a dot.
    pub(super) fn offer_type_members(&mut self, ty: &Type) {
        match ty {
            Type::Enum(id) => {
                let members = &self.program.enums[*id].members;
                let names: Vec<Name> = members.iter().map(|member| member.name.clone()).collect();
                self.offer_names(Kind::Enumerator, &names);
            }
            Type::Error => {
                let names = self.program.errors.clone();
                self.offer_names(Kind::Error, &names);
            }
            Type::MatchKind => {
                let names = self.program.match_kinds.clone();
                self.offer_names(Kind::MatchKind, &names);
            }
            Type::Control(_) | Type::Parser(_) => self.offer(methods(&["apply"])),
            _ => self.offer(methods(&["minSizeInBits", "minSizeInBytes"])),
        }
    }

    /// The only method of a table.
    pub(super) fn offer_apply(&mut self) {
        self.offer(methods(&["apply"]));
    }

    fn offer(&mut self, offered: Vec<Symbol>) {
        if let Some(index) = &mut self.index {
            index.offer(offered);
        }
    }

    /// The index, filled.
    pub(super) fn take_index(&mut self) -> Index {
        self.index.take().unwrap_or_default()
    }
}

fn methods(names: &[&str]) -> Vec<Symbol> {
    names.iter().map(|name| built_in(Kind::Method, name)).collect()
}

fn built_in(kind: Kind, name: &str) -> Symbol {
    Symbol { kind, name: name.into(), ty: None, declared: None, whole: Span::NONE }
}
