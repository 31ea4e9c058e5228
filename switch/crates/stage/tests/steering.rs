//! A network in virtual time that is steered with messages: what is promised of each call.

use crate::rig;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;

use messages::vitrine::v1;
use p4runtime::Code;
use prost::Message as _;
use rig::{Rig, Woken, drained, end, told, told_before, wire_topology};
use stage::{Next, STALL_MAX};
use v1::app::Kind;
use v1::app_report::Kind as Report;

fn ping(count: u64) -> Kind {
    Kind::Ping(v1::Ping { to: "h2".to_owned(), count, ..Default::default() })
}

fn listener() -> Kind {
    Kind::Listener(v1::Listener { port: 5201, ..Default::default() })
}

fn bulk(length_bytes: u64) -> Kind {
    Kind::Bulk(v1::Bulk {
        to: Some(v1::Peer { host: "h2".to_owned(), port: 5201 }),
        until: Some(v1::bulk::Until::LengthBytes(length_bytes)),
        ..Default::default()
    })
}

fn all_ended(apps: Vec<u64>) -> v1::AdvanceRequest {
    let kind = v1::stop::Kind::AppsEnded(v1::stop::AppsEnded { apps });
    v1::AdvanceRequest { until: None, stops: vec![v1::Stop { kind: Some(kind) }] }
}

/// A frame of 98 bytes takes 78.4 us on a line of 10 Mb/s, once each way: a host has it when its
/// first bit leaves the router. Before the first request h1 asks who has the address.
#[test]
fn a_ping_takes_as_long_as_its_frames_are_on_lines() {
    let mut rig = Rig::wire(1);
    let app = rig.start("h1", ping(2));
    let stood = rig.advance(all_ended(vec![app])).unwrap();
    assert_eq!(stood.stop, Some(0));
    let looked = rig.look();
    let Some(Report::Ping(report)) = &looked.apps[0].kind else { panic!("{looked:?}") };
    let echoes: Vec<_> = report.echoes.iter().map(|echo| (echo.sent_ps, echo.rtt_ps)).collect();
    let second = 1_000_000_000_000;
    assert_eq!(echoes[1], (second, 156_800_000), "the second knows the address");
    assert!(echoes[0].1 > 156_800_000, "{echoes:?}");
    assert_eq!(stood.time_ps, second + 156_800_000, "it stands when the last answer is there");
    assert!(looked.books.unwrap().balanced);
}

#[test]
fn everything_wrong_with_a_topology_is_said_at_once_and_the_old_network_stays() {
    let mut rig = Rig::wire(1);
    let mut topology = wire_topology();
    topology.hosts[0].mac = "2:0:0".to_owned();
    topology.hosts[1].gateways = vec!["192.168.1.1".to_owned()];
    topology.hosts[1].tcp =
        Some(v1::TcpConfig { congestion_control: Some("vegas".to_owned()), ..Default::default() });
    topology.routers[0].ports[1].config.as_mut().unwrap().queue_count = Some(9);
    topology.cables[1].other = Some(end("s1", Some(7)));
    topology.cables.push(topology.cables[0].clone());
    let refused = rig.build(v1::BuildRequest { topology: Some(topology), seed: 1 }).unwrap_err();
    assert_eq!(refused.code, Code::InvalidArgument);
    let details = messages::google::rpc::Status::decode(refused.details).unwrap().details;
    let places: Vec<String> = details
        .iter()
        .map(|detail| v1::Problem::decode(detail.value.as_slice()).unwrap().place)
        .collect();
    assert_eq!(
        places,
        [
            "cables[1]",
            "cables[2]",
            "cables[2]",
            "host h1, mac",
            "host h2, gateways",
            "host h2, tcp.congestion_control",
            "router s1, port 2, queue_count",
        ]
    );
    assert_eq!(rig.look().hosts.len(), 2, "what there was is there");
}

/// A frame of 100 bytes takes 80 us on a line of 10 Mb/s: the second one waits that long for the
/// first.
#[test]
fn frames_come_in_by_a_port_from_nowhere() {
    let mut rig = Rig::wire(1);
    let mut captured = rig.capture(vec![end("s1", Some(2))]);
    let frame: [u8; 100] = std::array::from_fn(|place| place as u8);
    rig.inject(end("s1", Some(1)), &[&frame, &frame]).unwrap();
    rig.advance_ms(1);
    let pcapng: Vec<u8> = drained(&mut captured).0.into_iter().flat_map(|it| it.pcapng).collect();
    let seen = pcapng.windows(frame.len()).filter(|window| *window == frame).count();
    assert_eq!(seen, 2, "both left by the other port");
    let books = rig.look().books.unwrap();
    assert_eq!((books.injected, books.sent, books.balanced), (2, 0, true));
}

#[test]
fn frames_that_nothing_could_bring_are_refused_and_none_of_them_comes() {
    let mut rig = Rig::wire(1);
    let code = |refused: Result<v1::InjectResponse, p4runtime::Refusal>| refused.unwrap_err().code;
    for place in [end("s1", Some(3)), end("s1", None), end("h1", None), end("s9", Some(1))] {
        assert_eq!(code(rig.inject(place, &[&[0; 60]])), Code::NotFound);
    }
    assert_eq!(code(rig.inject(end("s1", Some(1)), &[&[0; 60], &[]])), Code::InvalidArgument);
    let long = vec![0; 65_536];
    assert_eq!(code(rig.inject(end("s1", Some(1)), &[&long])), Code::InvalidArgument);
    assert_eq!(rig.look().books.unwrap().injected, 0);
}

/// Timers beyond the end of time would stop the server.
#[test]
fn times_of_tcp_beyond_an_hour_are_refused() {
    let set: [fn(&mut v1::TcpConfig, u64); 7] = [
        |tcp, ns| tcp.rto_min_ns = Some(ns),
        |tcp, ns| tcp.rto_max_ns = Some(ns),
        |tcp, ns| tcp.rto_initial_ns = Some(ns),
        |tcp, ns| tcp.delayed_ack_min_ns = Some(ns),
        |tcp, ns| tcp.delayed_ack_max_ns = Some(ns),
        |tcp, ns| tcp.comp_sack_delay_ns = Some(ns),
        |tcp, ns| tcp.time_wait_ns = Some(ns),
    ];
    const HOUR_NS: u64 = 3600 * 1_000_000_000;
    for set in set {
        let built = |ns| {
            let mut topology = rig::wire_topology();
            set(topology.hosts[0].tcp.get_or_insert_default(), ns);
            let request = v1::BuildRequest { topology: Some(topology), seed: 1 };
            Rig::empty().build(request)
        };
        assert_eq!(built(HOUR_NS), Ok(()));
        for ns in [HOUR_NS + 1, u64::MAX] {
            assert!(built(ns).is_err(), "{ns} ns");
        }
    }
}

/// Events, samples and frames of a transfer with a ping beside it, in `steps` steps of `step_ms`.
fn told_of_a_run(steps: u64, step_ms: u64) -> (Vec<u8>, Vec<u8>) {
    let mut rig = Rig::wire(7);
    let request =
        v1::WatchHostsRequest { interval_ns: 3_000_000, events: true, ..Default::default() };
    let mut watched = rig.watch_hosts(request);
    let mut captured = rig.capture(vec![end("s1", Some(2)), end("h1", None)]);
    rig.start("h2", listener());
    rig.start("h1", bulk(300_000));
    rig.start("h1", ping(3));
    for _ in 0..steps {
        rig.advance_ms(step_ms);
    }
    let mut told = Vec::new();
    for message in drained(&mut watched).0 {
        message.events.iter().for_each(|event| told.extend(event.encode_to_vec()));
        message.sample.iter().for_each(|sample| told.extend(sample.encode_to_vec()));
    }
    let frames = drained(&mut captured).0.into_iter().flat_map(|it| it.pcapng).collect();
    (told, frames)
}

#[test]
fn what_is_told_does_not_depend_on_the_steps_in_which_time_passes() {
    let whole = told_of_a_run(1, 4000);
    assert!(whole.0.len() > 100_000 && whole.1.len() > 300_000, "something happened");
    assert!(whole == told_of_a_run(4000, 1));
    assert!(whole == told_of_a_run(50, 80));
}

/// A transfer of 300 kB over 10 Mb/s: some ten thousand packets of samples a second that are not
/// read. The world waits; a reader that reads gets all of it.
#[test]
fn time_waits_for_a_reader_and_a_silent_one_is_ended() {
    let mut rig = Rig::wire(1);
    let request = v1::WatchHostsRequest { interval_ns: 10_000, events: true, ..Default::default() };
    let mut slow = rig.watch_hosts(request.clone());
    let mut silent = rig.watch_hosts(request);
    rig.start("h2", listener());
    rig.start("h1", bulk(20_000_000));
    let run = v1::RunRequest { speed: None, until_ps: 60_000_000_000_000 };
    let world = rig.world.clone();
    rig.complete(async move { world.run(run).await }).unwrap();
    while rig.work() == Next::Again {}
    let stood = rig.look().time_ps;
    assert!(stood > 0 && stood < 60_000_000_000_000, "it waits: {stood}");
    let first = drained(&mut slow).0;
    assert!(matches!(rig.work(), Next::After(_)), "the other one has not read");
    rig.clock += STALL_MAX;
    while rig.work() == Next::Again {}
    let (_, ended) = drained(&mut silent);
    let ended = ended.expect("it was ended");
    assert_eq!(ended.code, Code::ResourceExhausted);
    assert!(ended.message.contains("read while time passes"), "{}", ended.message);
    assert!(rig.look().time_ps > stood, "time goes on for the other");
    let samples = first.into_iter().chain(drained(&mut slow).0).filter_map(|it| it.sample);
    let times: Vec<u64> = samples.map(|sample| sample.time_ps).collect();
    assert!(times.iter().zip(1..).all(|(time, number)| *time == number * 10_000_000));
}

#[test]
fn a_cut_cable_and_a_restart_are_faults_of_this_instant() {
    let mut rig = Rig::wire(1);
    let app = rig.start("h1", ping(1));
    rig.fault(v1::fault_request::Kind::Cut(end("s1", Some(2))));
    rig.advance_ms(10_000);
    let looked = rig.look();
    assert!(looked.apps[0].ended && looked.cables[1].cut && !looked.cables[0].cut);
    let Some(Report::Ping(report)) = &looked.apps[app as usize - 1].kind else { panic!() };
    assert!(report.echoes.is_empty());
    rig.fault(v1::fault_request::Kind::Mend(end("h2", None)));
    rig.fault(v1::fault_request::Kind::Restart("s1".to_owned()));
    let again = rig.start("h1", ping(1));
    rig.advance_ms(5_000);
    let dropped = &rig.look().books.unwrap().dropped;
    assert!(dropped.iter().any(|drop| drop.reason == "no_program"), "{dropped:?}");
    rig.load(1);
    let third = rig.start("h1", ping(1));
    rig.advance(all_ended(vec![again, third])).unwrap();
    let looked = rig.look();
    let Some(Report::Ping(report)) = &looked.apps[third as usize - 1].kind else { panic!() };
    assert_eq!(report.echoes.len(), 1, "mended, and its program is back");
    assert!(looked.books.unwrap().balanced);
}

/// A window of ten frames comes at once, and one leaves every 1.2 ms: three wait when the fourth
/// frame or the fifth is there.
#[test]
fn the_world_stops_when_a_queue_holds_so_many_packets() {
    let mut rig = Rig::wire(1);
    let mut topology = wire_topology();
    topology.routers[0].ports[0].config.as_mut().unwrap().rate_bps = Some(100_000_000);
    rig.build(v1::BuildRequest { topology: Some(topology), seed: 1 }).unwrap();
    rig.load(1);
    rig.start("h2", listener());
    rig.start("h1", bulk(1_000_000));
    let holds = v1::stop::QueueHolds { device_id: 1, port: 2, class: 0, packets: 3 };
    let stops = vec![v1::Stop { kind: Some(v1::stop::Kind::QueueHolds(holds)) }];
    let stood = rig.advance(v1::AdvanceRequest { until: None, stops }).unwrap();
    assert_eq!(stood.stop, Some(0));
    let described = {
        let front = rig.fronts.named(1).unwrap().front;
        let request = v1::DescribeRequest { ports: vec![2], device_id: 1 };
        rig.complete(async move { front.describe(&request).await }).unwrap()
    };
    assert_eq!(described.time_ps, stood.time_ps);
    let held = described.ports[0].counters.as_ref().unwrap().held.unwrap();
    assert_eq!(held.packets, 3);
}

#[test]
fn what_cannot_be_is_refused_with_a_sentence() {
    let mut rig = Rig::empty();
    let refused = rig.advance(v1::AdvanceRequest::default()).unwrap_err();
    assert_eq!(refused.code, Code::FailedPrecondition);
    assert!(rig.fronts.named(1).unwrap_err().message.contains("build one"));
    let mut rig = Rig::wire(1);
    rig.advance_ms(5);
    let past = Some(v1::advance_request::Until::TimePs(1));
    let refused = rig.advance(v1::AdvanceRequest { until: past, stops: Vec::new() }).unwrap_err();
    assert_eq!(refused.code, Code::OutOfRange);
    let (world, host) = (rig.world.clone(), "h9".to_owned());
    let refused =
        rig.complete(async move { world.start(v1::StartRequest { host, app: None }).await });
    assert_eq!(refused.unwrap_err().message, "there is no host \"h9\"");
    // Nothing is left to happen: time does not pass for ever.
    let app = rig.start("h1", listener());
    let stood = rig.advance(all_ended(vec![app])).unwrap();
    assert_eq!((stood.stop, stood.time_ps), (None, 5_000_000_000));
}

#[test]
fn events_wait_for_no_sample_while_time_stands_or_waits_for_the_clock() {
    let mut rig = Rig::wire(1);
    let request = v1::WatchRequest { interval_ms: 1000, links: true, ..Default::default() };
    let mut feed = rig.watch(request);
    let woken = Arc::new(Woken::default());
    let mut hears = |rig: &mut Rig, kind| {
        told_before(&mut feed, &Waker::from(Arc::clone(&woken)));
        rig.fault(kind);
        while rig.work() == Next::Again {}
        assert!(woken.0.swap(false, Ordering::Relaxed));
        assert_eq!(told(&mut feed).iter().map(|it| it.events.len()).sum::<usize>(), 1);
    };
    let h1 = end("h1", None);
    hears(&mut rig, v1::fault_request::Kind::Cut(h1.clone()));
    // So slow that the next sample is a quarter of an hour away.
    let speed = Some(v1::Ratio { over: 1, under: 1000 });
    let world = rig.world.clone();
    let run = v1::RunRequest { speed, until_ps: 0 };
    rig.complete(async move { world.run(run).await }).expect("it stood");
    hears(&mut rig, v1::fault_request::Kind::Mend(h1));
}
