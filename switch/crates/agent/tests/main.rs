//! The integration tests as one program, so that they are linked once.

mod dropped;
mod extremes;
mod garbage;
mod memory;
mod packets;
mod simulated;
mod support;
