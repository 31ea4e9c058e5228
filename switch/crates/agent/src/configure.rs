//! Changes of settings that P4Runtime lacks: checked a few ports at a time, while packets pass,
//! then made, [`PORTS_PER_CHANGE`] ports at one instant. Everything that could refuse a change is
//! checked before its first port changes, so however many ports it has, it is made whole or not at
//! all.

use std::vec;

use device::Change;
use messages::vitrine::v1;
use p4runtime::router::config::{Changes, Draft};
use p4runtime::router::{Problem, mirror};
use units::Time;

use super::discard::Discard;
use super::plane::DataPlane;
use crate::exchange::{Reply, reply};

/// Copying, editing and checking a port takes as long as this many entries.
const STEPS_PER_PORT: usize = 4;

/// Ports that change at one instant; packets pass before those that are left.
pub const PORTS_PER_CHANGE: usize = 16;

/// A Configure that is carried out. Nothing else changes the configuration meanwhile: requests are
/// carried out one after the other.
#[derive(Debug)]
pub(super) struct ConfigureJob {
    stage: Stage,
    reply: Reply<Result<Time, Vec<Problem>>>,
}

#[derive(Debug)]
enum Stage {
    /// Ports are checked.
    Checking { rest: vec::IntoIter<v1::PortChange>, draft: Draft, mirror: Option<v1::DropMirror> },
    /// The change has been checked, and the rest of it is to be made.
    Making(Change),
}

impl ConfigureJob {
    pub fn new(changes: Changes, reply: Reply<Result<Time, Vec<Problem>>>) -> Self {
        let Changes { ports, buffer, input, drop_mirror: mirror } = changes;
        let (rest, draft) = (ports.into_iter(), Draft::new(buffer, input));
        Self { stage: Stage::Checking { rest, draft, mirror }, reply }
    }

    /// Goes on for about `left` steps. `None`: it has come to its end, and is answered.
    pub fn go_on(
        mut self,
        plane: &mut impl DataPlane,
        left: &mut usize,
        discard: &Discard,
    ) -> Option<Self> {
        while *left > 0 {
            match &mut self.stage {
                Stage::Checking { rest, draft, .. } => {
                    let Some(change) = rest.next() else {
                        *left = 0;
                        return self.begin(plane, discard);
                    };
                    *left = left.saturating_sub(STEPS_PER_PORT);
                    draft.edit_port(plane.device(), &change);
                }
                Stage::Making(change) => {
                    *left = 0;
                    let rest = change.split_off(PORTS_PER_CHANGE);
                    let now = plane.now();
                    plane.device().apply(now, std::mem::replace(change, rest));
                    if change.traffic.ports.is_empty() {
                        reply(self.reply, Ok(now));
                        return None;
                    }
                }
            }
        }
        Some(self)
    }

    /// Everything has been read: goes over to making the change, or answers with all that is wrong.
    fn begin(self, plane: &mut impl DataPlane, discard: &Discard) -> Option<Self> {
        let Self { stage: Stage::Checking { rest, draft, mirror }, reply: slot } = self else {
            return Some(self);
        };
        discard.take(rest);
        match checked(plane, draft, mirror) {
            Ok(change) => {
                Self { stage: Stage::Making(change), reply: slot }.go_on(plane, &mut 1, discard)
            }
            Err(problems) => {
                reply(slot, Err(problems));
                None
            }
        }
    }
}

/// The change, after all that could refuse it; the mirror is set. Or everything that is wrong.
fn checked(
    plane: &mut impl DataPlane,
    draft: Draft,
    drop_mirror: Option<v1::DropMirror>,
) -> Result<Change, Vec<Problem>> {
    let device = plane.device();
    let session = drop_mirror.map(|it| mirror::session_of(&it, device.pipeline())).transpose();
    let (change, session) = match (draft.finish(), session) {
        (Ok(change), Ok(session)) => (change, session),
        (change, session) => {
            let mut problems = change.err().unwrap_or_default();
            problems.extend(session.err());
            return Err(problems);
        }
    };
    device.check(&change).map_err(|problem| vec![problem])?;
    if let Some(session) = session {
        device.mirror_drops(session);
    }
    Ok(change)
}
