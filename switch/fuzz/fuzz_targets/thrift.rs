//! Any bytes at the door for Thrift, to a switch with a program: each call that is one is answered,
//! the answer can be written, and the switch goes on.

#![no_main]

#[path = "../../crates/agent/tests/support/mod.rs"]
mod support;

use std::sync::Arc;

use agent::Load;
use agent::devices::Opened;
use bmruntime::{Host, Runtime};
use libfuzzer_sys::fuzz_target;
use p4runtime::Refusal;
use p4runtime::config::Config;
use support::{DEVICE_ID, Program, Rig};
use thrift::Call;
use units::PortId;

/// As the door bounds them, but for programs, of which none this long is tried here.
const MESSAGE_SIZE_BYTES_MAX: usize = 256 << 10;

thread_local! {
    /// Compiled once: that takes longer than the calls.
    static PROGRAM: Program = Program::forwarding_to(1);
}

/// Does at once what a switch leaves to its threads.
struct AtOnce;

impl Host for AtOnce {
    async fn load(&self, config: Arc<Config>) -> Result<Load, Refusal> {
        Load::new(config, &pipeline::Config::default())
    }

    async fn open(&self, _port: PortId, _device: String) -> Result<Opened, Refusal> {
        Ok(Opened(Box::new(())))
    }

    async fn close(&self, opened: Opened) {
        drop(opened);
    }
}

fuzz_target!(|data: &[u8]| {
    let mut rig = PROGRAM.with(|program| Rig::start(program, program));
    let runtime = Arc::new(Runtime::new(rig.front(), AtOnce, DEVICE_ID, 9090));
    let mut rest = data;
    while let Ok((call, length)) = Call::read(rest, MESSAGE_SIZE_BYTES_MAX) {
        rest = &rest[length..];
        let runtime = Arc::clone(&runtime);
        rig.complete(Box::pin(async move {
            let (method, sequence) = (call.method.clone(), call.sequence);
            runtime.answer(call).await.write(&method, sequence);
        }));
    }
    rig.drive(|device, _| assert!(device.balance()));
});
