//! The six blocks of v1model, in the order in which a packet meets them.
//!
//! Before: the typed program. After: the flat program, complete.

use bmv2::{Expression, FieldAlias, FieldListElement, FieldRef};

use super::expression::and;
use super::local::Local;
use super::lowering::Lowering;
use super::names;
use super::storage;
use super::value::{ObjectRef, ScopeId, Value, leaf_value};
use crate::architecture::BlockKind;
use crate::types::tree::{
    self, Annotation, AnnotationValue, Argument, ExpressionKind, Id, InstanceKind, Type, Variable,
};
use syntax::Span;

/// The name of standard metadata on the switch.
const STANDARD_METADATA: &str = "standard_metadata";

/// What the architecture passes from block to block.
struct Shared {
    headers: Value,
    user_metadata: Value,
    standard_metadata: Value,
}

/// One argument of the package.
#[derive(Clone, Copy)]
struct Block {
    instance: Id<tree::Instance>,
    kind: InstanceKind,
}

impl Lowering<'_> {
    /// Flattens the program. Without `main`, or with one that is no `V1Switch`, there is nothing
    /// to flatten; the latter is reported.
    pub fn blocks(&mut self) {
        for declaration in &self.input.program.top_level {
            if let tree::LocalDeclaration::Instance(instance) = declaration {
                self.declare_object(ObjectRef { scope: ScopeId(0), instance: *instance });
            }
        }
        let Some(main) = self.input.program.main else { return };
        let Some(blocks) = self.package_blocks(main) else { return };
        let Some(shared) = self.shared(blocks[0]) else { return };
        self.scopes_in_order(&blocks);
        self.parser_block(blocks[0], &shared);
        self.verify_block(blocks[1], &shared);
        for (index, kind) in [(2, BlockKind::Ingress), (3, BlockKind::Egress)] {
            let steps = self.control_block(blocks[index], kind, &shared);
            let at = Some(self.block_name_span(blocks[index]));
            self.flat.pipelines[index - 2] = super::flat::Pipeline { steps, at };
        }
        self.compute_block(blocks[4], &shared);
        self.deparser_block(blocks[5], &shared);
    }

    /// The arguments of `V1Switch`: parser, verify, ingress, egress, compute, deparser.
    fn package_blocks(&mut self, main: Id<tree::Instance>) -> Option<[Block; 6]> {
        let instance = &self.input.program.instances[main];
        let mut blocks = Vec::new();
        for argument in &instance.arguments {
            let Argument::Expression(expression) = argument else { continue };
            if let ExpressionKind::Instance(id) = expression.kind {
                blocks.push(Block { instance: id, kind: self.input.program.instances[id].kind });
            }
        }
        let is_v1model = matches!(
            blocks.iter().map(|block| block.kind).collect::<Vec<_>>()[..],
            [
                InstanceKind::Parser(_),
                InstanceKind::Control(_),
                InstanceKind::Control(_),
                InstanceKind::Control(_),
                InstanceKind::Control(_),
                InstanceKind::Control(_),
            ]
        );
        if !is_v1model {
            self.unsupported(
                instance.span,
                "this is not a program for v1model",
                "main must be a V1Switch(parser, verify, ingress, egress, compute, deparser)",
            );
            return None;
        }
        blocks.try_into().ok()
    }

    /// Makes the scopes of the blocks, so that their objects stand in the order of the package.
    fn scopes_in_order(&mut self, blocks: &[Block; 6]) {
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

    /// What the architecture passes to a block.
    fn parameters(&self, block: Block) -> &[Id<Variable>] {
        match block.kind {
            InstanceKind::Control(id) => &self.input.program.controls[id].parameters,
            InstanceKind::Parser(id) => &self.input.program.parsers[id].parameters,
            InstanceKind::Extern { .. } | InstanceKind::Package(_) => &[],
        }
    }

    /// Storage for what the parser's parameters say is passed on.
    fn shared(&mut self, parser: Block) -> Option<Shared> {
        let [_, headers, user, standard] = *self.parameters(parser) else { return None };
        let standard_metadata = self.allocate_standard_metadata(standard);
        self.made.standard_metadata = Some(standard_metadata.clone());
        let user_metadata = self.user_metadata(user);
        let headers = self.headers(headers);
        Some(Shared { headers, user_metadata, standard_metadata })
    }

    /// The switch has these fields already; their aliases say under which names.
    fn allocate_standard_metadata(&mut self, parameter: Id<Variable>) -> Value {
        let Type::Struct(of) = self.input.program.variables[parameter].ty else {
            return Value::Void;
        };
        self.flat.storage.unique_name(STANDARD_METADATA);
        let mut fields = Vec::new();
        let mut values = Vec::new();
        for field in &self.input.program.structs[of].fields {
            let Some(kind) = storage::leaf(self.input.program, &field.ty) else {
                values.push(Value::Void);
                continue;
            };
            let name = field.name.text.to_string();
            let place = FieldRef::new(STANDARD_METADATA, name.clone());
            self.alias(&field.annotations, &place);
            values.push(leaf_value(kind, place));
            fields.push(storage::Field { name, kind });
        }
        self.flat.standard_metadata = fields;
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

    /// Binds the parameters of a block by their types and places, and runs `write` in its scope.
    fn in_block<T>(
        &mut self,
        block: Block,
        kind: BlockKind,
        shared: &Shared,
        write: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.local = Local::new(kind);
        let shared = [
            shared.headers.clone(),
            shared.user_metadata.clone(),
            shared.standard_metadata.clone(),
        ];
        let parameters = self.parameters(block).to_vec();
        let values: Vec<Value> = match kind {
            BlockKind::Parser | BlockKind::Deparser => {
                std::iter::once(Value::Packet).chain(shared).collect()
            }
            _ => shared.into(),
        };
        self.local.bindings.extend(parameters.into_iter().zip(values));
        let object = ObjectRef { scope: ScopeId(0), instance: block.instance };
        let scope = self.enter(object, None);
        self.local.scope = scope;
        write(self)
    }

    /// The parser: it fills in the headers that all blocks share.
    fn parser_block(&mut self, block: Block, shared: &Shared) {
        let InstanceKind::Parser(id) = block.kind else { return };
        self.in_block(block, BlockKind::Parser, shared, |this| this.top_parser(id));
    }

    /// Ingress or egress.
    fn control_block(
        &mut self,
        block: Block,
        kind: BlockKind,
        shared: &Shared,
    ) -> Vec<super::step::Step> {
        let InstanceKind::Control(id) = block.kind else { return Vec::new() };
        self.in_block(block, kind, shared, |this| this.steps_of(|this| this.control(id)))
    }

    /// Checksums that are tested after the parser.
    fn verify_block(&mut self, block: Block, shared: &Shared) {
        let steps = self.control_block(block, BlockKind::VerifyChecksum, shared);
        self.check_only_checksums(&steps);
    }

    /// Checksums that are written before the deparser.
    fn compute_block(&mut self, block: Block, shared: &Shared) {
        let steps = self.control_block(block, BlockKind::ComputeChecksum, shared);
        self.check_only_checksums(&steps);
    }

    /// The order of headers, and what is computed before.
    fn deparser_block(&mut self, block: Block, shared: &Shared) {
        let steps = self.control_block(block, BlockKind::Deparser, shared);
        self.flat.deparser.steps = steps;
        self.flat.deparser.order = std::mem::take(&mut self.local.emitted);
        self.flat.deparser.at = Some(self.block_name_span(block));
    }

    /// Runs `write` with a condition that holds around the checksums it finds.
    pub fn under_condition(&mut self, condition: Expression, write: impl FnOnce(&mut Self)) {
        let outer = self.local.checksum_condition.clone();
        self.local.checksum_condition = and(outer.clone(), condition);
        write(self);
        self.local.checksum_condition = outer;
    }
}
