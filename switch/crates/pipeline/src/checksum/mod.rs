//! Checksums: compared after parsing, written before deparsing.

mod load;
mod run;

pub(crate) use load::load_checksums;

use crate::calculation::Words;
use crate::expression::{Condition, Decision};
use crate::place::Cell;

#[derive(Clone, Debug)]
pub(crate) struct Checksum {
    pub name: String,
    /// The byte that says whether the header of the target is valid.
    pub valid: u32,
    pub target: Cell,
    pub calculation: u32,
    pub condition: Option<Condition>,
    /// The form of [`Self::compute`] for the internet checksum of whole words.
    pub plain: Option<PlainChecksum>,
}

/// The internet checksum of words of headers, wanted or not by a test of fields.
#[derive(Clone, Debug)]
pub(crate) struct PlainChecksum {
    pub wanted: Wanted,
    pub words: Words,
}

/// When a plain checksum is wanted.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    Always,
    If(Decision),
    /// While the header is valid whose validity is this byte: nearly always the condition.
    WhileValid(u32),
}
