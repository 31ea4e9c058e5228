//! The integration tests as one program, so that they are linked once.

mod checksum;
mod headers;
mod tcp;
