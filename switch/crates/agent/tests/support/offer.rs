//! Any bytes as a message of any call, for attempts to break the switch: property tests here, and
//! the fuzz target `messages`.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use agent::Load;
use agent::devices::Opened;
use agent::front::Front;
use messages::p4::v1 as p4;
use messages::p4::v1::set_forwarding_pipeline_config_request::Action;
use messages::p4::v1::update::Type;
use messages::p4::v1::write_request::Atomicity;
use messages::vitrine::v1;
use p4runtime::details::Room;
use prost::Message;
use units::memory::Owner;

use super::{Call, DEVICE_ID, Rig};

/// How many kinds of messages there are.
pub const KIND_COUNT: u8 = 10;

/// A message of each kind that the rig takes, as a start for changes.
pub fn valid(rig: &Rig, kind: u8) -> Vec<u8> {
    let device_id = DEVICE_ID;
    match kind {
        0 => {
            let updates = (0..3).map(|number| rig.update(Type::Insert, number)).collect();
            let atomicity = Atomicity::RollbackOnError.into();
            p4::WriteRequest { device_id, updates, atomicity, ..Default::default() }.encode_to_vec()
        }
        1 => rig.read_request().encode_to_vec(),
        2 => rig.config_request(Action::VerifyAndCommit, &rig.new).encode_to_vec(),
        3 => {
            let packet = p4::PacketOut { payload: vec![7; 20].into(), ..Default::default() };
            let update = Some(p4::stream_message_request::Update::Packet(packet));
            p4::StreamMessageRequest { update }.encode_to_vec()
        }
        4 => {
            let config = v1::PortConfig { rate_bps: Some(1_000_000), ..Default::default() };
            let ports = vec![v1::PortChange { port: 1, config: Some(config) }];
            v1::ConfigureRequest { device_id, ports, ..Default::default() }.encode_to_vec()
        }
        5 => v1::DescribeRequest { ports: vec![1, 2], ..Default::default() }.encode_to_vec(),
        6 => {
            let port = v1::AddPortRequest { port: 4, ..Default::default() };
            v1::AddPortRequest { device_id, device: "veth4".to_owned(), ..port }.encode_to_vec()
        }
        7 => {
            let removed = v1::RemovePortRequest { port: 3, ..Default::default() };
            v1::RemovePortRequest { device_id, ..removed }.encode_to_vec()
        }
        8 => v1::WatchRequest { links: true, interval_ms: 1, ..Default::default() }.encode_to_vec(),
        _ => {
            let filters = vec![v1::TraceFilter::default()];
            v1::TraceRequest { filters, device_id: 0 }.encode_to_vec()
        }
    }
}

/// Offers bytes as a message of a kind, from the primary controller. Says whether they were one.
pub fn offer(rig: &mut Rig, kind: u8, bytes: &[u8]) -> bool {
    let Some(call) = call_of(rig, kind, bytes) else { return false };
    rig.complete(call);
    true
}

fn call_of(rig: &mut Rig, kind: u8, bytes: &[u8]) -> Option<Call> {
    let front = rig.front();
    let election_id = Some(p4::Uint128 { high: 0, low: 1 });
    // Any answer will do: the requirement is an answer, and a switch that goes on.
    Some(match kind {
        0 => {
            let request = p4::WriteRequest::decode(bytes).ok()?;
            let request = p4::WriteRequest { device_id: DEVICE_ID, election_id, ..request };
            Box::pin(async move { drop(front.write(request, Room::USUAL).await) })
        }
        1 => {
            let request = p4::ReadRequest::decode(bytes).ok()?;
            Box::pin(async move {
                if let Ok(answer) = front.read(request, Room::USUAL, &Owner::default()).await {
                    answer.for_each(drop);
                }
            })
        }
        2 => {
            let request = p4::SetForwardingPipelineConfigRequest::decode(bytes).ok()?;
            let request = p4::SetForwardingPipelineConfigRequest {
                device_id: DEVICE_ID,
                election_id,
                ..request
            };
            let load = |config| async { Load::new(config, &pipeline::Config::default()) };
            Box::pin(async move { drop(front.set_config(request, load).await) })
        }
        3 => {
            let request = p4::StreamMessageRequest::decode(bytes).ok()?;
            if !matches!(request.update, Some(p4::stream_message_request::Update::Arbitration(_))) {
                let heard = pin!(rig.stream.hear(request));
                let polled = heard.poll(&mut Context::from_waker(Waker::noop()));
                assert!(
                    matches!(polled, Poll::Ready(Ok(()))),
                    "what is wrong is told on the stream"
                );
            }
            Box::pin(async {})
        }
        _ => return router_call_of(&front, kind, bytes),
    })
}

/// The same for a message of vitrine.v1.
fn router_call_of(front: &Arc<Front>, kind: u8, bytes: &[u8]) -> Option<Call> {
    let front = Arc::clone(front);
    let ours = Some(v1::ElectionId { high: 0, low: 1 });
    Some(match kind {
        4 => {
            let request = v1::ConfigureRequest::decode(bytes).ok()?;
            let request =
                v1::ConfigureRequest { device_id: DEVICE_ID, election_id: ours, ..request };
            Box::pin(async move { drop(front.configure(request, Room::USUAL).await) })
        }
        5 => {
            let request = v1::DescribeRequest::decode(bytes).ok()?;
            Box::pin(async move { drop(front.describe(&request).await) })
        }
        6 => {
            let request = v1::AddPortRequest::decode(bytes).ok()?;
            let request = v1::AddPortRequest { device_id: DEVICE_ID, election_id: ours, ..request };
            let open = |_, _| async { Ok(Opened(Box::new(()))) };
            Box::pin(async move { drop(front.add_port(request, Room::USUAL, open).await) })
        }
        7 => {
            let request = v1::RemovePortRequest::decode(bytes).ok()?;
            let request =
                v1::RemovePortRequest { device_id: DEVICE_ID, election_id: ours, ..request };
            Box::pin(async move { drop(front.remove_port(request).await) })
        }
        8 => {
            let request = v1::WatchRequest::decode(bytes).ok()?;
            Box::pin(async move { drop(front.watch(&request).await) })
        }
        _ => {
            let request = v1::TraceRequest::decode(bytes).ok()?;
            Box::pin(async move { drop(front.trace(&request).await) })
        }
    })
}
