//! Applications between hosts over a clean link: what they measure is what the link is.

use crate::net;

use chance::Probability;
use hosts::{
    DatagramSink, DatagramSource, DatagramSourceConfig, Lengths, Listener, ListenerConfig, Pace,
    Page, PageConfig, Ping, PingConfig, Report, Seen, Service, TcpSettings, Volleys, VolleysConfig,
    Workload, WorkloadConfig,
};
use net::{Net, Pipe};
use units::{Bytes, Rate, Span, Time};

const MS: fn(u64) -> Span = Span::from_ms;

/// 10 Mb/s there, no limit back, 5 ms each way.
fn net(hosts: usize) -> Net {
    let there = Pipe::clean(Some(Rate::from_mbps(10)), MS(5), 100);
    Net::new(hosts, hosts, &TcpSettings::default(), there, Pipe::clean(None, MS(5), 0), 1)
}

/// 98 bytes (14 + 20 + 8 + 56) at 10 Mb/s take 78.4 us, and twice 5 ms: 10.0784 ms.
#[test]
fn a_ping_measures_the_path_to_the_picosecond() {
    let mut net = net(1);
    let to = net.right(0, 0).address;
    let (interval, payload, after) = (Span::from_secs(1), Bytes(56), Span::ZERO);
    let ping = PingConfig { to, interval, count: Some(3), payload, hop_limit: None, after };
    let app = net.start_left(0, Box::new(Ping::new(ping)));
    net.run(Span::from_secs(5));
    let Report::Ping(report) = net.report(0, app) else { panic!("it is a ping") };
    let rtt = Span::from_ps(10_078_400_000);
    let answers: Vec<_> = report.answers.iter().map(|echo| (echo.number, echo.rtt)).collect();
    assert_eq!(answers, [(0, rtt), (1, rtt), (2, rtt)]);
}

/// 1000 bytes every 8 ms are 1 Mb/s; a second has 125. Frames of 1042 bytes take 833.6 us.
#[test]
fn steady_datagrams_arrive_as_they_were_sent() {
    let mut net = net(1);
    net.start_right(0, Box::new(DatagramSink::new(7)));
    let source = DatagramSourceConfig {
        to: net.right(0, 7),
        rate: Rate::from_mbps(1),
        length: Bytes(1000),
        pace: Pace::Steady,
        after: Span::ZERO,
        span: Span::from_secs(1),
    };
    net.start_left(0, Box::new(DatagramSource::new(source)));
    net.run(Span::from_secs(2));
    let Report::DatagramSink(flows) = net.report(1, hosts::AppId(0)) else { panic!("a sink") };
    let [(_, flow)] = flows[..] else { panic!("one flow: {flows:?}") };
    assert_eq!((flow.received, flow.bytes, flow.lost()), (125, 125_000, 0));
    let delay = Span::from_ps(5_833_600_000);
    assert_eq!((flow.delay_min, flow.delay_max, flow.jitter), (delay, delay, Span::ZERO));
}

/// Twice what the line takes: half is lost, and the sink knows how much.
#[test]
fn datagrams_that_do_not_fit_are_missed() {
    let mut net = net(1);
    net.start_right(0, Box::new(DatagramSink::new(7)));
    let source = DatagramSourceConfig {
        to: net.right(0, 7),
        rate: Rate::from_mbps(20),
        length: Bytes(1000),
        pace: Pace::Poisson,
        after: Span::ZERO,
        span: Span::from_secs(10),
    };
    let app = net.start_left(0, Box::new(DatagramSource::new(source)));
    net.run(Span::from_secs(11));
    let Report::DatagramSource(source) = net.report(0, app) else { panic!("a source") };
    let Report::DatagramSink(flows) = net.report(1, hosts::AppId(0)) else { panic!("a sink") };
    let flow = flows[0].1;
    assert_eq!(flow.received + net.there().dropped, source.sent);
    assert!(flow.lost() > source.sent * 4 / 10, "{flow:?}");
    // 25,000 expected, five standard deviations of a Poisson variable: 790.
    assert!(source.sent.abs_diff(25_000) < 790, "{source:?}");
}

/// A datagram to an unused port comes back as "port unreachable".
#[test]
fn a_closed_port_is_told_to_the_sender() {
    let mut net = net(1);
    let source = DatagramSourceConfig {
        to: net.right(0, 9),
        rate: Rate::from_mbps(1),
        length: Bytes(1000),
        pace: Pace::Bursts { datagrams: 5 },
        after: Span::ZERO,
        span: MS(1),
    };
    let app = net.start_left(0, Box::new(DatagramSource::new(source)));
    net.run(Span::from_secs(1));
    let Report::DatagramSource(report) = net.report(0, app) else { panic!("a source") };
    assert_eq!((report.sent, report.unreachable), (5, 5));
    assert_eq!(net.hosts[1].books().dropped(hosts::DropReason::NoSocket), 5);
}

/// Incast: one page from eight servers at the same instant, over and over.
#[test]
fn pages_come_from_many_servers_at_once() {
    let mut net = net(8);
    let service = Service::Respond { request: Bytes(100), response: Bytes(20_000) };
    for place in 0..8 {
        let config = ListenerConfig { port: 80, service, congestion: None };
        net.start_right(place, Box::new(Listener::new(config)));
    }
    let page = PageConfig {
        from: (0..8).map(|place| net.right(place, 80)).collect(),
        request: Bytes(100),
        response: Bytes(20_000),
        after: MS(3),
        pause: MS(100),
        random_pause: true,
        count: 5,
        congestion: None,
    };
    let app = net.start_left(0, Box::new(Page::new(page)));
    net.run(Span::from_secs(30));
    let Report::Page(report) = net.report(0, app) else { panic!("a page") };
    assert_eq!((report.fetched.count(), report.failed), (5, 0), "{report:?}");
    assert!(report.fetched.iter().all(|page| page.bytes == 160_000));
    assert_eq!(report.fetched.iter().next().unwrap().at, Time::ZERO + MS(3));
    // A handshake of 10 ms, a request, an answer of two rounds: at least 30 ms.
    assert!(report.fetched.iter().all(|page| page.took > MS(30) && page.took < MS(1000)));
}

/// Everything that begins ends, and every byte of it arrives.
#[test]
fn a_heavy_tailed_workload_is_done_in_the_end() {
    let mut net = net(2);
    for place in 0..2 {
        let service = Service::Discard;
        let config = ListenerConfig { port: 80, service, congestion: None };
        net.start_right(place, Box::new(Listener::new(config)));
    }
    let workload = WorkloadConfig {
        to: vec![net.right(0, 80), net.right(1, 80)],
        interval: MS(20),
        lengths: Lengths::HeavyTailed { min: Bytes(1_000), max: Bytes(200_000) },
        after: Span::ZERO,
        span: Span::from_secs(10),
        congestion: Some("reno".parse().expect("it exists")),
    };
    let app = net.start_left(0, Box::new(Workload::new(workload)));
    net.run(Span::from_secs(200));
    let Report::Workload(report) = net.report(0, app) else { panic!("a workload") };
    assert_eq!((report.done.count(), report.failed), (report.begun, 0));
    assert!(report.begun.abs_diff(500) < 112, "five standard deviations: {}", report.begun);
    let sent: u64 = report.done.iter().map(|flow| flow.bytes).sum();
    let taken = |host| match net.report(host, hosts::AppId(0)) {
        Report::Listener(report) => report.taken_bytes,
        other => panic!("{other:?}"),
    };
    assert_eq!(sent, taken(2) + taken(3));
    assert!(net.hosts.iter().all(|host| host.connection_count() == 0 && host.books().balance()));
}

/// Answers as long as their field: as much is sent as the time allows.
#[test]
fn an_answer_may_be_longer_than_any_run() {
    let mut net = net(1);
    let endless = Bytes(u64::MAX);
    let service = Service::Respond { request: Bytes(100), response: endless };
    net.start_right(
        0,
        Box::new(Listener::new(ListenerConfig { port: 80, service, congestion: None })),
    );
    let page = PageConfig {
        from: vec![net.right(0, 80)],
        request: Bytes(300),
        response: endless,
        after: Span::ZERO,
        pause: Span::ZERO,
        random_pause: false,
        count: 1,
        congestion: None,
    };
    let app = net.start_left(0, Box::new(Page::new(page)));
    net.run(MS(200));
    let Report::Page(report) = net.report(0, app) else { panic!("a page") };
    assert_eq!((report.fetched.count(), report.failed), (0, 0));
    assert!(net.hosts.iter().all(|host| host.books().balance()));
}

/// No two connections have the same ends: once each port of the host leads to a server, another one
/// fails. The first answer would come after 10 ms, so no port becomes free.
#[test]
fn more_flows_than_ports_fail() {
    let mut net = net(1);
    let workload = WorkloadConfig {
        to: vec![net.right(0, 80)],
        interval: Span::from_ns(100),
        lengths: Lengths::Fixed(Bytes(1)),
        after: Span::ZERO,
        span: Span::MAX,
        congestion: None,
    };
    let app = net.start_left(0, Box::new(Workload::new(workload)));
    net.run(MS(5));
    let Report::Workload(report) = net.report(0, app) else { panic!("a workload") };
    assert!(report.begun > 40_000, "{}", report.begun);
    assert_eq!((report.begun - report.failed, net.hosts[0].connection_count()), (28_232, 28_232));
}

/// Two volleys of three at 2 and 5 ms, to a sink that reports the first two bytes of each: each is
/// reported when its last bit is there. 1042 bytes at 10 Mb/s take 833.6 us, and 5 ms.
#[test]
fn volleys_leave_at_their_instants_and_a_sink_tells_of_each_datagram() {
    let mut net = net(1);
    net.hosts[1].watch_apps(true);
    net.start_right(0, Box::new(DatagramSink::new(7).telling(2)));
    let at = vec![MS(2), MS(5)];
    let volleys = VolleysConfig { to: net.right(0, 7), length: Bytes(1000), datagrams: 3, at };
    let app = net.start_left(0, Box::new(Volleys::new(volleys)));
    net.run(MS(4));
    assert!(!net.hosts[0].has_ended(app));
    net.run(MS(20));
    assert!(net.hosts[0].has_ended(app));
    let Report::Volleys(report) = net.report(0, app) else { panic!("volleys") };
    assert_eq!((report.at, report.sent), (vec![Time::ZERO + MS(2), Time::ZERO + MS(5)], 6));
    let told = std::iter::from_fn(|| net.hosts[1].poll_app_event()).skip(1);
    let told: Vec<_> = told
        .map(|event| match event.seen {
            Seen::Payload { bytes, head, .. } => (event.at.ps() / 100_000_000, bytes, head.len()),
            other => panic!("{other:?}"),
        })
        .collect();
    let in_100_us = [78, 86, 95, 108, 116, 125];
    assert_eq!(told, in_100_us.map(|at| (at, 1000, 2)));
}

/// A ping of two that are answered ends with the second answer; one of which nothing comes back
/// 3 s after its last request.
#[test]
fn a_ping_ends_when_all_is_answered_or_nothing_comes_any_more() {
    let ends_at = |loss| {
        let there = Pipe { loss, ..Pipe::clean(Some(Rate::from_mbps(10)), MS(5), 100) };
        let back = Pipe::clean(None, MS(5), 0);
        let mut net = Net::new(1, 1, &TcpSettings::default(), there, back, 1);
        net.hosts[0].watch_apps(true);
        let to = net.right(0, 0).address;
        let (interval, payload, after) = (Span::from_secs(1), Bytes(56), Span::ZERO);
        let ping = PingConfig { to, interval, count: Some(2), payload, hop_limit: None, after };
        net.start_left(0, Box::new(Ping::new(ping)));
        net.run(Span::from_secs(10));
        let mut told = std::iter::from_fn(|| net.hosts[0].poll_app_event());
        told.find(|event| matches!(event.seen, Seen::Ended(_))).expect("it has ended").at
    };
    assert_eq!(ends_at(Probability::NEVER), Time::from_ps(1_010_078_400_000));
    assert_eq!(ends_at(Probability::ALWAYS), Time::ZERO + Span::from_secs(4));
}

/// Half the line's rate, requested of TCP: segments leave so far apart that nothing waits. The
/// first ten leave unpaced: 10 x 1448 bytes in 10 s are 11.6 kb/s more than 5 Mb/s at the most.
#[test]
fn a_paced_transfer_keeps_its_rate_and_queues_nothing() {
    let mut net = net(1);
    let config = ListenerConfig { port: 5201, service: Service::Discard, congestion: None };
    net.start_right(0, Box::new(Listener::new(config)));
    let bulk = hosts::BulkConfig {
        to: net.right(0, 5201),
        until: hosts::Until::Span(Span::from_secs(10)),
        after: Span::ZERO,
        congestion: None,
        parallel: 1,
    };
    let bulk = hosts::Bulk::new(bulk).paced_to(Rate::from_mbps(5));
    let app = net.start_left(0, Box::new(bulk));
    net.run(Span::from_secs(11));
    let Report::Bulk(report) = net.report(0, app) else { panic!("a transfer") };
    let rate = report.rate().expect("it is over").bps();
    assert!((4_980_000..5_011_600).contains(&rate), "{rate}");
    assert_eq!((net.there().dropped, report.retransmitted), (0, 0));
}

/// From 1 s to 3 s the application does not read: the buffer fills, the window closes, and the
/// sender waits. At 10 Mb/s and 100 ms at most of round trip the 40,000 bytes that the buffer
/// offers are there long before 2 s.
#[test]
fn a_listener_that_pauses_closes_the_window_and_opens_it_again() {
    let buffer = hosts::Memory { min: Bytes(4096), default: Bytes(80_000), max: Bytes(80_000) };
    let there = Pipe::clean(Some(Rate::from_mbps(10)), MS(5), 100);
    let settings = TcpSettings { rmem: buffer, ..TcpSettings::default() };
    let mut net = Net::new(1, 1, &settings, there, Pipe::clean(None, MS(5), 0), 1);
    let config = ListenerConfig { port: 5201, service: Service::Discard, congestion: None };
    let listener = Listener::new(config).pausing(Span::from_secs(1), Span::from_secs(2));
    net.start_right(0, Box::new(listener));
    let bulk = hosts::BulkConfig {
        to: net.right(0, 5201),
        until: hosts::Until::Stopped,
        after: Span::ZERO,
        congestion: None,
        parallel: 1,
    };
    net.start_left(0, Box::new(hosts::Bulk::new(bulk)));
    let mut seen = |milliseconds| {
        net.run_until(Time::ZERO + MS(milliseconds));
        let sender = net.snapshot(0).expect("it runs");
        (sender.snd_wnd, sender.bytes_acked)
    };
    assert!(seen(990).0 > 0);
    let closed = seen(2000);
    assert_eq!(closed.0, 0);
    assert_eq!(seen(2990), closed, "nothing is taken");
    let (window, acked) = seen(3500);
    assert!(window > 0);
    // Half a second of 10 Mb/s, less what the first round trips cost.
    assert!(acked > closed.1 + 400_000, "{acked}");
}

/// A stopped application takes nothing any more: a new connection is refused.
#[test]
fn a_listener_that_was_stopped_takes_no_more_connections() {
    let mut net = net(1);
    let config = ListenerConfig { port: 5201, service: Service::Discard, congestion: None };
    let listener = net.start_right(0, Box::new(Listener::new(config)));
    net.hosts[1].stop(Time::ZERO, listener);
    assert!(net.hosts[1].has_ended(listener));
    let bulk = hosts::BulkConfig {
        to: net.right(0, 5201),
        until: hosts::Until::Stopped,
        after: Span::ZERO,
        congestion: None,
        parallel: 1,
    };
    let app = net.start_left(0, Box::new(hosts::Bulk::new(bulk)));
    net.run(Span::from_secs(1));
    let Report::Bulk(report) = net.report(0, app) else { panic!("a transfer") };
    assert_eq!((report.failed, report.ended_at.is_some()), (1, true));
}
