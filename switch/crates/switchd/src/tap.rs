//! What is shown of packets: captures of each port, and lines in the log. The model knows nothing of
//! it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::Path;

use device::Device;
use ports::PcapWriter;
use units::PortId;

use crate::clock::time_of_day;
use crate::narrate::Narrator;
use crate::recording::Recording;
use crate::settings::Settings;

/// Looks at every frame that a netdev gave or takes, and at what happened in between.
pub struct Tap {
    captures: BTreeMap<PortId, Capture>,
    recording: Option<Recording>,
    dump_bytes: usize,
    narrator: Narrator,
}

/// One port's two files.
pub struct Capture {
    received: Option<PcapWriter<File>>,
    sent: Option<PcapWriter<File>>,
}

impl Tap {
    /// Opens the captures that are asked for; an error says which file cannot be written.
    pub fn open(settings: &Settings) -> Result<Tap, String> {
        let mut captures = BTreeMap::new();
        for interface in &settings.interfaces {
            let Some(folder) = &settings.pcap else { break };
            captures.insert(interface.port, Capture::create(folder, &interface.device)?);
        }
        let recording = settings.capture.as_deref().map(|path| Recording::create(path, settings));
        let recording = recording.transpose()?;
        let narrator = Narrator::new(settings.logging.follows_packets);
        Ok(Tap { captures, recording, dump_bytes: settings.dump_bytes, narrator })
    }

    /// A port came while the switch runs; its capture, if there is to be one.
    pub fn add(&mut self, port: PortId, capture: Option<Capture>) {
        if let Some(capture) = capture {
            self.captures.insert(port, capture);
        }
    }

    /// A port went: its capture ends.
    pub fn remove(&mut self, port: PortId) {
        self.captures.remove(&port);
    }

    /// Asks the device, whose time is zero now, for what is to be seen of it.
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

    /// Hands what is written to the files before the process sleeps.
    pub fn flush(&mut self) {
        if let Some(recording) = &mut self.recording {
            recording.flush();
        }
    }

    /// A frame came in by `port`.
    pub fn received(&mut self, port: PortId, frame: &[u8]) {
        self.dump("received", port, frame);
        if let Some(capture) = self.captures.get_mut(&port) {
            append(&mut capture.received, port, frame);
        }
    }

    /// A frame goes out by `port`.
    pub fn sent(&mut self, port: PortId, frame: &[u8]) {
        self.dump("transmitted", port, frame);
        if let Some(capture) = self.captures.get_mut(&port) {
            append(&mut capture.sent, port, frame);
        }
    }

    fn dump(&self, what: &str, port: PortId, frame: &[u8]) {
        if self.dump_bytes > 0 {
            let shown = &frame[..frame.len().min(self.dump_bytes)];
            tracing::info!("{what}, port {port}, first {} bytes: {}", shown.len(), Hex(shown));
        }
    }
}

impl Capture {
    /// Begins both files; an error says which cannot be written.
    pub fn create(folder: &Path, device: &str) -> Result<Capture, String> {
        let received = Some(create(folder, device, "in")?);
        Ok(Capture { received, sent: Some(create(folder, device, "out")?) })
    }
}

fn create(folder: &Path, device: &str, direction: &str) -> Result<PcapWriter<File>, String> {
    let path = folder.join(format!("{device}_{direction}.pcap"));
    File::create(&path)
        .and_then(PcapWriter::new)
        .map_err(|error| format!("--pcap: cannot write {}: {error}", path.display()))
}

/// A capture that cannot be written (the disk is full) ends with one line in the log; packets go
/// on.
fn append(capture: &mut Option<PcapWriter<File>>, port: PortId, frame: &[u8]) {
    let Some(writer) = capture else { return };
    if let Err(error) = writer.write(time_of_day(), frame) {
        tracing::error!("a capture of port {port} ends here: {error}");
        *capture = None;
    }
}

/// Bytes as digits.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
