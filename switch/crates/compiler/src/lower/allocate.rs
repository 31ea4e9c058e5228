//! Places for values: what a variable of a P4 type becomes among headers, stacks, unions and scalars.

use bmv2::FieldRef;

use super::storage::{
    ELEMENT_COUNT_MAX, Field, Header, HeaderId, Leaf, SCALARS, STACK_SIZE_MAX, Stack, StackId,
    Storage, StorageError, Union, UnionId, UnionStack, UnionStackId, leaf,
};
use super::value::{HeaderRef, UnionRef, Value, leaf_value};
use crate::types::tree::{self, DerivedKind, Type};

impl Storage {
    /// Allocates a place for a value of a type.
    pub fn allocate(
        &mut self,
        program: &tree::Program,
        name: &str,
        ty: &Type,
    ) -> Result<Value, StorageError> {
        if let Some(kind) = leaf(program, ty) {
            return Ok(self.allocate_leaf(name, kind));
        }
        match ty {
            Type::Struct(id) => match program.structs[*id].kind {
                DerivedKind::Header => {
                    let header = self.allocate_header(program, name, *id)?;
                    Ok(Value::Header(HeaderRef::Instance(header)))
                }
                DerivedKind::HeaderUnion => {
                    let union = self.allocate_union(program, name, *id)?;
                    Ok(Value::Union(UnionRef::Instance(union)))
                }
                DerivedKind::Struct => {
                    let fields = &program.structs[*id].fields;
                    let named = fields.iter().map(|field| (&*field.name.text, &field.ty));
                    self.allocate_fields(program, name, named)
                }
            },
            Type::Tuple(elements) => {
                let names: Vec<String> = (0..elements.len()).map(|at| format!("f{at}")).collect();
                let named = names.iter().map(String::as_str).zip(elements);
                self.allocate_fields(program, name, named)
            }
            Type::Record(fields) => {
                let named = fields.iter().map(|(name, ty)| (&**name, ty));
                self.allocate_fields(program, name, named)
            }
            Type::New(id) => self.allocate(program, name, &program.new_types[*id].original),
            Type::Stack(element, size) => self.allocate_stack(program, name, element, *size),
            Type::Void => Ok(Value::Void),
            _ => Err(StorageError::Type(ty.clone())),
        }
    }

    /// Each field of a struct.
    fn allocate_fields<'a>(
        &mut self,
        program: &tree::Program,
        prefix: &str,
        fields: impl Iterator<Item = (&'a str, &'a Type)>,
    ) -> Result<Value, StorageError> {
        let parts = fields
            .map(|(name, ty)| self.allocate(program, &format!("{prefix}.{name}"), ty))
            .collect::<Result<Vec<Value>, StorageError>>()?;
        Ok(Value::Struct(parts))
    }

    /// A number or bit string.
    fn allocate_leaf(&mut self, name: &str, kind: Leaf) -> Value {
        let name = self.unique_name(name);
        if let Leaf::Varbit { width_max } = kind {
            self.varbits.push((name.clone(), width_max));
            return Value::Varbit(FieldRef::new(name, "field"));
        }
        self.scalars.push(Field { name: name.clone(), kind });
        leaf_value(kind, FieldRef::new(SCALARS, name))
    }

    /// Allocates a header under a name of its own.
    pub fn allocate_header(
        &mut self,
        program: &tree::Program,
        name: &str,
        of: tree::Id<tree::Struct>,
    ) -> Result<HeaderId, StorageError> {
        if self.headers.len() >= ELEMENT_COUNT_MAX {
            return Err(StorageError::TooManyHeaders);
        }
        let header_type = self.header_type(program, of)?;
        let name = self.unique_name(name);
        self.headers.push(Header { name, header_type });
        Ok(HeaderId(self.headers.len() - 1))
    }

    /// A union and its members.
    fn allocate_union(
        &mut self,
        program: &tree::Program,
        name: &str,
        of: tree::Id<tree::Struct>,
    ) -> Result<UnionId, StorageError> {
        let name = self.unique_name(name);
        let mut members = Vec::new();
        for field in &program.structs[of].fields {
            let Type::Struct(member) = field.ty else {
                return Err(StorageError::Type(field.ty.clone()));
            };
            let member_name = format!("{name}.{}", field.name.text);
            members.push(self.allocate_header(program, &member_name, member)?);
        }
        self.unions.push(Union { name, of, members });
        Ok(UnionId(self.unions.len() - 1))
    }

    /// A stack and its elements.
    fn allocate_stack(
        &mut self,
        program: &tree::Program,
        name: &str,
        element: &Type,
        size: u32,
    ) -> Result<Value, StorageError> {
        let Type::Struct(of) = element else {
            return self.allocate_array(program, name, element, size);
        };
        if size == 0 {
            return Ok(Value::StackOf(Vec::new()));
        }
        let kind = program.structs[*of].kind;
        if kind != DerivedKind::Struct && size > STACK_SIZE_MAX {
            return Err(StorageError::StackTooLong(size));
        }
        match kind {
            DerivedKind::Header => {
                let name = self.unique_name(name);
                let header_type = self.header_type(program, *of)?;
                let elements = (0..size)
                    .map(|at| self.allocate_header(program, &format!("{name}[{at}]"), *of))
                    .collect::<Result<_, _>>()?;
                self.stacks.push(Stack { name, header_type, elements });
                Ok(Value::Stack(StackId(self.stacks.len() - 1)))
            }
            DerivedKind::HeaderUnion => {
                let name = self.unique_name(name);
                let elements = (0..size)
                    .map(|at| self.allocate_union(program, &format!("{name}[{at}]"), *of))
                    .collect::<Result<_, _>>()?;
                self.union_stacks.push(UnionStack { name, of: *of, elements });
                Ok(Value::UnionStack(UnionStackId(self.union_stacks.len() - 1)))
            }
            DerivedKind::Struct => self.allocate_array(program, name, element, size),
        }
    }

    /// An array of anything else is one place an element.
    fn allocate_array(
        &mut self,
        program: &tree::Program,
        name: &str,
        element: &Type,
        size: u32,
    ) -> Result<Value, StorageError> {
        if size as usize >= ELEMENT_COUNT_MAX {
            return Err(StorageError::TooManyHeaders);
        }
        let elements = (0..size)
            .map(|at| self.allocate(program, &format!("{name}[{at}]"), element))
            .collect::<Result<_, _>>()?;
        Ok(Value::StackOf(elements))
    }
}
