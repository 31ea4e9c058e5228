//! Counters and depths: what is copied out of the device, and its messages.
//!
//! The data-plane thread only copies numbers ([`Snapshot`]); the caller turns them into messages.

use device::{Books, Device, FlowShare};
use messages::vitrine::v1;
use traffic::{
    AqmState, BufferReport, ClassCredit, Counters, Credits, Depth, Histogram, InputReport,
    LineReport, Manager, NodeTokens, QueueReport, TransferReport, VoqReport,
};
use units::{Bytes, ClassId, HasLength, PortId, Span, Time};

use super::parts::{depth_message, tally_message};
use super::{aqm, link, reasons, states};
use crate::netdev::NetdevCounters;

/// The numbers of the router, or of some of its ports, at one instant.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The instant.
    pub time: Time,
    /// Output ports, by number.
    pub ports: Vec<PortSnapshot>,
    /// Inputs of the fabric, by port.
    pub inputs: Vec<InputSnapshot>,
    /// Packets that are crossing the fabric.
    pub transfers: Vec<TransferReport>,
    /// The shared buffer, if there is one.
    pub buffer: Option<BufferReport>,
    /// The flows of the waiting packets, if requested.
    pub flows: Vec<FlowShare>,
}

/// How much is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Everything there is.
    All,
    /// Numbers that change from sample to sample: no histograms, and of virtual output queues only
    /// the depths of those with packets.
    Sample,
}

/// The numbers of one port at one instant.
#[derive(Clone, Debug)]
pub struct PortSnapshot {
    /// The port.
    pub port: PortId,
    /// All its queues together, and what reached none of them.
    pub counters: Counters,
    /// The depth of all its queues.
    pub held: Depth,
    /// Its queues, class 0 first.
    pub queues: Vec<QueueSnapshot>,
    /// The state of its scheduler and its token buckets.
    pub credits: Credits,
    /// The line from the neighbour.
    pub receive_line: LineReport,
    /// The line to the neighbour.
    pub transmit_line: LineReport,
    /// When its line has sent what it is sending; none while it is idle.
    pub sending_until: Option<Time>,
    /// The busy share of its line in 1/1000.
    pub utilisation_permille: u16,
    /// Whether it is up.
    pub is_up: bool,
}

/// The numbers of one queue at one instant.
#[derive(Clone, Debug)]
pub struct QueueSnapshot {
    /// Packets and bytes in, out, dropped and marked.
    pub counters: Counters,
    /// Its depth.
    pub held: Depth,
    /// The most packets and the most bytes that ever waited, each on its own.
    pub high_water: Depth,
    /// How long packets waited, if requested.
    pub residence: Option<Histogram>,
    /// The state of its queue management, if it keeps any.
    pub aqm: Option<AqmState>,
    /// How much the shared buffer lets it hold, if there is one.
    pub threshold: Option<Bytes>,
}

/// The numbers of one input of the fabric at one instant.
#[derive(Clone, Debug)]
pub struct InputSnapshot {
    /// The port.
    pub port: PortId,
    /// Packets and bytes in, dropped, and departed into the fabric.
    pub counters: Counters,
    /// The depth of all its queues.
    pub held: Depth,
    /// The most that ever waited.
    pub high_water: Depth,
    /// How long packets waited, if requested.
    pub residence: Option<Histogram>,
    /// Its virtual output queues, by output and class.
    pub voqs: Vec<VoqSnapshot>,
}

/// The numbers of one virtual output queue at one instant.
#[derive(Clone, Debug)]
pub struct VoqSnapshot {
    /// Where its packets are to leave.
    pub output: PortId,
    /// In which class.
    pub class: ClassId,
    /// Its depth.
    pub held: Depth,
    /// The most that ever waited.
    pub high_water: Depth,
    /// Packets and bytes, if requested.
    pub counters: Option<Counters>,
}

impl Snapshot {
    /// Copies the numbers of the ports that `wanted` names; an empty list means all. Ports that do
    /// not exist are left out.
    pub fn of(device: &Device, now: Time, wanted: &[PortId], detail: Detail) -> Snapshot {
        let ports = if wanted.is_empty() {
            let all = device.traffic().config().ports.keys().copied().collect::<Vec<_>>();
            Snapshot::ports_of(device, now, &all, detail)
        } else {
            Snapshot::ports_of(device, now, wanted, detail)
        };
        Snapshot { ports, ..Snapshot::of_fabric(device, now, wanted, detail) }
    }

    /// The same without the output ports.
    pub fn of_fabric(device: &Device, now: Time, wanted: &[PortId], detail: Detail) -> Snapshot {
        let manager = device.traffic();
        let is_wanted = |port: PortId| wanted.is_empty() || wanted.contains(&port);
        let transfers = manager.transfers(now).into_iter();
        let transfers = transfers.filter(|it| is_wanted(it.input) || is_wanted(it.output));
        let inputs = inputs(manager, is_wanted, detail);
        let (transfers, buffer) = (transfers.collect(), manager.shared_buffer());
        Snapshot { time: now, inputs, transfers, buffer, ..Snapshot::default() }
    }

    /// The numbers of these output ports, in this order; of those that exist.
    pub fn ports_of(
        device: &Device,
        now: Time,
        ports: &[PortId],
        detail: Detail,
    ) -> Vec<PortSnapshot> {
        let found = ports.iter().filter_map(|port| {
            let mut found = port_snapshot(device.traffic(), now, *port, detail)?;
            found.is_up = device.port_is_up(*port);
            (found.receive_line, found.transmit_line) = device.lines(*port);
            Some(found)
        });
        found.collect()
    }

    /// About how much memory it takes.
    pub fn size_bytes(&self) -> usize {
        let queues: usize = self.ports.iter().map(|port| port.queues.len()).sum();
        let nodes: usize = self.ports.iter().map(|port| port.credits.nodes.len()).sum();
        let voqs: usize = self.inputs.iter().map(|input| input.voqs.len()).sum();
        size_of::<Snapshot>()
            + size_of_val(self.ports.as_slice())
            + queues * (size_of::<QueueSnapshot>() + size_of::<ClassCredit>())
            + nodes * size_of::<NodeTokens>()
            + size_of_val(self.inputs.as_slice())
            + voqs * size_of::<VoqSnapshot>()
            + size_of_val(self.transfers.as_slice())
            + self.flows.iter().map(FlowShare::size_bytes).sum::<usize>()
    }
}

fn port_snapshot<P: HasLength>(
    manager: &Manager<P>,
    now: Time,
    port: PortId,
    detail: Detail,
) -> Option<PortSnapshot> {
    let report = manager.port(port)?;
    let classes = (0..).map(ClassId).take(report.config.queues.len());
    let queues =
        classes.filter_map(|class| Some(queue_snapshot(&manager.queue(port, class)?, detail)));
    Some(PortSnapshot {
        port,
        counters: report.counters,
        held: report.depth,
        queues: queues.collect(),
        credits: manager.credits(port, now)?,
        receive_line: LineReport::default(),
        transmit_line: LineReport::default(),
        sending_until: Some(report.line_free_at).filter(|until| *until > now),
        utilisation_permille: manager.utilisation_basis_points(port, now) / 10,
        is_up: true,
    })
}

fn queue_snapshot(queue: &QueueReport<'_>, detail: Detail) -> QueueSnapshot {
    QueueSnapshot {
        counters: *queue.counters,
        held: queue.depth,
        high_water: queue.high_water,
        residence: residence(queue.residence, detail),
        aqm: queue.aqm,
        threshold: queue.threshold,
    }
}

fn inputs<P: HasLength>(
    manager: &Manager<P>,
    is_wanted: impl Fn(PortId) -> bool,
    detail: Detail,
) -> Vec<InputSnapshot> {
    let reports = manager.inputs().filter(|report| is_wanted(report.port));
    let mut inputs: Vec<InputSnapshot> =
        reports.map(|report| input_snapshot(&report, detail)).collect();
    let voqs = manager.voqs().filter(|voq| detail == Detail::All || voq.depth.packets > 0);
    for voq in voqs {
        if let Ok(at) = inputs.binary_search_by_key(&voq.input, |input| input.port) {
            inputs[at].voqs.push(voq_snapshot(&voq, detail));
        }
    }
    inputs
}

fn input_snapshot(input: &InputReport<'_>, detail: Detail) -> InputSnapshot {
    InputSnapshot {
        port: input.port,
        counters: *input.counters,
        held: input.depth,
        high_water: input.high_water,
        residence: residence(input.residence, detail),
        voqs: Vec::new(),
    }
}

/// A histogram is some kilobytes, and most queues of a router are never used: theirs stay away.
fn residence(histogram: &Histogram, detail: Detail) -> Option<Histogram> {
    (detail == Detail::All && histogram.count() > 0).then(|| histogram.clone())
}

fn voq_snapshot(voq: &VoqReport<'_>, detail: Detail) -> VoqSnapshot {
    VoqSnapshot {
        output: voq.output,
        class: voq.class,
        held: voq.depth,
        high_water: voq.high_water,
        counters: (detail == Detail::All).then_some(*voq.counters),
    }
}

/// A port's numbers as a message.
pub fn port_message(port: &PortSnapshot) -> v1::PortCounters {
    let credits = &port.credits;
    let queues = port.queues.iter().zip(&credits.classes).zip(0..);
    let queues = queues.map(|((queue, credit), class)| v1::QueueCounters {
        class,
        counters: Some(counters_message(&queue.counters)),
        held: Some(depth_message(queue.held)),
        high_water: Some(depth_message(queue.high_water)),
        residence: queue.residence.as_ref().map(histogram_message),
        aqm: queue.aqm.map(aqm::aqm_state_message),
        threshold_bytes: queue.threshold.map(Bytes::count),
        turn: credit.share.map(states::turn_message),
        shaper: credit.tokens.map(states::bucket_message),
    });
    v1::PortCounters {
        counters: Some(counters_message(&port.counters)),
        held: Some(depth_message(port.held)),
        queues: queues.collect(),
        receive_line: Some(link::line_counters(&port.receive_line)),
        transmit_line: Some(link::line_counters(&port.transmit_line)),
        sending_until_ps: port.sending_until.map_or(0, Time::ps),
        utilisation_permille: port.utilisation_permille.into(),
        up: port.is_up,
        shaper: credits.tokens.map(states::bucket_message),
        nodes: credits.nodes.iter().map(states::node_message).collect(),
    }
}

/// The numbers of an input of the fabric as a message.
pub fn input_message(input: &InputSnapshot) -> v1::InputCounters {
    let voqs = input.voqs.iter().map(|voq| v1::VoqCounters {
        output: voq.output.0.into(),
        class: voq.class.0.into(),
        held: Some(depth_message(voq.held)),
        high_water: Some(depth_message(voq.high_water)),
        counters: voq.counters.as_ref().map(counters_message),
    });
    v1::InputCounters {
        port: input.port.0.into(),
        counters: Some(counters_message(&input.counters)),
        held: Some(depth_message(input.held)),
        high_water: Some(depth_message(input.high_water)),
        residence: input.residence.as_ref().map(histogram_message),
        voqs: voqs.collect(),
    }
}

/// A packet on its way through the fabric as a message.
pub fn transfer_message(transfer: &TransferReport) -> v1::Transfer {
    v1::Transfer {
        input: transfer.input.0.into(),
        output: transfer.output.0.into(),
        until_ps: transfer.until.ps(),
    }
}

/// The device's books as a message; `held` is what its queues hold, `balanced` whether the law
/// holds everywhere.
pub fn books_message(books: &Books, held: Depth, balanced: bool) -> v1::Books {
    let ports = books.ports().map(|(port, books)| {
        let dropped = books.dropped.iter().map(|(reason, tally)| v1::Drop {
            reason: reasons::message(*reason).into(),
            tally: Some(tally_message(*tally)),
        });
        v1::PortBooks {
            port: port.0.into(),
            received: Some(tally_message(books.received)),
            transmitted: Some(tally_message(books.transmitted)),
            dropped: dropped.collect(),
        }
    });
    let (ports, copied) = (ports.collect(), books.copied());
    v1::Books { ports, copied, held_packets: held.packets, balanced }
}

/// The counters between a network device and the router.
pub fn netdev_message(counters: &NetdevCounters) -> v1::NetdevCounters {
    let NetdevCounters { received, overrun, malformed, runts, oversize, sent, .. } = *counters;
    v1::NetdevCounters {
        received,
        overrun,
        malformed,
        runts,
        oversize,
        sent,
        refused_down: counters.refused_down,
        refused_full: counters.refused_full,
        refused_runt: counters.refused_runt,
        refused_too_long: counters.refused_too_long,
        refused_unsplit: counters.refused_unsplit,
        refused_other: counters.refused_other,
        waiting_bytes: counters.waiting_bytes,
        sending_bytes: counters.sending_bytes,
        unfinished: counters.unfinished,
    }
}

fn counters_message(counters: &Counters) -> v1::Counters {
    let dropped = counters.drops().map(|(reason, tally)| v1::Drop {
        reason: reasons::message(reason).into(),
        tally: Some(tally_message(tally)),
    });
    v1::Counters {
        offered: Some(tally_message(counters.offered)),
        departed: Some(tally_message(counters.departed)),
        dropped: dropped.collect(),
        marked: Some(tally_message(counters.marked)),
    }
}

/// Spans as buckets, with their usual statistics.
pub fn histogram_message(histogram: &Histogram) -> v1::Histogram {
    let percentile = |permille| histogram.percentile(permille).ps();
    let bucket = |(up_to, count): (Span, u64)| v1::Bucket { up_to_ps: up_to.ps(), count };
    v1::Histogram {
        count: histogram.count(),
        mean_ps: histogram.mean().ps(),
        max_ps: histogram.max().ps(),
        p50_ps: percentile(500),
        p90_ps: percentile(900),
        p99_ps: percentile(990),
        p999_ps: percentile(999),
        buckets: histogram.buckets().map(bucket).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traffic::{
        Arrival, Config, Discipline, GroupConfig, Member, PortConfig, SchedulerConfig, ShaperConfig,
    };
    use units::{Bytes, Rate};

    #[derive(Debug)]
    struct Frame(u64);

    impl HasLength for Frame {
        fn length(&self) -> Bytes {
            Bytes(self.0)
        }
    }

    #[test]
    fn a_snapshot_balances_and_names_the_reasons_of_drops() {
        let mut manager = Manager::new(0);
        // One packet waits, one is on the line, the third finds the queue full: limit 1.
        let mut port = PortConfig::strict(Rate::from_bps(10_000_000), 1);
        port.queues[0].limit = traffic::Limit::packets(1);
        let config = [(PortId(1), port.clone()), (PortId(2), port)].into();
        manager.configure(Time::ZERO, Config { ports: config, ..Config::default() }).unwrap();
        for _ in 0..3 {
            let arrival = Arrival::new(Frame(100), PortId(2), PortId(1), ClassId(0));
            let _verdict = manager.handle_packet(Time::ZERO, arrival);
            let _output = manager.poll_output(Time::ZERO);
        }

        let find = |port, detail| port_snapshot(&manager, Time::ZERO, PortId(port), detail);
        assert!(find(3, Detail::All).is_none());
        let all = [1, 2].map(|port| find(port, Detail::Sample).unwrap());
        assert_eq!(all.iter().map(|port| port.port).collect::<Vec<_>>(), [PortId(1), PortId(2)]);
        let ports = [find(1, Detail::All).unwrap()];
        assert_eq!(ports.len(), 1);
        let message = port_message(&ports[0]);
        let counters = message.counters.unwrap();
        assert_eq!(counters.offered.unwrap().packets, 3);
        assert_eq!(counters.departed.unwrap().packets, 1);
        assert_eq!(message.held, Some(v1::Tally { packets: 1, bytes: 100 }));
        assert_eq!(counters.dropped.len(), 1);
        assert_eq!(counters.dropped[0].reason(), v1::DropReason::QueueLimit);
        assert_eq!(message.queues[0].high_water, Some(v1::Tally { packets: 1, bytes: 100 }));
        // 100 bytes at 10 Mb/s take 80 us.
        assert_eq!(message.sending_until_ps, 80_000_000);
        assert_eq!(message.queues[0].residence.as_ref().unwrap().count, 1);
        assert_eq!(all[0].queues[0].residence.as_ref().map(Histogram::count), None);
        // Strict priority and lines without shapers remember nothing.
        assert_eq!(
            (message.queues[0].turn, message.queues[0].shaper, message.shaper),
            (None, None, None)
        );
    }

    #[test]
    fn what_decides_who_is_next_is_told() {
        let mut manager = Manager::new(0);
        let mut port = PortConfig::strict(Rate::from_bps(10_000_000), 2);
        let discipline = Discipline::Drr { quantum: Bytes(150) };
        let members = (0..2).map(|class| Member { class: ClassId(class), weight: 1 }).collect();
        port.scheduler = SchedulerConfig::Groups(vec![GroupConfig { discipline, members }]);
        let rate = Rate::from_mbps(1);
        port.shaper = Some(ShaperConfig::Bits { rate, burst: Bytes(1000) });
        let config = [(PortId(1), port)].into();
        manager.configure(Time::ZERO, Config { ports: config, ..Config::default() }).unwrap();
        for _ in 0..3 {
            let arrival = Arrival::new(Frame(100), PortId(2), PortId(1), ClassId(0));
            let _verdict = manager.handle_packet(Time::ZERO, arrival);
        }
        let _output = manager.poll_output(Time::ZERO);

        let port = port_snapshot(&manager, Time::ZERO, PortId(1), Detail::Sample).unwrap();
        let message = port_message(&port);
        let turn = |class: usize| message.queues[class].turn.unwrap();
        // It had 150 bytes to send and sent 100.
        assert_eq!(turn(0).kind, Some(v1::turn_state::Kind::DeficitBytes(50)));
        assert_eq!(turn(1).kind, Some(v1::turn_state::Kind::DeficitBytes(0)));
        assert_eq!((turn(0).current, turn(1).current), (true, false));
        let bucket = message.shaper.unwrap();
        assert_eq!(bucket.kind, Some(v1::bucket_state::Kind::Bytes(900)));
    }
}
