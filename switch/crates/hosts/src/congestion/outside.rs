//! Congestion control from outside: an algorithm that is no part of this crate, such as a student's
//! in another process, for any number of connections.
//!
//! The host calls the decider, checks the answer and acts on it. An answer that is not allowed (an
//! empty window) or an error of the decider is a [`Fault`]: it is kept with the instant and the
//! state of the connection, the decider is not called again, and the driver of the hosts ends the
//! run. Until then the connection acts harmlessly: windows stay, and are halved after a loss.
//!
//! A decider can be *compared*: then one of this crate's algorithms decides too at every
//! connection, and the first decision that differs is a fault as well.

use std::fmt::{self, Debug};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chance::Chance;
use units::{Fault, Time};

use super::{Algorithm, Congestion, EcnUse, Happening, Path, SSTHRESH_NONE, Window};

/// No window is larger: 2^28 packets are more than any path holds.
const WINDOW_PACKETS_MAX: u32 = 1 << 28;

/// The event, the connection, and its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionQuestion {
    pub at: Time,
    /// Which connection: they are numbered from 1, in the order in which they began.
    pub flow: u32,
    /// The event.
    pub what: CongestionEvent,
    /// The decisions until now.
    pub window: WindowSeen,
    /// The measurements.
    pub path: PathSeen,
}

/// The event that calls for a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionEvent {
    /// The handshake is over.
    Began,
    /// So many packets were delivered outside of any reduction: the window may grow.
    Grow(u32),
    /// Packets were lost or marked: what does the threshold become?
    Lost,
    /// A segment was acknowledged, and this was its round-trip time in microseconds.
    Measured(u32),
    /// The first segment leaves after nothing was in flight.
    Resumed,
    /// The retransmission timer fired; the threshold has been asked for already.
    TimedOut,
    /// A reduction turned out to be wrong: what does the window become?
    Undone,
}

/// A window in packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSeen {
    /// How many may be in flight.
    pub cwnd: u32,
    /// Below this many, slow start; [`u32::MAX`] / 2 where there is no threshold yet.
    pub ssthresh: u32,
    /// Packets acknowledged towards the next increase by one.
    pub count: u32,
    /// The value of `cwnd` before the last reduction.
    pub prior_cwnd: u32,
}

/// A connection's measurements of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSeen {
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Smoothed round-trip time; 0 before the first measurement.
    pub srtt_us: u32,
    /// The least of the last minutes; [`u32::MAX`] before the first measurement.
    pub min_rtt_us: u32,
    /// Packets believed to be in the network.
    pub in_flight: u32,
    /// First byte that is not acknowledged, and next to send.
    pub una: u64,
    pub nxt: u64,
    /// Packets delivered, delivered with a mark, and counted as lost, since the beginning.
    pub delivered: u64,
    pub delivered_ce: u64,
    pub lost: u64,
    /// In bytes a second; [`u64::MAX`] where packets are not spaced out.
    pub pacing_rate: u64,
    /// Whether the window, not the application, limits the sender.
    pub cwnd_limited: bool,
    /// Whether the application has nothing to send.
    pub app_limited: bool,
    /// Whether segments are spaced out in time.
    pub paced: bool,
}

/// The window as it is from now on. After [`CongestionEvent::Lost`] only the threshold counts, after
/// [`CongestionEvent::Undone`] only `cwnd`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionAnswer {
    pub cwnd: u32,
    pub ssthresh: u32,
    pub count: u32,
}

/// Decides for connections.
pub trait CongestionOutside: Send {
    /// Whether it decides anything at this event. If not, the window stays as it is; losses and
    /// wrong reductions are always passed to it.
    fn wants(&self, what: CongestionEvent) -> bool;

    /// How its connections use ECN.
    fn marks(&self) -> MarksWanted;

    /// The new window; `Err` describes an internal failure.
    fn decide(&mut self, question: &CongestionQuestion) -> Result<CongestionAnswer, String>;

    /// The connection of this number is over.
    fn handle_end(&mut self, flow: u32);
}

/// How an algorithm from outside uses ECN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarksWanted {
    /// RFC 3168: a mark is answered as a loss, once a round trip.
    #[default]
    Classic,
    /// RFC 8257: marks are echoed one by one.
    EveryMark,
    /// RFC 9331: the same, and packets say that they are L4S.
    L4s,
}

/// An algorithm from outside, shared by the connections that it decides for.
pub(super) struct Outside {
    name: String,
    compared: Option<Algorithm>,
    state: Mutex<State>,
}

struct State {
    decider: Box<dyn CongestionOutside>,
    flows: u32,
    decisions: u64,
    fault: Option<Fault>,
}

impl Outside {
    pub(super) fn new(
        name: String,
        decider: Box<dyn CongestionOutside>,
        compared: Option<Algorithm>,
    ) -> Outside {
        let state = State { decider, flows: 0, decisions: 0, fault: None };
        Outside { name, compared, state: Mutex::new(state) }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn fault(&self) -> Option<Fault> {
        self.lock().fault.clone()
    }

    /// It, for one more connection.
    pub(super) fn begin(self: &Arc<Self>, dice: Chance) -> Flow {
        let own = self.compared.as_ref().map(|algorithm| algorithm.make(dice));
        let mut state = self.lock();
        state.flows += 1;
        let number = state.flows;
        let marks = state.decider.marks();
        drop(state);
        Flow { outside: Arc::clone(self), number, marks, own }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A decider that has panicked is not called again: it counts its own faults.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outside").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The congestion control of one connection, decided outside.
#[derive(Debug)]
pub(super) struct Flow {
    outside: Arc<Outside>,
    number: u32,
    marks: MarksWanted,
    /// The compared algorithm.
    own: Option<Box<dyn Congestion>>,
}

impl Flow {
    /// Has the window decided, unless no decider is interested; `own` is the compared algorithm's
    /// answer.
    fn ask(
        &self,
        what: CongestionEvent,
        window: &Window,
        path: &Path,
        own: Option<CongestionAnswer>,
    ) -> Option<CongestionAnswer> {
        let mut state = self.outside.lock();
        let State { decider, decisions, fault, .. } = &mut *state;
        if fault.is_some() {
            return None;
        }
        if !what.must_be_asked() && !decider.wants(what) {
            // Then all stays as it is; it is called only where that is wrong.
            if own.is_none_or(|own| own == CongestionAnswer::of(window)) {
                return None;
            }
        }
        *decisions += 1;
        let seen = WindowSeen::of(window);
        let path_seen = PathSeen::of(window, path);
        let question = CongestionQuestion {
            at: path.now,
            flow: self.number,
            what,
            window: seen,
            path: path_seen,
        };
        let answer = decider.decide(&question).and_then(|answer| {
            answer.check(what)?;
            match own.filter(|own| !what.is_same(*own, answer)) {
                Some(own) => Err(what.difference(own, answer)),
                None => Ok(answer),
            }
        });
        match answer {
            Ok(answer) => Some(answer),
            Err(wrong) => {
                let (at, decision) = (path.now, *decisions);
                *fault = Some(Fault { at, decision, what: wrong, asked: question.words() });
                None
            }
        }
    }

    /// Asks where the window itself is decided, and takes the answer.
    fn let_decide(
        &mut self,
        what: CongestionEvent,
        window: &mut Window,
        path: &Path,
        act: impl FnOnce(&mut dyn Congestion, &mut Window),
    ) {
        let own = self.own.as_deref_mut().map(|own| {
            let mut copy = *window;
            act(own, &mut copy);
            CongestionAnswer::of(&copy)
        });
        if let Some(answer) = self.ask(what, window, path, own) {
            window.cwnd = answer.cwnd.min(window.cwnd_max);
            window.ssthresh = answer.ssthresh;
            window.cwnd_count = answer.count;
        }
    }
}

impl Congestion for Flow {
    fn name(&self) -> &str {
        self.outside.name()
    }

    fn begin(&mut self, window: &mut Window, path: &Path) {
        self.let_decide(CongestionEvent::Began, window, path, |own, window| {
            own.begin(window, path);
        });
    }

    fn measured(&mut self, window: &mut Window, path: &Path, rtt_us: u32) {
        self.let_decide(CongestionEvent::Measured(rtt_us), window, path, |own, window| {
            own.measured(window, path, rtt_us);
        });
    }

    fn grow(&mut self, window: &mut Window, path: &Path, acked: u32) {
        self.let_decide(CongestionEvent::Grow(acked), window, path, |own, window| {
            own.grow(window, path, acked);
        });
    }

    fn ssthresh(&mut self, window: &Window, path: &Path) -> u32 {
        let own = self.own.as_deref_mut().map(|own| own.ssthresh(window, path));
        let own = own.map(|ssthresh| CongestionAnswer { ssthresh, ..CongestionAnswer::of(window) });
        let answer = self.ask(CongestionEvent::Lost, window, path, own);
        answer.map_or((window.cwnd / 2).max(2), |answer| answer.ssthresh)
    }

    fn undo_cwnd(&mut self, window: &Window, path: &Path) -> u32 {
        let own = self.own.as_deref_mut().map(|own| own.undo_cwnd(window, path));
        let own = own.map(|cwnd| CongestionAnswer { cwnd, ..CongestionAnswer::of(window) });
        let answer = self.ask(CongestionEvent::Undone, window, path, own);
        answer.map_or(window.cwnd.max(window.prior_cwnd), |answer| answer.cwnd)
    }

    fn happened(&mut self, window: &mut Window, path: &Path, what: Happening) {
        let event = match what {
            Happening::Timeout => CongestionEvent::TimedOut,
            Happening::TransmitStart => CongestionEvent::Resumed,
            // Nothing is decided then.
            Happening::RecoveryBegins | Happening::ReductionEnds | Happening::Undone => {
                if let Some(own) = &mut self.own {
                    let mut copy = *window;
                    own.happened(&mut copy, path, what);
                }
                return;
            }
        };
        self.let_decide(event, window, path, |own, window| own.happened(window, path, what));
    }

    fn ecn(&self) -> EcnUse {
        match self.marks {
            MarksWanted::Classic => EcnUse::Classic,
            MarksWanted::EveryMark => EcnUse::EveryMark,
            MarksWanted::L4s => EcnUse::L4s,
        }
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        self.outside.lock().decider.handle_end(self.number);
    }
}

impl CongestionEvent {
    /// Whether something has to be decided.
    fn must_be_asked(self) -> bool {
        matches!(self, CongestionEvent::Lost | CongestionEvent::Undone)
    }

    /// Whether two answers decide the same.
    fn is_same(self, one: CongestionAnswer, other: CongestionAnswer) -> bool {
        match self {
            CongestionEvent::Lost => one.ssthresh == other.ssthresh,
            CongestionEvent::Undone => one.cwnd == other.cwnd,
            _ => one == other,
        }
    }

    fn difference(self, own: CongestionAnswer, theirs: CongestionAnswer) -> String {
        let words = |answer: CongestionAnswer| match self {
            CongestionEvent::Lost => format!("a threshold of {}", threshold(answer.ssthresh)),
            CongestionEvent::Undone => format!("a window of {}", answer.cwnd),
            _ => format!(
                "a window of {} ({} acknowledged towards the next) and a threshold of {}",
                answer.cwnd,
                answer.count,
                threshold(answer.ssthresh)
            ),
        };
        format!("it decided {}, where the built-in one decides {}", words(theirs), words(own))
    }

    fn words(self) -> String {
        match self {
            CongestionEvent::Began => "the handshake was over".to_owned(),
            CongestionEvent::Grow(acked) => format!("{acked} packets were acknowledged"),
            CongestionEvent::Lost => "packets were lost or marked".to_owned(),
            CongestionEvent::Measured(rtt_us) => format!("a round trip took {rtt_us} us"),
            CongestionEvent::Resumed => "sending went on after a pause".to_owned(),
            CongestionEvent::TimedOut => "the retransmission timer fired".to_owned(),
            CongestionEvent::Undone => "a reduction turned out to be wrong".to_owned(),
        }
    }
}

impl CongestionQuestion {
    fn words(&self) -> String {
        let CongestionQuestion { flow, what, window, path, .. } = self;
        format!(
            "connection {flow}, where {}; its window was {} packets, the threshold {}, {} in flight",
            what.words(),
            window.cwnd,
            threshold(window.ssthresh),
            path.in_flight
        )
    }
}

fn threshold(ssthresh: u32) -> String {
    if ssthresh >= SSTHRESH_NONE { "none".to_owned() } else { ssthresh.to_string() }
}

impl CongestionAnswer {
    fn of(window: &Window) -> CongestionAnswer {
        CongestionAnswer { cwnd: window.cwnd, ssthresh: window.ssthresh, count: window.cwnd_count }
    }

    /// A window of nothing never sends again, and so nothing is ever acknowledged.
    fn check(self, what: CongestionEvent) -> Result<(), String> {
        let number = |name: &str, packets: u32, most: u32| match packets {
            0 => Err(format!("it decided a {name} of 0 packets, and nothing could be sent again")),
            packets if packets > most => {
                Err(format!("it decided a {name} of {packets} packets; {most} are the most"))
            }
            _ => Ok(()),
        };
        if what != CongestionEvent::Lost {
            number("window", self.cwnd, WINDOW_PACKETS_MAX)?;
        }
        number("threshold", self.ssthresh, u32::MAX)
    }
}

impl WindowSeen {
    fn of(window: &Window) -> WindowSeen {
        WindowSeen {
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            count: window.cwnd_count,
            prior_cwnd: window.prior_cwnd,
        }
    }
}

impl PathSeen {
    fn of(window: &Window, path: &Path) -> PathSeen {
        PathSeen {
            mss: path.mss,
            srtt_us: path.srtt_us,
            min_rtt_us: path.min_rtt_us,
            in_flight: path.in_flight,
            una: path.una,
            nxt: path.nxt,
            delivered: path.delivered,
            delivered_ce: path.delivered_ce,
            lost: path.lost,
            pacing_rate: window.pacing_bytes_per_s,
            cwnd_limited: path.cwnd_limited,
            app_limited: path.app_limited,
            paced: path.paced,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests_support::path;

    /// Always gives the same answer.
    struct Always(CongestionAnswer);

    impl CongestionOutside for Always {
        fn wants(&self, _what: CongestionEvent) -> bool {
            true
        }

        fn marks(&self) -> MarksWanted {
            MarksWanted::Classic
        }

        fn decide(&mut self, _question: &CongestionQuestion) -> Result<CongestionAnswer, String> {
            Ok(self.0)
        }

        fn handle_end(&mut self, _flow: u32) {}
    }

    fn outside(cwnd: u32, ssthresh: u32, compared: Option<&str>) -> Algorithm {
        let answer = CongestionAnswer { cwnd, ssthresh, count: 0 };
        let compared = compared.map(|name| name.parse().expect("there is one"));
        Algorithm::outside("mine", Box::new(Always(answer)), compared)
    }

    #[test]
    fn what_is_decided_outside_is_the_window() {
        let algorithm = outside(33, 20, None);
        let mut flow = algorithm.make(Chance::new(1, "test"));
        let mut window = Window::new(10, None);
        flow.grow(&mut window, &path(0), 1);
        assert_eq!((window.cwnd, window.ssthresh), (33, 20));
        assert_eq!(flow.ssthresh(&window, &path(0)), 20);
        assert_eq!((flow.name(), algorithm.fault()), ("mine", None));
    }

    #[test]
    fn a_window_of_nothing_is_told_with_the_instant_and_the_state() {
        let algorithm = outside(0, 20, None);
        let mut flow = algorithm.make(Chance::new(1, "test"));
        let mut window = Window::new(10, None);
        flow.grow(&mut window, &path(3), 2);
        assert_eq!(window.cwnd, 10, "what is harmless");
        assert_eq!(
            algorithm.fault().expect("it is kept").to_string(),
            "decision 1, at 3000000 ns: it decided a window of 0 packets, and nothing could be sent \
             again; asked was: connection 1, where 2 packets were acknowledged; its window was 10 \
             packets, the threshold none, 10 in flight"
        );
        // It is not asked again.
        assert_eq!(flow.ssthresh(&window, &path(4)), 5);
    }

    #[test]
    fn the_first_difference_to_a_compared_algorithm_is_told() {
        let algorithm = outside(11, 5, Some("reno"));
        let mut flow = algorithm.make(Chance::new(1, "test"));
        let mut window = Window::new(10, None);
        // Half of ten is what Reno says too.
        assert_eq!(flow.ssthresh(&window, &path(0)), 5);
        assert_eq!(algorithm.fault(), None);
        flow.grow(&mut window, &path(0), 1);
        let told = algorithm.fault().expect("Reno has no threshold yet").what;
        let differs = "a threshold of 5, where the built-in one decides a window of 11";
        assert!(told.contains(differs), "{told}");
    }
}
