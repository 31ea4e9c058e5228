//! A packet's way through a program of the Portable Switch Architecture, as psa_switch goes it.
//!
//! Differences from v1model: ingress ends with a deparser of its own and egress begins with a
//! parser, so bytes wait in the queues; a packet's fate is in metadata, not in calls; and nothing a
//! program knows of a packet passes from one stage to the next but the metadata of its way, listed
//! in a list of fields named after it. (JSON without such lists, such as p4c's, keeps all metadata
//! on the way from ingress to egress, as psa_switch does.)
//!
//! PSA's ports have 32 bits and the switch's 16. `PSA_PORT_RECIRCULATE` is the one with the same low
//! bits, and `PSA_PORT_CPU` the switch's port to its controller.

pub(crate) mod run;

use units::PortId;

use crate::action::{Names, Routine};
use crate::deparser::{Emissions, load_deparser};
use crate::error::LoadError;
use crate::layout::Layout;
use crate::parser::{Parser, load_parser};
use crate::place::Slot;
use crate::value_set::ValueSet;

/// Where packets go to begin again: `PSA_PORT_RECIRCULATE`.
pub const PORT_RECIRCULATE: PortId = PortId(0xfffa);
/// `PSA_PORT_CPU` of a switch without a port to a controller: no port has this number.
pub const PORT_CPU: PortId = PortId(0xfffd);
/// A list of fields that no program has: nothing is kept.
pub(crate) const NO_LIST: u32 = u32::MAX;

/// The parts that a PSA program has and a v1model program lacks.
#[derive(Clone, Debug)]
pub(crate) struct Psa {
    pub egress_parser: Option<Parser>,
    /// The emissions of the deparser behind ingress.
    pub emitted: Emissions,
    cpu_port: PortId,
    ingress_deparser: Option<Routine>,
    ingress: IngressSlots,
    egress: EgressSlots,
    ways: Ways,
}

/// Where ingress reads and writes what the architecture and it tell each other.
#[derive(Clone, Copy, Debug)]
struct IngressSlots {
    parser_port: Option<Slot>,
    parser_path: Option<Slot>,
    port: Option<Slot>,
    path: Option<Slot>,
    timestamp: Option<Slot>,
    error: Option<Slot>,
    class: Slot,
    clone: Slot,
    session: Slot,
    drop: Slot,
    resubmit: Slot,
    group: Slot,
    egress_port: Slot,
}

/// The same of egress.
#[derive(Clone, Copy, Debug)]
struct EgressSlots {
    parser_port: Option<Slot>,
    parser_path: Option<Slot>,
    class: Option<Slot>,
    port: Option<Slot>,
    path: Option<Slot>,
    instance: Option<Slot>,
    timestamp: Option<Slot>,
    error: Option<Slot>,
    clone: Slot,
    session: Slot,
    drop: Slot,
    deparser_port: Option<Slot>,
}

/// The lists of fields that packets take along, by way.
#[derive(Clone, Copy, Debug)]
struct Ways {
    /// `None`: all metadata.
    normal: Option<u32>,
    clone_i2e: u32,
    clone_e2e: u32,
    resubmit: u32,
    recirculate: u32,
}

impl Psa {
    /// Loads these parts of a program, for a switch with this port to its controller; `None` if the
    /// program is not for PSA.
    pub fn load(
        names: &Names<'_>,
        source: &bmv2::Program,
        sets: &[ValueSet],
        cpu_port: Option<PortId>,
    ) -> Result<Option<Psa>, LoadError> {
        if !source.parsers.iter().any(|parser| parser.name == "egress_parser") {
            return Ok(None);
        }
        let (emitted, ingress_deparser) = load_deparser(names, source, "ingress_deparser")?;
        Ok(Some(Psa {
            egress_parser: load_parser(names, source, sets, "egress_parser")?,
            emitted,
            cpu_port: cpu_port.unwrap_or(PORT_CPU),
            ingress_deparser,
            ingress: IngressSlots::new(names.layout)?,
            egress: EgressSlots::new(names.layout)?,
            ways: Ways::new(source),
        }))
    }
}

fn required(layout: &Layout, header: &str, field: &str) -> Result<Slot, LoadError> {
    layout.slot(header, field).ok_or_else(|| {
        let message = format!("the program has no metadata field {header}.{field}");
        LoadError::new("/headers", message)
    })
}

impl IngressSlots {
    fn new(layout: &Layout) -> Result<IngressSlots, LoadError> {
        let parser = |field| layout.slot("psa_ingress_parser_input_metadata", field);
        let input = |field| layout.slot("psa_ingress_input_metadata", field);
        let output = |field| required(layout, "psa_ingress_output_metadata", field);
        Ok(IngressSlots {
            parser_port: parser("ingress_port"),
            parser_path: parser("packet_path"),
            port: input("ingress_port"),
            path: input("packet_path"),
            timestamp: input("ingress_timestamp"),
            error: input("parser_error"),
            class: output("class_of_service")?,
            clone: output("clone")?,
            session: output("clone_session_id")?,
            drop: output("drop")?,
            resubmit: output("resubmit")?,
            group: output("multicast_group")?,
            egress_port: output("egress_port")?,
        })
    }
}

impl EgressSlots {
    fn new(layout: &Layout) -> Result<EgressSlots, LoadError> {
        let parser = |field| layout.slot("psa_egress_parser_input_metadata", field);
        let input = |field| layout.slot("psa_egress_input_metadata", field);
        let output = |field| required(layout, "psa_egress_output_metadata", field);
        Ok(EgressSlots {
            parser_port: parser("egress_port"),
            parser_path: parser("packet_path"),
            class: input("class_of_service"),
            port: input("egress_port"),
            path: input("packet_path"),
            instance: input("instance"),
            timestamp: input("egress_timestamp"),
            error: input("parser_error"),
            clone: output("clone")?,
            session: output("clone_session_id")?,
            drop: output("drop")?,
            deparser_port: layout.slot("psa_egress_deparser_input_metadata", "egress_port"),
        })
    }
}

impl Ways {
    fn new(source: &bmv2::Program) -> Ways {
        let list = |name: &str| {
            source.field_lists.iter().find(|list| list.name == name).map(|list| list.id)
        };
        let or_none = |name: &str| list(name).unwrap_or(NO_LIST);
        Ways {
            normal: list("normal_meta"),
            clone_i2e: or_none("clone_i2e_meta"),
            clone_e2e: or_none("clone_e2e_meta"),
            resubmit: or_none("resubmit_meta"),
            recirculate: or_none("recirculate_meta"),
        }
    }
}
