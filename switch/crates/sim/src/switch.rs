//! A switch to try programs on: the device with ports that take no time, so that a packet is
//! through before the next one comes.

use device::{Device, Output, TraceFilter, TraceRecord};
use pipeline::{Config, Pipeline};
use traffic::PortConfig;
use units::{CLASS_COUNT_MAX, PortId, Span, Time};

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

    /// What time it is.
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

    /// The same, with every step of the packet and its copies instead of what comes out.
    pub fn send_traced(&mut self, port: PortId, bytes: &[u8]) -> Vec<TraceRecord> {
        self.device.trace(vec![TraceFilter::default()]);
        let _ = self.send(port, bytes);
        self.device.trace(Vec::new());
        std::iter::from_fn(|| self.device.poll_trace()).collect()
    }
}
