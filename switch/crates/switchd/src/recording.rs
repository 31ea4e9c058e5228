//! One capture of the whole switch: what came in, what left and what was dropped, and why.
//!
//! `docs/captures.md` says how to read it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::time::Duration;

use device::{Captured, Fate};
use frames::{CapturedFrame, PcapngWriter, Verdict};
use units::{PortId, Time};

use crate::clock::time_of_day;
use crate::settings::Settings;

/// A capture that is being written.
pub struct Recording {
    /// None once the file could not be written.
    writer: Option<PcapngWriter<BufWriter<File>>>,
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
        let writer = File::create(path)
            .and_then(|file| PcapngWriter::new(BufWriter::new(file), application, &described))
            .map_err(|error| format!("--capture: cannot write {}: {error}", path.display()))?;
        Ok(Recording { writer: Some(writer), interfaces, elsewhere, zero: time_of_day() })
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
        let written = self.writer.as_mut().map_or(Ok(()), |writer| writer.write(&frame));
        self.end_on_error(written);
    }

    /// Hands what is written to the file, so that it can be read while it grows.
    pub fn flush(&mut self) {
        let flushed = self.writer.as_mut().map_or(Ok(()), PcapngWriter::flush);
        self.end_on_error(flushed);
    }

    /// A capture that cannot be written (the disk is full) ends with one line in the log; packets
    /// go on.
    fn end_on_error(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            tracing::error!("the capture ends here: {error}");
            self.writer = None;
        }
    }
}
