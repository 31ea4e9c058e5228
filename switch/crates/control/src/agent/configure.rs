//! Changes of what P4Runtime has no words for: checked a few ports at a time, while packets pass,
//! then applied at one instant.

use std::vec;

use units::Time;

use super::DataPlane;
use super::remains::Remains;
use crate::exchange::{Reply, reply};
use crate::proto::vitrine::v1;
use crate::router::config::{Changes, Draft};
use crate::router::{Problem, mirror};

/// To copy, edit and check a port takes as long as so many entries.
const STEPS_PER_PORT: usize = 4;

/// A Configure that is carried out. Nothing else changes the configuration meanwhile: requests are
/// carried out one after the other.
#[derive(Debug)]
pub(super) struct ConfigureJob {
    rest: vec::IntoIter<v1::PortChange>,
    draft: Draft,
    drop_mirror: Option<v1::DropMirror>,
    reply: Reply<Result<Time, Vec<Problem>>>,
}

impl ConfigureJob {
    pub fn new(changes: Changes, reply: Reply<Result<Time, Vec<Problem>>>) -> Self {
        let Changes { ports, buffer, input, drop_mirror } = changes;
        let draft = Draft::new(buffer, input);
        Self { rest: ports.into_iter(), draft, drop_mirror, reply }
    }

    /// Goes on for about `left` steps. `None`: it has come to its end, and is answered.
    pub fn go_on(
        mut self,
        plane: &mut impl DataPlane,
        left: &mut usize,
        remains: &Remains,
    ) -> Option<Self> {
        while *left > 0 {
            let Some(change) = self.rest.next() else {
                *left -= 1;
                let outcome = apply(plane, self.draft, self.drop_mirror);
                reply(self.reply, outcome);
                remains.bury(self.rest);
                return None;
            };
            *left = left.saturating_sub(STEPS_PER_PORT);
            self.draft.edit_port(plane.device().traffic().config(), &change);
        }
        Some(self)
    }
}

/// Applies all of it, or changes nothing and lists everything that is wrong.
fn apply(
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
    device.change(now, change).map_err(|problem| vec![problem])?;
    if let Some(session) = session {
        device.mirror_drops(session);
    }
    Ok(now)
}
