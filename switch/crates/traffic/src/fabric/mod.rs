//! The crossbar: which of its inputs and outputs are busy until when, and who is matched next.
//!
//! The crossbar arbitrates whenever a side becomes free or a packet asks for two free sides. A
//! match is held until the packet is through (packet mode), so packets of any lengths can cross.
//! With packets of one length that all arrive on slot boundaries, every side becomes free at once
//! and this is the slotted crossbar of the literature.
//!
//! An arbiter sees, for every free output, the free inputs that ask for it; each has a file.

mod islip;
mod lanes;
mod matching;
mod max_weight;
mod pim;
mod random;
mod rr;
mod wavefront;

use units::{Bytes, Span, Time};

use crate::config::{ArbiterConfig, FabricConfig};
use chance::Chance;

pub(crate) use lanes::LaneSet;
pub(crate) use matching::{Matching, Round};

use islip::Islip;
use max_weight::MaxWeight;
use pim::Pim;
use random::Random;
use rr::RoundRobin;
use wavefront::Wavefront;

/// Who asks for whom at one instant.
pub(crate) struct Requests<'a> {
    /// For each output the inputs that ask for it; empty for an output that is busy. A busy input
    /// is in none.
    pub inputs_of: &'a [LaneSet],
    /// What a pair is worth: queue length or age. Only maximum-weight arbiters ask.
    pub weight: &'a dyn Fn(usize, usize) -> u64,
}

/// The crossbar in action.
pub(crate) struct Fabric {
    pub config: FabricConfig,
    arbiter: Arbiter,
    free_inputs: LaneSet,
    free_outputs: LaneSet,
    /// `(until, input, output)` of each transfer under way.
    transfers: Vec<(Time, usize, usize)>,
    /// Reused from one arbitration to the next.
    requests: Vec<LaneSet>,
    matching: Matching,
}

enum Arbiter {
    Islip(Islip),
    MaxWeight(MaxWeight),
    Pim(Pim),
    Random(Random),
    RoundRobin(RoundRobin),
    Wavefront(Wavefront),
}

/// What makes a pair worth much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// The time the first packet has waited.
    Age,
    /// The bytes that wait.
    Length,
}

impl Fabric {
    pub fn new(config: FabricConfig, lane_count: usize, seed: u64) -> Fabric {
        Fabric {
            config,
            arbiter: Arbiter::new(config.arbiter, lane_count, seed),
            free_inputs: LaneSet::first_lanes(lane_count),
            free_outputs: LaneSet::first_lanes(lane_count),
            transfers: Vec::with_capacity(lane_count),
            requests: vec![LaneSet::default(); lane_count],
            matching: Matching::default(),
        }
    }

    /// Takes over new values; transfers under way end as they were granted.
    pub fn reconfigure(&mut self, config: FabricConfig, seed: u64) {
        if self.config.arbiter != config.arbiter {
            self.arbiter = Arbiter::new(config.arbiter, self.requests.len(), seed);
        }
        self.config = config;
    }

    /// What the arbiter weighs, if it weighs.
    pub fn weight(&self) -> Weight {
        match self.config.arbiter {
            ArbiterConfig::Ocf => Weight::Age,
            _ => Weight::Length,
        }
    }

    pub fn output_is_free(&self, output: usize) -> bool {
        self.free_outputs.contains(output)
    }

    /// Frees the sides whose transfer has ended by `now`.
    pub fn release(&mut self, now: Time) {
        let (inputs, outputs) = (&mut self.free_inputs, &mut self.free_outputs);
        self.transfers.retain(|&(until, input, output)| {
            if until > now {
                return true;
            }
            inputs.insert(input);
            outputs.insert(output);
            false
        });
    }

    /// When the next transfer ends.
    pub fn next_release(&self) -> Option<Time> {
        self.transfers.iter().map(|(until, _, _)| *until).min()
    }

    /// Matches free inputs and outputs. `asking` gives the inputs that ask for an output, out of
    /// the free ones; `weight` what a pair is worth. The rounds are kept for one who watches.
    pub fn arbitrate(
        &mut self,
        is_watched: bool,
        asking: impl Fn(usize, LaneSet) -> LaneSet,
        weight: impl Fn(usize, usize) -> u64,
    ) -> Matching {
        let mut matching = std::mem::take(&mut self.matching);
        matching.clear(is_watched);
        let mut anybody = false;
        for (output, inputs) in self.requests.iter_mut().enumerate() {
            *inputs = match self.free_outputs.contains(output) {
                true => asking(output, self.free_inputs),
                false => LaneSet::default(),
            };
            anybody |= !inputs.is_empty();
        }
        if anybody {
            let requests = Requests { inputs_of: &self.requests, weight: &weight };
            self.arbiter.arbitrate(&requests, &mut matching);
        }
        matching
    }

    /// Who asked in the last arbitration: `(input, output)`.
    pub fn asks(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let outputs = self.requests.iter().enumerate();
        outputs.flat_map(|(output, inputs)| inputs.iter().map(move |input| (input, output)))
    }

    /// The pointers of an arbiter that has some: those of the outputs, and those of the inputs.
    pub fn pointers(&self) -> Option<(&[usize], &[usize])> {
        match &self.arbiter {
            Arbiter::Islip(arbiter) => Some(arbiter.pointers()),
            Arbiter::RoundRobin(arbiter) => Some(arbiter.pointers()),
            Arbiter::MaxWeight(_)
            | Arbiter::Pim(_)
            | Arbiter::Random(_)
            | Arbiter::Wavefront(_) => None,
        }
    }

    /// Whether the arbiter weighs.
    pub fn weighs(&self) -> bool {
        matches!(self.arbiter, Arbiter::MaxWeight(_))
    }

    /// Gives the list of [`Fabric::arbitrate`] back, so that the next one need not allocate.
    pub fn recycle(&mut self, matching: Matching) {
        self.matching = matching;
    }

    /// A packet of `length` begins to cross at `now`; returns when it is through.
    pub fn hold(&mut self, input: usize, output: usize, now: Time, length: Bytes) -> Time {
        let at_line_rate = self.config.rate.span_of(length);
        let span = Span::from_ps(self.config.speedup.into_parts_of(at_line_rate.ps()));
        self.free_inputs.remove(input);
        self.free_outputs.remove(output);
        let until = now.saturating_add(span);
        self.transfers.push((until, input, output));
        until
    }

    /// The transfers under way: until when, from which input lane, to which output lane.
    pub fn transfers(&self) -> &[(Time, usize, usize)] {
        &self.transfers
    }
}

impl Arbiter {
    fn new(config: ArbiterConfig, lane_count: usize, seed: u64) -> Arbiter {
        match config {
            ArbiterConfig::Islip { iterations } => {
                Arbiter::Islip(Islip::new(lane_count, iterations))
            }
            ArbiterConfig::Lqf | ArbiterConfig::Ocf => Arbiter::MaxWeight(MaxWeight::default()),
            ArbiterConfig::Pim { iterations } => {
                Arbiter::Pim(Pim::new(lane_count, iterations, Chance::new(seed, "arbiter/pim")))
            }
            ArbiterConfig::Random => {
                Arbiter::Random(Random::new(Chance::new(seed, "arbiter/random")))
            }
            ArbiterConfig::RoundRobin { iterations } => {
                Arbiter::RoundRobin(RoundRobin::new(lane_count, iterations))
            }
            ArbiterConfig::Wavefront => Arbiter::Wavefront(Wavefront::default()),
        }
    }

    fn arbitrate(&mut self, requests: &Requests, matching: &mut Matching) {
        match self {
            Arbiter::Islip(arbiter) => arbiter.arbitrate(requests, matching),
            Arbiter::MaxWeight(arbiter) => arbiter.arbitrate(requests, matching),
            Arbiter::Pim(arbiter) => arbiter.arbitrate(requests, matching),
            Arbiter::Random(arbiter) => arbiter.arbitrate(requests, matching),
            Arbiter::RoundRobin(arbiter) => arbiter.arbitrate(requests, matching),
            Arbiter::Wavefront(arbiter) => arbiter.arbitrate(requests, matching),
        }
    }
}

/// The lane after `lane`, wrapping around: where a round-robin pointer goes.
fn one_past(lane: usize, lane_count: usize) -> usize {
    if lane + 1 == lane_count { 0 } else { lane + 1 }
}

/// The inputs and outputs that iterative arbiters have not matched yet.
struct Unmatched {
    inputs: LaneSet,
    outputs: LaneSet,
}

impl Unmatched {
    fn new(requests: &Requests) -> Unmatched {
        let lane_count = requests.inputs_of.len();
        let mut outputs = LaneSet::default();
        for (output, inputs) in requests.inputs_of.iter().enumerate() {
            if !inputs.is_empty() {
                outputs.insert(output);
            }
        }
        Unmatched { inputs: LaneSet::first_lanes(lane_count), outputs }
    }

    /// The unmatched inputs that ask for `output`. An output nobody asks for any more is struck
    /// off, so that later iterations need not look at it.
    #[inline]
    fn asking(&mut self, requests: &Requests, output: usize) -> LaneSet {
        let inputs = requests.inputs_of[output].intersection(self.inputs);
        if inputs.is_empty() {
            self.outputs.remove(output);
        }
        inputs
    }

    #[inline]
    fn pair(&mut self, input: usize, output: usize, matching: &mut Matching) {
        self.inputs.remove(input);
        self.outputs.remove(output);
        matching.accept(input, output);
    }
}
