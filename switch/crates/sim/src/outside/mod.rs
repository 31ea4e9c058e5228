//! Deciders in Python: a class in a user's file decides in the place of an arbiter, a scheduler or
//! an AQM of the router, or for the TCP connections of hosts.
//!
//! The class runs in a process of its own, `python3 -m insides.host FILE.py CLASS`, and answers
//! questions through a pipe, [`wire`] in both directions. [`child`] starts the process and ends it
//! when one decision takes too long, so nothing hangs however the class behaves. A web page cannot
//! start a process; there `page.rs` replaces it.

// Congestion controls belong to networks, which are another module in a page.
#![cfg_attr(target_family = "wasm", allow(dead_code))]

#[cfg(not(target_family = "wasm"))]
mod child;
mod deciders;
#[cfg(not(target_family = "wasm"))]
mod library;
#[cfg(target_family = "wasm")]
mod page;
mod wire;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use traffic::outside::Fault;

#[cfg(target_family = "wasm")]
use page as child;

#[cfg(not(target_family = "wasm"))]
pub use deciders::Congestion;
pub use deciders::{Aqm, Arbiter, Scheduler};
#[cfg(not(target_family = "wasm"))]
pub use library::Library;

/// A fault as a line of JSON, for programs.
pub fn fault_line(run: &str, name: &str, fault: &Fault) -> Value {
    let Fault { at, decision, what, asked } = fault;
    let fault = json!({ "at_ps": at.ps(), "decision": decision, "what": what, "asked": asked });
    json!({ "run": run, "decided_by": name, "fault": fault })
}

/// `FILE.py:CLASS`, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    file: PathBuf,
    name: String,
}

impl Class {
    /// Reads `FILE.py:CLASS`; what is no such thing is none. The rest, behind another colon, is
    /// given back.
    pub fn parse(text: &str) -> Option<(Class, Option<&str>)> {
        let (file, rest) = text.split_once(".py:")?;
        let (name, rest) = match rest.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (rest, None),
        };
        let class = Class { file: Path::new(&format!("{file}.py")).into(), name: name.to_owned() };
        (!name.is_empty()).then_some((class, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_a_file_and_a_name_and_maybe_more() {
        let class = |file: &str, name: &str| Class { file: file.into(), name: name.to_owned() };
        let slip = class("my/arbiter.py", "Slip");
        assert_eq!(Class::parse("my/arbiter.py:Slip"), Some((slip.clone(), None)));
        assert_eq!(Class::parse("my/arbiter.py:Slip:4"), Some((slip, Some("4"))));
        assert_eq!(Class::parse("islip:4"), None);
        assert_eq!(Class::parse("my.py:"), None);
    }
}
