//! The comments that explain a declaration: those directly above it, and the one behind it on its line.
//! The kit's own core.p4 and v1model.p4 are explained this way too, so what an editor shows about them
//! has one source.

use compiler::{SourceMap, Span};

/// The comments about a declaration; empty if there are none.
pub fn about(declaration: Span, sources: &SourceMap) -> String {
    let text = sources.file(declaration.file).map_or("", |file| &file.text);
    let (start, end) = (declaration.start as usize, declaration.end as usize);
    let (Some(before), Some(behind)) = (text.get(..start), text.get(end..)) else {
        return String::new();
    };
    let said = [above(before), beside(text, end, behind)];
    said.into_iter().filter(|said| !said.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Comment lines that end right above the declaration's own line.
fn above(before: &str) -> String {
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    // Something else on the line, `void f(in bit<8> x` say: what is above is about that.
    if !matches!(before[line_start..].trim(), "" | "extern" | "abstract") {
        return String::new();
    }
    let mut lines: Vec<&str> = Vec::new();
    for line in before[..line_start].lines().rev() {
        let line = line.trim();
        if let Some(comment) = line.strip_prefix("//") {
            lines.push(comment.strip_prefix(' ').unwrap_or(comment));
        } else if lines.is_empty() && line.starts_with('@') {
            // An annotation of the declaration.
        } else if lines.is_empty() && line.ends_with("*/") {
            return block(before[..line_start].trim_end());
        } else {
            break;
        }
    }
    lines.reverse();
    lines.join("\n").trim().to_owned()
}

/// The words of the block comment with which `text` ends.
fn block(text: &str) -> String {
    let Some(start) = text.rfind("/*") else { return String::new() };
    let inside = text[start..].trim_start_matches("/*").trim_end_matches("*/");
    let lines = inside.lines().map(|line| line.trim().trim_start_matches('*').trim());
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// `// ...` on the line on which the declaration ends, with the lines below that go on in its column.
fn beside(text: &str, end: usize, behind: &str) -> String {
    let line = behind.lines().next().unwrap_or("");
    let Some(at) = line.find("//") else { return String::new() };
    // Another declaration between the two has the comment for itself.
    if line[..at].contains(|c: char| c.is_alphanumeric()) {
        return String::new();
    }
    let line_start = text[..end].rfind('\n').map_or(0, |at| at + 1);
    let column = end + at - line_start;
    let mut said = vec![line[at + 2..].trim()];
    for line in behind.lines().skip(1) {
        match line.trim_start().strip_prefix("//") {
            Some(more) if line.len() - line.trim_start().len() == column => said.push(more.trim()),
            _ => break,
        }
    }
    said.join("\n")
}
