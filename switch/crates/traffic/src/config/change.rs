//! A part of a configuration that is to change.

use std::collections::BTreeMap;

use units::PortId;

use super::{BufferConfig, Config, InputConfig, PortConfig};
use crate::error::ConfigError;

/// The settings that change; all others stay. Checking and applying a change takes time in
/// proportion to the ports it names, not to the router's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// How ports are to be; none: the port is to go.
    pub ports: BTreeMap<PortId, Option<PortConfig>>,
    /// How the shared buffer is to be, if it is to change.
    pub buffer: Option<Option<BufferConfig>>,
    /// How the input stage is to be, if it is to change.
    pub input: Option<Option<InputConfig>>,
}

impl Change {
    /// The change that turns `old` into `new`.
    pub fn between(old: &Config, new: Config) -> Change {
        let Config { ports, buffer, input } = new;
        let gone = old.ports.keys().filter(|port| !ports.contains_key(port));
        let gone: Vec<_> = gone.map(|port| (*port, None)).collect();
        let is_different =
            |(port, config): &(PortId, PortConfig)| old.ports.get(port) != Some(config);
        let different = ports.into_iter().filter(is_different);
        Change {
            ports: gone.into_iter().chain(different.map(|(port, it)| (port, Some(it)))).collect(),
            buffer: (old.buffer != buffer).then_some(buffer),
            input: (old.input != input).then_some(input),
        }
    }

    /// Checks each port by itself, then how those that are to change fit each other and those of
    /// `present` that stay. The error names the first place that is wrong.
    pub fn check(&self, present: &Config) -> Result<(), ConfigError> {
        self.check_ports()?;
        self.check_whole(present)
    }

    pub(crate) fn check_ports(&self) -> Result<(), ConfigError> {
        let mut ports = self.ports.iter().filter_map(|(port, it)| Some((port, it.as_ref()?)));
        ports.try_for_each(|(port, config)| config.check(&format!("port {port}")))
    }

    fn check_whole(&self, present: &Config) -> Result<(), ConfigError> {
        let stay = present.ports.iter().filter(|(port, _)| !self.ports.contains_key(port));
        let ports = stay.map(|(_, config)| config).chain(self.ports.values().flatten());
        if let Some(buffer) = self.buffer.unwrap_or(present.buffer) {
            buffer.validate(ports.clone())?;
        }
        match self.input.as_ref().unwrap_or(&present.input) {
            Some(input) => input.validate(ports.count()),
            None => Ok(()),
        }
    }
}
