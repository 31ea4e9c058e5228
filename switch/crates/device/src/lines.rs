//! The cables at the ports: frames on their way to the router and away from it.
//!
//! ```text
//!   neighbour -> [ receive line ] -> ingress ... egress -> [ transmit line ] -> neighbour
//! ```
//!
//! A frame on a line is counted by the line alone: the router has *received* it when it comes out
//! of the receive line, and has *transmitted* it when it goes onto the transmit line. Frames do not
//! touch a line that does nothing, which most of the time is nearly all of them.

use std::collections::BTreeMap;

use frames::Frame;
use traffic::{LineOutput, LineReport, LineVerdict, Lines, PortConfig};
use units::{DropReason, HasLength, PortId, Time};

use crate::device::Device;
use crate::fate::Output;
use crate::link::LinkConfig;

/// All lines of a device.
#[derive(Debug)]
pub(crate) struct Cables {
    pub receive: Lines<Frame>,
    pub transmit: Lines<Frame>,
    /// The settings of the cables, for all ports that have one of their own.
    links: BTreeMap<PortId, LinkConfig>,
}

impl Cables {
    pub fn new(seed: u64) -> Cables {
        let (receive, transmit) = (Lines::new(seed, "receive"), Lines::new(seed, "transmit"));
        Cables { receive, transmit, links: BTreeMap::new() }
    }

    /// Brings the lines of a port in line with its configuration.
    pub fn configure(&mut self, now: Time, port: PortId, config: &PortConfig) {
        let link = self.link(port);
        let (receive, transmit) = (link.receive_line(config), link.transmit_line());
        let checked = "its port has been checked, and its link with it";
        self.receive.configure(now, port, receive).expect(checked);
        self.transmit.configure(now, port, transmit).expect(checked);
    }

    /// Sets the cable at a port from its next [`configure`](Cables::configure) on.
    pub fn set_link(&mut self, port: PortId, link: LinkConfig) {
        self.links.insert(port, link);
    }

    fn link(&self, port: PortId) -> LinkConfig {
        self.links.get(&port).cloned().unwrap_or_default()
    }

    pub fn next_due(&self) -> Option<Time> {
        match (self.receive.next_due(), self.transmit.next_due()) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    pub fn balance(&self) -> bool {
        self.receive.balance() && self.transmit.balance()
    }
}

/// How many packets arrive at the queues at this instant, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrivals {
    /// Only this one: where its port is idle, it can pass without being queued.
    One,
    /// Perhaps more, copies of it included.
    Several,
}

impl Device {
    /// The state of a port's receive line and of its transmit line.
    pub fn lines(&self, port: PortId) -> (LineReport, LineReport) {
        (self.cables.receive.report(port), self.cables.transmit.report(port))
    }

    /// How the cable at a port is configured.
    pub fn link(&self, port: PortId) -> LinkConfig {
        self.cables.link(port)
    }

    /// Brings the cable of a port in line with the port's present state. A removed port takes its
    /// cable with it, so that a later port of its number begins with a new one: frames on their way
    /// to the router count as arrived and dropped, and those on their way to the neighbour as
    /// transmitted and lost.
    pub(crate) fn follow_port(&mut self, now: Time, port: PortId) {
        if let Some(config) = self.traffic.config().ports.get(&port) {
            return self.cables.configure(now, port, config);
        }
        self.cables.links.remove(&port);
        for frame in self.cables.receive.remove(port) {
            let identity = self.note_received(now, port, &frame);
            self.drop_frame(now, identity, port, frame, DropReason::PortDown);
        }
        for frame in self.cables.transmit.remove(port) {
            self.recycle(frame);
        }
    }

    /// A neighbour hands over a frame.
    pub(crate) fn begin_receiving(&mut self, now: Time, port: PortId, frame: Frame) {
        if self.cables.receive.is_clear(port) {
            return self.accept(now, port, frame, Arrivals::Several);
        }
        if self.check_memory(port, frame.length()).is_err() {
            return self.drop_before_line(now, port, frame);
        }
        match self.cables.receive.handle_frame(now, port, frame) {
            LineVerdict::Held => {}
            LineVerdict::Refused(frame) => self.recycle(frame),
        }
    }

    /// The first bit of a frame leaves the port.
    pub(crate) fn begin_transmitting(&mut self, at: Time, port: PortId, frame: Frame) {
        if self.cables.transmit.is_clear(port) {
            return self.outputs.push_back(Output::Transmit { at, port, frame });
        }
        match self.cables.transmit.handle_frame(at, port, frame) {
            LineVerdict::Held => {}
            LineVerdict::Refused(frame) => self.recycle(frame),
        }
    }

    /// The frames that come out of a line at `now`, up to `until` at the latest: of the transmit
    /// lines first, which are departures, then of the receive lines, which are arrivals.
    pub(crate) fn poll_cables(&mut self, now: Time, until: Time) {
        if let Some((port, output)) = self.cables.transmit.poll_output(now) {
            if let Some((at, frame)) = self.arrived(output) {
                self.outputs.push_back(Output::Transmit { at, port, frame });
            }
        } else if let Some((port, output)) = self.cables.receive.poll_output(now)
            && let Some((at, frame)) = self.arrived(output)
        {
            // No cable has anything more at this instant, nor has anything else.
            let alone = at < until && self.cables.next_due().is_none_or(|next| next > at);
            self.accept(at, port, frame, if alone { Arrivals::One } else { Arrivals::Several });
        }
    }

    #[inline]
    fn arrived(&mut self, output: LineOutput<Frame>) -> Option<(Time, Frame)> {
        match output {
            LineOutput::Deliver { mut packet, at, flip_bit } => {
                if let Some(bit) = flip_bit {
                    packet.flip_bit(bit);
                }
                Some((at, packet))
            }
            LineOutput::Lose { packet, .. } => {
                self.recycle(packet);
                None
            }
        }
    }
}
