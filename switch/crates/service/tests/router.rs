//! `vitrine.v1.Router`, over a real connection to a whole switch in this process.

use crate::support;

use messages::google::rpc;
use messages::vitrine::v1;
use messages::vitrine::v1::event::Kind;
use prost::Message;
use service::stubs::vitrine::router_client::RouterClient;
use tokio_stream::StreamExt;
use tonic::Code;

use support::{DEVICE_ID, EPOCH_OFFSET_NS, PATIENCE, Switch};

fn configure(ports: Vec<v1::PortChange>) -> v1::ConfigureRequest {
    v1::ConfigureRequest {
        device_id: DEVICE_ID,
        role: String::new(),
        election_id: Some(v1::ElectionId { high: 0, low: 1 }),
        ports,
        ..Default::default()
    }
}

fn change(port: u32, config: v1::PortConfig) -> v1::PortChange {
    v1::PortChange { port, config: Some(config) }
}

#[tokio::test]
async fn the_primary_changes_rates_and_limits_and_everybody_reads_them_back() {
    let switch = Switch::start();
    let mut client = RouterClient::new(switch.channel().await);
    let limit = Some(v1::Limit { packets: 10, bytes: 0 });
    let queue = v1::QueueConfig { class: 1, limit, ..Default::default() };
    let wanted =
        v1::PortConfig { rate_bps: Some(10_000_000), queues: vec![queue], ..Default::default() };
    let request = configure(vec![change(2, wanted)]);
    let status = client.configure(request.clone()).await.unwrap_err();
    assert_eq!(status.code(), Code::PermissionDenied, "nobody is primary");
    let _controller = switch.controller(1).await;
    client.configure(request).await.unwrap();

    let request = v1::DescribeRequest { ports: vec![2], device_id: 0 };
    let described = client.describe(request).await.unwrap().into_inner();
    let config = described.ports[0].config.clone().unwrap();
    assert_eq!(config.rate_bps, Some(10_000_000));
    assert_eq!(config.queues[1].limit, limit);
    assert_eq!(config.queues[0].limit, Some(v1::Limit { packets: 64, bytes: 0 }), "untouched");
    let unknown = v1::DescribeRequest { ports: vec![77], device_id: 0 };
    let unknown = client.describe(unknown).await.unwrap_err();
    assert_eq!(unknown.code(), Code::NotFound);
}

#[tokio::test]
async fn who_asks_for_another_device_is_refused() {
    let switch = Switch::start();
    let mut client = RouterClient::new(switch.channel().await);
    let device_id = DEVICE_ID + 1;
    let describe = v1::DescribeRequest { device_id, ..Default::default() };
    let watch = v1::WatchRequest { device_id, links: true, ..Default::default() };
    let trace = v1::TraceRequest { device_id, filters: vec![v1::TraceFilter::default()] };
    let refusals = [
        client.describe(describe).await.unwrap_err(),
        client.watch(watch).await.unwrap_err(),
        client.trace(trace).await.unwrap_err(),
    ];
    for refusal in refusals {
        assert_eq!(refusal.code(), Code::NotFound);
        assert!(refusal.message().contains("is not here"), "{}", refusal.message());
    }
    let right = v1::DescribeRequest { device_id: DEVICE_ID, ..Default::default() };
    client.describe(right).await.unwrap();
}

#[tokio::test]
async fn a_request_with_mistakes_changes_nothing_and_lists_them_all() {
    let switch = Switch::start();
    let _controller = switch.controller(1).await;
    let mut client = RouterClient::new(switch.channel().await);
    let good = v1::PortConfig { rate_bps: Some(1_000), ..Default::default() };
    let no_queues = v1::PortConfig { queue_count: Some(0), ..Default::default() };
    let request = configure(vec![
        change(1, good),
        change(2, no_queues),
        change(77, v1::PortConfig::default()),
    ]);
    let status = client.configure(request).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    let details = rpc::Status::decode(status.details()).unwrap();
    let problem = |any: &prost_types::Any| v1::Problem::decode(any.value.as_slice()).unwrap();
    let places: Vec<_> = details.details.iter().map(|any| problem(any).place).collect();
    assert_eq!(places, ["port 2, queue_count", "port 77"]);
    let request = v1::DescribeRequest { ports: vec![1], device_id: 0 };
    let described = client.describe(request).await.unwrap().into_inner();
    assert_eq!(described.ports[0].config.as_ref().unwrap().rate_bps, Some(1_000_000_000));
}

fn mirror_to(clone_session: Option<u32>) -> v1::ConfigureRequest {
    let drop_mirror = Some(v1::DropMirror { clone_session });
    v1::ConfigureRequest { drop_mirror, ..configure(vec![]) }
}

#[tokio::test]
async fn drops_are_mirrored_to_a_session_that_exists_and_the_setting_reads_back() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    let mut client = RouterClient::new(switch.channel().await);
    let refused = client.configure(mirror_to(Some(5))).await.unwrap_err();
    assert!(refused.message().contains("clone session 5: no program is loaded"));
    controller.load().await;
    // A request that is refused for its mirror changes no rate either.
    let slow = v1::PortConfig { rate_bps: Some(8_000), ..Default::default() };
    let both = v1::ConfigureRequest { ports: vec![change(1, slow)], ..mirror_to(Some(5)) };
    let refused = client.configure(both.clone()).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert!(refused.message().contains("clone session 5: no such session"));
    assert_eq!(mirror_and_rate(&mut client).await, (None, 1_000_000_000));

    controller.write(vec![support::clone_session(5, &[3])]).await.unwrap();
    client.configure(both).await.unwrap();
    assert_eq!(mirror_and_rate(&mut client).await, (Some(5), 8_000));
    client.configure(configure(vec![])).await.unwrap();
    assert_eq!(mirror_and_rate(&mut client).await, (Some(5), 8_000), "unset: as it is");
    client.configure(mirror_to(None)).await.unwrap();
    assert_eq!(mirror_and_rate(&mut client).await, (None, 8_000));
}

/// The mirror's session and the rate of port 1, as described.
async fn mirror_and_rate(
    client: &mut RouterClient<tonic::transport::Channel>,
) -> (Option<u32>, u64) {
    let request = v1::DescribeRequest { ports: vec![1], device_id: 0 };
    let described = client.describe(request).await.unwrap().into_inner();
    let rate = described.ports[0].config.as_ref().unwrap().rate_bps.unwrap();
    (described.drop_mirror.unwrap().clone_session, rate)
}

/// The next message of a stream.
async fn next<T>(stream: &mut tonic::Streaming<T>) -> T {
    let next = tokio::time::timeout(PATIENCE, stream.next()).await;
    next.expect("the switch says nothing").expect("the stream has ended").unwrap()
}

/// The next `count` events, whatever messages they come in.
async fn events(stream: &mut tonic::Streaming<v1::WatchResponse>, count: usize) -> Vec<v1::Event> {
    let mut events = Vec::new();
    while events.len() < count {
        events.extend(next(stream).await.events);
    }
    events
}

#[tokio::test]
async fn samples_are_of_the_ports_asked_for_at_multiples_of_the_interval() {
    let switch = Switch::start();
    let mut client = RouterClient::new(switch.channel().await);
    let request = v1::WatchRequest { interval_ms: 5, ports: vec![3], ..Default::default() };
    let mut stream = client.watch(request).await.unwrap().into_inner();
    let start = next(&mut stream).await.start.unwrap();
    assert_eq!(start.epoch_offset_ns, EPOCH_OFFSET_NS);
    let mut due_ps = start.time_ps;
    for _ in 0..3 {
        let sample = next(&mut stream).await.sample.unwrap();
        assert_eq!(sample.ports.iter().map(|port| port.port).collect::<Vec<_>>(), [3]);
        let interval_ps = 5_000_000_000;
        // The next multiple of 5 ms; a machine that is very late leaves some out and says so.
        due_ps = (due_ps / interval_ps + 1 + sample.missed) * interval_ps;
        assert_eq!(sample.time_ps, due_ps);
    }
}

#[tokio::test]
async fn watching_what_is_not_there_is_refused() {
    let switch = Switch::start();
    let mut client = RouterClient::new(switch.channel().await);
    let mut refused = async |request| client.watch(request).await.unwrap_err().message().to_owned();
    let nowhere = v1::WatchRequest { interval_ms: 5, ports: vec![77], ..Default::default() };
    assert_eq!(refused(nowhere).await, "the switch has no port 77");
    let queue = v1::QueueRef { port: 3, class: 5 };
    let nowhere = v1::WatchRequest { queues: vec![queue], ..Default::default() };
    assert_eq!(refused(nowhere).await, "the switch has no queue 5 at port 3");
}

/// Without a program every frame is dropped; a client that selects one reason gets no other.
#[tokio::test]
async fn drops_are_told_with_reason_and_first_bytes_to_those_who_asked() {
    let switch = Switch::start();
    let mut client = RouterClient::new(switch.channel().await);
    let asks_for = |reasons: Vec<v1::DropReason>| v1::WatchRequest {
        drops: Some(v1::DropFilter { reasons: reasons.into_iter().map(i32::from).collect() }),
        head_bytes: 3,
        ports: vec![2],
        links: true,
        ..Default::default()
    };
    let mut all = client.watch(asks_for(vec![])).await.unwrap().into_inner();
    let other = asks_for(vec![v1::DropReason::QueueLimit]);
    let mut other = client.watch(other).await.unwrap().into_inner();
    assert!(next(&mut all).await.start.is_some() && next(&mut other).await.start.is_some());
    switch.receive(1, &[9, 9]);
    switch.receive(2, &[1, 2, 3, 4]);
    let told = events(&mut all, 1).await;
    let expected = v1::DropEvent {
        reason: v1::DropReason::NoProgram.into(),
        input: 2,
        queue: None,
        length_bytes: 4,
        head: vec![1, 2, 3].into(),
    };
    assert_eq!(told[0].kind, Some(Kind::Drop(expected)), "nothing of port 1");
    // Were there anything for the other, it would come before the link that goes down.
    switch.set_port_up(2, false);
    let link = v1::LinkEvent { port: 2, up: false };
    assert_eq!(events(&mut other, 1).await[0].kind, Some(Kind::Link(link)));
    let described =
        client.describe(v1::DescribeRequest { ports: vec![2], device_id: 0 }).await.unwrap();
    let described = described.into_inner();
    assert!(!described.ports[0].counters.as_ref().unwrap().up);
    let books = described.books.unwrap();
    assert!(books.balanced);
    let dropped = books.ports.iter().map(|port| (port.port, port.dropped[0].reason()));
    let no_program = v1::DropReason::NoProgram;
    assert_eq!(dropped.collect::<Vec<_>>(), [(1, no_program), (2, no_program)]);
}

/// Port 1 takes 8 kb/s: a frame of 100 bytes takes 100 ms, so the second and third wait for it. The
/// depths are 1, 0 for the one that goes at once, then 1, 2, 1, 0.
#[tokio::test]
async fn a_queue_is_told_packet_by_packet_and_its_threshold_up_and_down() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    controller.load().await;
    let mut client = RouterClient::new(switch.channel().await);
    let slow = v1::PortConfig { rate_bps: Some(8_000), ..Default::default() };
    client.configure(configure(vec![change(1, slow)])).await.unwrap();
    let request = v1::WatchRequest {
        thresholds: vec![v1::Threshold { port: 1, class: 0, packets: 2, bytes: 0 }],
        queues: vec![v1::QueueRef { port: 1, class: 0 }],
        ..Default::default()
    };
    let mut stream = client.watch(request).await.unwrap().into_inner();
    let start = next(&mut stream).await.start.unwrap();
    let depths = start.queues.iter().map(|queue| (queue.port, queue.held.unwrap().packets));
    assert_eq!(depths.collect::<Vec<_>>(), [(1, 0), (1, 0)], "of the threshold, of the queue");
    // The program sends IPv4 to port 1.
    let mut ipv4_frame = [0; 100];
    ipv4_frame[12..14].copy_from_slice(&[0x08, 0x00]);
    for _ in 0..3 {
        switch.receive(2, &ipv4_frame);
    }
    let told = events(&mut stream, 8).await;
    let text = |event: &v1::Event| match event.kind.as_ref().unwrap() {
        Kind::Queue(step) => format!("{}", step.held.unwrap().packets),
        Kind::Threshold(it) => if it.above { "up" } else { "down" }.to_owned(),
        other => panic!("nobody asked for {other:?}"),
    };
    let texts: Vec<_> = told.iter().map(text).collect();
    assert_eq!(texts, ["1", "0", "1", "2", "up", "1", "down", "0"]);
    assert!(told.is_sorted_by_key(|event| event.time_ps));
    let frame_ps = 100_000_000_000;
    assert_eq!(told[7].time_ps - told[6].time_ps, frame_ps, "the line's time, not the machine's");
}

#[tokio::test]
async fn a_watcher_that_goes_makes_room_for_another() {
    let switch = Switch::start();
    let mut client = RouterClient::new(switch.channel().await);
    let request = v1::WatchRequest { links: true, ..Default::default() };
    let mut streams = Vec::new();
    for _ in 0..32 {
        streams.push(client.watch(request.clone()).await.unwrap());
    }
    let status = client.watch(request.clone()).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    streams.clear();
    // The switch learns of it when the connection tells it.
    while client.watch(request.clone()).await.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

/// An IPv4 frame comes in by port 2 and leaves by port 1; one of another type is not followed.
#[tokio::test]
async fn a_traced_packet_is_told_step_by_step_to_one_client_at_a_time() {
    let switch = Switch::start();
    let mut controller = switch.controller(1).await;
    controller.load().await;
    let mut client = RouterClient::new(switch.channel().await);
    let ether_type = v1::BytePattern { offset: 12, value: vec![8, 0].into(), ..Default::default() };
    let filter =
        v1::TraceFilter { port: Some(2), patterns: vec![ether_type], ..Default::default() };
    let request = v1::TraceRequest { filters: vec![filter], device_id: 0 };
    let mut stream = client.trace(request.clone()).await.unwrap().into_inner();
    let status = client.trace(request.clone()).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    let mut frame = [0; 60];
    switch.receive(2, &frame);
    frame[12..14].copy_from_slice(&[0x08, 0x00]);
    switch.receive(2, &frame);
    let mut steps = Vec::new();
    use v1::trace_step::Kind;
    while !matches!(steps.last(), Some(v1::TraceStep { kind: Some(Kind::Transmitted(_)), .. })) {
        steps.extend(next(&mut stream).await.steps);
    }
    let received = v1::Received { filter: 0, port: 2, frame: frame.to_vec().into() };
    assert_eq!(steps[0].kind, Some(Kind::Received(received)));
    let is_hit = |step: &v1::TraceStep| {
        use v1::program_step::Kind as Step;
        let Some(Kind::Program(program)) = &step.kind else { return false };
        let Some(Step::Table(lookup)) = &program.kind else { return false };
        let key = lookup.key.as_ref().unwrap();
        key.name == "ingress.const_table" && lookup.entry.is_some() && key.values[0].value == "2048"
    };
    assert!(steps.iter().any(is_hit), "0x0800 is 2048: {steps:?}");
    assert!(steps.iter().all(|step| step.packet == steps[0].packet));
    drop(stream);
    // The switch learns of it when the connection tells it.
    while client.trace(request.clone()).await.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}
