//! One capture of the whole switch: what came in, what left and what was dropped, and why.
//!
//! `docs/captures.md` says how to read it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use device::{Captured, Fate};
use frames::{CapturedFrame, PcapngWriter, Verdict};
use units::{PortId, Time};

use crate::capture_file::capture_spool;
use crate::clock::time_of_day;
use crate::settings::Settings;
use crate::spool::Spool;

/// A capture that is being written.
pub struct Recording {
    /// Into a spool, which takes everything.
    writer: PcapngWriter<Spool>,
    spool: Spool,
    /// The format's numbers of the ports.
    interfaces: BTreeMap<PortId, u32>,
    /// The number for ports without a device.
    elsewhere: u32,
    /// The time of day at the model's zero.
    zero: Duration,
}

impl Recording {
    /// Begins the file at `path`; an error says why it cannot be written.
    pub fn create(path: &Path, settings: &Settings) -> Result<Recording, String> {
        let mut interfaces = BTreeMap::new();
        let mut described = Vec::new();
        let mut describe = |port: Option<PortId>, name: &str, what: String| {
            if let Some(port) = port {
                interfaces.insert(port, described.len() as u32);
            }
            described.push((name.to_owned(), what));
        };
        for interface in &settings.interfaces {
            let what = format!("port {}", interface.port);
            describe(Some(interface.port), &interface.device, what);
        }
        if let Some(port) = settings.cpu_port {
            describe(Some(port), "controller", format!("port {port}, the CPU port"));
        }
        describe(None, "no-device", "ports without a device".to_owned());
        let elsewhere = described.len() as u32 - 1;
        let application = concat!("vitrine-switch ", env!("CARGO_PKG_VERSION"));
        let begin = || -> io::Result<_> {
            let spool = capture_spool(path, File::create(path)?)?;
            Ok((PcapngWriter::new(spool.clone(), application, &described)?, spool))
        };
        let (writer, spool) = begin()
            .map_err(|error| format!("--capture: cannot write {}: {error}", path.display()))?;
        Ok(Recording { writer, spool, interfaces, elsewhere, zero: time_of_day() })
    }

    /// The model's time is zero now.
    pub fn start(&mut self) {
        self.zero = time_of_day();
    }

    /// Appends a packet.
    pub fn write(&mut self, captured: &Captured) {
        let Captured { at, input, fate, bytes } = captured;
        let (port, queue, verdict, comment) = match fate {
            Fate::Received => (*input, None, Verdict::Received, format!("came in by port {input}")),
            Fate::Transmitted { port, class } => {
                let comment = format!("left by port {port} from queue {class}; in by port {input}");
                (*port, Some(*class), Verdict::Transmitted, comment)
            }
            Fate::Dropped { reason, queue: None } => {
                let comment = format!("dropped: {}; in by port {input}", reason.name());
                (*input, None, Verdict::Dropped, comment)
            }
            Fate::Dropped { reason, queue: Some((port, class)) } => {
                let comment = format!(
                    "dropped: {}; for port {port}, queue {class}; in by port {input}",
                    reason.name()
                );
                (*port, Some(*class), Verdict::Dropped, comment)
            }
        };
        let frame = CapturedFrame {
            at: self.zero + Duration::from_nanos(at.since(Time::ZERO).whole_ns()),
            interface: self.interfaces.get(&port).copied().unwrap_or(self.elsewhere),
            queue: queue.map(|class| u32::from(class.0)),
            verdict,
            comment: &comment,
            bytes,
            length: bytes.len(),
        };
        // A spool refuses nothing.
        let _spooled = self.writer.write(&frame);
    }

    /// Where it is written to.
    pub fn spool(&self) -> &Spool {
        &self.spool
    }
}
