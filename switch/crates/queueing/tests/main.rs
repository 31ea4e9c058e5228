//! The integration tests as one program, so that they are linked once.

mod fabric;
mod queueing_theory;
