//! Programs and batches that are done with, freed on another thread.
//!
//! To free a program with a million entries takes tens of milliseconds, which packets must not wait
//! for.

use std::any::Any;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Takes what is to be freed away from the data plane. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Discard {
    sender: Sender<Box<dyn Any + Send>>,
}

impl Discard {
    /// The way to the thread that frees, and its end. Without a receiver, discarded objects are
    /// freed at once: drop it where there are no threads.
    pub fn new() -> (Self, Receiver<Box<dyn Any + Send>>) {
        let (sender, receiver) = channel();
        (Self { sender }, receiver)
    }

    /// Has something freed elsewhere.
    pub fn take(&self, what: impl Any + Send) {
        // Handed back if there is no receiver, and then freed here.
        let _freed_here = self.sender.send(Box::new(what));
    }
}
