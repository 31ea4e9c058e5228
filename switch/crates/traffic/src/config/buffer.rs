//! The memory that all output queues share.

use units::{Bytes, Ratio};

use super::PortConfig;
use crate::error::ConfigError;

/// A shared buffer with dynamic thresholds (Choudhury and Hahne 1998): each queue may grow up to
/// alpha times the free space, so no queue can take it all and some is always left for a newcomer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferConfig {
    /// The whole memory. The queues' guaranteed minima are set aside first; the rest is shared.
    pub size: Bytes,
}

/// One queue's claim on the shared buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferShare {
    /// How many times the free rest the queue may hold; none is complete sharing.
    pub alpha: Option<Ratio>,
    /// The space that is reserved for the queue.
    pub minimum: Bytes,
}

/// Alpha 1 and nothing guaranteed.
impl Default for BufferShare {
    fn default() -> BufferShare {
        BufferShare { alpha: Some(Ratio::ONE), minimum: Bytes::ZERO }
    }
}

impl BufferConfig {
    pub(crate) fn validate<'a>(
        &self,
        ports: impl Iterator<Item = &'a PortConfig>,
    ) -> Result<(), ConfigError> {
        let queues = ports.flat_map(|port| &port.queues);
        let minima: u128 = queues.map(|queue| u128::from(queue.share.minimum.count())).sum();
        if minima > u128::from(self.size.count()) {
            return Err(ConfigError::new(
                "shared buffer",
                format!("the queues' guaranteed minima add up to {minima} B of {}", self.size),
                "enlarge the buffer or guarantee less",
            ));
        }
        Ok(())
    }
}
