//! What is left of programs and batches, given up on a thread of its own.
//!
//! To free a program with a million entries takes tens of milliseconds, which packets must not wait
//! for.

use std::any::Any;
use std::sync::mpsc::{Receiver, Sender, channel};

/// The way to the thread that frees memory.
#[derive(Clone, Debug)]
pub(crate) struct Remains {
    sender: Sender<Box<dyn Any + Send>>,
}

impl Remains {
    /// The way, and what comes out of it.
    pub fn new() -> (Self, Receiver<Box<dyn Any + Send>>) {
        let (sender, receiver) = channel();
        (Self { sender }, receiver)
    }

    /// Has something freed elsewhere.
    pub fn bury(&self, what: impl Any + Send) {
        // While the switch stops nobody takes it any more, and nobody waits for packets.
        let _freed_here = self.sender.send(Box::new(what));
    }
}
