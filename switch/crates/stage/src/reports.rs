//! Reports of applications, as messages.

use hosts::{AppId, ConnectionId, Endpoint, Host, Report, Seen, Snapshot, Why};
use messages::vitrine::v1;
use units::Time;
use v1::app_event::Kind as EventKind;
use v1::app_report::Kind;

/// The report of an application of this number; what it has to say and, where its connections are
/// open, what those have to.
pub fn report_message(number: u64, host: &Host, id: AppId) -> v1::AppReport {
    let kind = host.report(id).map(|report| kind_of(report, host));
    v1::AppReport { app: number, host: host.name().to_owned(), ended: host.has_ended(id), kind }
}

fn kind_of(report: Report, host: &Host) -> Kind {
    match report {
        Report::Bulk(report) => Kind::Bulk(bulk(&report, host)),
        Report::DatagramSink(flows) => {
            let flows = flows.iter().map(|(_, flow)| datagram_flow(flow)).collect();
            Kind::DatagramSink(v1::DatagramSinkReport { flows })
        }
        Report::DatagramSource(report) => Kind::DatagramSource(v1::DatagramSourceReport {
            sent: report.sent,
            unreachable: report.unreachable,
            volleys_ps: Vec::new(),
        }),
        Report::Listener(report) => {
            let open = report.connections.iter().filter_map(|id| host.snapshot(*id));
            let open: u64 = open.map(|(.., seen)| seen.bytes_received).sum();
            Kind::Listener(v1::ListenerReport {
                accepted: report.accepted,
                over: report.ended,
                received_bytes: report.taken_bytes + open,
                answered: report.answered,
            })
        }
        Report::Page(report) => Kind::Page(v1::PageReport {
            fetched: report.fetched.iter().map(fetched).collect(),
            failed: report.failed,
            forgotten: report.fetched.forgotten(),
        }),
        Report::Ping(report) => Kind::Ping(v1::PingReport {
            sent: report.sent,
            echoes: report.answers.iter().map(echo).collect(),
            unreachable: report.errors.count(),
            forgotten: report.answers.forgotten(),
            errors: report.errors.iter().map(echo_error).collect(),
        }),
        Report::Volleys(report) => Kind::DatagramSource(v1::DatagramSourceReport {
            sent: report.sent,
            unreachable: report.unreachable,
            volleys_ps: report.at.iter().map(|at| at.ps()).collect(),
        }),
        Report::Workload(report) => Kind::Workload(v1::WorkloadReport {
            begun: report.begun,
            failed: report.failed,
            done: report.done.iter().map(flow_done).collect(),
            forgotten: report.done.forgotten(),
        }),
    }
}

fn bulk(report: &hosts::BulkReport, host: &Host) -> v1::BulkReport {
    let open = |id: &ConnectionId| host.snapshot(*id);
    let open: Vec<(Endpoint, Endpoint, Snapshot)> =
        report.connections.iter().filter_map(open).collect();
    v1::BulkReport {
        acked_bytes: report.acknowledged + open.iter().map(|(.., it)| it.bytes_acked).sum::<u64>(),
        retransmits: report.retransmitted
            + open.iter().map(|(.., it)| it.retrans_total).sum::<u64>(),
        began_ps: report.started_at.map(Time::ps),
        ended_ps: report.ended_at.map(Time::ps),
        failed: report.failed as u64,
        connections: open.iter().map(|(own, ..)| endpoint_text(*own)).collect(),
    }
}

fn datagram_flow(flow: &hosts::FlowReport) -> v1::DatagramFlow {
    // A source of datagrams of other kinds has no numbers in them, so nothing is expected.
    let counted = flow.expected > 0;
    v1::DatagramFlow {
        from: flow.from.map(endpoint_text).unwrap_or_default(),
        received: flow.received,
        received_bytes: flow.bytes,
        lost: flow.lost(),
        out_of_order: flow.out_of_order,
        marked: flow.marked,
        jitter_ps: flow.jitter.ps(),
        delay_min_ps: if counted { flow.delay_min.ps() } else { 0 },
        delay_mean_ps: flow.delay_sum.ps().checked_div(flow.received).unwrap_or(0),
        delay_max_ps: flow.delay_max.ps(),
    }
}

fn fetched(page: &hosts::Fetched) -> v1::Fetched {
    v1::Fetched {
        began_ps: page.at.ps(),
        first_byte_ps: (page.at + page.first_byte).ps(),
        ended_ps: (page.at + page.took).ps(),
        received_bytes: page.bytes,
    }
}

fn echo(echo: &hosts::Echo) -> v1::Echo {
    v1::Echo { number: echo.number, sent_ps: echo.sent_at.ps(), rtt_ps: echo.rtt.ps() }
}

fn echo_error(error: &hosts::EchoError) -> v1::EchoError {
    use v1::echo_error::Why as Message;
    let (why, mtu_bytes) = match error.what.why {
        Why::Unreachable => (Message::Unreachable, 0),
        Why::HopLimit => (Message::HopLimit, 0),
        Why::TooLong { mtu } => (Message::TooLong, mtu),
    };
    v1::EchoError {
        request: Some(echo(&error.echo)),
        by: error.what.from.to_string(),
        why: why.into(),
        mtu_bytes,
    }
}

fn flow_done(flow: &hosts::FlowDone) -> v1::FlowDone {
    v1::FlowDone {
        began_ps: flow.at.ps(),
        ended_ps: (flow.at + flow.took).ps(),
        length_bytes: flow.bytes,
    }
}

/// Something that an application of this number saw.
pub fn event_message(number: u64, host: &Host, event: hosts::AppEvent) -> v1::AppEvent {
    let kind = match event.seen {
        Seen::Began => EventKind::Started(true),
        Seen::Echo(seen) => EventKind::Echo(echo(&seen)),
        Seen::EchoError(seen) => EventKind::EchoError(echo_error(&seen)),
        Seen::Ended(report) => EventKind::Ended(v1::AppReport {
            app: number,
            host: host.name().to_owned(),
            ended: true,
            kind: Some(kind_of(report, host)),
        }),
        Seen::Fetched(page) => EventKind::Fetched(fetched(&page)),
        Seen::Flow(flow) => EventKind::Flow(flow_done(&flow)),
        Seen::Payload { from, bytes, head } => EventKind::Datagram(v1::DatagramEvent {
            from: endpoint_text(from),
            payload_bytes: bytes as u64,
            payload: head.into(),
        }),
    };
    v1::AppEvent { time_ps: event.at.ps(), app: number, kind: Some(kind) }
}

/// As `ss` writes it.
pub fn endpoint_text(endpoint: Endpoint) -> String {
    core::net::SocketAddr::new(endpoint.address, endpoint.port).to_string()
}
