//! The two queue commands of simple_switch, with their meaning.
//!
//! `set_queue_depth N [PORT [CLASS]]` limits each queue named to N packets;
//! `set_queue_rate PPS [PORT [CLASS]]` gives each queue named a rate of its own in packets a
//! second, where 0 removes the rate. Without a class all classes of the port are meant, without a
//! port all ports. Unlike in simple_switch a new rate also acts on packets that already wait.

use units::{ClassId, PacketRate, PortId};

use super::{Config, QueueConfig};
use crate::error::ConfigError;
use crate::limit::Limit;
use crate::shaper::ShaperConfig;

impl Config {
    /// simple_switch's `set_queue_depth`.
    pub fn set_queue_depth(
        &mut self,
        packets: u64,
        port: Option<PortId>,
        class: Option<ClassId>,
    ) -> Result<(), ConfigError> {
        self.edit_queues(port, class, |queue| queue.limit = Limit::packets(packets))
    }

    /// simple_switch's `set_queue_rate`.
    pub fn set_queue_rate(
        &mut self,
        pps: u64,
        port: Option<PortId>,
        class: Option<ClassId>,
    ) -> Result<(), ConfigError> {
        let shaper = PacketRate::from_pps(pps).map(|rate| ShaperConfig::Packets {
            rate,
            burst: 1,
            catches_up: true,
        });
        self.edit_queues(port, class, |queue| queue.shaper = shaper)
    }

    /// Edits every queue that `port` and `class` name; refuses names that name nothing.
    fn edit_queues(
        &mut self,
        port: Option<PortId>,
        class: Option<ClassId>,
        edit: impl Fn(&mut QueueConfig),
    ) -> Result<(), ConfigError> {
        let ports = self.ports.iter_mut().filter(|(id, _)| port.is_none_or(|port| port == **id));
        let mut edited = 0;
        for (_, config) in ports {
            for (index, queue) in config.queues.iter_mut().enumerate() {
                if class.is_none_or(|class| class.index() == index) {
                    edit(queue);
                    edited += 1;
                }
            }
        }
        match (edited, port) {
            (0, Some(port)) => Err(ConfigError::new(
                format!("port {port}"),
                "no such port or class",
                "name a configured port and one of its classes",
            )),
            _ => Ok(()),
        }
    }
}
