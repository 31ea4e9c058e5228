//! Deciders from outside take their places in a router, and their faults are found.

use units::{ClassId, HasLength, PortId};

use super::Manager;
use crate::outside::{AqmOutside, ArbiterOutside, Fault, Guest, SchedulerOutside};

impl<P: HasLength> Manager<P> {
    /// From now on `arbiter` matches the inputs and outputs of the crossbar. `compared`: the
    /// configured one decides too, and the first difference is a fault. False: there is no
    /// crossbar. It stays for as long as the router has one.
    pub fn invite_arbiter(&mut self, arbiter: Box<dyn ArbiterOutside>, compared: bool) -> bool {
        let Some(crossing) = &mut self.crossing else { return false };
        crossing.fabric.guest = Some(Guest::new(arbiter, compared));
        true
    }

    /// From now on `scheduler` chooses among the classes of `port`, whose queues are empty; see
    /// [`Manager::invite_arbiter`].
    pub fn invite_scheduler(
        &mut self,
        port: PortId,
        scheduler: Box<dyn SchedulerOutside>,
        compared: bool,
    ) -> bool {
        let Some(port) = self.ports.get_mut(port) else { return false };
        port.invite_scheduler(Guest::new(scheduler, compared));
        true
    }

    /// From now on `aqm` manages the queue of a class; see [`Manager::invite_arbiter`].
    pub fn invite_aqm(
        &mut self,
        port: PortId,
        class: ClassId,
        aqm: Box<dyn AqmOutside>,
        compared: bool,
    ) -> bool {
        let Some(port) = self.ports.get_mut(port) else { return false };
        port.invite_aqm(class.index(), Guest::new(aqm, compared))
    }

    /// The fault of an outside decider, if there is one. After inviting one, look here after each
    /// input, and end the run.
    pub fn fault(&self) -> Option<&Fault> {
        let crossbar = self.crossing.as_ref().and_then(|crossing| crossing.fabric.guest.as_ref());
        let crossbar = crossbar.and_then(|guest| guest.fault.as_ref());
        crossbar.or_else(|| self.ports.iter().find_map(|(_, port)| port.fault()))
    }
}
