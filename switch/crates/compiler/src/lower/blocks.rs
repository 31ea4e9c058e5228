//! The blocks of the architecture, in the order in which a packet meets them.
//!
//! Before: the typed program. After: the flat program, complete.

use bmv2::{Expression, FieldAlias, FieldListElement, FieldRef};

use super::expression::and;
use super::flat;
use super::local::Local;
use super::lowering::Lowering;
use super::names;
use super::storage;
use super::value::{ObjectRef, ScopeId, Value, leaf_value};
use crate::architecture::{self, Architecture, BlockKind, Passed};
use crate::types::tree::{self, Annotation, AnnotationValue, Id, InstanceKind, Type, Variable};
use syntax::Span;

/// A block of the architecture, as the program has it.
#[derive(Clone, Copy)]
struct Block {
    instance: Id<tree::Instance>,
    kind: InstanceKind,
    of: &'static architecture::Block,
}

impl Lowering<'_> {
    /// Flattens the program. Without `main`, or with one that is no package of an architecture,
    /// there is nothing to flatten; the latter is reported.
    pub fn blocks(&mut self) {
        for declaration in &self.input.program.top_level {
            if let tree::LocalDeclaration::Instance(instance) = declaration {
                self.declare_object(ObjectRef { scope: ScopeId(0), instance: *instance });
            }
        }
        let Some(main) = self.input.program.main else { return };
        let Some(blocks) = self.package_blocks(main) else { return };
        self.declare_requests();
        self.share(&blocks);
        self.scopes_in_order(&blocks);
        for block in blocks {
            self.block_of_architecture(block);
        }
    }

    /// The blocks among the arguments of the package.
    fn package_blocks(&mut self, main: Id<tree::Instance>) -> Option<Vec<Block>> {
        let program = self.input.program;
        let span = program.instances[main].span;
        let Some(architecture) = program.architecture() else {
            let known: Vec<&str> = Architecture::all().iter().map(|known| known.main).collect();
            self.unsupported(
                span,
                "`main` is no switch that this compiler knows",
                format!("main must be a {}", known.join(" or a ")),
            );
            return None;
        };
        let block = |of: &'static architecture::Block| {
            let instance = program.instance_at(of.position)?;
            let kind = program.instances[instance].kind;
            let fits = match kind {
                InstanceKind::Parser(_) => of.kind.is_parser(),
                InstanceKind::Control(_) => !of.kind.is_parser(),
                InstanceKind::Extern { .. } | InstanceKind::Package(_) => false,
            };
            fits.then_some(Block { instance, kind, of })
        };
        let blocks: Option<Vec<Block>> = architecture.blocks.iter().map(block).collect();
        if blocks.is_none() {
            self.unsupported(
                span,
                format!("this is not a program for {}", architecture.name),
                format!("main must be a {}", architecture.main),
            );
        }
        blocks
    }

    /// Makes the scopes of the blocks, so that their objects stand in the order of the package.
    fn scopes_in_order(&mut self, blocks: &[Block]) {
        for block in blocks {
            let object = ObjectRef { scope: ScopeId(0), instance: block.instance };
            let name = self.block_name(*block);
            self.enter(object, Some(name));
        }
    }

    /// A block is called after its type, whatever `@name` says there.
    fn block_name(&self, block: Block) -> String {
        match block.kind {
            InstanceKind::Control(id) => self.input.program.controls[id].name.text.to_string(),
            InstanceKind::Parser(id) => self.input.program.parsers[id].name.text.to_string(),
            InstanceKind::Extern { .. } | InstanceKind::Package(_) => String::new(),
        }
    }

    /// Where a block's type has its name.
    fn block_name_span(&self, block: Block) -> Span {
        match block.kind {
            InstanceKind::Control(id) => self.input.program.controls[id].name.span,
            InstanceKind::Parser(id) => self.input.program.parsers[id].name.span,
            InstanceKind::Extern { .. } | InstanceKind::Package(_) => Span::NONE,
        }
    }

    /// The architecture's arguments for a block.
    fn parameters(&self, block: Block) -> &[Id<Variable>] {
        match block.kind {
            InstanceKind::Control(id) => &self.input.program.controls[id].parameters,
            InstanceKind::Parser(id) => &self.input.program.parsers[id].parameters,
            InstanceKind::Extern { .. } | InstanceKind::Package(_) => &[],
        }
    }

    /// Storage for the blocks' arguments: first the switch's own metadata, whose names are given,
    /// then the program's, then headers.
    fn share(&mut self, blocks: &[Block]) {
        let order = |passed: Passed| match passed {
            Passed::Intrinsic(_) => Some(0),
            Passed::User(_) | Passed::Way(_) => Some(1),
            Passed::Headers(_) => Some(2),
            Passed::Packet => None,
        };
        for turn in 0..3 {
            for block in blocks {
                let parameters = self.parameters(*block).to_vec();
                for (passed, parameter) in block.of.parameters.iter().zip(parameters) {
                    if order(*passed) == Some(turn) && self.shared(*passed).is_none() {
                        let place = self.allocate_shared(*passed, parameter);
                        let ty = self.input.program.variables[parameter].ty.clone();
                        self.made.shared.push((*passed, ty, place));
                    }
                }
            }
        }
    }

    /// The data that blocks share under a name.
    pub fn shared(&self, passed: Passed) -> Option<&Value> {
        let found = self.made.shared.iter().find(|(known, ..)| *known == passed);
        found.map(|(.., place)| place)
    }

    /// A place for shared data; `parameter` is the first that refers to it.
    fn allocate_shared(&mut self, passed: Passed, parameter: Id<Variable>) -> Value {
        let variable = &self.input.program.variables[parameter];
        match passed {
            Passed::Packet => Value::Packet,
            Passed::Intrinsic(name) => self.allocate_intrinsic(name, parameter),
            Passed::User(_) => self.user_metadata(parameter),
            Passed::Way(name) => {
                let place = self.allocate(name, &variable.ty, variable.span);
                self.keep_on_way(name, &place, &variable.ty, variable.span);
                place
            }
            Passed::Headers(_) => {
                let same = self.made.shared.iter().find(|(known, ty, _)| {
                    matches!(known, Passed::Headers(_)) && *ty == variable.ty
                });
                match same {
                    Some((.., place)) => place.clone(),
                    None => self.headers(parameter),
                }
            }
        }
    }

    /// The list of fields under the name of a way says what a packet that goes it takes along.
    fn keep_on_way(&mut self, name: &str, place: &Value, ty: &Type, at: Span) {
        let mut leaves = Vec::new();
        self.leaves(place, ty, &mut leaves);
        let mut elements = Vec::new();
        for (leaf, kind) in leaves {
            elements.push(FieldListElement::Field(self.leaf_field(leaf, kind, at)));
        }
        let id = self.flat.field_lists.len() as u32 + 1;
        let list = bmv2::FieldList { id, name: name.to_owned(), elements, ..Default::default() };
        self.flat.field_lists.push(list);
    }

    /// The switch has these fields already; their aliases say under which other names.
    fn allocate_intrinsic(&mut self, name: &'static str, parameter: Id<Variable>) -> Value {
        let Type::Struct(of) = self.input.program.variables[parameter].ty else {
            return Value::Void;
        };
        self.flat.storage.unique_name(name);
        let mut fields = Vec::new();
        let mut values = Vec::new();
        for field in &self.input.program.structs[of].fields {
            let Some(kind) = storage::leaf(self.input.program, &field.ty) else {
                values.push(Value::Void);
                continue;
            };
            let field_name = field.name.text.to_string();
            let place = FieldRef::new(name, field_name.clone());
            self.alias(&field.annotations, &place);
            values.push(leaf_value(kind, place));
            fields.push(storage::Field { name: field_name, kind });
        }
        let type_name = names::type_name(&self.input.program.structs[of]);
        self.flat.intrinsic.push(flat::Intrinsic { name, type_name, fields });
        Value::Struct(values)
    }

    /// `@alias("queueing_metadata.enq_qdepth")`: the name the switch knows the field by.
    fn alias(&mut self, annotations: &[Annotation], field: &FieldRef) {
        if let Some(alias) = names::text(annotations, "alias") {
            self.flat
                .field_aliases
                .push(FieldAlias { alias: alias.to_owned(), field: field.clone() });
        }
    }

    /// Storage for user metadata; it also says which fields copies of a packet keep.
    fn user_metadata(&mut self, parameter: Id<Variable>) -> Value {
        let variable = &self.input.program.variables[parameter];
        let name = match variable.ty {
            Type::Struct(of) => names::type_name(&self.input.program.structs[of]),
            _ => variable.name.text.to_string(),
        };
        let place = self.allocate(&name, &variable.ty, variable.span);
        self.keep_fields_in_lists(&variable.ty, &place);
        place
    }

    /// The fields of a metadata struct, and of the structs in it, that copies of a packet keep.
    fn keep_fields_in_lists(&mut self, of: &Type, place: &Value) {
        let (Type::Struct(of), Value::Struct(parts)) = (of, place) else { return };
        for (field, part) in self.input.program.structs[*of].fields.iter().zip(parts) {
            match names::annotation(&field.annotations, "field_list") {
                Some(annotation) => self.keep_in_lists(annotation, field, part),
                None => self.keep_fields_in_lists(&field.ty, part),
            }
        }
    }

    /// `@field_list(1, 2)` on a metadata field: clones and the like with these numbers keep it.
    fn keep_in_lists(&mut self, annotation: &Annotation, field: &tree::Field, part: &Value) {
        let mut leaves = Vec::new();
        self.leaves(part, &field.ty, &mut leaves);
        for value in names::values(annotation) {
            let AnnotationValue::Value(tree::Value::Integer(number)) = value else { continue };
            let Some(number) = number.to_u32() else { continue };
            let id = *self.made.field_lists.entry(number).or_insert_with(|| {
                let id = self.flat.field_lists.len() as u32 + 1;
                self.flat.field_lists.push(bmv2::FieldList {
                    id,
                    name: format!("field_list{number}"),
                    ..bmv2::FieldList::default()
                });
                id
            });
            for (leaf, kind) in leaves.clone() {
                let field = self.leaf_field(leaf, kind, annotation.span);
                let list = &mut self.flat.field_lists[id as usize - 1];
                list.elements.push(FieldListElement::Field(field));
            }
        }
    }

    /// Headers are called by their field's name, without the name of the struct around them.
    fn headers(&mut self, parameter: Id<Variable>) -> Value {
        let variable = &self.input.program.variables[parameter];
        let Type::Struct(of) = variable.ty else {
            return self.allocate(&variable.name.text, &variable.ty, variable.span);
        };
        let declaration = &self.input.program.structs[of];
        if declaration.kind != tree::DerivedKind::Struct {
            return self.allocate(&variable.name.text, &variable.ty, variable.span);
        }
        let fields = declaration.fields.iter().map(|field| {
            let name = names::text(&field.annotations, "name").unwrap_or(&field.name.text);
            self.allocate(name, &field.ty, field.name.span)
        });
        Value::Struct(fields.collect())
    }

    /// Binds the parameters of a block to what they stand for, and runs `write` in its scope.
    fn in_block<T>(&mut self, block: Block, write: impl FnOnce(&mut Self) -> T) -> T {
        self.local = Local::new(block.of.kind);
        let parameters = self.parameters(block).to_vec();
        for (passed, parameter) in block.of.parameters.iter().zip(parameters) {
            let value = match passed {
                Passed::Packet => Value::Packet,
                passed => self.shared(*passed).cloned().unwrap_or(Value::Void),
            };
            self.local.bindings.insert(parameter, value);
        }
        let object = ObjectRef { scope: ScopeId(0), instance: block.instance };
        let scope = self.enter(object, None);
        self.local.scope = scope;
        write(self)
    }

    /// One block, written to where its kind belongs.
    fn block_of_architecture(&mut self, block: Block) {
        match (block.of.kind, block.kind) {
            (BlockKind::Parser | BlockKind::EgressParser, InstanceKind::Parser(id)) => {
                self.in_block(block, |this| this.top_parser(id));
                let states = std::mem::take(&mut self.flat.parser);
                self.flat.state_names = flat::StateNames::default();
                self.flat.parsers.push(flat::Parser { name: block.of.name, states });
            }
            (BlockKind::Ingress | BlockKind::Egress, InstanceKind::Control(id)) => {
                let steps = self.control_block(block, id);
                let at = Some(self.block_name_span(block));
                let index = usize::from(block.of.kind.is_egress());
                self.flat.pipelines[index] = flat::Pipeline { steps, at };
            }
            // Checksums that are tested after the parser, or written before the deparser.
            (BlockKind::VerifyChecksum | BlockKind::ComputeChecksum, InstanceKind::Control(id)) => {
                let steps = self.control_block(block, id);
                self.check_only_checksums(&steps);
            }
            // The order of headers, and what is computed before.
            (BlockKind::Deparser | BlockKind::IngressDeparser, InstanceKind::Control(id)) => {
                let steps = self.control_block(block, id);
                let order = std::mem::take(&mut self.local.emitted);
                let at = Some(self.block_name_span(block));
                let name = block.of.name;
                let may_branch = self.has_ways() || self.tofino().is_some();
                self.flat.deparsers.push(flat::Deparser { name, may_branch, order, steps, at });
            }
            _ => {}
        }
    }

    /// Whether packets take metadata along to their next stage, which deparsers decide about.
    pub fn has_ways(&self) -> bool {
        self.made.shared.iter().any(|(passed, ..)| matches!(passed, Passed::Way(_)))
    }

    /// The steps of a block that is a control.
    fn control_block(&mut self, block: Block, id: Id<tree::Control>) -> Vec<super::step::Step> {
        self.in_block(block, |this| this.steps_of(|this| this.control(id)))
    }

    /// Runs `write` with a condition that holds around the checksums it finds.
    pub fn under_condition(&mut self, condition: Expression, write: impl FnOnce(&mut Self)) {
        let outer = self.local.checksum_condition.clone();
        self.local.checksum_condition = and(outer.clone(), condition);
        self.by_choice(write);
        self.local.checksum_condition = outer;
    }

    /// Runs `write` for steps that packets may or may not meet.
    pub fn by_choice(&mut self, write: impl FnOnce(&mut Self)) {
        self.local.choices += 1;
        write(self);
        self.local.choices -= 1;
    }
}
