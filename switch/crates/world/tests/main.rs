//! The integration tests as one program, so that they are linked once.

mod faults;
mod laws;
mod order;
mod rig;
mod scenarios;
mod tcp;
mod two_routers;
