//! Watchers of hosts: samples at multiples of an interval, and events of applications.

use std::sync::Arc;

use messages::vitrine::v1;
use p4runtime::Refusal;
use units::{Span, Time};

use crate::apps::span;
use crate::look::host_state;
use crate::network::Network;
use crate::reports::event_message;
use crate::spout::Spout;

/// Samples more often than this are more than anybody reads.
const INTERVAL_MIN: Span = Span::from_us(10);
/// Events in one message at the most.
const EVENTS_MAX: usize = 1024;

/// One reader.
#[derive(Debug)]
pub struct HostWatch {
    /// The places of the hosts.
    hosts: Vec<usize>,
    interval: Option<Span>,
    next_sample: Option<Time>,
    events: bool,
    /// Time does not wait for it: what finds no room is lost.
    may_lose: bool,
    /// Samples and events since the last message.
    lost: u64,
    pending: Vec<v1::AppEvent>,
    spout: Arc<Spout<v1::WatchHostsResponse>>,
}

impl HostWatch {
    pub fn new(
        network: &Network,
        request: &v1::WatchHostsRequest,
        spout: Arc<Spout<v1::WatchHostsResponse>>,
    ) -> Result<HostWatch, Refusal> {
        let interval = (request.interval_ns > 0).then(|| span(request.interval_ns));
        if interval.is_some_and(|interval| interval < INTERVAL_MIN) {
            return Err(Refusal::invalid(format!(
                "interval_ns: {} is less than {}, the least there is",
                request.interval_ns,
                INTERVAL_MIN.whole_ns()
            )));
        }
        if interval.is_none() && !request.events {
            return Err(Refusal::invalid(
                "the request asks for nothing: set interval_ns, events or both",
            ));
        }
        let now = network.world.now();
        let mut watch = HostWatch {
            hosts: network.hosts_named(&request.hosts)?,
            interval,
            next_sample: interval.map(|interval| {
                let passed = now.since(Time::ZERO).ps() / interval.ps();
                Time::ZERO + interval * (passed + 1)
            }),
            events: request.events,
            may_lose: request.may_lose,
            lost: 0,
            pending: Vec::new(),
            spout,
        };
        watch.complete_until(now);
        Ok(watch)
    }

    pub fn wants_events(&self) -> bool {
        self.events
    }

    pub fn is_closed(&self) -> bool {
        self.spout.is_closed()
    }

    /// Whether time has to wait for it.
    pub fn is_filling(&self) -> bool {
        !self.may_lose && self.spout.is_filling()
    }

    pub fn end(&self, why: &Refusal) {
        self.spout.end(why);
    }

    pub fn next_sample(&self) -> Option<Time> {
        self.next_sample
    }

    /// Something that an application of the host at this place saw.
    fn handle_event(&mut self, place: usize, event: &v1::AppEvent) {
        if self.events && self.hosts.contains(&place) {
            self.pending.push(event.clone());
        }
    }

    /// Takes the sample that is due, if one is.
    pub fn sample(&mut self, network: &Network) {
        let now = network.world.now();
        let (Some(due), Some(interval)) = (self.next_sample, self.interval) else { return };
        if due > now {
            return;
        }
        let hosts = self.hosts.iter().map(|place| host_state(network, *place, true)).collect();
        let sample = v1::HostSample { time_ps: now.ps(), hosts };
        self.hand_over();
        let message = v1::WatchHostsResponse { sample: Some(sample), ..Default::default() };
        self.tell(message, 1);
        self.next_sample = Some(due + interval);
    }

    /// Hands on the events that wait.
    pub fn hand_over(&mut self) {
        while !self.pending.is_empty() {
            let rest = self.pending.split_off(self.pending.len().min(EVENTS_MAX));
            let events = std::mem::replace(&mut self.pending, rest);
            let count = events.len() as u64;
            self.tell(v1::WatchHostsResponse { events, ..Default::default() }, count);
        }
    }

    pub fn complete_until(&mut self, now: Time) {
        let complete_until_ps = now.ps();
        self.tell(v1::WatchHostsResponse { complete_until_ps, ..Default::default() }, 0);
    }

    /// A message with this many samples and events: they are lost if its reader is slow and may
    /// lose.
    fn tell(&mut self, mut message: v1::WatchHostsResponse, count: u64) {
        if count > 0 && self.may_lose && self.spout.is_filling() {
            self.lost += count;
            return;
        }
        message.lost = std::mem::take(&mut self.lost);
        self.spout.push(message);
    }
}

/// Hands what applications have seen since to those who watch, in the order of time and, at one
/// instant, of the hosts.
pub fn hand_events(network: &mut Network, watches: &mut [HostWatch]) {
    if !watches.iter().any(HostWatch::wants_events) {
        return;
    }
    let mut all: Vec<(usize, v1::AppEvent)> = Vec::new();
    for place in 0..network.hosts.len() {
        let node = network.hosts[place].node;
        while let Some(event) = network.world.with_host(node, |host, _| host.poll_app_event()) {
            let number = network.hosts[place].apps[event.app.0];
            all.push((place, event_message(number, network.host_at(place), event)));
        }
    }
    all.sort_by_key(|(place, event)| (event.time_ps, *place));
    for watch in watches {
        all.iter().for_each(|(place, event)| watch.handle_event(*place, event));
        watch.hand_over();
    }
}
