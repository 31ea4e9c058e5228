//! Headers that the parser extracts and the deparser does not emit: they are cut off the packet.

use super::places::{kind, written};
use super::visit::{self, Node};
use crate::architecture::{BlockKind, Meaning, PacketMethod};
use crate::types::tree::{
    Argument, Builtin, Call, Callee, DerivedKind, Expression, ExpressionKind, InstanceKind,
    Program, StatementKind, Type,
};
use syntax::{Diagnostic, Diagnostics, Span};

/// Fields on the way from the struct of headers to one of them; elements of stacks are their stack.
type Way = Vec<usize>;

/// Warns of each such header. A program that makes it invalid or copies it somewhere drops it on
/// purpose, and one that emits no header at all has no deparser to speak of.
pub(super) fn headers(program: &Program, diagnostics: &mut Diagnostics) {
    let parser = program.block(BlockKind::Parser).map(|block| program.instances[block].kind);
    if program.block(BlockKind::EgressParser).is_some() {
        return;
    }
    let Some(InstanceKind::Parser(parser)) = parser else { return };
    let Some(headers) = program.parsers[parser].parameters.get(1) else { return };
    let mut seen = Seen { program, root: &program.variables[*headers].ty, ..Seen::new(program) };
    visit::program(program, &mut |node| match node {
        Node::Call(call) => seen.call(call),
        Node::Statement(statement) => {
            if let StatementKind::Assign { value, .. } = &statement.kind {
                let way = seen.way(value);
                seen.dropped.extend(way);
            }
        }
        Node::Expression(_) => {}
    });
    if seen.is_unsure || seen.emitted.is_empty() {
        return;
    }
    let covers = |ways: &[Way], way: &Way| {
        ways.iter().any(|other| way.starts_with(other) || other.starts_with(way))
    };
    for (way, name, at) in &seen.extracted {
        if !covers(&seen.emitted, way) && !covers(&seen.dropped, way) {
            let title = format!("`{name}` is extracted and never emitted");
            diagnostics.push(Diagnostic::warning("header-not-emitted", *at, title).hint(format!(
                "packets leave without it: write packet.emit({name}); in the deparser, or make \
                     it invalid"
            )));
        }
    }
}

/// A program's uses of its headers.
struct Seen<'t> {
    program: &'t Program,
    /// The type of the struct of headers.
    root: &'t Type,
    extracted: Vec<(Way, String, Span)>,
    emitted: Vec<Way>,
    /// Made invalid, or copied somewhere else.
    dropped: Vec<Way>,
    /// Something is emitted that is no part of the struct of headers.
    is_unsure: bool,
}

impl<'t> Seen<'t> {
    fn new(program: &'t Program) -> Seen<'t> {
        Seen {
            program,
            root: &Type::Wrong,
            extracted: Vec::new(),
            emitted: Vec::new(),
            dropped: Vec::new(),
            is_unsure: false,
        }
    }

    fn call(&mut self, call: &Call) {
        match &call.callee {
            Callee::Builtin(Builtin::SetInvalid | Builtin::PopFront, header) => {
                let way = self.way(header);
                self.dropped.extend(way);
            }
            Callee::Method { object, method } => {
                let Type::Extern(id) = object.ty else { return };
                let known = self.program.externs[id].methods.get(*method).and_then(|it| it.known);
                let Some(Meaning::Packet(method)) = known.map(|it| it.meaning) else { return };
                let Some(Argument::Expression(header)) = call.arguments.first() else { return };
                match (method, self.way(header)) {
                    (PacketMethod::Emit, Some(way)) => self.emitted.push(way),
                    (PacketMethod::Emit, None) => self.is_unsure = true,
                    (PacketMethod::Extract, Some(way)) if !self.is_of_controller(header) => {
                        let shown = match &header.kind {
                            ExpressionKind::StackNext(stack) => stack,
                            _ => header,
                        };
                        let name = written(self.program, shown);
                        self.extracted.push((way, name, header.span));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Headers between switch and controller are read and gone.
    fn is_of_controller(&self, header: &Expression) -> bool {
        let Type::Struct(id) = header.ty else { return false };
        let annotations = &self.program.structs[id].annotations;
        annotations.iter().any(|found| &*found.name.text == "controller_header")
    }

    /// The way to a part of the struct of headers.
    fn way(&self, expression: &Expression) -> Option<Way> {
        match &expression.kind {
            ExpressionKind::Variable(_) if expression.ty == *self.root => Some(Vec::new()),
            ExpressionKind::Field { base, field } => {
                let is_field_of_header = kind(self.program, &base.ty) == Some(DerivedKind::Header);
                let mut way = self.way(base).filter(|_| !is_field_of_header)?;
                way.push(*field);
                Some(way)
            }
            ExpressionKind::Index { base, .. }
            | ExpressionKind::StackLast(base)
            | ExpressionKind::StackNext(base) => self.way(base),
            _ => None,
        }
    }
}
