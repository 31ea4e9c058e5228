//! The cost of a frame in the device: `cargo bench -p vitrine-device`.
//!
//! Not a test: it depends on the machine. The lab router forwards bursts as a port makes them of
//! super-packets, between two ports that are driven as the live switch drives them: late, and with
//! everything due released in between.
//!
//! Instructions do not depend on what else the machine does, so changes are judged by them:
//!
//! ```text
//! cargo bench -p vitrine-device --no-run      # prints where the program is
//! valgrind --tool=callgrind PROGRAM --packets 45000 "10 Gb/s"
//! ```

use std::hint::black_box;
use std::time::Instant;

use bits::Int;
use device::{Device, Output};
use pipeline::{Config, Entry, EntryAction, KeyMatch, Pipeline};
use traffic::{Limit, PortConfig};
use units::{PortId, Rate, Span, Time};

/// The program of the pipeline's own bench: see the comment in its source.
const PROGRAM: &[u8] = include_bytes!("../../pipeline/tests/programs/lab_router.json");
/// Frames of a super-packet of 64 KB.
const BURST: u64 = 45;
const ROUNDS: usize = 10;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let counted = words.iter().position(|word| word == "--packets");
    let packets = counted.and_then(|at| words.get(at + 1)?.parse::<u64>().ok());
    for (name, rate, size) in [
        ("1514-byte frames, ports without a rate", None, 1514),
        ("1514-byte frames, 10 Gb/s ports", Some(Rate::from_gbps(10)), 1514),
        ("64-byte frames, 10 Gb/s ports", Some(Rate::from_gbps(10)), 64),
    ] {
        let wanted = |word: &&String| name.contains(word.as_str());
        if counted.is_some() && !words.iter().skip(2).any(|word| wanted(&word)) {
            continue;
        }
        let mut road = Road::new(rate, size);
        match packets {
            Some(packets) => println!("{name}: {} frames", road.forward(packets / BURST)),
            None => println!("{name:<40} {:>8.1} ns each", road.best_ns(1_000)),
        }
    }
}

/// A device between two neighbours, and what one of them sends.
struct Road {
    device: Device,
    frame: Vec<u8>,
    /// From one burst to the next: just more than the ports need for it.
    interval: Span,
    now: Time,
}

impl Road {
    fn new(rate: Option<Rate>, size: usize) -> Road {
        let mut device = Device::new(Config::default());
        let mut config = traffic::Config::default();
        for port in 0..4 {
            let mut settings = PortConfig::strict(rate, 8);
            settings.queues.iter_mut().for_each(|queue| queue.limit = Limit::packets(1000));
            config.ports.insert(PortId(port), settings);
        }
        device.configure(Time::ZERO, config).expect("the configuration is valid");
        device.install(router(device.program_config()));
        let frame = frame(size);
        let wire = Rate::from_gbps(10).span_of(units::Bytes(frame.len() as u64));
        Road { device, frame, interval: (wire + Span::from_ns(10)) * BURST, now: Time::ZERO }
    }

    /// Sends `bursts`; returns how many frames came out.
    fn forward(&mut self, bursts: u64) -> u64 {
        let mut sent = 0;
        for _ in 0..bursts {
            sent += self.release();
            for _ in 0..BURST {
                self.device.handle_frame(self.now, PortId(1), &self.frame);
            }
            sent += self.release();
            self.now += self.interval;
        }
        sent
    }

    fn release(&mut self) -> u64 {
        let mut sent = 0;
        while let Some(output) = self.device.poll_output(self.now) {
            if let Output::Transmit { frame, .. } = output {
                sent += 1;
                self.device.recycle(black_box(frame));
            }
        }
        sent
    }

    fn best_ns(&mut self, bursts: u64) -> f64 {
        let mut round = || {
            let start = Instant::now();
            black_box(self.forward(bursts));
            start.elapsed().as_nanos() as f64 / (bursts * BURST) as f64
        };
        (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min)
    }
}

/// The lab router with a route to port 2.
fn router(config: Config) -> Box<Pipeline> {
    let program = bmv2::read(PROGRAM).expect("the program is BMv2 JSON");
    let mut pipeline = Pipeline::new(&program, &config).expect("the program loads");
    let mut insert = |table: &str, action: &str, key: KeyMatch, data: &[u64]| {
        let table = pipeline.table_index(&format!("ingress.{table}")).expect("the table exists");
        let action = format!("ingress.{action}");
        let action = pipeline.action_index(table, &action).expect("the action exists");
        let data = data.iter().map(|value| Int::from(*value)).collect();
        let action = EntryAction::Action { action, data };
        let entry = Entry { key: vec![key], priority: 0, action, idle_timeout: None };
        let _ = pipeline.insert_entry(table, entry, Time::ZERO).expect("the table has room");
    };
    let route = KeyMatch::Lpm { value: 0x0a00_0200u32.into(), length_bits: 24 };
    insert("routes", "set_next_hop", route, &[7]);
    insert("next_hops", "forward", KeyMatch::Exact(7u64.into()), &[2, 0x0200, 0x0201]);
    Box::new(pipeline)
}

/// A TCP segment from 10.0.1.1 to 10.0.2.1.
fn frame(size: usize) -> Vec<u8> {
    let mut frame = vec![0u8; size];
    frame[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
    frame[14..24].copy_from_slice(&[0x45, 2, 5, 0xdc, 0, 1, 0x40, 0, 64, 6]);
    frame[16..18].copy_from_slice(&(size as u16 - 14).to_be_bytes());
    frame[26..34].copy_from_slice(&[10, 0, 1, 1, 10, 0, 2, 1]);
    let words = frame[14..34].chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let checksum = !((folded & 0xffff) + (folded >> 16)) as u16;
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    frame[34..38].copy_from_slice(&[0x14, 0x51, 0x14, 0x51]);
    frame[46] = 0x50;
    frame
}
