//! Changing the configuration while packets wait.
//!
//! Their fates:
//!
//! | change | packets that wait | afterwards |
//! |---|---|---|
//! | a lower limit | stay | arrivals are refused until there is room |
//! | the cable | stay | it is not the manager's: see [`Lines`](crate::Lines) |
//! | a line's rate | stay | the frame on the line ends as promised; the next takes the new rate |
//! | a shaper's rate or burst | stay | what was sent too early is paid back at the new rate |
//! | AQM or its parameters | stay | it begins anew, with the same dice |
//! | shared buffer, alpha, minimum | stay, even beyond the new threshold | arrivals are refused until there is room |
//! | scheduler, weights | stay, in their queues and order | credits start afresh; WFQ tags the backlog as if it arrived now |
//! | arbiter, speedup, full outputs | stay | transfers under way end as they were granted |
//! | input queueing, the set of ports | are filed anew, by order of arrival, past all limits | transfers under way end at once |
//! | input stage removed | go to their output queues by order of arrival | what those refuse is dropped for their reason |
//! | a queue or a port removed | dropped as `QueueRemoved` | arrivals are `BadClass` or `UnknownPort` |
//!
//! Nothing else is lost. No counter is reset but those of removed queues and ports; virtual output
//! queues count as removed when their packets are enqueued anew, and begin with those packets.

use units::{DropReason, HasLength, PortId, Time};

use super::{Crossing, Manager, Origin};
use crate::config::{Change, Config, PortConfig};
use crate::error::ConfigError;
use crate::fabric::Fabric;
use crate::input::InputStage;
use crate::port::Port;
use crate::slab::Handle;

impl<P: HasLength> Manager<P> {
    /// The configuration in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Puts `config` in force at `now`, or refuses it and changes nothing.
    pub fn configure(&mut self, now: Time, config: Config) -> Result<(), ConfigError> {
        let change = Change::between(&self.config, config);
        self.change(now, change)
    }

    /// Changes what `change` names at `now`, or refuses it and changes nothing.
    pub fn change(&mut self, now: Time, change: Change) -> Result<(), ConfigError> {
        change.check(&self.config)?;
        self.apply(now, change);
        Ok(())
    }

    /// Changes what `change` names at `now`. It is a [checked](Change::check) change, or a part of
    /// one.
    pub fn apply(&mut self, now: Time, change: Change) {
        debug_assert_eq!(change.check_ports(), Ok(()), "the change has been checked");
        self.advance(now);
        let Change { ports, buffer, input } = change;
        let had_buffer = self.config.buffer.is_some();
        self.config.buffer = buffer.unwrap_or(self.config.buffer);
        if let Some(input) = input {
            self.config.input = input;
        }
        let mut queues_removed = false;
        for (port, wanted) in ports {
            queues_removed |= self.change_port(now, port, wanted);
        }
        if had_buffer || self.config.buffer.is_some() {
            self.ports.reconfigure_buffer(&self.config);
        }
        self.configure_input(now, queues_removed);
        self.note_room_everywhere(now);
    }

    /// Changes or removes one port, or adds it. `true`: it has fewer queues than before.
    fn change_port(&mut self, now: Time, port: PortId, wanted: Option<PortConfig>) -> bool {
        let present = self.config.ports.remove(&port);
        let before = present.as_ref().map_or(0, |config| config.queues.len());
        let kept = wanted.as_ref().map_or(0, |config| config.queues.len());
        self.remove_queues(now, port, kept..before);
        if let Some(config) = wanted {
            if present.as_ref() != Some(&config) {
                self.configure_port(now, port, &config);
            }
            self.config.ports.insert(port, config);
        }
        kept < before
    }

    /// Drops what waits in classes that go, and the port itself if none is left.
    fn remove_queues(&mut self, now: Time, port: PortId, classes: std::ops::Range<usize>) {
        let whole_port = classes.start == 0;
        for class in classes {
            loop {
                let state = self.ports.existing_mut(port);
                let Some(handle) = state.unlink_head(&mut self.slab, class) else { break };
                self.drop_held(handle, now, DropReason::QueueRemoved, Origin::Output);
            }
        }
        if whole_port {
            self.ports.set(port, None);
            self.due.set(port.index(), None);
        }
    }

    fn configure_port(&mut self, now: Time, port: PortId, config: &PortConfig) {
        match self.ports.get_mut(port) {
            Some(state) => state.reconfigure(&mut self.slab, config, now),
            None => self.ports.set(port, Some(Port::new(config, port, self.seed, now))),
        }
        self.due.set(port.index(), self.ports.existing(port).due());
    }

    /// Brings the input stage in line with the configuration and the ports that exist now.
    fn configure_input(&mut self, now: Time, queues_removed: bool) {
        if self.crossing.is_none() && self.config.input.is_none() {
            return;
        }
        let config = self.config.input.as_ref();
        let lanes: Vec<PortId> = self.config.ports.keys().copied().collect();
        if let (Some(crossing), Some(config)) = (&self.crossing, config)
            && crossing.stage.lanes == lanes
            && crossing.stage.config.queueing == config.queueing
            && !queues_removed
        {
            let crossing = self.crossing.as_mut().expect("it was there a line ago");
            crossing.stage.config = config.clone();
            crossing.fabric.reconfigure(config.fabric, self.seed);
            return;
        }
        let old = self.crossing.take();
        self.crossing = config.map(|config| {
            Box::new(Crossing {
                stage: InputStage::new(config, lanes.clone()),
                fabric: Fabric::new(config.fabric, lanes.len(), self.seed),
                due: None,
            })
        });
        if let Some(old) = old {
            self.refile(now, &old.stage);
        }
    }

    /// Files what waited in the old input stage into the new one, or into the output queues.
    fn refile(&mut self, now: Time, old: &InputStage) {
        for (lane, input) in old.inputs.iter().enumerate() {
            if let Some(crossing) = &mut self.crossing
                && let Some(new) = crossing.stage.lane(old.lanes[lane])
            {
                crossing.stage.adopt_books(new, input);
            }
        }
        for (lane, handle) in old.evacuate(&self.slab) {
            self.refile_packet(now, old.lanes[lane], handle);
        }
    }

    fn refile_packet(&mut self, now: Time, input: PortId, handle: Handle) {
        let waiting = self.slab.slot(handle).waiting;
        let port = self.ports.get(waiting.output);
        let class_exists = port.is_some_and(|port| waiting.class.index() < port.queues.len());
        let lane = self.crossing.as_ref().map(|crossing| crossing.stage.lane(input));
        match lane {
            _ if !class_exists => {
                self.drop_held(handle, now, DropReason::QueueRemoved, Origin::Input)
            }
            Some(None) => self.drop_held(handle, now, DropReason::QueueRemoved, Origin::Input),
            Some(Some(lane)) => self.enqueue_input(lane, handle, now),
            None => match self.ports.admit(&waiting, now) {
                Ok(admitted) => self.enqueue_output(handle, admitted, now),
                Err(reason) => self.drop_held(handle, now, reason, Origin::Input),
            },
        }
    }
}
