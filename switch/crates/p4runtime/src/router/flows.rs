//! The flows of waiting packets, as messages.

use device::FlowShare;
use messages::vitrine::v1;

use super::packets::input_queue_message;
use super::parts::{depth_message, queue_message};

pub fn message(share: &FlowShare) -> v1::FlowShare {
    use v1::flow_share::Place;
    let (output, class) = share.queue;
    let place = match share.filed_at {
        Some(input) => Place::Filed(input_queue_message(input, output, class)),
        None => Place::Queued(queue_message(share.queue)),
    };
    v1::FlowShare {
        place: Some(place),
        head: share.head.clone().into(),
        held: Some(depth_message(share.held)),
    }
}
