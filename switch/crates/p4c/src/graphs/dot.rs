//! Graphs in Graphviz' language.

use std::fmt::Write;

/// The kind of a node decides its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A question about the packet.
    Condition,
    /// The beginning or an end.
    End,
    /// Statements without a choice.
    Statements,
    /// A state of a parser, or a table.
    Step,
}

#[derive(Clone, Debug)]
struct Node {
    kind: Kind,
    label: String,
}

#[derive(Clone, Debug)]
struct Edge {
    from: usize,
    to: usize,
    label: String,
}

/// The way of packets through one block; its first node is where they come in.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub name: String,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Where packets leave for the next block.
    way_out: Option<usize>,
}

impl Graph {
    pub fn new(name: &str) -> Graph {
        Graph { name: name.to_owned(), ..Graph::default() }
    }

    /// Adds a node and says its number.
    pub fn node(&mut self, kind: Kind, label: impl Into<String>) -> usize {
        self.nodes.push(Node { kind, label: label.into() });
        self.nodes.len() - 1
    }

    pub fn edge(&mut self, from: usize, to: usize, label: impl Into<String>) {
        self.edges.push(Edge { from, to, label: label.into() });
    }

    pub fn leaves_at(&mut self, node: usize) {
        self.way_out = Some(node);
    }

    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The graph as a file.
    pub fn to_dot(&self) -> String {
        let mut text = format!("digraph {} {{\n", quoted(&self.name));
        self.write(&mut text, "", "    ");
        text + "}\n"
    }

    fn write(&self, text: &mut String, prefix: &str, indent: &str) {
        for (number, Node { kind, label }) in self.nodes.iter().enumerate() {
            let look = match kind {
                Kind::Condition => "shape=diamond",
                Kind::End => "shape=oval",
                Kind::Statements => "shape=box",
                Kind::Step => "shape=box, style=\"rounded,bold\"",
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{indent}{prefix}n{number} [label={}, {look}];", quoted(label));
        }
        for Edge { from, to, label } in &self.edges {
            let label = if label.is_empty() {
                String::new()
            } else {
                format!(" [label={}]", quoted(label))
            };
            let _ = writeln!(text, "{indent}{prefix}n{from} -> {prefix}n{to}{label};");
        }
    }
}

/// All blocks in one picture, each leading to the next.
pub fn full_graph(graphs: &[Graph]) -> String {
    let mut text = String::from("digraph fullGraph {\n");
    for (at, graph) in graphs.iter().enumerate() {
        let label = quoted(&graph.name);
        let _ = writeln!(text, "    subgraph cluster_{at} {{\n        label={label};");
        graph.write(&mut text, &format!("b{at}"), "        ");
        text += "    }\n";
    }
    for (at, graph) in graphs.iter().enumerate().take(graphs.len().saturating_sub(1)) {
        if let Some(out) = graph.way_out {
            let _ = writeln!(text, "    b{at}n{out} -> b{}n0 [style=dashed];", at + 1);
        }
    }
    text + "}\n"
}

/// A string of Graphviz' language.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_programs_end_no_string() {
        let mut graph = Graph::new("a\"b");
        graph.node(Kind::Statements, "log(\"\\n\");\nx = 1;");
        let text = graph.to_dot();
        assert!(text.starts_with("digraph \"a\\\"b\" {\n"), "{text}");
        assert!(text.contains(r#"[label="log(\"\\n\");\nx = 1;", shape=box]"#), "{text}");
    }
}
