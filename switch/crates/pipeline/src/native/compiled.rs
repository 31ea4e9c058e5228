//! A program's machine code: made after loading, used without an observer.

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
    whole: Option<Part>,
    /// Of a program for PSA, the deparser behind ingress and the parser in front of egress.
    between: Option<Part>,
    verifies: Checksums,
    updates: Checksums,
    failure: Option<String>,
}

/// The machine code of one source.
#[derive(Clone, Debug)]
struct Part {
    code: Arc<dyn Native>,
    /// Whether it writes headers.
    writes: bool,
}

impl Part {
    fn new(compile: Compile, source: &Source) -> Result<Part, String> {
        Ok(Part { code: compile(source)?, writes: source.headers.is_some() })
    }

    fn writer(&self) -> Option<&dyn Native> {
        self.writes.then_some(&*self.code)
    }
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
        let between = source_between(program, tables, profiles);
        let parts = Part::new(compile, &source).and_then(|whole| {
            let between = between.map(|source| Part::new(compile, &source)).transpose()?;
            Ok((whole, between))
        });
        match parts {
            Ok((whole, between)) => {
                Compiled { whole: Some(whole), between, verifies, updates, failure: None }
            }
            Err(message) => Compiled { failure: Some(message), ..Compiled::default() },
        }
    }

    pub fn is_native(&self) -> bool {
        self.whole.is_some()
    }

    /// Why the program is interpreted although a compiler was handed in.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// The code for controls and states, unless there is an observer.
    #[inline(always)]
    pub fn code<O: Observe>(&self) -> Option<&dyn Native> {
        if O::ENABLED { None } else { self.whole.as_ref().map(|part| &*part.code) }
    }

    /// The code for the states of the parser in front of egress, where there is one.
    #[inline(always)]
    pub fn egress_parser<O: Observe>(&self) -> Option<&dyn Native> {
        if O::ENABLED { None } else { self.between.as_ref().map(|part| &*part.code) }
    }

    /// The code that writes the headers behind ingress, where they are written.
    #[inline(always)]
    pub fn ingress_headers(&self) -> Option<&dyn Native> {
        self.between.as_ref().and_then(Part::writer)
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
        if O::ENABLED { None } else { self.whole.as_ref().and_then(Part::writer) }
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

/// The parts of a PSA or Tofino program between its controls, likewise; none in other programs.
pub(crate) fn source_between(
    program: &Program,
    tables: &[Applied],
    profiles: &[Chosen],
) -> Option<Source> {
    let (parser, emitted) = match (&program.psa, &program.tofino) {
        (Some(psa), _) => (&psa.egress_parser, &psa.emitted),
        (_, Some(tofino)) => (&tofino.egress_parser, &tofino.emitted),
        (None, None) => return None,
    };
    let lowering = Lowering::new(program, tables, profiles);
    Some(Source {
        area_bytes: program.layout.size,
        registers: program.register_names.len(),
        ops: Vec::new(),
        states: parser.as_ref().map_or_else(Vec::new, |parser| packet::states(parser, &lowering)),
        verified: None,
        updated: None,
        headers: packet::headers(emitted),
    })
}

/// The program for a compiler to machine code.
pub(crate) fn source(program: &Program, tables: &[Applied], profiles: &[Chosen]) -> Source {
    source_and_checksums(program, tables, profiles).0
}
