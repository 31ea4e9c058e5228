//! `vitrine.v1.Router`, over a real connection to a whole switch in this process.

mod support;

use control::proto::google::rpc;
use control::proto::vitrine::v1;
use control::proto::vitrine::v1::router_client::RouterClient;
use prost::Message;
use support::{DEVICE_ID, Switch};
use tokio_stream::StreamExt;
use tonic::Code;

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

    let request = v1::DescribeRequest { ports: vec![2] };
    let described = client.describe(request).await.unwrap().into_inner();
    let config = described.ports[0].config.clone().unwrap();
    assert_eq!(config.rate_bps, Some(10_000_000));
    assert_eq!(config.queues[1].limit, limit);
    assert_eq!(config.queues[0].limit, Some(v1::Limit { packets: 64, bytes: 0 }), "untouched");
    let unknown = client.describe(v1::DescribeRequest { ports: vec![77] }).await.unwrap_err();
    assert_eq!(unknown.code(), Code::NotFound);
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
    let request = v1::DescribeRequest { ports: vec![1] };
    let described = client.describe(request).await.unwrap().into_inner();
    assert_eq!(described.ports[0].config.as_ref().unwrap().rate_bps, Some(1_000_000_000));
}

#[tokio::test]
async fn watching_sends_samples_of_the_ports_asked_for_at_the_interval_asked_for() {
    let switch = Switch::start();
    let mut client = RouterClient::new(switch.channel().await);
    let request = v1::WatchRequest { interval_ms: 5, ports: vec![3] };
    let mut samples = client.watch(request).await.unwrap().into_inner();
    let mut times_ps = Vec::new();
    for _ in 0..3 {
        let sample = samples.next().await.unwrap().unwrap();
        assert_eq!(sample.ports.iter().map(|port| port.port).collect::<Vec<_>>(), [3]);
        times_ps.push(sample.time_ps);
    }
    assert!(times_ps.is_sorted_by(|earlier, later| earlier < later), "{times_ps:?}");
    let request = v1::WatchRequest { interval_ms: 1001, ports: Vec::new() };
    assert_eq!(client.watch(request).await.unwrap_err().code(), Code::InvalidArgument);
}
