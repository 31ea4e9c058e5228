//! [`Fronts`]: the devices of one address, each by its number.
//!
//! A switch has one, and it answers for itself whatever number a request names. A network has a device
//! for each router, and others when it is built anew.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use ::p4runtime::Refusal;

use super::Front;

/// A device and how its programs are loaded.
#[derive(Clone, Debug)]
pub struct Served {
    pub front: Arc<Front>,
    pub pipeline: pipeline::Config,
}

/// All devices of an address. Shared by those who serve it and those who run the devices.
#[derive(Debug, Default)]
pub struct Fronts(RwLock<BTreeMap<u64, Served>>);

impl Fronts {
    /// The only device of an address.
    pub fn one(device_id: u64, served: Served) -> Fronts {
        Fronts(RwLock::new([(device_id, served)].into()))
    }

    /// These are the devices from now on; returns those that were.
    pub fn replace(&self, devices: BTreeMap<u64, Served>) -> BTreeMap<u64, Served> {
        let mut present = self.0.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut present, devices)
    }

    /// Another device in place of the one with this number.
    pub fn put(&self, device_id: u64, served: Served) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(device_id, served);
    }

    /// The device with this number. If there is only one it is that one, which refuses requests for
    /// others in its own words and in the order that the specification requires.
    pub fn named(&self, device_id: u64) -> Result<Served, Refusal> {
        let present = self.present();
        if let Some(served) = present.get(&device_id) {
            return Ok(served.clone());
        }
        match present.len() {
            0 => Err(Refusal::precondition(
                "there is no network yet: build one with vitrine.v1.World.Build",
            )),
            1 => Ok(present.into_values().next().expect("there is one")),
            _ => Err(Refusal::not_found(format!(
                "device {device_id} is not here; here are devices {}",
                listed(&present)
            ))),
        }
    }

    /// The device that a reading client means: 0 is the only one.
    pub fn meant(&self, device_id: u64) -> Result<Served, Refusal> {
        let present = self.present();
        if device_id == 0 && present.len() > 1 && !present.contains_key(&0) {
            return Err(Refusal::invalid(format!(
                "say which router is meant: device_id is not set, and here are devices {}",
                listed(&present)
            )));
        }
        self.named(device_id)
    }

    /// All devices.
    pub fn present(&self) -> BTreeMap<u64, Served> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn listed(devices: &BTreeMap<u64, Served>) -> String {
    /// A longer list is no help.
    const NAMED_COUNT_MAX: usize = 16;
    let named = devices.keys().take(NAMED_COUNT_MAX).map(u64::to_string);
    let named = named.collect::<Vec<_>>().join(", ");
    match devices.len().checked_sub(NAMED_COUNT_MAX) {
        Some(others @ 1..) => format!("{named} and {others} more"),
        _ => named,
    }
}
