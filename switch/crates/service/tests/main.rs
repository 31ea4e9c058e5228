//! The integration tests as one program, so that they are linked once.

mod arbitration;
mod dialect;
mod dropped;
mod limits;
mod names;
mod notifications;
mod p4runtime;
mod psa;
mod reads;
mod router;
mod rules;
mod slices;
mod support;
