//! [`Programs`]: which program is in force and which is saved, as the data plane publishes it.
//!
//! Only the agent changes this, at the instant at which it changes the program that packets run
//! through; all others read it. So a call whose client goes away half-way leaves nothing behind
//! that could disagree with the packets.

use std::sync::{Arc, PoisonError, RwLock};

use p4runtime::Refusal;
use p4runtime::config::Config;

/// The programs of one instant, each with its P4Info and its cookie.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    /// The program that packets run through.
    pub in_force: Option<Arc<Config>>,
    /// The program that waits for COMMIT.
    pub saved: Option<Arc<Config>>,
}

/// Where the data plane publishes its programs. Cheap to clone; all clones show the same.
#[derive(Clone, Debug, Default)]
pub struct Published(Arc<RwLock<Programs>>);

impl Programs {
    /// The program that reads and writes refer to: the saved one if there is one, because
    /// VERIFY_AND_SAVE says so, else the one in force.
    pub fn current(self) -> Result<Arc<Config>, Refusal> {
        self.saved.or(self.in_force).ok_or_else(no_program)
    }
}

impl Published {
    /// The present programs.
    pub fn now(&self) -> Programs {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Publishes, and returns what was there before: to free a program may take long.
    pub(super) fn publish(&self, programs: Programs) -> Programs {
        let mut published = self.0.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut published, programs)
    }
}

/// How every request is refused that needs a program.
pub(super) fn no_program() -> Refusal {
    // Clients recognise a switch without program by the first words, which are simple_switch_grpc's.
    Refusal::precondition(
        "No forwarding pipeline config set for this device; send one with \
         SetForwardingPipelineConfig first",
    )
}
