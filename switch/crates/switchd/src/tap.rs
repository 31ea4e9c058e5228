//! The display of packets: captures of each port, and lines in the log. The model knows nothing of
//! it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use device::Device;
use ports::PcapWriter;
use service::steps::StepTeller;
use units::PortId;

use crate::capture_file::capture_spool;
use crate::clock::time_of_day;
use crate::narrate::Narrator;
use crate::recording::Recording;
use crate::settings::Settings;
use crate::spool::{END_TIMEOUT, Spool};

/// Looks at every frame that a netdev gave or takes, and at what happened in between.
pub struct Tap {
    captures: BTreeMap<PortId, Capture>,
    recording: Option<Recording>,
    dump_bytes: usize,
    narrator: Narrator,
}

/// One port's two files.
pub struct Capture {
    received: OneWay,
    sent: OneWay,
}

/// A file with the frames of one direction.
struct OneWay {
    writer: PcapWriter<Spool>,
    spool: Spool,
}

impl Tap {
    /// Opens the requested captures; an error says which file cannot be written.
    pub fn open(settings: &Settings) -> Result<Tap, String> {
        let mut captures = BTreeMap::new();
        for interface in &settings.interfaces {
            let Some(folder) = &settings.pcap else { break };
            captures.insert(interface.port, Capture::create(folder, &interface.device)?);
        }
        let recording = settings.capture.as_deref().map(|path| Recording::create(path, settings));
        let recording = recording.transpose()?;
        let narrator = Narrator::new(&settings.logging);
        Ok(Tap { captures, recording, dump_bytes: settings.dump_bytes, narrator })
    }

    /// Somebody beside the log hears of the steps of packets.
    pub fn tell_steps_to(&mut self, teller: Option<StepTeller>) {
        self.narrator.tell_steps_to(teller);
    }

    /// A port came while the switch runs; its capture, if there is to be one.
    pub fn add(&mut self, port: PortId, capture: Option<Capture>) {
        if let Some(capture) = capture {
            self.captures.insert(port, capture);
        }
    }

    /// A port went: its capture ends when all that waits is written.
    pub fn remove(&mut self, port: PortId) {
        if let Some(capture) = self.captures.remove(&port) {
            capture.spools().for_each(Spool::close);
        }
    }

    /// The switch ends: waits for the remaining writes, as long as they make progress.
    pub fn end(&self) {
        let recording = self.recording.iter().map(Recording::spool);
        let all = self.captures.values().flat_map(Capture::spools).chain(recording);
        all.clone().for_each(Spool::close);
        let (mut timeout, mut lost) = (END_TIMEOUT, 0);
        for spool in all {
            if let Err(records) = spool.wait_for_end(timeout) {
                // The others have had as long.
                (timeout, lost) = (Duration::ZERO, lost + records);
            }
        }
        if lost > 0 {
            tracing::warn!("captures end before all is written: {lost} frames are missing");
        }
    }

    /// Has the device, whose time is zero now, report the events to be displayed.
    pub fn begin(&mut self, device: &mut Device) {
        if let Some(recording) = &mut self.recording {
            recording.start();
            device.capture(true);
        }
        self.narrator.begin(device);
    }

    /// Writes down what the device has recorded.
    pub fn record(&mut self, device: &mut Device) {
        self.narrator.tell(device);
        let Some(recording) = &mut self.recording else { return };
        while let Some(captured) = device.poll_capture() {
            recording.write(&captured);
        }
    }

    /// A frame came in by `port`.
    pub fn received(&mut self, port: PortId, frame: &[u8]) {
        self.dump("received", port, frame);
        if let Some(capture) = self.captures.get_mut(&port) {
            capture.received.append(frame);
        }
    }

    /// A frame goes out by `port`.
    pub fn sent(&mut self, port: PortId, frame: &[u8]) {
        self.dump("transmitted", port, frame);
        if let Some(capture) = self.captures.get_mut(&port) {
            capture.sent.append(frame);
        }
    }

    fn dump(&self, what: &str, port: PortId, frame: &[u8]) {
        if self.dump_bytes > 0 {
            let shown = &frame[..frame.len().min(self.dump_bytes)];
            tracing::info!("{what}, port {port}, first {} bytes: {}", shown.len(), Hex(shown));
        }
    }
}

/// The names of a device's captures: of incoming and of outgoing frames.
pub fn names(device: &str) -> [String; 2] {
    ["in", "out"].map(|direction| format!("{device}_{direction}.pcap"))
}

impl Capture {
    /// Begins both files; an error says which cannot be written.
    pub fn create(folder: &Path, device: &str) -> Result<Capture, String> {
        let [received, sent] = names(device).map(|name| OneWay::create(&folder.join(name)));
        Ok(Capture { received: received?, sent: sent? })
    }

    fn spools(&self) -> impl Iterator<Item = &Spool> + Clone {
        [&self.received.spool, &self.sent.spool].into_iter()
    }
}

impl OneWay {
    fn create(path: &Path) -> Result<OneWay, String> {
        let begin = || -> io::Result<OneWay> {
            let spool = capture_spool(path, File::create(path)?)?;
            Ok(OneWay { writer: PcapWriter::new(spool.clone())?, spool })
        };
        begin().map_err(|error| format!("--pcap: cannot write {}: {error}", path.display()))
    }

    fn append(&mut self, frame: &[u8]) {
        // A spool refuses nothing.
        let _spooled = self.writer.write(time_of_day(), frame);
    }
}

/// Bytes as digits.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
