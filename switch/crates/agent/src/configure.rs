//! Changes of what P4Runtime has no words for: checked a few ports at a time, while packets pass,
//! then made at one instant. Ports in which nothing is going on take them up a few at a time again,
//! as of that instant: see `begin_change` of the device.

use std::vec;

use messages::vitrine::v1;
use p4runtime::router::config::{Changes, Draft};
use p4runtime::router::{Problem, mirror};
use units::Time;

use super::DataPlane;
use super::discard::Discard;
use crate::exchange::{Reply, reply};

/// To copy, edit and check a port takes as long as so many entries.
const STEPS_PER_PORT: usize = 4;

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
    /// The change was made at this instant; ports take it up.
    CatchingUp(Time),
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
                        return self.make(plane, discard);
                    };
                    *left = left.saturating_sub(STEPS_PER_PORT);
                    draft.edit_port(plane.device().traffic().config(), &change);
                }
                Stage::CatchingUp(at) => {
                    *left = left.saturating_sub(STEPS_PER_PORT);
                    if plane.device().catch_up_some(1) {
                        reply(self.reply, Ok(*at));
                        return None;
                    }
                }
            }
        }
        Some(self)
    }

    /// Makes the change at this instant, or answers that nothing is changed.
    fn make(self, plane: &mut impl DataPlane, discard: &Discard) -> Option<Self> {
        let Self { stage: Stage::Checking { rest, draft, mirror }, reply: slot } = self else {
            return Some(self);
        };
        discard.take(rest);
        match begin(plane, draft, mirror) {
            Ok(at) => Some(Self { stage: Stage::CatchingUp(at), reply: slot }),
            Err(problems) => {
                reply(slot, Err(problems));
                None
            }
        }
    }
}

/// Makes all of the change, or changes nothing and lists everything that is wrong.
fn begin(
    plane: &mut impl DataPlane,
    draft: Draft,
    drop_mirror: Option<v1::DropMirror>,
) -> Result<Time, Vec<Problem>> {
    let now = plane.now();
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
    // The last that can refuse, so it comes first.
    device.begin_change(now, change).map_err(|problem| vec![problem])?;
    if let Some(session) = session {
        device.mirror_drops(session);
    }
    Ok(now)
}
