//! Direct registers: a cell for each entry of a table.
//!
//! On the switch they are arrays as large as the table. The table writes the number of the entry
//! that a packet hits into a field, which is the index; after a miss there is no such cell, so that
//! reads give zero and writes do nothing.

use super::super::flat::{DirectRegisters, ObjectKind};
use super::super::lowering::Lowering;
use super::super::step::TableId;
use super::super::storage::Leaf;
use super::super::table::TABLE_SIZE_DEFAULT;
use super::super::value::{ObjectRef, Value};
use crate::architecture::Form;
use crate::types::tree::{self, Argument, Call, InstanceKind, Type};
use bmv2::Expression;
use syntax::Span;

const NUMBER: Leaf = Leaf::Number { width: 32, is_signed: false };

impl Lowering<'_> {
    /// The property `registers` or `filters` of a table.
    pub fn direct_registers(
        &mut self,
        property: &tree::Property,
        value: &tree::Expression,
        table: TableId,
    ) {
        let Value::Object(object) = self.value(value) else { return };
        if !self.is_direct(object) {
            return;
        }
        let Some(index) = self.declare_object(object) else { return };
        if self.made.cell_numbers.contains_key(&object) {
            return self.unsupported(
                property.span,
                "a direct register belongs to one table",
                "declare one for each table",
            );
        }
        let flat = &self.flat.tables[table.0];
        let entries = &self.input.program.tables[flat.of].entries;
        let entries = entries.as_ref().map_or(0, |entries| entries.list.len()) as u32;
        let asked = flat.size.filter(|size| *size > 0).unwrap_or(TABLE_SIZE_DEFAULT);
        if let ObjectKind::Register { size, .. } = &mut self.flat.objects[index].kind {
            *size = asked.max(entries);
        }
        let arrays = self.arrays_of(object);
        let known = self.flat.tables[table.0].registers.as_ref().map(|it| it.number.clone());
        let number = match known {
            Some(number) => number,
            None => self.temporary_field(NUMBER),
        };
        let _ = self.made.cell_numbers.insert(object, number.clone());
        let registers = &mut self.flat.tables[table.0].registers;
        registers
            .get_or_insert_with(|| DirectRegisters { number, arrays: Vec::new() })
            .arrays
            .extend(arrays);
    }

    /// Whether an object has its cells by entry.
    pub fn is_direct(&self, object: ObjectRef) -> bool {
        let InstanceKind::Extern { of, .. } = self.input.program.instances[object.instance].kind
        else {
            return false;
        };
        let known = self.input.program.externs[of].known;
        known.is_some_and(|known| {
            matches!(known.form, Form::DirectRegister { .. } | Form::State { size: None, .. })
        })
    }

    /// The index of the cell that belongs to the entry that the packet hit.
    pub fn cell_number(&mut self, object: ObjectRef, at: Span) -> Expression {
        let number = match self.made.cell_numbers.get(&object) {
            Some(number) => number.clone(),
            None => {
                self.unsupported(
                    at,
                    "this direct object belongs to no table",
                    "name it in a table: `registers = ...` or `filters = ...`",
                );
                self.temporary_field(NUMBER)
            }
        };
        Expression::Field(number)
    }

    /// The index of a filter's cell: an argument, or the entry's.
    pub fn cell_argument(&mut self, object: ObjectRef, call: &Call) -> Expression {
        match self.is_direct(object) {
            true => self.cell_number(object, call.span),
            false => self.number_argument(call, 1),
        }
    }

    /// `DirectRegisterAction.execute`.
    pub fn execute_direct(&mut self, object: ObjectRef, ty: &Type, at: Span) -> Value {
        let instance = &self.input.program.instances[object.instance];
        let outer = std::mem::replace(&mut self.local.scope, object.scope);
        let register = match instance.arguments.first() {
            Some(Argument::Expression(register)) => self.value(register),
            _ => Value::Void,
        };
        self.local.scope = outer;
        let Value::Object(register) = register else { return Value::Void };
        let index = self.cell_number(register, at);
        self.execute(object, index, ty, at)
    }

    /// `DirectRegister.read`.
    pub fn direct_read(&mut self, object: ObjectRef, ty: &Type, at: Span) -> Value {
        let index = self.cell_number(object, at);
        let value = self.temporary(ty, at);
        self.zero(&value, ty, at);
        self.read_cell(object, &index, &value, ty, at);
        value
    }

    /// `DirectRegister.write`.
    pub fn direct_write(&mut self, object: ObjectRef, call: &Call) -> Value {
        let index = self.cell_number(object, call.span);
        if let Some(Argument::Expression(expression)) = call.arguments.first() {
            let value = self.value(expression);
            self.write_cell(object, &index, &value, &expression.ty, call.span);
        }
        Value::Void
    }
}
