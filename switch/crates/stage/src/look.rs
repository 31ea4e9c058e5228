//! Hosts, connections, cables and the books of the network, as messages.

use hosts::{DropReason, Host, NetdevId, RecoveryState, Snapshot, State, WaitingFor};
use messages::vitrine::v1;
use units::{Bytes, Rate, Span, Time};
use v1::connection as c;
use world::{CableDrop, End};

use crate::network::Network;
use crate::reports::{endpoint_text, report_message};

/// The network at the present instant.
pub fn look(
    network: &Network,
    request: &v1::LookRequest,
    running: bool,
) -> Result<v1::LookResponse, p4runtime::Refusal> {
    let places = network.hosts_named(&request.hosts)?;
    let hosts = places.iter().map(|place| {
        let books = Some(books_message(network.host_at(*place)));
        v1::HostState { books, ..host_state(network, *place, request.connections) }
    });
    let apps = (1..).zip(&network.apps).filter(|(_, app)| places.contains(&app.host));
    let apps = apps.map(|(number, app)| report_message(number, network.host_at(app.host), app.id));
    let cables = network.cables.iter().map(|(cable, [one, other])| v1::CableState {
        cut: network.world.is_cut(*cable),
        from_one: Some(cable_counters(network, *one)),
        from_other: Some(cable_counters(network, *other)),
    });
    Ok(v1::LookResponse {
        time_ps: network.world.now().ps(),
        running,
        hosts: hosts.collect(),
        apps: if request.apps { apps.collect() } else { Vec::new() },
        topology: request.topology.then(|| network.topology.clone()),
        seed: network.seed,
        cables: if request.topology { cables.collect() } else { Vec::new() },
        books: Some(network_books(network)),
    })
}

/// A host's queue and, on request, its connections; without counters of frames.
pub fn host_state(network: &Network, place: usize, connections: bool) -> v1::HostState {
    let host = network.host_at(place);
    let (packets, bytes) = host.queued(NetdevId(0));
    let all = host.connections().filter_map(|id| host.snapshot(id));
    v1::HostState {
        host: host.name().to_owned(),
        queue: Some(v1::Tally { packets: packets as u64, bytes: bytes.count() }),
        books: None,
        connections: match connections {
            true => all.map(|(own, peer, seen)| connection(own, peer, &seen)).collect(),
            false => Vec::new(),
        },
    }
}

fn connection(own: hosts::Endpoint, peer: hosts::Endpoint, seen: &Snapshot) -> v1::Connection {
    let algorithm = seen.algorithm.iter();
    let algorithm =
        algorithm.map(|(name, value)| v1::NamedNumber { name: (*name).to_owned(), value: *value });
    v1::Connection {
        local: endpoint_text(own),
        peer: endpoint_text(peer),
        state: state(seen.state).into(),
        recovery: recovery(seen.recovery).into(),
        congestion: seen.congestion.clone(),
        algorithm: algorithm.collect(),
        cwnd: seen.cwnd,
        ssthresh: seen.ssthresh,
        mss_bytes: seen.mss.count(),
        pmtu_bytes: seen.pmtu.count(),
        rtt_ps: seen.rtt.map(|(rtt, _)| rtt.ps()),
        rttvar_ps: seen.rtt.map(|(_, variation)| variation.ps()),
        minrtt_ps: seen.min_rtt.map(Span::ps),
        rto_ps: seen.rto.ps(),
        backoff: seen.backoff,
        timer: timer(seen.waiting).into(),
        timer_due_ps: seen.due.map_or(0, Time::ps),
        pacing_rate_bps: seen.pacing_rate.map(Rate::bps),
        delivery_rate_bps: seen.delivery_rate.map(Rate::bps),
        unacked: seen.unacked,
        sacked: seen.sacked,
        lost: seen.lost,
        retrans: seen.retrans,
        retrans_total: seen.retrans_total,
        reordering: seen.reordering,
        app_limited: seen.app_limited,
        bytes_sent: seen.bytes_sent,
        bytes_acked: seen.bytes_acked,
        bytes_received: seen.bytes_received,
        notsent_bytes: seen.not_sent,
        segs_out: seen.segs_out,
        data_segs_in: seen.data_segs_in,
        delivered: seen.delivered,
        delivered_ce: seen.delivered_ce,
        snd_wnd_bytes: seen.snd_wnd,
        rcv_wnd_bytes: seen.rcv_wnd,
        rcv_space_bytes: seen.rcv_space,
        rcv_rtt_ps: seen.rcv_rtt.ps(),
        rcv_ooo_bytes: seen.rcv_ooo,
        timeouts: seen.timeouts,
        recoveries: seen.recoveries,
        undone: seen.undone,
        dsacks: seen.dsacks,
        marks: seen.marks,
    }
}

fn state(state: State) -> c::State {
    match state {
        State::Closed => c::State::Closed,
        State::CloseWait => c::State::CloseWait,
        State::Closing => c::State::Closing,
        State::Established => c::State::Established,
        State::FinWait1 => c::State::FinWait1,
        State::FinWait2 => c::State::FinWait2,
        State::LastAck => c::State::LastAck,
        State::SynReceived => c::State::SynReceived,
        State::SynSent => c::State::SynSent,
        State::TimeWait => c::State::TimeWait,
    }
}

fn recovery(recovery: RecoveryState) -> c::Recovery {
    match recovery {
        RecoveryState::Open => c::Recovery::Open,
        RecoveryState::Disorder => c::Recovery::Disorder,
        RecoveryState::Cwr => c::Recovery::Cwr,
        RecoveryState::Recovery => c::Recovery::Recovery,
        RecoveryState::Loss => c::Recovery::Loss,
    }
}

fn timer(waiting: WaitingFor) -> c::Timer {
    match waiting {
        WaitingFor::Nothing => c::Timer::Off,
        WaitingFor::Timeout => c::Timer::Retransmit,
        WaitingFor::TailProbe => c::Timer::Probe,
        WaitingFor::Reordering => c::Timer::Reordering,
        WaitingFor::ZeroWindow => c::Timer::ZeroWindow,
    }
}

fn books_message(host: &Host) -> v1::HostBooks {
    let books = host.books();
    let dropped = DropReason::ALL.iter().filter_map(|reason| {
        let packets = books.dropped(*reason);
        let reason = reason.number().into();
        (packets > 0).then_some(v1::HostDrop { reason, packets })
    });
    v1::HostBooks {
        received: Some(v1::Tally { packets: books.received, bytes: books.received_bytes }),
        taken_arp: books.taken_arp,
        taken_icmp: books.taken_icmp,
        taken_tcp: books.taken_tcp,
        taken_udp: books.taken_udp,
        made: books.made,
        sent: Some(v1::Tally { packets: books.sent, bytes: books.sent_bytes }),
        waiting: books.waiting,
        dropped: dropped.collect(),
        wrong_payload: books.wrong_payload,
        balanced: books.balance(),
    }
}

fn cable_counters(network: &Network, end: End) -> v1::CableCounters {
    let counters = network.world.counters(end);
    let tally = |tally: traffic::Tally| {
        let Bytes(bytes) = tally.bytes;
        Some(v1::Tally { packets: tally.packets, bytes })
    };
    v1::CableCounters {
        sent: tally(counters.sent),
        dropped_cut: tally(counters.dropped_for(CableDrop::Cut)),
        dropped_circle: tally(counters.dropped_for(CableDrop::NoTimePasses)),
    }
}

fn network_books(network: &Network) -> v1::NetworkBooks {
    let ledger = network.world.ledger();
    let dropped = ledger.dropped.iter();
    let dropped = dropped.map(|(loss, packets)| v1::NetworkDrop {
        reason: loss.name().to_owned(),
        packets: *packets,
    });
    v1::NetworkBooks {
        sent: ledger.sent,
        injected: ledger.injected,
        copied: ledger.copied,
        duplicated: ledger.duplicated,
        received: ledger.received,
        reported: ledger.reported,
        dropped: dropped.collect(),
        under_way: ledger.under_way,
        balanced: network.world.balances(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at more numbers than there are reasons, so that one is missed neither here nor in the
    /// proto file.
    #[test]
    fn the_proto_file_has_the_same_reasons_with_the_same_numbers_and_names() {
        for number in 1..=u8::MAX {
            let message = v1::host_drop::Reason::try_from(i32::from(number)).ok();
            let written = message.map(|message| message.as_str_name().to_lowercase());
            let reason = DropReason::ALL.iter().find(|reason| reason.number() == number);
            assert_eq!(reason.map(|reason| reason.name()), written.as_deref(), "number {number}");
        }
    }
}
