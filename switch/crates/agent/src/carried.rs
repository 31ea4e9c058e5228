//! The state that a program takes over from the one before it outside of P4Runtime.
//!
//! It is copied at one instant: packets of the program before may still be inside, and continue
//! with their own entries.

use p4runtime::Code;
use p4runtime::refusal::Refusal;
use pipeline::{Pipeline, TableError};

use super::forwarding::{Forwarding, Load};
use super::keeps::Keeps;

/// A program with the state that it is to take over from the one in force, if there is one.
pub(super) fn succeed(
    load: Load,
    before: Option<(&Forwarding, &Pipeline)>,
) -> Result<(Forwarding, Box<Pipeline>), Refusal> {
    let keeps = load.keeps();
    let (mut forwarding, mut pipeline) = load.into_parts();
    if let Some(before) = before {
        let carried = carry(keeps, before, (&mut forwarding, &mut pipeline));
        carried.map_err(|error| Refusal::new(Code::ResourceExhausted, error.to_string()))?;
    }
    Ok((forwarding, pipeline))
}

fn carry(
    keeps: Keeps,
    from: (&Forwarding, &Pipeline),
    to: (&mut Forwarding, &mut Pipeline),
) -> Result<(), TableError> {
    let (ledger, old) = (&from.0.ledger, from.1);
    let (new_ledger, new) = (&mut to.0.ledger, to.1);
    match keeps {
        Keeps::Copies => {
            new.replication = old.replication.clone();
            new_ledger.multicast = ledger.multicast.clone();
            new_ledger.kept = ledger.kept.clone();
        }
        Keeps::Nothing => return Ok(()),
        Keeps::Settings => {
            for (id, session) in old.replication.sessions() {
                new.replication.set_session(id, Some(session.clone()));
            }
            new.adopt_settings(old)?;
        }
    }
    new_ledger.sessions = ledger.sessions.clone();
    Ok(())
}
