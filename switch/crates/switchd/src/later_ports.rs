//! Which network devices may become ports while the switch runs.
//!
//! A port takes all that a device receives, so a client that may add one could read private
//! traffic, such as that of `lo`. Only devices of the start, which may have been removed meanwhile,
//! and those that a pattern of `--later-ports` names can be added.

use p4runtime::Refusal;
use units::PortId;

use crate::pattern::Pattern;
use crate::settings::Settings;

/// The devices that may be added.
pub struct Allowed {
    devices: Vec<String>,
    patterns: Vec<Pattern>,
}

impl Allowed {
    /// Those of the command line.
    pub fn new(settings: &Settings) -> Allowed {
        let devices = settings.interfaces.iter().map(|interface| interface.device.clone());
        Allowed { devices: devices.collect(), patterns: settings.later_ports.clone() }
    }

    /// Refuses any other device.
    pub fn check(&self, port: PortId, device: &str) -> Result<(), Refusal> {
        let is_known = self.devices.iter().any(|known| known == device);
        if is_known || self.patterns.iter().any(|pattern| pattern.fits(device)) {
            return Ok(());
        }
        Err(Refusal::denied(format!(
            "port {port}: the switch may not use {device}: it was not started with it, and not \
             with --later-ports and a pattern that it fits"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_of_the_start_come_back_and_strangers_do_not_come() {
        let allowed = Allowed {
            devices: vec!["eth7".to_owned()],
            patterns: vec!["s1-*".parse().expect("a pattern")],
        };
        let check = |device| allowed.check(PortId(4), device);
        assert!(check("eth7").is_ok() && check("s1-eth4").is_ok());
        let refusal = check("lo").expect_err("it is everybody's");
        assert_eq!(refusal.code, p4runtime::Code::PermissionDenied);
        assert!(refusal.message.contains("--later-ports"), "{}", refusal.message);
    }
}
