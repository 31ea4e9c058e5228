//! Readers of frames: captures of ports as pcapng.

use std::sync::Arc;
use std::time::Duration;

use frames::{CapturedFrame, PcapngWriter, Verdict};
use messages::vitrine::v1;
use p4runtime::Refusal;
use prost::bytes::Bytes;
use units::Time;
use world::{Captured, Direction, End};

use crate::network::Network;
use crate::spout::Spout;
use crate::topology::Plug;

/// One reader.
#[derive(Debug)]
pub struct Capture {
    /// In the order of the file's interfaces.
    ends: Vec<End>,
    frame_bytes_max: usize,
    writer: PcapngWriter<Vec<u8>>,
    spout: Arc<Spout<v1::CaptureResponse>>,
}

impl Capture {
    pub fn new(
        network: &Network,
        request: &v1::CaptureRequest,
        spout: Arc<Spout<v1::CaptureResponse>>,
    ) -> Result<Capture, Refusal> {
        if request.ports.is_empty() {
            return Err(Refusal::invalid("ports: name at least one end of a cable"));
        }
        let ends = request.ports.iter().map(|port| network.plug(port).map(|(end, _)| end));
        let ends = ends.collect::<Result<Vec<End>, Refusal>>()?;
        let interface = |port: &v1::CableEnd| match Plug::of(port) {
            Plug { node, port: None } => (format!("{node}-eth0"), format!("host {node}")),
            Plug { node, port: Some(port) } => {
                (format!("{node}-eth{port}"), format!("router {node}, port {port}"))
            }
        };
        let interfaces: Vec<_> = request.ports.iter().map(interface).collect();
        let writer = PcapngWriter::new(Vec::new(), "vitrine-sim", &interfaces);
        let frame_bytes_max = match request.frame_bytes_max {
            0 => usize::MAX,
            most => most as usize,
        };
        let mut capture = Capture {
            ends,
            frame_bytes_max,
            writer: writer.expect("memory can be written to"),
            spout,
        };
        capture.hand_over();
        Ok(capture)
    }

    pub fn ends(&self) -> &[End] {
        &self.ends
    }

    pub fn is_closed(&self) -> bool {
        self.spout.is_closed()
    }

    pub fn is_filling(&self) -> bool {
        self.spout.is_filling()
    }

    pub fn end(&self, why: &Refusal) {
        self.spout.end(why);
    }

    fn write(&mut self, captured: &Captured) {
        let Some(interface) = self.ends.iter().position(|end| *end == captured.end) else { return };
        let verdict = match captured.direction {
            Direction::Received => Verdict::Received,
            Direction::Sent => Verdict::Transmitted,
        };
        let length = captured.bytes.len();
        let frame = CapturedFrame {
            at: Duration::from_nanos(captured.at.whole_ns()),
            interface: interface as u32,
            queue: None,
            verdict,
            comment: "",
            bytes: &captured.bytes[..length.min(self.frame_bytes_max)],
            length,
        };
        self.writer.write(&frame).expect("memory can be written to");
    }

    /// Hands on what was written.
    fn hand_over(&mut self) {
        let written = std::mem::take(self.writer.get_mut());
        if !written.is_empty() {
            let pcapng = Bytes::from(written);
            self.spout.push(v1::CaptureResponse { pcapng, complete_until_ps: 0 });
        }
    }

    pub fn complete_until(&self, now: Time) {
        let complete_until_ps = now.ps();
        self.spout.push(v1::CaptureResponse { complete_until_ps, ..Default::default() });
    }
}

/// Hands what was captured since to those who want it.
pub fn hand_frames(network: &mut Network, captures: &mut [Capture]) {
    while let Some(captured) = network.world.poll_capture() {
        captures.iter_mut().for_each(|capture| capture.write(&captured));
    }
    captures.iter_mut().for_each(Capture::hand_over);
}
