//! Any packets, one after the other, through programs that use everything there is; observed and
//! unobserved runs, which take different ways through the interpreter, must agree.
//!
//! The first byte chooses the program, then each packet has a byte for its port and one for its
//! length.

use pipeline::{CloneSession, Config, Node, Pipeline, Unobserved};
use units::{PortId, Span, Time};

use crate::switching;

const PROGRAMS: [&[u8]; 2] = [
    include_bytes!("../../pipeline/tests/programs/externs.json"),
    include_bytes!("../../pipeline/tests/programs/lab_router.json"),
];

thread_local! {
    /// Loaded once, and cloned for each input: reading the JSON takes longer than the packets.
    static WIRED: [Pipeline; 2] = PROGRAMS.map(wired);
}

/// A switch on which every request of the program leads somewhere.
fn wired(program: &[u8]) -> Pipeline {
    let mut pipeline = Pipeline::load(program, &Config::default()).expect("the program loads");
    for session in 0..8 {
        let config =
            CloneSession { port: Some(PortId(4)), group: Some(1), ..CloneSession::default() };
        pipeline.replication.set_session(session, Some(config));
    }
    let ports = (0..4).map(PortId).collect();
    pipeline.replication.set_group(1, Some(vec![Node { rid: 1, ports, lags: Vec::new() }]));
    pipeline
}

/// Offers these bytes.
pub fn offer(data: &[u8]) {
    let Some((program, mut rest)) = data.split_first() else { return };
    let fresh = || WIRED.with(|wired| wired[usize::from(*program) % wired.len()].clone());
    let [mut plain, mut watched] = [fresh(), fresh()];
    let mut now = Time::ZERO;
    while let [port, length, after @ ..] = rest {
        let (packet, next) = after.split_at(after.len().min(usize::from(*length)));
        (rest, now) = (next, now + Span::from_us(10));
        let port = PortId(u16::from(*port % 8));
        let outputs = switching::run_to_completion(&mut plain, port, packet, now, &mut Unobserved);
        assert!(!outputs.is_empty(), "every packet ends somewhere");
        let mut events = Vec::new();
        let seen = switching::run_to_completion(&mut watched, port, packet, now, &mut events);
        assert_eq!(outputs, seen);
    }
}
