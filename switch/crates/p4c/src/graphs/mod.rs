//! Pictures of a program for Graphviz: how packets go through its parsers and controls.
//!
//! ```text
//! Front (typed tree) -- parser.rs, control.rs --> Graph -- dot.rs --> NAME.dot
//! ```
//!
//! Made of the typed tree, so that any architecture will do, and names are those of the program.

mod control;
mod dot;
mod parser;

use compiler::SourceMap;
use compiler::types::tree::{
    Argument, Expression, ExpressionKind, Id, Instance, InstanceKind, Program,
};
use dot::Graph;
use syntax::Span;

/// Longer texts of the program are cut.
const TEXT_LENGTH_MAX: usize = 60;

/// The files: names without a folder, and texts.
pub fn files(
    program: &Program,
    sources: &SourceMap,
    with_full_graph: bool,
) -> Vec<(String, String)> {
    let graphs: Vec<Graph> =
        blocks(program).into_iter().map(|block| graph(program, sources, block)).collect();
    let mut files: Vec<(String, String)> =
        graphs.iter().map(|graph| (format!("{}.dot", graph.name), graph.to_dot())).collect();
    if with_full_graph {
        files.push(("fullGraph.dot".into(), dot::full_graph(&graphs)));
    }
    files
}

fn graph(program: &Program, sources: &SourceMap, block: InstanceKind) -> Graph {
    match block {
        InstanceKind::Parser(id) => parser::graph(&program.parsers[id], sources),
        InstanceKind::Control(id) => control::graph(program, &program.controls[id], sources),
        InstanceKind::Extern { .. } | InstanceKind::Package(_) => Graph::default(),
    }
}

/// The parsers and controls that `main` is made of, in its order; all there are in a library.
fn blocks(program: &Program) -> Vec<InstanceKind> {
    let mut found = Vec::new();
    if let Some(main) = program.main {
        collect(program, main, &mut found);
    } else {
        found.extend(program.parsers.iter().map(|(id, _)| InstanceKind::Parser(id)));
        found.extend(program.controls.iter().map(|(id, _)| InstanceKind::Control(id)));
    }
    found
}

fn collect(program: &Program, package: Id<Instance>, found: &mut Vec<InstanceKind>) {
    for argument in &program.instances[package].arguments {
        let Argument::Expression(Expression { kind: ExpressionKind::Instance(id), .. }) = argument
        else {
            continue;
        };
        match program.instances[*id].kind {
            InstanceKind::Package(_) => collect(program, *id, found),
            InstanceKind::Extern { .. } => {}
            block if found.contains(&block) => {}
            block => found.push(block),
        }
    }
}

/// A piece of the program on one line, cut if it is long.
fn text(sources: &SourceMap, span: Span) -> String {
    let words: Vec<&str> = sources.text(span).split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= TEXT_LENGTH_MAX {
        return line;
    }
    let cut: String = line.chars().take(TEXT_LENGTH_MAX).collect();
    format!("{cut} …")
}
