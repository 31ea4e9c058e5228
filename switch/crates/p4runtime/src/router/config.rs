//! The configuration of ports: what a client wants changed, and what there is.
//!
//! A change is an edit of copies of the ports that it names ([`Draft`]). Unset fields of a message
//! leave settings as they are, so a client can change one rate without knowing the rest; in answers
//! every field is set, so sending one again changes nothing.

use std::collections::BTreeMap;

use device::{Change, Device, LinkConfig};
use messages::vitrine::v1;
use traffic::{PortConfig, QueueConfig, QueueOrder, SchedulerConfig};
use units::{Bytes, CLASS_COUNT_MAX, PortId, Rate, Span};

use super::limit::{limit_message, limit_of};
use super::parts::problem;
use super::shaper::{shaper_message, shaper_of};
use super::{Problem, aqm, input, link, scheduler};

/// Longest utilisation window: 10 s. Much longer ones would say nothing about now.
const WINDOW_NS_MAX: u64 = 10_000_000_000;

/// A client's changes.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Ports, in the order of the request.
    pub ports: Vec<v1::PortChange>,
    /// The shared buffer, if it is to change.
    pub buffer: Option<v1::Buffer>,
    /// The input stage, if it is to change.
    pub input: Option<v1::InputStage>,
    /// The mirror of drops, if it is to change.
    pub drop_mirror: Option<v1::DropMirror>,
}

/// A change that is being put together, a port at a time.
#[derive(Debug, Default)]
pub struct Draft {
    change: Change,
    problems: Vec<Problem>,
}

impl Draft {
    /// With what is to change of the whole router.
    pub fn new(buffer: Option<v1::Buffer>, input: Option<v1::InputStage>) -> Draft {
        let mut problems = Vec::new();
        let change = traffic::Change {
            buffer: buffer.map(|buffer| input::buffer_of(&buffer)),
            input: input.map(|stage| input::input_of(&stage, &mut problems)),
            ports: BTreeMap::new(),
        };
        Draft { change: change.into(), problems }
    }

    /// Adds a port that is not there yet.
    pub fn add_port(&mut self, port: PortId, config: PortConfig) {
        self.change.traffic.ports.insert(port, Some(config));
    }

    /// Edits a port as it is in this draft or else in `present`.
    pub fn edit_port(&mut self, device: &Device, change: &v1::PortChange) {
        let Draft { change: Change { traffic: traffic::Change { ports, .. }, links }, problems } =
            self;
        let present = device.traffic().config();
        let place = format!("port {}", change.port);
        let port = u16::try_from(change.port).ok().map(PortId);
        let found = port.and_then(|port| match ports.get(&port) {
            Some(drafted) => Some((port, drafted.clone()?)),
            None => Some((port, present.ports.get(&port)?.clone())),
        });
        let Some((port, mut config)) = found else {
            let advice = format!("the switch has {}", ports_text(present.ports.keys().copied()));
            return problems.push(problem(&place, "no such port".to_owned(), &advice));
        };
        let before = problems.len();
        if let Some(change) = &change.config {
            edit_port(&mut config, change, &place, problems);
            if let Some(change) = &change.link {
                let link = links.entry(port).or_insert_with(|| device.link(port));
                link::edit_link(link, change, &place, problems);
            }
        }
        if problems.len() == before {
            // Each port on its own, so that every port's first mistake is reported.
            problems.extend(config.check(&place).err());
            problems.extend(links.get(&port).and_then(|link| link.check(&place).err()));
        }
        ports.insert(port, Some(config));
    }

    /// The change, or everything that was wrong; how its parts fit each other is found out when it
    /// is applied.
    pub fn finish(self) -> Result<Change, Vec<Problem>> {
        if self.problems.is_empty() { Ok(self.change) } else { Err(self.problems) }
    }
}

/// Numbers of ports, ascending, for people: "port 1", "ports 1 to 4, 7, 510".
pub fn ports_text(ports: impl Iterator<Item = PortId>) -> String {
    let mut runs: Vec<(u16, u16)> = Vec::new();
    for PortId(port) in ports {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == port => *last = port,
            _ => runs.push((port, port)),
        }
    }
    let text = |(first, last): &(u16, u16)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first} to {last}"),
    };
    match runs.iter().map(text).collect::<Vec<_>>().as_slice() {
        [] => "no ports".to_owned(),
        [one] if !one.contains(' ') => format!("port {one}"),
        words => format!("ports {}", words.join(", ")),
    }
}

fn edit_port(
    port: &mut PortConfig,
    change: &v1::PortConfig,
    place: &str,
    problems: &mut Vec<Problem>,
) {
    if let Some(rate_bps) = change.rate_bps {
        port.line_rate = Rate::from_bps(rate_bps);
    }
    if let Some(overhead_bytes) = change.overhead_bytes {
        port.overhead = Bytes(overhead_bytes);
    }
    if let Some(limit) = &change.limit {
        port.limit = limit_of(limit);
    }
    if let Some(shaper) = &change.shaper {
        port.shaper = shaper_of(shaper, place, problems);
    }
    if let Some(window_ns) = change.utilisation_window_ns {
        edit_window(port, window_ns, place, problems);
    }
    if let Some(count) = change.queue_count {
        edit_queue_count(port, count, place, problems);
    }
    if let Some(scheduler) = &change.scheduler {
        port.scheduler = scheduler::scheduler_of(scheduler, place, problems);
    }
    let queue_count = port.queues.len();
    for queue in &change.queues {
        let place = format!("{place}, class {}", queue.class);
        let Some(current) =
            usize::try_from(queue.class).ok().and_then(|at| port.queues.get_mut(at))
        else {
            let advice = format!("the port has classes 0 to {}", queue_count.saturating_sub(1));
            problems.push(problem(&place, "no such class".to_owned(), &advice));
            continue;
        };
        if let Some(limit) = &queue.limit {
            current.limit = limit_of(limit);
        }
        if let Some(shaper) = &queue.shaper {
            current.shaper = shaper_of(shaper, &place, problems);
        }
        if let Some(aqm) = &queue.aqm {
            current.aqm = aqm::aqm_of(aqm, &place, problems);
        }
        if let Some(share) = &queue.share {
            current.share = aqm::share_of(share, &place, problems);
        }
        match queue.order() {
            v1::QueueOrder::Unspecified => {}
            v1::QueueOrder::Arrival => current.order = QueueOrder::Arrival,
            v1::QueueOrder::ByRank => current.order = QueueOrder::Rank,
        }
    }
}

fn edit_window(port: &mut PortConfig, window_ns: u64, place: &str, problems: &mut Vec<Problem>) {
    if window_ns <= WINDOW_NS_MAX {
        port.utilisation_window = Span::from_ns(window_ns);
    } else {
        problems.push(problem(
            &format!("{place}, utilisation window"),
            format!("{window_ns} ns"),
            "a window is at most 10 s long",
        ));
    }
}

/// A new number of queues resets the scheduler, because the old one names other classes.
fn edit_queue_count(port: &mut PortConfig, count: u32, place: &str, problems: &mut Vec<Problem>) {
    match usize::try_from(count) {
        Ok(count) if (1..=CLASS_COUNT_MAX).contains(&count) => {
            if count != port.queues.len() {
                port.queues.resize(count, QueueConfig::default());
                port.scheduler = SchedulerConfig::strict(count);
            }
        }
        _ => problems.push(problem(
            &format!("{place}, queue_count"),
            format!("{count} queues"),
            &format!("a port has 1 to {CLASS_COUNT_MAX}"),
        )),
    }
}

/// A port's configuration with every field set.
pub fn port_message(port: &PortConfig, link: &LinkConfig) -> v1::PortConfig {
    let queues = port.queues.iter().zip(0..).map(|(queue, class)| v1::QueueConfig {
        class,
        limit: Some(limit_message(&queue.limit)),
        shaper: Some(shaper_message(queue.shaper.as_ref())),
        aqm: Some(aqm::aqm_message(queue.aqm.as_ref())),
        share: Some(aqm::share_message(&queue.share)),
        order: match queue.order {
            QueueOrder::Arrival => v1::QueueOrder::Arrival,
            QueueOrder::Rank => v1::QueueOrder::ByRank,
        }
        .into(),
    });
    v1::PortConfig {
        rate_bps: Some(port.line_rate.map_or(0, Rate::bps)),
        overhead_bytes: Some(port.overhead.0),
        limit: Some(limit_message(&port.limit)),
        shaper: Some(shaper_message(port.shaper.as_ref())),
        scheduler: Some(scheduler::scheduler_message(&port.scheduler)),
        queue_count: u32::try_from(port.queues.len()).ok(),
        queues: queues.collect(),
        utilisation_window_ns: Some(port.utilisation_window.whole_ns()),
        link: Some(link::link_message(link)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traffic::{
        AqmConfig, ArbiterConfig, BufferConfig, Config, Discipline, InputConfig, InputQueueing,
        Limit, PieConfig, RedConfig, ShaperConfig,
    };
    use units::{PacketRate, Time};
    use v1::shaper::Kind;

    /// A device with this configuration.
    fn device(config: Config) -> Device {
        let mut device = Device::new(pipeline::Config::default());
        device.configure(Time::ZERO, config).unwrap();
        device
    }

    fn two_ports() -> Config {
        let port = PortConfig::strict(Rate::from_bps(10_000_000), 2);
        let ports = [(PortId(1), port.clone()), (PortId(2), port)].into();
        Config { ports, ..Config::default() }
    }

    fn change(port: u32, config: v1::PortConfig) -> v1::PortChange {
        v1::PortChange { port, config: Some(config) }
    }

    /// Applies changes as the agent does.
    fn edit(config: &mut Config, changes: &Changes) -> Result<(), Vec<Problem>> {
        let mut draft = Draft::new(changes.buffer, changes.input);
        let mut device = device(config.clone());
        changes.ports.iter().for_each(|change| draft.edit_port(&device, change));
        device.change(Time::ZERO, draft.finish()?).map_err(|problem| vec![problem])?;
        config.clone_from(device.traffic().config());
        Ok(())
    }

    fn of(ports: Vec<v1::PortChange>) -> Changes {
        Changes { ports, ..Changes::default() }
    }

    #[test]
    fn what_is_read_back_can_be_written_and_changes_nothing() {
        let mut config = two_ports();
        let port = config.ports.get_mut(&PortId(1)).unwrap();
        port.scheduler = SchedulerConfig::shared(Discipline::Drr { quantum: Bytes(1514) }, &[1, 3]);
        port.queues[1].shaper = PacketRate::from_pps(100).map(|rate| ShaperConfig::Packets {
            rate,
            burst: 2,
            catches_up: true,
        });
        port.limit = Limit::bytes(Bytes(64_000));
        port.queues[0].aqm = Some(AqmConfig::Pie(PieConfig::default()));
        port.queues[1].aqm = Some(AqmConfig::Red(RedConfig::default()));
        port.queues[1].order = QueueOrder::Rank;
        let rate = Rate::from_mbps(10);
        let arbiter = ArbiterConfig::Islip { iterations: 2 };
        config.input = Some(InputConfig::new(InputQueueing::Voq, rate, arbiter));
        config.buffer = Some(BufferConfig { size: Bytes(100_000) });
        let before = config.clone();
        let sent = Changes {
            ports: vec![change(1, port_message(&before.ports[&PortId(1)], &LinkConfig::default()))],
            buffer: Some(input::buffer_message(before.buffer.as_ref())),
            input: Some(input::input_message(before.input.as_ref())),
            ..Changes::default()
        };
        edit(&mut config, &sent).unwrap();
        assert_eq!(config, before);
    }

    #[test]
    fn an_unset_field_leaves_its_value_alone() {
        let mut config = two_ports();
        let mut expected = config.clone();
        expected.ports.get_mut(&PortId(2)).unwrap().queues[1].limit = Limit::packets(10);
        let queue = v1::QueueConfig {
            class: 1,
            limit: Some(v1::Limit { packets: 10, bytes: 0 }),
            ..Default::default()
        };
        let sent = change(2, v1::PortConfig { queues: vec![queue], ..Default::default() });
        edit(&mut config, &of(vec![sent])).unwrap();
        assert_eq!(config, expected);
    }

    #[test]
    fn another_number_of_queues_gets_strict_priority() {
        let mut config = two_ports();
        let sent = v1::PortConfig { queue_count: Some(4), ..Default::default() };
        edit(&mut config, &of(vec![change(1, sent)])).unwrap();
        let port = &config.ports[&PortId(1)];
        assert_eq!(port.queues.len(), 4);
        assert_eq!(port.scheduler, SchedulerConfig::strict(4));
    }

    #[test]
    fn runs_of_ports_are_named_by_their_ends() {
        let text = |ports: &[u16]| ports_text(ports.iter().copied().map(PortId));
        assert_eq!(text(&[1, 2, 3, 4, 7, 509, 510]), "ports 1 to 4, 7, 509, 510");
        assert_eq!((text(&[3]), text(&[])), ("port 3".to_owned(), "no ports".to_owned()));
    }

    #[test]
    fn every_problem_is_listed() {
        let mut config = two_ports();
        let wrong_queue = v1::QueueConfig { class: 7, ..Default::default() };
        let no_rate = v1::Shaper { kind: Some(Kind::Bits(v1::BitShaper::default())) };
        let first = v1::PortConfig {
            queues: vec![wrong_queue],
            shaper: Some(no_rate),
            ..Default::default()
        };
        // WFQ needs a line rate; this is found by the traffic manager's own check.
        let member = |class| v1::Member { class, weight: 1 };
        let wfq = v1::Group {
            discipline: v1::Discipline::Wfq.into(),
            quantum_bytes: 0,
            members: vec![member(0), member(1)],
        };
        let second = v1::PortConfig {
            rate_bps: Some(0),
            scheduler: Some(v1::Scheduler { groups: vec![wfq], hierarchy: None }),
            ..Default::default()
        };
        let nowhere = change(9, v1::PortConfig::default());
        let problems =
            edit(&mut config, &of(vec![change(1, first), nowhere, change(2, second)])).unwrap_err();
        let places: Vec<_> = problems.iter().map(|problem| problem.place.as_str()).collect();
        assert_eq!(places, ["port 1, shaper", "port 1, class 7", "port 9", "port 2, scheduler"]);
    }
}
