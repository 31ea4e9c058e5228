//! What queue management and the shared buffer have in mind, as messages.

use messages::vitrine::v1;
use traffic::{AqmState, BufferReport};
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
