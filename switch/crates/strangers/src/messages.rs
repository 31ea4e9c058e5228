//! Any bytes as messages of P4Runtime and vitrine.v1, and as frames between them, one after the other,
//! to a switch with a program: each message is answered, and no packet vanishes.
//!
//! Each has a byte for its kind and one for its length in front.

use agent::Load;
use pipeline::Config;
use units::{PortId, Span};

use crate::support::offer::{self, KIND_COUNT};
use crate::support::{Program, Rig};

thread_local! {
    /// Compiled and loaded once: that takes longer than what follows.
    static PROGRAM: (Program, Load) = {
        let program = Program::forwarding_to(1);
        let load = program.loaded(&Config::default());
        (program, load)
    };
}

/// Offers these bytes.
pub fn offer(data: &[u8]) {
    let mut rig =
        PROGRAM.with(|(program, load)| Rig::running(load.clone(), program, Config::default()));
    let mut rest = data;
    while let [kind, length, after @ ..] = rest {
        let (message, next) = after.split_at(after.len().min(usize::from(*length)));
        rest = next;
        match kind % (KIND_COUNT + 1) {
            KIND_COUNT => {
                let port = PortId(1 + u16::from(kind / (KIND_COUNT + 1)) % 3);
                rig.drive(|device, now| {
                    device.handle_frame(now, port, message);
                });
                rig.wait(Span::from_ms(1));
            }
            kind => {
                let _was_one = offer::offer(&mut rig, kind, message);
            }
        }
    }
    rig.drive(|device, _| assert!(device.balance()));
}
