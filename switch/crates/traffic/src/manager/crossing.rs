//! From the input stage through the crossbar into the output queues.
//!
//! The plan of an arbitration, in order of cost:
//! 1. free the sides of transfers that have ended;
//! 2. for each free output, the free inputs that request it: one AND of two words;
//! 3. with backpressure, where an output's queues may not take every packet: look at the first
//!    packets and strike off inputs that have none that fits;
//! 4. let the arbiter match;
//! 5. relink each matched packet into its output queue, if that still takes it;
//! 6. be due again when the next transfer ends.

use units::{DropReason, HasLength, PortId, Time};

use super::{Manager, Origin};
use crate::arbitration::{self, Arbitration, Ask, Match, Pointers};
use crate::config::FullOutput;
use crate::fabric::{Fabric, LaneSet, Round};
use crate::fate::Waiting;
use crate::input::InputStage;
use crate::ports::Ports;
use crate::slab::{Handle, Slab};
use crate::watch::StepKind;

/// Input stage and crossbar of a router that has them.
pub(super) struct Crossing {
    pub stage: InputStage,
    pub fabric: Fabric,
    /// When the crossbar arbitrates next.
    pub due: Option<Time>,
}

impl Crossing {
    /// Packets request these outputs, if any: arbitrate as soon as that can matter.
    fn ask(&mut self, now: Time, outputs: LaneSet) {
        if outputs.is_empty() {
            return;
        }
        self.fabric.release(now);
        let due = match outputs.intersection(self.fabric.free_outputs()).is_empty() {
            false => Some(now),
            // The next release may be any side's; it leads on to the one after it.
            true => self.fabric.next_release(),
        };
        self.due = match (self.due, due) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }

    /// The queues of these outputs may take a packet that they did not take before.
    fn note_room(&mut self, now: Time, outputs: LaneSet) {
        self.ask(now, outputs.intersection(self.stage.asked()));
    }
}

impl<P: HasLength> Manager<P> {
    /// The lane of the input stage that takes the packet; none if its port is no input of a fabric.
    pub(super) fn admit_to_input(
        &mut self,
        waiting: &Waiting,
    ) -> Result<Option<usize>, DropReason> {
        let Some(crossing) = &mut self.crossing else { return Ok(None) };
        let Some(lane) = crossing.stage.lane(waiting.input) else { return Ok(None) };
        crossing.stage.admit(lane, waiting).inspect_err(|reason| {
            crossing.stage.count_refusal(lane, waiting, *reason);
        })?;
        Ok(Some(lane))
    }

    /// Puts an admitted packet into the queue of its input.
    pub(super) fn enqueue_input(&mut self, lane: usize, handle: Handle, now: Time) {
        let waiting = self.slab.slot(handle).waiting;
        self.note_step(now, &waiting, |_| StepKind::Filed);
        let crossing = self.crossing.as_mut().expect("the packet was admitted to a lane");
        if let Some(output) = crossing.stage.enqueue(&mut self.slab, lane, handle) {
            crossing.ask(now, LaneSet::of(output));
        }
    }

    /// An output queue of `port` has more room at `now` than before; of a memory that all share, so
    /// have the others.
    pub(super) fn note_room(&mut self, port: PortId, now: Time) {
        if self.ports.share_a_buffer() {
            self.note_room_everywhere(now);
            return;
        }
        let Some(crossing) = &mut self.crossing else { return };
        if let Some(output) = crossing.stage.lane(port) {
            crossing.note_room(now, LaneSet::of(output));
        }
    }

    /// Any output queue may have more room at `now` than before.
    pub(super) fn note_room_everywhere(&mut self, now: Time) {
        let Some(crossing) = &mut self.crossing else { return };
        crossing.note_room(now, crossing.stage.asked());
    }

    /// Matches inputs and outputs at `now` and moves the packets.
    pub(super) fn arbitrate(&mut self, now: Time) {
        let Some(mut crossing) = self.crossing.take() else { return };
        let Crossing { stage, fabric, due } = &mut *crossing;
        fabric.release(now);
        let weigh = fabric.weight();
        let backpressure = fabric.config.full_output == FullOutput::Backpressure;
        let is_watched = self.watch.as_ref().is_some_and(|watch| watch.wants_arbitrations());
        let matching = fabric.arbitrate(
            now,
            is_watched,
            |output, free| {
                let asking = stage.asking(output).intersection(free);
                let port = stage.lanes[output];
                let ports = &self.ports;
                if backpressure && !asking.is_empty() && ports.may_refuse(port, self.longest) {
                    those_that_fit(stage, &self.slab, ports, output, asking)
                } else {
                    asking
                }
            },
            |input, output| {
                weigh.map_or(0, |of| stage.weight(&self.slab, of, (input, output), now))
            },
        );
        if let (Some(watch), Some(rounds)) = (&mut self.watch, &matching.rounds) {
            let arbitration = arbitration(now, stage, &self.slab, fabric, rounds);
            // Nobody asked as often as not, when a transfer ends and nothing waits.
            if !arbitration.asks.is_empty() {
                watch.note_arbitration(arbitration);
            }
        }
        for &(input, output) in &matching.pairs {
            let port = stage.lanes[output];
            let room = |class, length| self.ports.has_room(port, class, length).is_ok();
            let fits = |class, length| !backpressure || room(class, length);
            let class = stage.first_that_fits(&self.slab, (input, output), fits);
            // A packet that has just crossed may have taken the rest of a shared memory.
            let Some(class) = class else { continue };
            let taken = stage.take(&mut self.slab, (input, output), class, now);
            let handle = taken.expect("a matched input has a packet of the class");
            let waiting = self.slab.slot(handle).waiting;
            let until = fabric.hold(input, output, now, waiting.length);
            self.note_step(now, &waiting, |_| StepKind::Crossing { until });
            self.push_out(&waiting, now);
            match self.ports.admit(&waiting, now) {
                Ok(admitted) => self.enqueue_output(handle, admitted, now),
                Err(reason) => self.drop_held(handle, now, reason, Origin::Input),
            }
        }
        *due = if stage.held.packets > 0 { fabric.next_release() } else { None };
        fabric.recycle(matching);
        self.crossing = Some(crossing);
    }
}

/// An arbitration in the words of one who watches. Nothing has crossed yet.
fn arbitration<P>(
    at: Time,
    stage: &InputStage,
    slab: &Slab<P>,
    fabric: &Fabric,
    rounds: &[Round],
) -> Arbitration {
    let port = |lane: usize| stage.lanes[lane];
    let weight = |pair| fabric.weight().map_or(0, |of| stage.weight(slab, of, pair, at));
    let ask = |(input, output)| Ask {
        input: port(input),
        output: port(output),
        weight: weight((input, output)),
    };
    let matches = |pairs: &[(usize, usize)]| -> Vec<Match> {
        let pairs = pairs.iter();
        pairs.map(|(input, output)| Match { input: port(*input), output: port(*output) }).collect()
    };
    let round = |round: &Round| arbitration::Round {
        grants: matches(&round.grants),
        accepts: matches(&round.accepts),
    };
    let pointers = |(grants, accepts): (&[usize], &[usize])| -> Vec<Pointers> {
        let lanes = stage.lanes.iter().zip(grants).zip(accepts);
        let pointers = lanes.map(|((lane, grant), accept)| Pointers {
            port: *lane,
            grant: port(*grant),
            accept: port(*accept),
        });
        pointers.collect()
    };
    Arbitration {
        at,
        asks: fabric.asks().map(ask).collect(),
        // The last round may have matched nothing.
        rounds: rounds.iter().map(round).filter(|it| *it != Default::default()).collect(),
        pointers: fabric.pointers().map(pointers).unwrap_or_default(),
    }
}

/// The inputs among `asking` with a packet that the output queues take.
fn those_that_fit<P>(
    stage: &InputStage,
    slab: &Slab<P>,
    ports: &Ports,
    output: usize,
    asking: LaneSet,
) -> LaneSet {
    let port = stage.lanes[output];
    let mut fitting = LaneSet::default();
    for input in asking.iter() {
        let fits = |class, length| ports.has_room(port, class, length).is_ok();
        if stage.first_that_fits(slab, (input, output), fits).is_some() {
            fitting.insert(input);
        }
    }
    fitting
}
