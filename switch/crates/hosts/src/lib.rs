//! Hosts in virtual time.
