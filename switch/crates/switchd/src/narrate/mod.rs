//! The life of every packet as lines of the log, for reading a program's behaviour.
//!
//! Clients of bmv2's event logger hear of the same steps, while there are any.
//!
//! The number in front is the packet's; copies have numbers of their own. Steps are at level debug,
//! values at level trace, what the program itself says with `log_msg` at level info.
//!
//! ```text
//!   ours.rs   in our words
//!   bmv2.rs   in those of simple_switch, for the scripts and courses that look for them;
//!             bmv2/entry.rs   its dumps of entries
//! ```

mod bmv2;
mod ours;

use device::{Device, TraceFilter};
use service::steps::StepTeller;
use tracing::warn;

use crate::logging::{Logging, Style};

/// Tells the log, and clients of the event logger, what becomes of packets.
pub struct Narrator {
    /// The log gets the steps.
    logs: bool,
    style: Style,
    clients: Option<StepTeller>,
    /// Packets are followed for clients alone, now that there are some.
    serves: bool,
    lost: u64,
    bmv2: bmv2::Teller,
}

impl Narrator {
    /// One that speaks to the log, or one that does not.
    pub fn new(logging: &Logging) -> Narrator {
        let (logs, style) = (logging.follows_packets, logging.style);
        let bmv2 = bmv2::Teller::default();
        Narrator { logs, style, clients: None, serves: false, lost: 0, bmv2 }
    }

    /// These clients get the steps, too.
    pub fn tell_steps_to(&mut self, clients: Option<StepTeller>) {
        self.clients = clients;
    }

    /// Follows every packet of `device` from now on, if the log gets the steps.
    pub fn begin(&self, device: &mut Device) {
        if self.logs {
            let with_primitives = TraceFilter { tells_primitives: true, ..TraceFilter::default() };
            device.trace(vec![with_primitives]);
        }
    }

    /// Writes what has happened since the last call.
    pub fn tell(&mut self, device: &mut Device) {
        let is_heard = self.clients.as_ref().is_some_and(StepTeller::is_heard);
        if !self.logs {
            self.follow_clients(device, is_heard);
            if !self.serves {
                return;
            }
        }
        let drop_port = device.program_config().drop_port;
        while let Some(record) = device.poll_trace() {
            if self.logs {
                let (packet, event) = (record.packet, &record.event);
                match self.style {
                    Style::Bmv2 => {
                        let context = bmv2::Context { pipeline: device.pipeline(), drop_port };
                        self.bmv2.tell(packet, event, context);
                    }
                    Style::Structured => ours::tell(packet, event),
                }
            }
            if let Some(clients) = self.clients.as_ref().filter(|_| is_heard) {
                clients.tell(record);
            }
        }
        let lost = device.trace_lost();
        if lost > self.lost {
            warn!("{} steps of packets found no room in the log's queue", lost - self.lost);
            self.lost = lost;
        }
    }

    /// Follows packets while clients listen, unless another reader has them followed.
    fn follow_clients(&mut self, device: &mut Device, is_heard: bool) {
        if is_heard && !self.serves && !device.is_tracing() {
            device.trace(vec![TraceFilter::default()]);
            (self.serves, self.lost) = (true, device.trace_lost());
        } else if !is_heard && self.serves {
            device.trace(Vec::new());
            while device.poll_trace().is_some() {
                // The remaining records have no reader.
            }
            self.serves = false;
        }
    }
}
