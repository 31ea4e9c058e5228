//! The input stage and the crossbar behind it.

use units::{Rate, Ratio};

use crate::error::ConfigError;
use crate::fabric::ArbiterConfig;
use crate::limit::Limit;

/// How many ports a router with a crossbar may have; a set of them fits a 128-bit word.
pub const FABRIC_PORT_COUNT_MAX: usize = 128;

/// Queues in front of a crossbar. Without this the router is output-queued: the fabric is as fast
/// as all inputs together. Every configured port is an input and an output of the crossbar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputConfig {
    /// How an input port queues.
    pub queueing: InputQueueing,
    /// A limit for each input port, over all its queues.
    pub limit: Limit,
    /// A limit for each virtual output queue; unused with a single FIFO.
    pub voq_limit: Limit,
    /// The crossbar.
    pub fabric: FabricConfig,
}

/// How an input port queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputQueueing {
    /// One queue. Only its first packet may request an output: head-of-line blocking.
    Fifo,
    /// A virtual output queue for each (output, class). Among the classes for one output the
    /// highest that has room behind the fabric goes first.
    Voq,
}

/// The crossbar.
///
/// A packet holds its input and its output for length / (speedup x rate). It is in the output
/// queue from the grant on (cut-through), so a slow line may begin to send it at once; the crossbar
/// should be at least as fast as the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FabricConfig {
    /// The line rate that the speedup multiplies.
    pub rate: Rate,
    /// How much faster than one line the crossbar is, at least 1.
    pub speedup: Ratio,
    /// The arbiter that matches inputs and outputs.
    pub arbiter: ArbiterConfig,
    /// The treatment of packets for a full output queue.
    pub full_output: FullOutput,
}

/// The treatment of packets for a full output queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FullOutput {
    /// They get no grant and wait in the input stage.
    #[default]
    Backpressure,
    /// They cross the fabric and are dropped by the output queue.
    Lossy,
}

impl InputConfig {
    /// An input stage without limits in front of a crossbar of speedup 1.
    pub fn new(queueing: InputQueueing, rate: Rate, arbiter: ArbiterConfig) -> InputConfig {
        let fabric = FabricConfig {
            rate,
            speedup: Ratio::ONE,
            arbiter,
            full_output: FullOutput::Backpressure,
        };
        InputConfig { queueing, limit: Limit::NONE, voq_limit: Limit::NONE, fabric }
    }

    pub(crate) fn validate(&self, port_count: usize) -> Result<(), ConfigError> {
        let place = "input stage";
        self.limit.check(place)?;
        self.voq_limit.check("input stage, virtual output queues")?;
        if port_count > FABRIC_PORT_COUNT_MAX {
            return Err(ConfigError::new(
                place,
                format!("{port_count} ports"),
                format!("a router with a crossbar has at most {FABRIC_PORT_COUNT_MAX} ports"),
            ));
        }
        if self.fabric.speedup < Ratio::ONE {
            return Err(ConfigError::new(
                "fabric, speedup",
                format!("a speedup of {}", self.fabric.speedup),
                "the crossbar is at least as fast as a line: give 1 or more",
            ));
        }
        match self.fabric.arbiter.iterations() {
            Some(0) => Err(ConfigError::new(
                "fabric, arbiter",
                "0 iterations would never match anything",
                "give at least 1",
            )),
            _ => Ok(()),
        }
    }
}
