//! The traits of `traffic::outside` and `hosts`, by a class in a process.

use hosts::{
    CongestionAnswer, CongestionEvent, CongestionOutside, CongestionQuestion, MarksWanted,
};
use serde_json::json;
use traffic::outside::{
    AqmOutside, AqmQuestion, AqmVerdict, ArbiterOutside, MatchQuestion, SchedulerOutside,
    TurnQuestion,
};
use units::Time;

use super::child::Process;
use super::wire::AqmWishes;
use super::{Class, wire};

/// An arbiter.
pub struct Arbiter(Process);

/// A scheduler.
pub struct Scheduler(Process);

/// The AQM of one queue.
pub struct Aqm {
    process: Process,
    wishes: AqmWishes,
}

/// The congestion control of any number of connections.
pub struct Congestion {
    process: Process,
    /// The events that the class wants to hear of, as bits.
    wishes: u8,
    marks: MarksWanted,
}

impl Arbiter {
    /// An arbiter for this many ports.
    pub fn start(
        class: &Class,
        ports: usize,
        iterations: u8,
        seed: u64,
    ) -> Result<Arbiter, String> {
        let parameters = json!({
            "kind": "Arbiter", "ports": ports, "iterations": iterations, "seed": seed,
        });
        Process::start(class, &parameters).map(Arbiter)
    }
}

impl ArbiterOutside for Arbiter {
    fn decide(&mut self, question: &MatchQuestion) -> Result<Vec<(usize, usize)>, String> {
        wire::read_pairs(&self.0.ask(&wire::matching(question))?)
    }

    fn state(&mut self) -> String {
        said(self.0.ask(wire::STATE))
    }
}

impl Scheduler {
    /// A scheduler for classes of these weights at a line of this rate.
    pub fn start(class: &Class, weights: &[u32], rate_bps: u64) -> Result<Scheduler, String> {
        let parameters = json!({ "kind": "Scheduler", "weights": weights, "rate": rate_bps });
        Process::start(class, &parameters).map(Scheduler)
    }
}

impl SchedulerOutside for Scheduler {
    fn handle_enqueue(&mut self, at: Time, class: usize, bytes: u64) {
        self.0.tell(&wire::enqueued(at.ps(), class, bytes));
    }

    fn decide(&mut self, question: &TurnQuestion) -> Result<usize, String> {
        wire::read_class(&self.0.ask(&wire::turn(question))?)
    }

    fn handle_departure(&mut self, class: usize, bytes: u64, emptied: bool) {
        self.0.tell(&wire::departed(class, bytes, emptied));
    }

    fn handle_drop(&mut self, class: usize, bytes: u64, emptied: bool) {
        self.0.tell(&wire::dropped(class, bytes, emptied));
    }

    fn state(&mut self) -> String {
        said(self.0.ask(wire::STATE))
    }
}

/// The answer of a class about its state. It only completes a message, so an error is left out.
fn said(answer: Result<Vec<u8>, String>) -> String {
    answer.map_or(String::new(), |text| String::from_utf8_lossy(&text).into_owned())
}

impl Aqm {
    /// The AQM of a queue in front of a line of this rate.
    pub fn start(class: &Class, rate_bps: u64, seed: u64) -> Result<Aqm, String> {
        let parameters = json!({ "kind": "Aqm", "rate": rate_bps, "seed": seed });
        let process = Process::start(class, &parameters)?;
        let wishes = wire::read_aqm_wishes(&process.begun)?;
        Ok(Aqm { process, wishes })
    }
}

impl AqmOutside for Aqm {
    fn decide(&mut self, question: &AqmQuestion) -> Result<AqmVerdict, String> {
        let is_wanted = match question.waited {
            None => self.wishes.arrivals,
            Some(_) => self.wishes.departures,
        };
        if !is_wanted {
            return Ok(AqmVerdict::Pass);
        }
        wire::read_verdict(&self.process.ask(&wire::packet(question))?)
    }
}

impl Congestion {
    /// Congestion control for the connections of one network.
    pub fn start(class: &Class, seed: u64) -> Result<Congestion, String> {
        let parameters = json!({ "kind": "CongestionControl", "seed": seed });
        let process = Process::start(class, &parameters)?;
        let (wishes, marks) = wire::read_wishes(&process.begun)?;
        Ok(Congestion { process, wishes, marks })
    }
}

impl CongestionOutside for Congestion {
    fn wants(&self, what: CongestionEvent) -> bool {
        self.wishes >> wire::event(what).0 & 1 == 1
    }

    fn marks(&self) -> MarksWanted {
        self.marks
    }

    fn decide(&mut self, question: &CongestionQuestion) -> Result<CongestionAnswer, String> {
        wire::read_window(&self.process.ask(&wire::congestion(question))?)
    }

    fn handle_end(&mut self, flow: u32) {
        self.process.tell(&wire::over(flow));
    }
}
