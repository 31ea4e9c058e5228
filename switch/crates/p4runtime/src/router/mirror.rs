//! The mirror of drops.

use messages::vitrine::v1;
use pipeline::Pipeline;

use super::Problem;
use super::parts::problem;

/// The clone session that drops are to go to; `Err` if the program in force has none of its number.
///
/// A clone to a session that does not exist goes nowhere, and says nothing. For a packet that is
/// P4Runtime's rule; for a person who sets up a mirror it would be a riddle.
pub fn session_of(
    mirror: &v1::DropMirror,
    program: Option<&Pipeline>,
) -> Result<Option<u32>, Problem> {
    let Some(session) = mirror.clone_session else { return Ok(None) };
    let refuse = |found: &str, advice: &str| {
        Err(problem(&format!("drop mirror, clone session {session}"), found.to_owned(), advice))
    };
    match program {
        None => refuse("no program is loaded", "load one, and write its clone sessions"),
        Some(program) if program.replication.session(session).is_none() => {
            refuse("no such session", "write it through P4Runtime first")
        }
        Some(_) => Ok(Some(session)),
    }
}

/// The message for the mirror of drops.
pub fn message(session: Option<u32>) -> v1::DropMirror {
    v1::DropMirror { clone_session: session }
}
