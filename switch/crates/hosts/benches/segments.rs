//! How many segments a CPU second carries between two hosts over a pipe that costs nearly nothing.
//!
//! `cargo bench -p vitrine-hosts --bench segments`: data segments delivered a second of CPU time
//! (their acknowledgments come on top), for each congestion control, over 100 Mb/s and 20 ms.

#[path = "../tests/net/mod.rs"]
mod net;

use hosts::{Algorithm, Bulk, BulkConfig, Listener, ListenerConfig, Service, TcpSettings, Until};
use net::{Net, Pipe};
use units::{Rate, Span, Time};

fn main() {
    let only = std::env::args().nth(1).filter(|name| !name.starts_with("--"));
    for congestion in hosts::algorithms() {
        if only.as_ref().is_some_and(|only| only != congestion.name()) {
            continue;
        }
        for flows in [1, 10, 100] {
            run(&congestion, flows);
        }
    }
}

fn run(congestion: &Algorithm, flows: usize) {
    let settings = TcpSettings { congestion: congestion.clone(), ..TcpSettings::default() };
    let there = Pipe::clean(Some(Rate::from_mbps(1000)), Span::from_ms(10), 1700);
    let back = Pipe::clean(None, Span::from_ms(10), 0);
    let mut net = Net::new(1, 1, &settings, there, back, 1);
    let port = 5001;
    let service = Service::Discard;
    net.start_right(0, Box::new(Listener::new(ListenerConfig { port, service, congestion: None })));
    let to = net.right(0, port);
    let until = Until::Span(Span::from_secs(1000));
    let config = BulkConfig { to, until, after: Span::ZERO, congestion: None, parallel: flows };
    net.start_left(0, Box::new(Bulk::new(config)));
    net.run_until(Time::ZERO + Span::from_secs(2));
    let (before, start) = (net.there(), cpu_seconds());
    net.run(Span::from_secs(10));
    let seconds = cpu_seconds() - start;
    let after = net.there();
    let carried = after.carried_bytes - before.carried_bytes;
    let segments = (after.entered - before.entered - (after.dropped - before.dropped)) as f64;
    println!(
        "{congestion:8} {flows:4} flows: {:10.0} segments a CPU second, {:5.0} ns each, \
         utilisation {:5.1} %, {} dropped",
        segments / seconds,
        seconds / segments * 1e9,
        carried as f64 * 8.0 / 1e10 * 100.0,
        after.dropped - before.dropped,
    );
}

/// This thread's CPU time, as Linux counts it.
fn cpu_seconds() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = told.split(' ').next().and_then(|ns| ns.parse::<f64>().ok());
    ns.expect("Linux tells in schedstat") / 1e9
}
