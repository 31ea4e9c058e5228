//! Any bytes as messages of P4Runtime and vitrine.v1, one after the other, to a switch with a program:
//! each is answered.
//!
//! Each message has a byte for its kind and one for its length in front.

#![no_main]

#[path = "../../crates/agent/tests/support/mod.rs"]
mod support;

use libfuzzer_sys::fuzz_target;
use support::offer::{KIND_COUNT, offer};
use support::{Program, Rig};

thread_local! {
    /// Compiled once: that takes longer than the messages.
    static PROGRAM: Program = Program::forwarding_to(1);
}

fuzz_target!(|data: &[u8]| {
    let mut rig = PROGRAM.with(|program| Rig::start(program, program));
    let mut rest = data;
    while let [kind, length, after @ ..] = rest {
        let (message, next) = after.split_at(after.len().min(usize::from(*length)));
        rest = next;
        offer(&mut rig, kind % KIND_COUNT, message);
    }
    rig.drive(|device, _| assert!(device.balance()));
});
