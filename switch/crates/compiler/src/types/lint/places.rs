//! Headers by number: the header that an expression names, through the parameters of the body being
//! walked through.

use super::worlds::HeaderIndex;
use crate::types::tree::{
    DerivedKind, Expression, ExpressionKind, Id, Program, Type, Value, Variable,
};
use std::collections::BTreeMap;

/// A variable and the way into it: fields and constant indexes.
pub(super) type Place = (Id<Variable>, Vec<usize>);

/// Elements of a stack beyond this number are treated as one.
const STACK_SIZE_MAX: u32 = 32;

/// Numbers given to headers, and what parameters stand for.
#[derive(Default)]
pub(super) struct Places {
    numbers: BTreeMap<Place, HeaderIndex>,
    /// The argument of each parameter that was given a place. P4 has no recursion, so the last
    /// application is the one being walked through.
    bindings: BTreeMap<Id<Variable>, Place>,
}

impl Places {
    /// From here on the parameter stands for this argument.
    pub fn bind(&mut self, parameter: Id<Variable>, argument: Option<Place>) {
        match argument {
            Some(place) => self.bindings.insert(parameter, place),
            None => self.bindings.remove(&parameter),
        };
    }

    /// The place of a variable, field or element of constant index. Members of unions have none:
    /// making one valid changes the others.
    pub fn place(&self, program: &Program, expression: &Expression) -> Option<Place> {
        match &expression.kind {
            ExpressionKind::Variable(id) => {
                Some(self.bindings.get(id).cloned().unwrap_or((*id, Vec::new())))
            }
            ExpressionKind::Field { base, field } => {
                let is_union = kind(program, &base.ty) == Some(DerivedKind::HeaderUnion);
                let (variable, mut way) = self.place(program, base).filter(|_| !is_union)?;
                way.push(*field);
                Some((variable, way))
            }
            ExpressionKind::Index { base, index } => {
                let ExpressionKind::Constant(Value::Integer(at)) = &index.kind else { return None };
                let (variable, mut way) = self.place(program, base)?;
                way.push(at.to_u32()? as usize);
                Some((variable, way))
            }
            _ => None,
        }
    }

    /// The number of the header that an expression names.
    pub fn header(&mut self, program: &Program, expression: &Expression) -> Option<HeaderIndex> {
        if kind(program, &expression.ty) != Some(DerivedKind::Header) {
            return None;
        }
        let place = self.place(program, expression)?;
        Some(self.number(place))
    }

    fn number(&mut self, place: Place) -> HeaderIndex {
        let next = self.numbers.len();
        *self.numbers.entry(place).or_insert(next)
    }

    /// All numbered headers at a place or inside of it.
    pub fn inside(&self, (variable, way): &Place) -> Vec<HeaderIndex> {
        let numbers = self.numbers.iter();
        let inside = numbers
            .filter(|((other, inner), _)| other == variable && inner.starts_with(way.as_slice()));
        inside.map(|(_, number)| *number).collect()
    }

    /// Numbers all headers of a type at a place.
    pub fn number_all(&mut self, program: &Program, ty: &Type, place: &Place) {
        let mut enter = |at: usize, ty: &Type| {
            let (variable, mut way) = place.clone();
            way.push(at);
            self.number_all(program, ty, &(variable, way));
        };
        match (ty, kind(program, ty)) {
            (_, Some(DerivedKind::Header)) => {
                self.number(place.clone());
            }
            (Type::Struct(id), Some(DerivedKind::Struct)) => {
                for (at, field) in program.structs[*id].fields.iter().enumerate() {
                    enter(at, &field.ty);
                }
            }
            (Type::Stack(element, size), _) => {
                (0..(*size).min(STACK_SIZE_MAX)).for_each(|at| enter(at as usize, element));
            }
            _ => {}
        }
    }
}

/// Struct, header or union; `None` for other types.
pub(super) fn kind(program: &Program, ty: &Type) -> Option<DerivedKind> {
    match ty {
        Type::Struct(id) => Some(program.structs[*id].kind),
        _ => None,
    }
}

/// A place as the program writes it: `hdr.ipv4`, `hdr.labels[1]`.
pub(super) fn written(program: &Program, expression: &Expression) -> String {
    match &expression.kind {
        ExpressionKind::Variable(id) => program.variables[*id].name.text.to_string(),
        ExpressionKind::Field { base, field } => {
            let name = match &base.ty {
                Type::Struct(id) => program.structs[*id].fields.get(*field),
                _ => None,
            };
            let name = name.map_or("?", |field| &field.name.text);
            format!("{}.{name}", written(program, base))
        }
        ExpressionKind::Index { base, index } => match &index.kind {
            ExpressionKind::Constant(Value::Integer(at)) => {
                format!("{}[{at}]", written(program, base))
            }
            _ => written(program, base),
        },
        _ => "this header".into(),
    }
}
