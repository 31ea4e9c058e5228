//! Printing. A reader may stop before the end, as `head` does: then the program ends silently.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::process;

/// A shell's exit status for a program that a closed pipe ended: 128 and the number of SIGPIPE.
const NOBODY_READS: i32 = 141;

/// Prints a text as it is, line ends included.
pub fn show(text: impl Display) {
    let mut out = io::stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => process::exit(NOBODY_READS),
        Err(error) => {
            tell(format_args!("error: cannot write the output: {error}\n"));
            process::exit(1);
        }
    }
}

/// Prints a text for the caller; a closed pipe is ignored.
pub fn tell(text: impl Display) {
    let _unheard = write!(io::stderr().lock(), "{text}");
}
