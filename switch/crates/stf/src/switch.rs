//! A switch to try programs on: the device with ports that take no time, so that a packet is
//! through before the next one comes.

use std::collections::BTreeMap;

use device::{Device, Output, TraceEvent, TraceFilter, TraceRecord};
use pipeline::{Config, Event, Pipeline};
use traffic::PortConfig;
use units::{CLASS_COUNT_MAX, PortId, Span, Time};

/// The port that programs of PSA call `PSA_PORT_CPU`, as in virtual networks.
pub const CPU_PORT: PortId = PortId(510);

/// A frame that came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// By this port.
    pub port: PortId,
    /// Its bytes.
    pub frame: Vec<u8>,
    /// The headers it starts with.
    pub headers: Vec<String>,
}

/// One switch, and what time it is there.
pub struct Switch {
    device: Device,
    now: Time,
}

impl Switch {
    /// A switch that runs this program. It has every port a program can name but the drop port.
    pub fn new(pipeline: Pipeline) -> Switch {
        let config = Config::default();
        let mut device = Device::new(config);
        let ports = (0..1 << 9).map(PortId).filter(|port| *port != config.drop_port);
        let ports = ports.map(|port| (port, PortConfig::strict(None, CLASS_COUNT_MAX))).collect();
        device
            .configure(Time::ZERO, traffic::Config { ports, ..traffic::Config::default() })
            .expect("ports without rate or limits are valid");
        device.install(Box::new(pipeline));
        Switch { device, now: Time::ZERO }
    }

    /// The program, to read from.
    pub fn pipeline(&self) -> &Pipeline {
        self.device.pipeline().expect("installed when the switch was made")
    }

    /// The program, for tables and state.
    pub fn pipeline_mut(&mut self) -> &mut Pipeline {
        self.device.pipeline_mut().expect("installed when the switch was made")
    }

    /// The present time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Lets time pass.
    pub fn wait(&mut self, span: Span) {
        self.now += span;
    }

    /// Sends a packet in, and says what comes out, in order.
    pub fn send(&mut self, port: PortId, bytes: &[u8]) -> Vec<(PortId, Vec<u8>)> {
        // A millisecond apart: far enough for any meter, and the same on every run.
        self.wait(Span::from_ms(1));
        self.device.handle_frame(self.now, port, bytes);
        let mut sent = Vec::new();
        while let Some(output) = self.device.poll_output(self.now) {
            if let Output::Transmit { port, frame, .. } = output {
                sent.push((port, frame.bytes().to_vec()));
                self.device.recycle(frame);
            }
        }
        sent
    }

    /// The same, with the headers that were emitted into each frame.
    pub fn send_told(&mut self, port: PortId, bytes: &[u8]) -> Vec<Sent> {
        self.device.trace(vec![TraceFilter::default()]);
        let sent = self.send(port, bytes);
        self.device.trace(Vec::new());
        let mut told = self.transmitted().into_iter();
        let with_headers = |(port, frame): (PortId, Vec<u8>)| {
            // A packet that became very many is not followed to the end.
            let same = told.next().filter(|(_, traced)| *traced == frame);
            Sent { port, frame, headers: same.map_or(Vec::new(), |(headers, _)| headers) }
        };
        sent.into_iter().map(with_headers).collect()
    }

    /// Of each traced frame that left, the headers emitted into it.
    fn transmitted(&mut self) -> Vec<(Vec<String>, Vec<u8>)> {
        let mut emitted: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        let mut left = Vec::new();
        while let Some(record) = self.device.poll_trace() {
            let headers = emitted.entry(record.packet).or_default();
            match record.event {
                TraceEvent::Program(Event::Emitted { header }) => headers.push(header),
                // The bytes it was deparsed into are parsed again.
                TraceEvent::Recirculated => headers.clear(),
                TraceEvent::Transmitted { frame, .. } => {
                    left.push((std::mem::take(headers), frame))
                }
                _ => {}
            }
        }
        left
    }

    /// The same, with every step of the packet and its copies instead of the output packets.
    pub fn send_traced(&mut self, port: PortId, bytes: &[u8]) -> Vec<TraceRecord> {
        self.device.trace(vec![TraceFilter::default()]);
        let _ = self.send(port, bytes);
        self.device.trace(Vec::new());
        std::iter::from_fn(|| self.device.poll_trace()).collect()
    }
}
