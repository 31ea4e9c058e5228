//! Three routers in virtual time, and the reports that they send.

pub mod network;
pub mod report;
