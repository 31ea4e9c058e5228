//! No message makes the switch fall over: noise, valid messages with bytes changed, and those cut
//! short. Each is answered, and the switch goes on.

use crate::support;

use std::sync::OnceLock;

use proptest::collection::vec;
use proptest::prelude::*;
use support::offer::{KIND_COUNT, offer, valid};
use support::{Program, Rig};
use units::PortId;

fn rig() -> Rig {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| Program::forwarding_to(1));
    Rig::start(program, program)
}

/// Packets go on, and every one is accounted for.
fn check(rig: &mut Rig) {
    rig.drive(|device, now| {
        let frame = [&[0xff; 6][..], &[0xee; 6], &[0x08, 0x00], &[0; 46]].concat();
        device.handle_frame(now, PortId(1), &frame);
        assert!(device.balance());
    });
}

/// A kind of message, and what is done to a valid one: bytes changed at places, then the end cut off.
type Damage = (u8, Vec<(prop::sample::Index, u8)>, Option<prop::sample::Index>);

fn damage() -> impl Strategy<Value = Vec<Damage>> {
    let changes = vec((any::<prop::sample::Index>(), any::<u8>()), 0..6);
    let cut = prop::option::weighted(0.2, any::<prop::sample::Index>());
    vec((0..KIND_COUNT, changes, cut), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn damaged_messages_are_answered(damages in damage()) {
        let mut rig = rig();
        for (kind, changes, cut) in damages {
            let mut bytes = valid(&rig, kind);
            for (place, byte) in changes {
                let at = place.index(bytes.len());
                bytes[at] = byte;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            offer(&mut rig, kind, &bytes);
        }
        check(&mut rig);
    }

    #[test]
    fn noise_is_answered_where_it_is_a_message(noise in vec((0..KIND_COUNT, vec(any::<u8>(), 0..60)), 1..60)) {
        let mut rig = rig();
        for (kind, bytes) in noise {
            offer(&mut rig, kind, &bytes);
        }
        check(&mut rig);
    }
}

#[test]
fn what_is_damaged_was_valid() {
    let mut rig = rig();
    for kind in 0..KIND_COUNT {
        let bytes = valid(&rig, kind);
        assert!(offer(&mut rig, kind, &bytes), "kind {kind}");
    }
    check(&mut rig);
}
