//! The crossbar: until when its inputs and outputs are busy, and the next matches.
//!
//! The crossbar arbitrates whenever a side becomes free or a packet requests an output while both
//! sides are free. A match is held until the packet is through (packet mode), so packets of any
//! lengths can cross. With packets of one length that all arrive on slot boundaries, every side
//! becomes free at once and this is the slotted crossbar of the literature.
//!
//! An arbiter sees, for every free output, the free inputs that request it. Each arbiter is one
//! file. To add one, write such a file and name it in `arbiters!` below; docs/contributing.md walks
//! through it.

mod islip;
mod lanes;
mod matching;
mod max_weight;
mod pim;
mod random;
mod rr;
mod wavefront;

use units::{Bytes, Span, Time};

use crate::config::FabricConfig;
use crate::outside::{ArbiterOutside, Guest, OwnMatch};

pub(crate) use lanes::LaneSet;
pub(crate) use matching::{Matching, Round};

/// The requests at one instant.
pub(crate) struct Requests<'a> {
    /// For each output the inputs that request it; empty for a busy output, and without busy
    /// inputs.
    pub inputs_of: &'a [LaneSet],
    /// The weight of a pair: queue length or age. Only maximum-weight arbiters use it.
    pub weight: &'a dyn Fn(usize, usize) -> u64,
}

/// The parameters for a new arbiter.
struct Beginning {
    lane_count: usize,
    /// Rounds of request, grant and accept; 1 for arbiters that have no rounds.
    iterations: u8,
    /// For the dice of arbiters that have some.
    seed: u64,
}

/// An algorithm that decides which inputs send to which outputs.
trait Arbitrate {
    /// The quantity that the arbiter weighs, if it does.
    const WEIGHT: Option<Weight> = None;

    fn new(beginning: &Beginning) -> Self;

    /// Where it looks first: by output for an input, and by input for an output.
    fn pointers(&self) -> Option<(&[usize], &[usize])> {
        None
    }

    /// Adds pairs to the matching, which is empty.
    fn arbitrate(&mut self, requests: &Requests, matching: &mut Matching);
}

macro_rules! arbiters {
    ($($(#[$doc:meta])* $name:literal $kind:ident $({ $(#[$of_rounds:meta])* $rounds:ident })? ($arbiter:ty);)*) => {
        /// The arbiter that decides which inputs send to which outputs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ArbiterConfig {
            $($(#[$doc])* $kind $({ $(#[$of_rounds])* $rounds: u8 })?,)*
        }

        impl ArbiterConfig {
            /// Every arbiter by its name in the proto file and in topology files.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// The arbiter of this name; with `count` rounds if it has rounds.
            pub fn named(name: &str, count: u8) -> Option<ArbiterConfig> {
                match name {
                    $($name => Some(ArbiterConfig::$kind $({ $rounds: count })?),)*
                    _ => None,
                }
            }

            /// Its name in the proto file and in topology files.
            pub fn name(self) -> &'static str {
                match self {
                    $(ArbiterConfig::$kind { .. } => $name,)*
                }
            }

            /// Rounds of request, grant and accept, if it has any.
            pub fn iterations(self) -> Option<u8> {
                match self {
                    $(ArbiterConfig::$kind $({ $rounds })? => [$($rounds)?].first().copied(),)*
                }
            }

            fn weight(self) -> Option<Weight> {
                match self {
                    $(ArbiterConfig::$kind { .. } => <$arbiter as Arbitrate>::WEIGHT,)*
                }
            }
        }

        enum Arbiter {
            $($kind($arbiter),)*
        }

        impl Arbiter {
            fn new(config: ArbiterConfig, lane_count: usize, seed: u64) -> Arbiter {
                let iterations = config.iterations().unwrap_or(1);
                let beginning = &Beginning { lane_count, iterations, seed };
                match config {
                    $(ArbiterConfig::$kind { .. } => Arbiter::$kind(Arbitrate::new(beginning)),)*
                }
            }

            fn pointers(&self) -> Option<(&[usize], &[usize])> {
                match self {
                    $(Arbiter::$kind(arbiter) => arbiter.pointers(),)*
                }
            }

            fn arbitrate(&mut self, requests: &Requests, matching: &mut Matching) {
                match self {
                    $(Arbiter::$kind(arbiter) => arbiter.arbitrate(requests, matching),)*
                }
            }
        }
    };
}

arbiters! {
    /// iSLIP (McKeown 1999): round robin, pointers move only on an accepted first-round grant.
    "islip" Islip {
        /// Rounds of request, grant and accept.
        iterations
    } (islip::Islip);
    /// Longest queue first: a matching of maximum weight, weight = bytes in the queue.
    "lqf" Lqf(max_weight::LongestQueue);
    /// Oldest cell first: a matching of maximum weight, weight = time the first packet waited.
    "ocf" Ocf(max_weight::OldestCell);
    /// Parallel iterative matching (Anderson et al. 1993): random grants, random accepts.
    "pim" Pim {
        /// Rounds of request, grant and accept.
        iterations
    } (pim::Pim);
    /// Each free output in random order takes a random input that requests it: the model in which
    /// FIFO input queues saturate at 58.6 %.
    "random" Random(random::Random);
    /// Round-robin matching (RRM): like iSLIP, but grant pointers always move, so they run in step
    /// and collide.
    "round_robin" RoundRobin {
        /// Rounds of request, grant and accept.
        iterations
    } (rr::RoundRobin);
    /// Wrapped wavefront (Tamir and Chi 1993), the first diagonal rotating.
    "wavefront" Wavefront(wavefront::Wavefront);
}

/// The crossbar in action.
pub(crate) struct Fabric {
    pub config: FabricConfig,
    arbiter: Arbiter,
    /// Decides in its place.
    pub guest: Option<Guest<dyn ArbiterOutside>>,
    free_inputs: LaneSet,
    free_outputs: LaneSet,
    /// `(until, input, output)` of each transfer under way.
    transfers: Vec<(Time, usize, usize)>,
    /// Reused from one arbitration to the next.
    requests: Vec<LaneSet>,
    matching: Matching,
}

/// The quantity that weighs in a match.
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
            guest: None,
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

    /// The quantity that the arbiter weighs, if it does.
    pub fn weight(&self) -> Option<Weight> {
        self.config.arbiter.weight()
    }

    pub fn free_outputs(&self) -> LaneSet {
        self.free_outputs
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

    /// Matches free inputs and outputs at `now`. `asking` gives the free inputs that request an
    /// output; `weight` the weight of a pair. The rounds are kept for a watcher.
    pub fn arbitrate(
        &mut self,
        now: Time,
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
            match &mut self.guest {
                None => self.arbiter.arbitrate(&requests, &mut matching),
                Some(guest) => {
                    let own = || {
                        let mut own = Matching::default();
                        self.arbiter.arbitrate(&requests, &mut own);
                        let pointers = self.arbiter.pointers();
                        let pointers =
                            pointers.map(|(grant, accept)| (grant.to_vec(), accept.to_vec()));
                        OwnMatch { pairs: own.pairs, pointers }
                    };
                    guest.arbitrate(now, requests.inputs_of, own, &mut matching);
                }
            }
        }
        matching
    }

    /// The requests of the last arbitration: `(input, output)`.
    pub fn asks(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let outputs = self.requests.iter().enumerate();
        outputs.flat_map(|(output, inputs)| inputs.iter().map(move |input| (input, output)))
    }

    /// The pointers of an arbiter that has some: those of the outputs, and those of the inputs.
    pub fn pointers(&self) -> Option<(&[usize], &[usize])> {
        self.arbiter.pointers()
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

    /// The unmatched inputs that request `output`. An output without requests is crossed off, so
    /// that later iterations need not look at it.
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
