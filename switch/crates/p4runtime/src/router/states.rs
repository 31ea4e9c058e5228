//! What queue management, schedulers, token buckets and the shared buffer have in mind, as messages.

use messages::vitrine::v1;
use traffic::{AqmState, BufferReport, NodeTokens, ShareState, Tokens};
use units::Time;
use v1::aqm_state::Kind;

pub fn aqm_message(state: AqmState) -> v1::AqmState {
    let kind = match state {
        AqmState::Codel { count, next } => {
            Kind::Codel(v1::CodelState { count, next_drop_ps: next.map(Time::ps) })
        }
        AqmState::Dualpi2 { base_ppb, delay } => {
            Kind::Dualpi2(v1::Dualpi2State { base_ppb, delay_ns: delay.ps() / 1000 })
        }
        AqmState::Pie { probability_ppb, delay, burst_left } => Kind::Pie(v1::PieState {
            probability_ppb,
            delay_ns: delay.ps() / 1000,
            burst_left_ns: burst_left.ps() / 1000,
        }),
        AqmState::Red { average_thousandths } => Kind::Red(v1::RedState { average_thousandths }),
    };
    v1::AqmState { kind: Some(kind) }
}

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
