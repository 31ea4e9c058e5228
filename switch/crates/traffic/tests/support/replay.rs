//! A router reconstructed from nothing but its steps.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use traffic::{Depth, InputReport, Manager, Step, StepKind};
use units::{Bytes, ClassId, PortId};

use super::Packet;

/// Where a packet waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// At this input, for this output and class.
    Input(PortId, PortId, ClassId),
    Output(PortId, ClassId),
}

#[derive(Default)]
pub struct Replay {
    /// The packets of each queue, those to leave first first, with their lengths.
    queues: BTreeMap<Place, VecDeque<(u64, Bytes)>>,
    place_of: BTreeMap<u64, Place>,
    pub ended: BTreeSet<u64>,
}

impl Replay {
    /// One who comes when packets are inside already.
    pub fn of_inside(manager: &Manager<Packet>) -> Replay {
        let mut replay = Replay::default();
        for inside in manager.inside() {
            assert_eq!(inside.number, inside.packet.id);
            let place = match inside.is_filed {
                true => Place::Input(inside.input, inside.output, inside.class),
                false => Place::Output(inside.output, inside.class),
            };
            replay.put(inside.number, inside.length, place);
        }
        replay
    }

    /// A packet leaves the place where it is, as the first of those who wait there, and goes to
    /// another or ends.
    pub fn follow(&mut self, step: &Step) {
        let Step { number, input, output, class, length, .. } = *step;
        assert!(!self.ended.contains(&number), "{step:?} after its end");
        if let Some(place) = self.place_of.remove(&number) {
            let queue = self.queues.get_mut(&place).expect("a packet was put there");
            assert_eq!(queue.pop_front(), Some((number, length)), "not the first: {step:?}");
        }
        match step.kind {
            StepKind::Crossing { .. } => {}
            StepKind::Departed { .. } | StepKind::Dropped { .. } => {
                self.ended.insert(number);
            }
            StepKind::Filed => self.put(number, length, Place::Input(input, output, class)),
            StepKind::Queued { .. } => self.put(number, length, Place::Output(output, class)),
        }
        if let Some(depth) = step.depth() {
            assert_eq!(depth, self.depth(Place::Output(output, class)), "{step:?}");
        }
    }

    fn put(&mut self, number: u64, length: Bytes, place: Place) {
        self.place_of.insert(number, place);
        self.queues.entry(place).or_default().push_back((number, length));
    }

    fn depth(&self, place: Place) -> Depth {
        let packets = || self.queues.get(&place).into_iter().flatten();
        Depth { packets: packets().count() as u64, bytes: packets().map(|(_, it)| *it).sum() }
    }

    /// The depth of an input, for all outputs.
    fn input_depth(&self, input: &InputReport) -> Depth {
        let places = self.queues.keys().copied();
        let of_input =
            places.filter(|place| matches!(place, Place::Input(it, ..) if *it == input.port));
        of_input.map(|place| self.depth(place)).fold(Depth::default(), |sum, depth| Depth {
            packets: sum.packets + depth.packets,
            bytes: sum.bytes + depth.bytes,
        })
    }

    /// The replay knows of every queue what the router knows of it.
    pub fn check(&self, manager: &Manager<Packet>) {
        for queue in manager.queues() {
            assert_eq!(self.depth(Place::Output(queue.port, queue.class)), queue.depth);
        }
        for input in manager.inputs() {
            assert_eq!(self.input_depth(&input), input.depth, "at input {}", input.port);
        }
        for voq in manager.voqs() {
            let place = Place::Input(voq.input, voq.output, voq.class);
            assert_eq!(self.depth(place), voq.depth, "{voq:?}");
        }
        assert_eq!(self.place_of.len() as u64, manager.held().packets, "and nothing beside");
    }
}
