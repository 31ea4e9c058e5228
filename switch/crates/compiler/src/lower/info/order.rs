//! The order of P4Info's entities: what is declared at the top level, then block by block; inside a
//! control the actions and tables in the order of the text, with those of a sub-control at the
//! place of its instance.

use super::super::flat::Flat;
use super::super::value::{ObjectRef, ScopeId};
use crate::types::tree::{Id, Instance, InstanceKind, LocalDeclaration, Program};

/// Indexes into the flat program's lists, in P4Info's order.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// Used actions, one for each name: copies of an action are the same to the controller.
    pub actions: Vec<usize>,
    pub tables: Vec<usize>,
    pub objects: Vec<usize>,
}

impl Order {
    /// The order for a program.
    pub fn new(program: &Program, flat: &Flat) -> Order {
        let mut order = Order::default();
        for (index, object) in flat.objects.iter().enumerate() {
            if object.of.scope == ScopeId(0) && program.instances[object.of.instance].name.is_some()
            {
                order.objects.push(index);
            }
        }
        let blocks: Vec<ScopeId> = (1..flat.scopes.len())
            .map(ScopeId)
            .filter(|scope| flat.scopes[scope.0].parent == ScopeId(0))
            .collect();
        for block in blocks {
            order.scope(program, flat, block);
        }
        // Objects made in place, as a property of a table, come with their table.
        for index in 0..flat.objects.len() {
            if !order.objects.contains(&index) {
                order.objects.push(index);
            }
        }
        order
    }

    /// The declarations of one instantiation.
    fn scope(&mut self, program: &Program, flat: &Flat, scope: ScopeId) {
        let locals = match flat.scopes[scope.0].of {
            Some(InstanceKind::Control(id)) => &program.controls[id].locals,
            Some(InstanceKind::Parser(id)) => &program.parsers[id].locals,
            _ => return,
        };
        self.global_actions(flat, scope);
        // Instances made by applying a type directly come before the declared ones.
        for child in children(flat, scope) {
            let instance = flat.scopes[child.0].instance;
            let is_declared = |local: &LocalDeclaration| matches!(local, LocalDeclaration::Instance(id) if Some(*id) == instance);
            if !locals.iter().any(is_declared) {
                self.scope(program, flat, child);
            }
        }
        for local in locals {
            match local {
                LocalDeclaration::Action(id) => {
                    let position = |action: &super::super::flat::UsedAction| {
                        action.scope == scope && action.of == *id
                    };
                    let found = flat.used_actions.iter().position(position);
                    found.into_iter().for_each(|index| self.add_action(flat, index));
                }
                LocalDeclaration::Table(id) => {
                    let position =
                        |table: &super::super::flat::Table| table.scope == scope && table.of == *id;
                    self.tables.extend(flat.tables.iter().position(position));
                }
                LocalDeclaration::Instance(id) => self.instance(program, flat, scope, *id),
                LocalDeclaration::ValueSet(_) | LocalDeclaration::Variable { .. } => {}
            }
        }
    }

    /// An object, or what a sub-control or sub-parser declares.
    fn instance(&mut self, program: &Program, flat: &Flat, scope: ScopeId, id: Id<Instance>) {
        let object = ObjectRef { scope, instance: id };
        if let Some(index) = flat.objects.iter().position(|known| known.of == object)
            && !self.objects.contains(&index)
        {
            self.objects.push(index);
        }
        for child in children(flat, scope) {
            if flat.scopes[child.0].instance == Some(id) {
                self.scope(program, flat, child);
            }
        }
    }

    /// Actions of the top level that this scope uses come before its own.
    fn global_actions(&mut self, flat: &Flat, scope: ScopeId) {
        for (index, action) in flat.used_actions.iter().enumerate() {
            if action.user == scope && action.scope == ScopeId(0) {
                self.add_action(flat, index);
            }
        }
    }

    /// An action, when it is first used.
    fn add_action(&mut self, flat: &Flat, index: usize) {
        let name = &flat.used_actions[index].name;
        if !self.actions.iter().any(|known| flat.used_actions[*known].name == *name) {
            self.actions.push(index);
        }
    }
}

/// The instantiations right inside of a scope.
fn children(flat: &Flat, scope: ScopeId) -> Vec<ScopeId> {
    (1..flat.scopes.len())
        .map(ScopeId)
        .filter(|child| *child != scope && flat.scopes[child.0].parent == scope)
        .collect()
}
