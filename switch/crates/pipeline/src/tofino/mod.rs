//! A packet's way through a program of the Tofino Native Architecture.
//!
//! As in PSA, ingress ends with a deparser and egress begins with a parser, so packets wait in the
//! queues as bytes. The chip's metadata lie in front of a packet when a parser begins (`front`);
//! everything else that passes from one stage to the next is emitted by the program.
//! Deparsers request mirrored and resubmitted packets in a metadata header of the compiler's.

mod front;
mod run;

use units::PortId;

use crate::action::{Names, Routine};
use crate::deparser::{Emissions, load_deparser};
use crate::error::LoadError;
use crate::layout::Layout;
use crate::parser::{Parser, load_parser};
use crate::place::Slot;
use crate::value_set::ValueSet;
use front::Chip;

/// The parts of a program that programs of v1model do not have.
#[derive(Clone, Debug)]
pub(crate) struct Tofino {
    pub egress_parser: Option<Parser>,
    /// The headers that the deparser behind ingress emits.
    pub emitted: Emissions,
    chip: Chip,
    cpu_port: Option<PortId>,
    ingress_deparser: Option<Routine>,
    /// The headers with which copies begin.
    ingress_mirror: Emissions,
    egress_mirror: Emissions,
    resubmit: Emissions,
    slots: Slots,
}

/// Where the program and the architecture tell each other what there is to know; `None` where the
/// program does not ask.
#[derive(Clone, Copy, Debug)]
struct Slots {
    mirror: Option<Slot>,
    mirror_session: Option<Slot>,
    resubmit: Option<Slot>,
    egress_port: Option<Slot>,
    bypass_egress: Option<Slot>,
    queue: Option<Slot>,
    groups: [Option<Slot>; 2],
    copy_to_cpu: Option<Slot>,
    ingress_drop: Option<Slot>,
    ingress_timestamp: Option<Slot>,
    ingress_error: Option<Slot>,
    egress_drop: Option<Slot>,
    egress_timestamp: Option<Slot>,
    egress_error: Option<Slot>,
}

impl Tofino {
    /// These parts of a program; `None` if it is not one for Tofino.
    pub fn load(
        names: &Names<'_>,
        source: &bmv2::Program,
        sets: &[ValueSet],
        cpu_port: Option<PortId>,
    ) -> Result<Option<Tofino>, LoadError> {
        let has = |name: &str| source.headers.iter().any(|header| header.name == name);
        let chip = match (has("tna"), has("t2na")) {
            (true, _) => Chip::Tofino,
            (_, true) => Chip::Tofino2,
            _ => return Ok(None),
        };
        let (emitted, ingress_deparser) = load_deparser(names, source, "ingress_deparser")?;
        let copies = |name: &str| match source.deparsers.iter().any(|one| one.name == name) {
            true => load_deparser(names, source, name).map(|(emitted, _)| emitted),
            false => Ok(Emissions::default()),
        };
        Ok(Some(Tofino {
            egress_parser: load_parser(names, source, sets, "egress_parser")?,
            emitted,
            chip,
            cpu_port,
            ingress_deparser,
            ingress_mirror: copies("ingress_mirror")?,
            egress_mirror: copies("egress_mirror")?,
            resubmit: copies("resubmit")?,
            slots: Slots::new(names.layout, chip),
        }))
    }

    pub fn architecture(&self) -> &'static str {
        self.chip.architecture()
    }

    /// Whether what goes to a port begins again at ingress.
    pub fn recirculates_at(&self, port: PortId) -> bool {
        self.chip.recirculates_at(port)
    }
}

impl Slots {
    fn new(layout: &Layout, chip: Chip) -> Slots {
        let request = |field| layout.slot(chip.architecture(), field);
        let for_tm = |field| layout.slot("ig_intr_md_for_tm", field);
        Slots {
            mirror: request("mirror"),
            mirror_session: request("mirror_session"),
            resubmit: request("resubmit"),
            egress_port: for_tm("ucast_egress_port"),
            bypass_egress: for_tm("bypass_egress"),
            queue: for_tm("qid"),
            groups: [for_tm("mcast_grp_a"), for_tm("mcast_grp_b")],
            copy_to_cpu: for_tm("copy_to_cpu"),
            ingress_drop: layout.slot("ig_intr_md_for_dprsr", "drop_ctl"),
            ingress_timestamp: layout.slot("ig_intr_md_from_prsr", "global_tstamp"),
            ingress_error: layout.slot("ig_intr_md_from_prsr", "parser_err"),
            egress_drop: layout.slot("eg_intr_md_for_dprsr", "drop_ctl"),
            egress_timestamp: layout.slot("eg_intr_md_from_prsr", "global_tstamp"),
            egress_error: layout.slot("eg_intr_md_from_prsr", "parser_err"),
        }
    }
}
