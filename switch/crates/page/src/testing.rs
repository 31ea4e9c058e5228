//! Packet tests in STF, run on a program in a switch of their own; both ends are JSON.
//!
//! ```text
//!   {"main", "files", "test": "tests/router/ipv4.stf"}
//!   {"statements": 14, "problems": [{"line": 9, "text": "..."}]}   none: it has passed
//!   {"refused": why}                                              there is nothing to run it on
//! ```
//!
//! A problem has no line if it is an unexpected packet.

use compiler::{Options, SourceProvider};
use pipeline::{Config, Pipeline};
use serde_json::{Value, json};
use stf::Test;

use crate::texts::Texts;

/// The result. Never panics, on any request.
pub fn answer(request: &[u8]) -> Value {
    let request: Value = serde_json::from_slice(request).unwrap_or_default();
    match tested(&request) {
        Ok(told) => told,
        Err(why) => json!({"refused": why}),
    }
}

/// The program of a request, loaded.
pub(crate) fn loaded(texts: &Texts) -> Result<(bmv2::Program, Pipeline), String> {
    let options = Options { preprocessor: texts.options.clone(), ..Options::default() };
    let program = compiler::compile(texts, &texts.main, &options).program;
    let program = program.ok_or_else(|| format!("{} does not compile", texts.main))?;
    let pipeline = Pipeline::new(&program, &Config::default());
    let pipeline = pipeline.map_err(|error| format!("{}: {error}", texts.main))?;
    Ok((program, pipeline))
}

fn tested(request: &Value) -> Result<Value, String> {
    let texts = Texts::in_value(request).ok_or("there is no program to test")?;
    let name = request["test"].as_str().unwrap_or_default();
    let text = texts.read(name).map_err(|_| format!("there is no test {name:?}"))?;
    let statements = match stf::parse(&text) {
        Ok(statements) => statements,
        Err(error) => return Ok(told(0, vec![problem(Some(error.line), &error.message)])),
    };
    let mut test = Test::new(loaded(&texts)?.1);
    let mut problems = Vec::new();
    for (line, statement) in &statements {
        if let Err(message) = test.apply(*line, statement) {
            problems.push(problem(Some(*line), &message));
        }
    }
    for mismatch in test.mismatches() {
        problems.push(problem(mismatch.line, mismatch.to_string().trim_end()));
    }
    Ok(told(statements.len(), problems))
}

fn told(statements: usize, problems: Vec<Value>) -> Value {
    json!({"statements": statements, "problems": problems})
}

fn problem(line: Option<usize>, text: &str) -> Value {
    json!({"line": line, "text": text})
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIRE: &str = include_str!("../../stage/tests/rig/wire.p4");

    fn ran(program: &str, test: &str) -> Value {
        let files = json!({"a.p4": program, "tests/a.stf": test});
        let request = json!({"main": "a.p4", "files": files, "test": "tests/a.stf"});
        answer(request.to_string().as_bytes())
    }

    /// The program is a piece of wire: what comes in by port 1 leaves by port 2.
    #[test]
    fn a_test_passes_where_its_packets_come_out_as_expected() {
        let told = ran(WIRE, "# over the wire\npacket 1 00 01 02\nexpect 2 000102 $\n");
        assert_eq!(told, json!({"statements": 2, "problems": []}));
    }

    #[test]
    fn what_comes_out_otherwise_is_told_with_its_line() {
        let told = ran(WIRE, "packet 1 000102\nexpect 2 000103\n");
        assert_eq!(told["problems"][0]["line"], 2, "{told}");
        let text = told["problems"][0]["text"].as_str().unwrap();
        assert!(text.contains("byte 2 differs") && text.contains("00 01 03"), "{text}");
        let told = ran(WIRE, "packet 1 000102\nexpect 1 000102\nexpect 2\nexpect 2\n");
        assert_eq!(told["problems"].as_array().map(Vec::len), Some(2), "{told}");
    }

    #[test]
    fn a_line_that_is_none_and_a_program_that_is_none_are_told() {
        let told = ran(WIRE, "packet 1 00\nfly away\n");
        assert_eq!(told["problems"][0]["line"], 2);
        let told = ran("control", "packet 1 00\n");
        assert_eq!(told["refused"], "a.p4 does not compile");
        assert!(answer(b"rubbish")["refused"].is_string());
    }
}
