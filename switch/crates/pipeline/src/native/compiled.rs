//! A program's machine code: made after loading, used where nobody watches.

use std::sync::Arc;

use super::{Compile, Native, Source, control, packet};
use crate::observe::Observe;
use crate::pipeline::Pipeline;

/// Machine code, and for which parts of the way there is some.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compiled {
    code: Option<Arc<dyn Native>>,
    verifies: bool,
    updates: bool,
    headers: bool,
    failure: Option<String>,
}

impl Compiled {
    /// The code for controls and states, unless somebody watches.
    #[inline(always)]
    pub fn code<O: Observe>(&self) -> Option<&dyn Native> {
        if O::ENABLED { None } else { self.code.as_deref() }
    }

    /// The code that verifies checksums.
    #[inline(always)]
    pub fn verifies<O: Observe>(&self) -> Option<&dyn Native> {
        self.code::<O>().filter(|_| self.verifies)
    }

    /// The code that updates checksums.
    #[inline(always)]
    pub fn updates<O: Observe>(&self) -> Option<&dyn Native> {
        self.code::<O>().filter(|_| self.updates)
    }

    /// The code that writes headers.
    #[inline(always)]
    pub fn headers<O: Observe>(&self) -> Option<&dyn Native> {
        self.code::<O>().filter(|_| self.headers)
    }
}

/// Machine code.
impl Pipeline {
    /// The program for a compiler to machine code.
    pub fn source(&self) -> Source {
        let program = &self.program;
        Source {
            area_bytes: program.layout.size,
            registers: program.register_names.len(),
            ops: control::control(program, &self.tables),
            states: program.parser.as_ref().map_or_else(Vec::new, packet::states),
            verified: packet::checksums(&program.verified, true),
            updated: packet::checksums(&program.updated, false),
            headers: packet::headers(&program.emitted),
        }
    }

    /// Compiles the program; if that fails it is interpreted.
    pub(crate) fn compile(&mut self, compile: Compile) {
        let source = self.source();
        let (code, failure) = match compile(&source) {
            Ok(code) => (Some(code), None),
            Err(message) => (None, Some(message)),
        };
        self.compiled = Compiled {
            code,
            verifies: source.verified.is_some(),
            updates: source.updated.is_some(),
            headers: source.headers.is_some(),
            failure,
        };
    }

    /// Whether the program runs as machine code.
    pub fn is_native(&self) -> bool {
        self.compiled.code.is_some()
    }

    /// Why the program is interpreted although a compiler was handed in.
    pub fn native_failure(&self) -> Option<&str> {
        self.compiled.failure.as_deref()
    }
}
