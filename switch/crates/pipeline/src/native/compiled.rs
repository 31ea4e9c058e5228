//! A program's machine code: made after loading, used where nobody watches.

use std::sync::Arc;

use super::control::{Lowering, control};
use super::{Compile, Native, Source, packet};
use crate::expression::Decision;
use crate::observe::Observe;
use crate::pipeline::Pipeline;

/// Machine code, and for which parts of the way there is some.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compiled {
    code: Option<Arc<dyn Native>>,
    verifies: Checksums,
    updates: Checksums,
    headers: bool,
    failure: Option<String>,
}

/// Which packets' checksums machine code knows.
#[derive(Clone, Debug, Default)]
enum Checksums {
    /// Nobody's.
    #[default]
    OfNone,
    /// Those of packets for which none of this holds: nearly all.
    Unless(Box<[Decision]>),
}

impl Checksums {
    fn new(others: Option<Box<[Decision]>>) -> Checksums {
        others.map_or(Checksums::OfNone, Checksums::Unless)
    }

    #[inline(always)]
    fn are_known(&self, area: &[u8]) -> bool {
        match self {
            Checksums::OfNone => false,
            Checksums::Unless(others) => !others.iter().any(|other| other.holds(area)),
        }
    }
}

impl Compiled {
    /// The code for controls and states, unless somebody watches.
    #[inline(always)]
    pub fn code<O: Observe>(&self) -> Option<&dyn Native> {
        if O::ENABLED { None } else { self.code.as_deref() }
    }

    /// The code that verifies the checksums of the packet of this area.
    #[inline(always)]
    pub fn verifies<O: Observe>(&self, area: &[u8]) -> Option<&dyn Native> {
        self.code::<O>().filter(|_| self.verifies.are_known(area))
    }

    /// The code that updates them.
    #[inline(always)]
    pub fn updates<O: Observe>(&self, area: &[u8]) -> Option<&dyn Native> {
        self.code::<O>().filter(|_| self.updates.are_known(area))
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
        self.source_and_checksums().0
    }

    /// The same, and which packets' checksums it knows, verified and updated.
    fn source_and_checksums(&self) -> (Source, [Checksums; 2]) {
        let program = &self.program;
        let lowering = Lowering::new(program, &self.tables, &self.profiles);
        let parser = program.parser.as_ref();
        let [(verified, verifies), (updated, updates)] =
            [(&program.verified, true), (&program.updated, false)].map(|(checksums, compared)| {
                let (known, others) = packet::checksums(checksums, compared).unzip();
                (known, Checksums::new(others))
            });
        let source = Source {
            area_bytes: program.layout.size,
            registers: program.register_names.len(),
            ops: control(program, &lowering),
            states: parser.map_or_else(Vec::new, |parser| packet::states(parser, &lowering)),
            verified,
            updated,
            headers: packet::headers(&program.emitted),
        };
        (source, [verifies, updates])
    }

    /// Compiles the program; if that fails it is interpreted.
    pub(crate) fn compile(&mut self, compile: Compile) {
        let (source, [verifies, updates]) = self.source_and_checksums();
        let (code, failure) = match compile(&source) {
            Ok(code) => (Some(code), None),
            Err(message) => (None, Some(message)),
        };
        self.compiled =
            Compiled { code, verifies, updates, headers: source.headers.is_some(), failure };
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
