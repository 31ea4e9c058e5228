//! The integration tests as one program, so that they are linked once.

mod absence;
mod circles;
mod dependencies;
mod files;
mod kit;
mod licences;
mod unsafety;
mod words;
