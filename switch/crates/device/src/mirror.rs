//! The mirror of drops: what the queues drop goes to a clone session too.
//!
//! A packet that a queue, a limit or active queue management drops is counted as dropped, as
//! always. If there is a mirror, a copy of it then goes where the session says, through that port's
//! queue and through egress, where the program sees `instance_type` 7 and, in its aliases of
//! `vitrine_metadata`, the reason, the port and the class of the drop. The program may use these as
//! it likes: the kit's programs make a telemetry report.
//!
//! A copy that is dropped itself goes nowhere: a full mirror must not mirror its own drops.

use pipeline::{CloneRequest, InstanceType};
use units::{ClassId, DropReason, PortId, Time};

use crate::device::Device;
use crate::fate::Queued;

impl Device {
    /// Sends what the queues drop to a clone session from now on, or nowhere.
    pub fn mirror_drops(&mut self, session: Option<u32>) {
        self.drop_mirror = session;
    }

    /// The session that drops go to.
    pub fn drop_mirror(&self) -> Option<u32> {
        self.drop_mirror
    }

    pub(crate) fn mirror_drop(
        &mut self,
        at: Time,
        dropped: &mut Queued,
        (port, class): (PortId, ClassId),
        reason: DropReason,
    ) {
        let Some(session) = self.drop_mirror else { return };
        if dropped.from_mirror {
            return;
        }
        let request = CloneRequest { session, field_list: 0 };
        self.send_clones(at, dropped, request, InstanceType::Dropped, |pipeline, original| {
            let mut copy = pipeline.copy(original);
            pipeline.tell_of_drop(&mut copy, reason, port, class);
            copy
        });
    }
}
