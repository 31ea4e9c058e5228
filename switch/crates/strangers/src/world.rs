//! Any bytes as messages of vitrine.v1.World, one after the other, to a network in virtual time: each
//! is answered, and time goes on.
//!
//! Each message has a byte for its kind and one for its length in front.

use messages::vitrine::v1;
use p4runtime::details::Room;
use prost::Message;

use crate::rig::Rig;

/// As much as a network of a few hosts does in a moment: how long a message may keep it busy is for
/// its client to say, and not tested here.
const SPAN_PS_MAX: u64 = 10_000_000;

/// Offers these bytes.
pub fn offer(data: &[u8]) {
    let mut rig = Rig::wire(1);
    let mut rest = data;
    while let [kind, length, after @ ..] = rest {
        let (message, next) = after.split_at(after.len().min(usize::from(*length)));
        rest = next;
        let _was_one = ask(&mut rig, *kind, message);
    }
    let until = Some(v1::advance_request::Until::SpanPs(SPAN_PS_MAX));
    let _answered = rig.advance(v1::AdvanceRequest { until, stops: Vec::new() });
}

/// Offers bytes as a message of a kind; none if they are not one.
fn ask(rig: &mut Rig, kind: u8, bytes: &[u8]) -> Option<()> {
    let world = rig.world.clone();
    match kind % 11 {
        0 => {
            let request = v1::BuildRequest::decode(bytes).ok()?;
            rig.complete(async move { drop(world.build(request, Room::USUAL).await) });
        }
        1 => {
            let request = v1::StartRequest::decode(bytes).ok()?;
            rig.complete(async move { drop(world.start(request).await) });
        }
        2 => {
            let request = v1::StopRequest::decode(bytes).ok()?;
            rig.complete(async move { drop(world.stop(request).await) });
        }
        3 => {
            let request = v1::AdvanceRequest::decode(bytes).ok()?;
            let until = Some(v1::advance_request::Until::SpanPs(SPAN_PS_MAX));
            let _answered = rig.advance(v1::AdvanceRequest { until, ..request });
        }
        4 => {
            let request = v1::RunRequest::decode(bytes).ok()?;
            rig.complete(async move { drop(world.run(request).await) });
            let pausing = rig.world.clone();
            rig.complete(async move { drop(pausing.pause(v1::PauseRequest {}).await) });
        }
        5 => {
            let request = v1::LookRequest::decode(bytes).ok()?;
            rig.complete(async move { drop(world.look(request).await) });
        }
        6 => {
            let request = v1::WatchHostsRequest::decode(bytes).ok()?;
            rig.complete(async move { drop(world.watch_hosts(request).await) });
        }
        7 => {
            let request = v1::CaptureRequest::decode(bytes).ok()?;
            rig.complete(async move { drop(world.capture(request).await) });
        }
        8 => {
            let request = v1::FaultRequest::decode(bytes).ok()?;
            rig.complete(async move { drop(world.fault(request).await) });
        }
        9 => {
            let request = v1::InjectRequest::decode(bytes).ok()?;
            rig.complete(async move { drop(world.inject(request).await) });
        }
        _ => {
            let request = v1::InviteRequest::decode(bytes).ok()?;
            rig.complete(async move { drop(world.invite(request).await) });
        }
    }
    Some(())
}
