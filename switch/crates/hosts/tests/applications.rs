//! Applications between hosts over a clean link: what they measure is what the link is.

mod net;

use hosts::{
    DatagramSink, DatagramSource, DatagramSourceConfig, Lengths, Listener, ListenerConfig, Pace,
    Page, PageConfig, Ping, PingConfig, Report, Service, TcpSettings, Workload, WorkloadConfig,
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
    let ping = PingConfig { to, interval, count: Some(3), payload, after };
    let app = net.start_left(0, Box::new(Ping::new(ping)));
    net.run(Span::from_secs(5));
    let Report::Ping(report) = net.report(0, app) else { panic!("it is a ping") };
    let rtt = Span::from_ps(10_078_400_000);
    assert_eq!(report.answers, [(0, rtt), (1, rtt), (2, rtt)]);
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

/// A datagram to a port that nobody has comes back as "port unreachable".
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
    assert_eq!((report.fetched.len(), report.failed), (5, 0), "{report:?}");
    assert!(report.fetched.iter().all(|page| page.bytes == 160_000));
    assert_eq!(report.fetched[0].at, Time::ZERO + MS(3));
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
    assert_eq!((report.done.len() as u64, report.failed), (report.begun, 0));
    assert!(report.begun.abs_diff(500) < 112, "five standard deviations: {}", report.begun);
    let sent: u64 = report.done.iter().map(|flow| flow.bytes).sum();
    let taken = |host| match net.report(host, hosts::AppId(0)) {
        Report::Listener(report) => report.taken_bytes,
        other => panic!("{other:?}"),
    };
    assert_eq!(sent, taken(2) + taken(3));
    assert!(net.hosts.iter().all(|host| host.connection_count() == 0 && host.books().balance()));
}
