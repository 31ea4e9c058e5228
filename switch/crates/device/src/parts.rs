//! The part of a program that each step of a trace belongs to. A trace records where a part begins;
//! its end shows in the step behind it.

use pipeline::Event;

use crate::trace::TraceEvent;

/// A part of a program that begins and ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// By its name, such as `ingress`.
    Control(String),
    Deparser,
    Parser,
}

/// The parts that a step of a trace separates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crossing {
    /// The part that was over before it, and the number of the packet that was in it.
    pub over: Option<(u64, Part)>,
    /// The part that it begins.
    pub begun: Option<Part>,
    /// The part that is over with it.
    pub ended: Option<Part>,
}

/// Follows a trace from part to part.
#[derive(Debug, Default)]
pub struct Parts {
    /// The part of the last step, and its packet.
    within: Option<(u64, Part)>,
}

impl Parts {
    /// The parts that the next step begins and ends.
    pub fn cross(&mut self, packet: u64, event: &TraceEvent) -> Crossing {
        let part = self.part_of(event);
        let goes_on = self
            .within
            .as_ref()
            .is_some_and(|(whose, within)| *whose == packet && part.as_ref() == Some(within));
        if goes_on {
            return Crossing { ended: self.end_with(event), ..Crossing::default() };
        }
        let over = self.within.take();
        self.within = part.clone().map(|part| (packet, part));
        Crossing { over, begun: part, ended: self.end_with(event) }
    }

    /// The last step of a parser says that it is one.
    fn end_with(&mut self, event: &TraceEvent) -> Option<Part> {
        let ends = matches!(event, TraceEvent::Program(Event::ParserDone { .. }));
        self.within.take_if(|_| ends).map(|(_, part)| part)
    }

    fn part_of(&self, event: &TraceEvent) -> Option<Part> {
        let TraceEvent::Program(event) = event else { return None };
        match event {
            Event::ParserState { .. } | Event::Extracted { .. } | Event::ParserDone { .. } => {
                Some(Part::Parser)
            }
            Event::Control { name } => Some(Part::Control(name.clone())),
            // Checksums are written before the headers are put onto the wire.
            Event::Checksum { verified: false, .. } | Event::Emitted { .. } => Some(Part::Deparser),
            Event::Checksum { verified: true, .. } => None,
            // Such steps are in whatever the one before was in.
            _ => self.within.as_ref().map(|(_, part)| part.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crossing(parts: &mut Parts, packet: u64, event: Event) -> Crossing {
        parts.cross(packet, &TraceEvent::Program(event))
    }

    #[test]
    fn a_part_is_over_where_another_begins_or_another_packet_goes_on() {
        let mut parts = Parts::default();
        let control = |name: &str| Part::Control(name.to_owned());
        let begin = |name: &str| Event::Control { name: name.to_owned() };
        let emit = || Event::Emitted { header: "ethernet".to_owned() };
        let done = Event::ParserDone { error: "NoError".to_owned(), parsed: 14 };
        let start = Event::ParserState { name: "start".to_owned() };
        assert_eq!(crossing(&mut parts, 1, start).begun, Some(Part::Parser));
        assert_eq!(crossing(&mut parts, 1, done).ended, Some(Part::Parser));
        let begun = Some(control("ingress"));
        let expected = Crossing { begun, ..Crossing::default() };
        assert_eq!(crossing(&mut parts, 1, begin("ingress")), expected);
        let holds = Event::Condition { name: "node_2".to_owned(), holds: true };
        assert_eq!(crossing(&mut parts, 1, holds), Crossing::default());
        let over = Some((1, control("ingress")));
        let begun = Some(control("egress"));
        let expected = Crossing { over, begun, ended: None };
        assert_eq!(crossing(&mut parts, 2, begin("egress")), expected);
        let over = Some((2, control("egress")));
        let expected = Crossing { over, begun: Some(Part::Deparser), ended: None };
        assert_eq!(crossing(&mut parts, 2, emit()), expected);
        assert_eq!(crossing(&mut parts, 2, emit()), Crossing::default());
        let left = parts.cross(2, &TraceEvent::Recirculated);
        assert_eq!(left.over, Some((2, Part::Deparser)));
    }
}
