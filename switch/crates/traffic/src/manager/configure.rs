//! Changing the configuration while packets wait.
//!
//! What happens to them:
//!
//! | change | packets that wait | afterwards |
//! |---|---|---|
//! | a lower limit | stay | arrivals are refused until there is room |
//! | a line's rate | stay | the frame on the line ends as promised; the next takes the new rate |
//! | a shaper's rate or burst | stay | what was sent too early is paid back at the new rate |
//! | scheduler, weights | stay, in their queues and order | credits start afresh; WFQ tags the backlog as if it arrived now |
//! | a queue or a port removed | dropped as `QueueRemoved` | arrivals are `BadClass` or `UnknownPort` |
//!
//! Nothing else is lost, and no counter is reset but those of what is removed.

use units::{ClassId, HasLength, PortId, Time};

use super::Manager;
use crate::config::{Config, ConfigError, PortConfig};
use crate::port::Port;

impl<P: HasLength> Manager<P> {
    /// The configuration in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Puts `config` in force at `now`, or refuses it and changes nothing.
    pub fn configure(&mut self, now: Time, config: Config) -> Result<(), ConfigError> {
        config.validate()?;
        self.advance(now);
        let old = std::mem::replace(&mut self.config, config);
        for (port, old) in &old.ports {
            let kept = self.config.ports.get(port).map_or(0, |config| config.queues.len());
            for class in kept..old.queues.len() {
                self.flush(*port, ClassId(class as u8), now);
            }
            if kept == 0 {
                self.ports[port.index()] = None;
                self.due.set(port.index(), None);
            }
        }
        let Config { ports } = self.config.clone();
        for (port, config) in &ports {
            if old.ports.get(port) != Some(config) {
                self.configure_port(now, *port, config);
            }
        }
        Ok(())
    }

    fn configure_port(&mut self, now: Time, port: PortId, config: &PortConfig) {
        if self.ports.len() <= port.index() {
            self.ports.resize_with(port.index() + 1, || None);
        }
        let slot = &mut self.ports[port.index()];
        match slot {
            Some(state) => state.reconfigure(&mut self.slab, config, now),
            None => *slot = Some(Box::new(Port::new(config, now))),
        }
        let due = slot.as_ref().and_then(|state| state.due());
        self.due.set(port.index(), due);
    }
}
