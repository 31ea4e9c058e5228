//! The loaded program: what packets only read.

use std::collections::BTreeMap;

use bmv2::SourceInfo;
use units::PortId;

use crate::action::{Action, Routine, Step};
use crate::calculation::NamedCalculation;
use crate::checksum::Checksum;
use crate::deparser::Emissions;
use crate::known::Known;
use crate::layout::Layout;
use crate::lists::DigestList;
use crate::parser::Parser;
use crate::place::Place;
use crate::psa::Psa;
use crate::tofino::Tofino;

/// The immutable part of a loaded program.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub layout: Layout,
    pub known: Known,
    pub drop_port: PortId,
    pub parser: Option<Parser>,
    pub actions: Vec<Action>,
    pub calculations: Vec<NamedCalculation>,
    /// All actions, then the nodes of all controls.
    pub code: Vec<Step>,
    pub condition_names: Vec<String>,
    /// Where each of them stands in the source.
    pub condition_sources: Vec<Option<SourceInfo>>,
    /// Whether a step reads the queues.
    pub reads_queues: bool,
    pub ingress: u32,
    pub egress: u32,
    pub verified: Vec<Checksum>,
    pub updated: Vec<Checksum>,
    pub emitted: Emissions,
    pub deparser: Option<Routine>,
    /// Neither `psa` nor `tofino` is there: one look for the packets of most programs.
    pub is_v1model: bool,
    /// The additional parts of a PSA program; then `parser` is that of ingress, `deparser` that of
    /// egress.
    pub psa: Option<Psa>,
    /// Likewise those of a Tofino program.
    pub tofino: Option<Tofino>,
    /// Fields kept by clones, resubmitted and recirculated packets, by id.
    pub field_lists: BTreeMap<u32, Vec<Place>>,
    pub digests: Vec<DigestList>,
    pub counter_names: Vec<String>,
    pub meter_names: Vec<String>,
    /// By table: the name of its direct meters.
    pub direct_meters: Vec<Option<String>>,
    pub register_names: Vec<(String, u32)>,
}
