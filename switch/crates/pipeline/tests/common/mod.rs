//! Shared by the tests of this folder: programs, packets, and their results.

// Each test file uses a part of this.
#![allow(dead_code)]

mod switching;

use pipeline::{Config, Pipeline, Unobserved};
pub use switching::{Output, run_to_completion};
use units::{PortId, Span, Time};

/// The program of `programs/externs.p4`.
pub const EXTERNS: &[u8] = include_bytes!("../programs/externs.json");
/// The program of `programs/lab_router.p4`.
pub const LAB_ROUTER: &[u8] = include_bytes!("../programs/lab_router.json");

/// A freshly loaded program.
pub fn load(json: &[u8]) -> Pipeline {
    Pipeline::load(json, &Config { seed: 7, ..Config::default() }).expect("the program loads")
}

/// Sends a packet in by port 3 at an instant.
pub fn send_at(pipeline: &mut Pipeline, bytes: &[u8], now: Time) -> Vec<Output> {
    run_to_completion(pipeline, PortId(3), bytes, now, &mut Unobserved)
}

/// Sends a packet in by port 3.
pub fn send(pipeline: &mut Pipeline, bytes: &[u8]) -> Vec<Output> {
    send_at(pipeline, bytes, Time::ZERO + Span::from_ms(1))
}

/// A packet that leaves.
pub fn leaves(port: u16, bytes: &[u8]) -> Output {
    Output::Transmit { port: PortId(port), frame: bytes.to_vec() }
}
