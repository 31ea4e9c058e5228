//! The integration tests as one program, so that they are linked once.

mod columns;
mod controllers;
mod guests;
mod losing;
mod rig;
mod steering;
