//! Changes of what P4Runtime has no words for: checked as a whole, then applied at one instant.

use units::Time;

use super::DataPlane;
use crate::router::{Problem, config, mirror};

/// Applies all of `changes`, or changes nothing and lists everything that is wrong.
pub(super) fn configure(
    plane: &mut impl DataPlane,
    changes: &config::Changes,
) -> Result<Time, Vec<Problem>> {
    let now = plane.now();
    let device = plane.device();
    let mut wanted = device.traffic().config().clone();
    let mut problems = config::edit(&mut wanted, changes).err().unwrap_or_default();
    let session = changes.drop_mirror.as_ref().map(|it| mirror::session_of(it, device.pipeline()));
    let session = session.transpose().map_err(|problem| problems.push(problem));
    let (true, Ok(session)) = (problems.is_empty(), session) else { return Err(problems) };
    // The last that can refuse, so it comes first.
    device.configure(now, wanted).map_err(|problem| vec![problem])?;
    if let Some(session) = session {
        device.mirror_drops(session);
    }
    Ok(now)
}
