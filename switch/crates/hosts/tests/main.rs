//! The integration tests as one program, so that they are linked once.

mod applications;
mod dumbbell;
mod net;
mod script;
mod scripts;
mod transfers;
