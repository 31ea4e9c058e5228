//! `vitrine-p4c lsp`: the language service for editors that speak the Language Server Protocol 3.17,
//! over standard input and output.
//!
//! ```text
//!   bytes -> framing -> JSON-RPC -> Server -> language (the engine) -> answers, diagnostics
//! ```
//!
//! ```text
//!   framing.rs    messages in a stream of bytes
//!   server.rs     Server: a message in, messages out
//!   programs.rs   which texts are open, and to which program each file belongs
//!   answers.rs    what the engine says, as the protocol puts it
//!   places.rs     addresses of files and places in them
//! ```
//!
//! The messages are made by hand: what is used of the protocol is a dozen shapes, and the crate that has
//! all of them has 300.

mod answers;
mod framing;
mod places;
mod programs;
mod server;

pub use framing::{read_message, write_message};
pub use programs::Programs;
pub use server::{Reply, Server};

use std::io::{self, BufRead, Write};

/// Answers messages until the editor says that it is done; whether it has said so.
pub fn serve(
    server: &mut Server,
    input: &mut impl BufRead,
    out: &mut impl Write,
) -> io::Result<bool> {
    while let Some(message) = read_message(input)? {
        let Reply { messages, is_over } = server.handle(&message);
        for message in messages {
            write_message(out, &message)?;
        }
        if is_over {
            return Ok(server.was_shut_down());
        }
    }
    Ok(false)
}
