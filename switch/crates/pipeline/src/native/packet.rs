//! The parts of a packet's way around the controls: states, checksums, headers.

use super::control::{Lowering, decided};
use super::{Checksum, Header, PARTS_MAX, State, StatePart, Test};
use crate::checksum::Checksum as Loaded;
use crate::checksum::Wanted;
use crate::deparser::Emissions;
use crate::expression::{Condition, Decision};
use crate::parser::Parser;

/// Longer headers than this are copied by the interpreter: machine code copies without a loop.
const HEADER_BYTES_MAX: u32 = 256;

pub(crate) fn states(parser: &Parser, lowering: &Lowering<'_>) -> Vec<Option<State>> {
    let short = |part: &StatePart| match part {
        StatePart::Extract(header) => header.length_bytes <= HEADER_BYTES_MAX,
        _ => true,
    };
    let known = |state: &State| state.parts.len() <= PARTS_MAX && state.parts.iter().all(short);
    parser.lower(lowering).map(|state| state.filter(known)).collect()
}

/// Checksums that are compared, with the condition that their header is valid, or that are written.
/// Of those that only the interpreter knows, when they are wanted: a packet that wants one is not for
/// machine code, because checksums go in order. None if that cannot be said of one of them.
pub(crate) fn checksums(
    checksums: &[Loaded],
    compared: bool,
) -> Option<(Vec<Checksum>, Box<[Decision]>)> {
    let (mut known, mut others) = (Vec::new(), Vec::new());
    for checksum in checksums {
        match (lowered(checksum, compared), &checksum.condition) {
            (Some(checksum), _) => known.push(checksum),
            (None, Some(Condition::Decision(decision))) => others.push(decision.clone()),
            (None, _) => return None,
        }
    }
    Some((known, others.into()))
}

/// A checksum in the words of a compiler, if there are words for it.
fn lowered(checksum: &Loaded, compared: bool) -> Option<Checksum> {
    let plain = checksum.plain.as_ref()?;
    let valid = Test::Valid(checksum.valid);
    let wanted = match &plain.wanted {
        Wanted::Always => Test::Const(true),
        Wanted::If(decision) => decided(decision)?,
        Wanted::WhileValid(valid) => Test::Valid(*valid),
    };
    let wanted = match (compared, wanted) {
        (false, wanted) => wanted,
        (true, Test::Const(true)) => valid,
        (true, wanted) if wanted == valid => valid,
        (true, wanted) => Test::And(Box::new((valid, wanted))),
    };
    Some(Checksum { wanted, words: plain.words.of_headers()?, target: checksum.target })
}

/// The emissions of a deparser, in the order of the wire, but for headers whose length varies: a
/// packet that has one is not for machine code. None if a header is too long for it.
pub(crate) fn headers(emitted: &Emissions) -> Option<Vec<Header>> {
    let headers: Vec<Header> = emitted.order.iter().filter_map(|one| one.plain()).collect();
    headers.iter().all(|one| one.length_bytes <= HEADER_BYTES_MAX).then_some(headers)
}
