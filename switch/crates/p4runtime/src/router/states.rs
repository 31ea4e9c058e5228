//! The states of schedulers, token buckets and the shared buffer, as messages.

use messages::vitrine::v1;
use traffic::{BufferReport, NodeTokens, ShareState, Tokens};

pub fn buffer_message(buffer: BufferReport) -> v1::SharedBuffer {
    v1::SharedBuffer { size_bytes: buffer.shared.count(), free_bytes: buffer.free.count() }
}

pub fn turn_message(state: ShareState) -> v1::TurnState {
    use v1::turn_state::Kind;
    let (kind, current) = match state {
        ShareState::Drr { deficit, is_current } => (Kind::DeficitBytes(deficit), is_current),
        ShareState::Wfq { lead } => (Kind::LeadBytes(lead), false),
        ShareState::Wrr { left, is_current } => (Kind::PacketsLeft(left), is_current),
    };
    v1::TurnState { current, kind: Some(kind) }
}

pub fn bucket_message(tokens: Tokens) -> v1::BucketState {
    use v1::bucket_state::Kind;
    let kind = match tokens {
        Tokens::Bytes(bytes) => Kind::Bytes(bytes),
        Tokens::MilliPackets(thousandths) => Kind::PacketsThousandths(thousandths),
    };
    v1::BucketState { kind: Some(kind) }
}

pub fn node_message(node: &NodeTokens) -> v1::NodeState {
    v1::NodeState { rate_bytes: node.rate, ceil_bytes: node.ceil }
}
