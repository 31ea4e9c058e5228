//! The integration tests as one program, so that they are linked once.

mod aqm;
mod crossing;
mod departures;
mod laws;
mod line;
mod ranks;
mod script;
mod shared_buffer;
mod shares;
mod support;
mod timing;
