//! A program's machine code: made after loading, used where nobody watches.

use std::sync::Arc;

use super::control::{Lowering, control};
use super::{Compile, Native, Source, packet};
use crate::expression::Decision;
use crate::observe::Observe;
use crate::profile::Chosen;
use crate::program::Program;
use crate::table::Applied;

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
    /// Compiles a program; if that fails it is interpreted.
    pub fn new(
        compile: Compile,
        program: &Program,
        tables: &[Applied],
        profiles: &[Chosen],
    ) -> Compiled {
        let (source, [verifies, updates]) = source_and_checksums(program, tables, profiles);
        let (code, failure) = match compile(&source) {
            Ok(code) => (Some(code), None),
            Err(message) => (None, Some(message)),
        };
        Compiled { code, verifies, updates, headers: source.headers.is_some(), failure }
    }

    pub fn is_native(&self) -> bool {
        self.code.is_some()
    }

    /// Why the program is interpreted although a compiler was handed in.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

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

/// A program for a compiler to machine code, and which packets' checksums that knows, verified and
/// updated.
fn source_and_checksums(
    program: &Program,
    tables: &[Applied],
    profiles: &[Chosen],
) -> (Source, [Checksums; 2]) {
    let lowering = Lowering::new(program, tables, profiles);
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

/// The program for a compiler to machine code.
pub(crate) fn source(program: &Program, tables: &[Applied], profiles: &[Chosen]) -> Source {
    source_and_checksums(program, tables, profiles).0
}
