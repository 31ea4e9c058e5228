//! Any bytes at the door for Thrift, to a switch with a program: each call that is one is answered,
//! the answer can be written, and the switch goes on.

use std::sync::Arc;

use agent::Load;
use agent::devices::Opened;
use bmruntime::{Host, Runtime};
use p4runtime::Refusal;
use p4runtime::config;
use pipeline::Config;
use thrift::Call;
use units::PortId;

use crate::support::{DEVICE_ID, Program, Rig};

/// As the door bounds them, but for programs, of which none this long is tried here.
const MESSAGE_SIZE_BYTES_MAX: usize = 256 << 10;

thread_local! {
    /// Compiled and loaded once: that takes longer than what follows.
    static PROGRAM: (Program, Load) = {
        let program = Program::forwarding_to(1);
        let load = program.loaded(&Config::default());
        (program, load)
    };
}

/// Does at once what a switch leaves to its threads.
struct AtOnce;

impl Host for AtOnce {
    async fn load(&self, config: Arc<config::Config>) -> Result<Load, Refusal> {
        Load::new(config, &Config::default())
    }

    async fn open(&self, _port: PortId, _device: String) -> Result<Opened, Refusal> {
        Ok(Opened(Box::new(())))
    }

    async fn close(&self, opened: Opened) {
        drop(opened);
    }
}

/// Offers these bytes.
pub fn offer(data: &[u8]) {
    // Bytes that are no call never get to a switch.
    if Call::read(data, MESSAGE_SIZE_BYTES_MAX).is_err() {
        return;
    }
    let mut rig =
        PROGRAM.with(|(program, load)| Rig::running(load.clone(), program, Config::default()));
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
}
