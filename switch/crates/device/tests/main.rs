//! The integration tests as one program, so that they are linked once.

mod changes;
mod ecn;
mod fate;
mod lines;
mod memory;
mod mirror;
mod packets;
mod places;
mod psa;
mod queue_programs;
mod queue_reads;
mod rig;
mod seal;
mod trace;
mod watch;
