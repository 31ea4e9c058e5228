//! Deciders from outside take their places in the traffic manager.

use traffic::outside::{AqmOutside, ArbiterOutside, Fault, SchedulerOutside};
use units::{ClassId, PortId};

use crate::device::Device;

impl Device {
    /// See [`traffic::Manager::invite_arbiter`].
    pub fn invite_arbiter(&mut self, arbiter: Box<dyn ArbiterOutside>, compared: bool) -> bool {
        self.traffic.invite_arbiter(arbiter, compared)
    }

    /// See [`traffic::Manager::invite_scheduler`].
    pub fn invite_scheduler(
        &mut self,
        port: PortId,
        scheduler: Box<dyn SchedulerOutside>,
        compared: bool,
    ) -> bool {
        self.traffic.invite_scheduler(port, scheduler, compared)
    }

    /// See [`traffic::Manager::invite_aqm`].
    pub fn invite_aqm(
        &mut self,
        port: PortId,
        class: ClassId,
        aqm: Box<dyn AqmOutside>,
        compared: bool,
    ) -> bool {
        self.traffic.invite_aqm(port, class, aqm, compared)
    }

    /// The fault of an outside decider; after inviting one, look here while time passes.
    pub fn fault(&self) -> Option<&Fault> {
        self.traffic.fault()
    }
}
