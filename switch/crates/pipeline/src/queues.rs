//! A program's reads of the router's queues in ingress: the externs of `vitrine.p4`.
//!
//! There are no queues here. The pipeline's driver answers through [`crate::Observe::queues`].

use units::{ClassId, PortId};

/// One read. A packet that the program decides on is in no queue yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueRead {
    /// Bytes in use of the shared buffer, and its size.
    BufferUse,
    /// Bits per second of the port's line, and the busy share of its last window in 0.01 %.
    PortRate { port: PortId },
    /// Packets and bytes in an output queue.
    QueueDepth { port: PortId, class: ClassId },
    /// Packets and bytes in a virtual output queue.
    VoqDepth { input: PortId, port: PortId, class: ClassId },
}

/// The queues behind a program, at one instant.
pub trait Queues {
    /// The two numbers that the read returns; zeros for a port or queue that does not exist.
    fn read(&self, read: QueueRead) -> [u64; 2];
}

/// The functions of `vitrine.p4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueueFunction {
    BufferUse,
    PortRate,
    QueueDepth,
    VoqDepth,
}

impl QueueFunction {
    /// The function of a primitive.
    pub fn named(operation: &str) -> Option<QueueFunction> {
        use QueueFunction::{BufferUse, PortRate, QueueDepth, VoqDepth};
        let all = [BufferUse, PortRate, QueueDepth, VoqDepth];
        all.into_iter().find(|function| function.name() == operation)
    }

    pub fn name(self) -> &'static str {
        match self {
            QueueFunction::BufferUse => "buffer_use",
            QueueFunction::PortRate => "port_rate",
            QueueFunction::QueueDepth => "queue_depth",
            QueueFunction::VoqDepth => "voq_depth",
        }
    }

    /// The names of the inputs.
    pub fn inputs(self) -> &'static [&'static str] {
        match self {
            QueueFunction::BufferUse => &[],
            QueueFunction::PortRate => &["port"],
            QueueFunction::QueueDepth => &["port", "class"],
            QueueFunction::VoqDepth => &["input", "port", "class"],
        }
    }

    /// The names of the two results.
    pub fn outputs(self) -> [&'static str; 2] {
        match self {
            QueueFunction::BufferUse => ["used_bytes", "size_bytes"],
            QueueFunction::PortRate => ["bits_per_second", "busy"],
            QueueFunction::QueueDepth | QueueFunction::VoqDepth => ["packets", "bytes"],
        }
    }

    /// The read with these inputs; none if one of them is no port or class at all.
    pub fn read(self, inputs: [u64; 3]) -> Option<QueueRead> {
        let port = |index: usize| u16::try_from(inputs[index]).ok().map(PortId);
        let class = |index: usize| u8::try_from(inputs[index]).ok().map(ClassId);
        Some(match self {
            QueueFunction::BufferUse => QueueRead::BufferUse,
            QueueFunction::PortRate => QueueRead::PortRate { port: port(0)? },
            QueueFunction::QueueDepth => QueueRead::QueueDepth { port: port(0)?, class: class(1)? },
            QueueFunction::VoqDepth => {
                QueueRead::VoqDepth { input: port(0)?, port: port(1)?, class: class(2)? }
            }
        })
    }
}
