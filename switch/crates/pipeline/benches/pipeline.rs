//! The cost of a packet in the pipeline, and of a lookup in large tables.
//!
//! `make bench-pipeline` runs it and prints the best of several rounds, as the budgets of the design
//! count. Everything is generated from seeds.

mod simple_switch;

use std::hint::black_box;
use std::time::{Duration, Instant};

use bits::Int;
use frames::{Frame, Pool};
use pipeline::{
    Config, Entry, EntryAction, InstanceType, KeyMatch, Packet, Pipeline, Queueing, after_egress,
    after_ingress,
};
use units::{PortId, Time};

/// The program of both: see `tests/programs/lab_router.p4`.
const PROGRAM: &[u8] = include_bytes!("../tests/programs/lab_router.json");
/// Routes of the lab router.
const ROUTES: usize = 10_000;
/// Different packets that are sent round.
const PACKETS: usize = 1024;
/// Where `make build` leaves the kit's own router.
const KIT_ROUTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../build/p4/router.json");

/// SplitMix64: small, and good enough to spread addresses.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// A prefix length as often as in a backbone's table: six in ten are /24, one in ten /22 and so on.
fn prefix_length(chance: &mut Chance) -> u32 {
    match chance.below(100) {
        0..60 => 24,
        60..70 => 22,
        70..79 => 23,
        79..85 => 21,
        85..90 => 20,
        90..94 => 19,
        94..97 => 16 + chance.below(3) as u32,
        97..99 => 25 + chance.below(8) as u32,
        _ => 8 + chance.below(8) as u32,
    }
}

fn entry(key: Vec<KeyMatch>, priority: i32, action: usize, data: &[u64]) -> Entry {
    let data = data.iter().map(|value| Int::from(*value)).collect();
    Entry { key, priority, action: EntryAction::Action { action, data }, idle_timeout: None }
}

/// The program, its tables with room for `count` entries.
fn program_for(count: usize) -> bmv2::Program {
    with_room(PROGRAM, count)
}

fn with_room(json: &[u8], count: usize) -> bmv2::Program {
    let mut program = bmv2::read(json).expect("the program is BMv2 JSON");
    for table in program.pipelines.iter_mut().flat_map(|control| &mut control.tables) {
        table.size_max = table.size_max.max(count as u32);
    }
    program
}

/// How programs are loaded here: as the switch does.
fn native() -> Config {
    Config { compile: Some(native::compile), ..Config::default() }
}

/// The router with `count` routes, and addresses they cover.
fn router(count: usize, config: &Config) -> (Pipeline, Vec<u32>) {
    let program = program_for(count);
    let mut pipeline = Pipeline::new(&program, config).expect("the program loads");
    let [routes, next_hops, classes] = ["routes", "next_hops", "classes"]
        .map(|name| pipeline.table_index(&format!("ingress.{name}")).expect("the table exists"));
    let action = |pipeline: &Pipeline, table, name: &str| {
        pipeline.action_index(table, &format!("ingress.{name}")).expect("the action exists")
    };
    let set_next_hop = action(&pipeline, routes, "set_next_hop");
    let forward = action(&pipeline, next_hops, "forward");
    let set_class = action(&pipeline, classes, "set_class");
    for number in 0..64u64 {
        let data = [number % 8, 0x0200_0000_0000 + number, 0x0200_0000_0100 + number];
        let entry = entry(vec![KeyMatch::Exact(number.into())], 0, forward, &data);
        let _ = pipeline.insert_entry(next_hops, entry, Time::ZERO).expect("the table has room");
    }
    for (port, class) in [(22u64, 7u64), (53, 6), (80, 2), (443, 2), (5201, 1)] {
        let all = |width: usize| &Int::one().shift_left(width) - &Int::one();
        let key = vec![
            KeyMatch::Any,
            KeyMatch::Ternary { value: 6.into(), mask: all(8) },
            KeyMatch::Ternary { value: port.into(), mask: all(16) },
        ];
        let entry = entry(key, 10, set_class, &[class]);
        let _ = pipeline.insert_entry(classes, entry, Time::ZERO).expect("the table has room");
    }
    let addresses = insert_routes(&mut pipeline, routes, count, |chance, key| {
        entry(vec![key], 0, set_next_hop, &[chance.below(64)])
    });
    (pipeline, addresses)
}

/// Fills a table with routes, and returns an address that each of them covers.
fn insert_routes(
    pipeline: &mut Pipeline,
    table: usize,
    count: usize,
    entry: impl Fn(&mut Chance, KeyMatch) -> Entry,
) -> Vec<u32> {
    let mut chance = Chance(1);
    let mut addresses = Vec::with_capacity(count);
    while addresses.len() < count {
        let length_bits = prefix_length(&mut chance);
        let address = chance.next() as u32 >> (32 - length_bits) << (32 - length_bits);
        let entry = entry(&mut chance, KeyMatch::Lpm { value: address.into(), length_bits });
        if pipeline.insert_entry(table, entry, Time::ZERO).is_ok() {
            addresses.push(address | chance.next() as u32 >> length_bits.min(31));
        }
    }
    addresses
}

/// The kit's router of today, as `make build` leaves it, with as many routes: it has more headers,
/// tables and counters than the lab router, whose figures do not change with it.
fn kit_router(json: &[u8], config: &Config) -> (Pipeline, Vec<u32>) {
    let mut pipeline = Pipeline::new(&with_room(json, ROUTES), config).expect("the program loads");
    let routes = pipeline.table_index("ingress.routing.ipv4_routes").expect("the table exists");
    let set_next_hop = pipeline.action_index(routes, "ingress.routing.set_next_hop");
    let set_next_hop = set_next_hop.expect("the action exists");
    let addresses = insert_routes(&mut pipeline, routes, ROUTES, |chance, key| {
        let next_hop = chance.below(64);
        let data = [next_hop % 8, 0x0200_0000_0100 + next_hop, 0x0200_0000_0000 + next_hop];
        entry(vec![key], 0, set_next_hop, &data)
    });
    (pipeline, addresses)
}

/// The router with `count` addresses in its exact table, which here matches on the destination.
fn exact_router(count: usize) -> (Pipeline, Vec<u32>) {
    let mut program = bmv2::read(PROGRAM).expect("the program is BMv2 JSON");
    let mut tables = program.pipelines.iter_mut().flat_map(|control| &mut control.tables);
    let table = tables.find(|table| table.name == "ingress.next_hops").expect("the table exists");
    table.size_max = count as u32;
    table.key[0].target = Some(bmv2::FieldRef::new("ipv4", "dst_addr"));
    let mut pipeline = Pipeline::new(&program, &Config::default()).expect("the program loads");
    let next_hops = pipeline.table_index("ingress.next_hops").expect("the table exists");
    let forward = pipeline.action_index(next_hops, "ingress.forward").expect("the action exists");
    let mut chance = Chance(3);
    let mut addresses = Vec::with_capacity(count);
    while addresses.len() < count {
        let address = chance.next() as u32;
        let entry = entry(vec![KeyMatch::Exact(address.into())], 0, forward, &[1, 2, 3]);
        if pipeline.insert_entry(next_hops, entry, Time::ZERO).is_ok() {
            addresses.push(address);
        }
    }
    (pipeline, addresses)
}

/// The router with `count` classifying entries, under four masks.
fn ternary_router(count: usize) -> Pipeline {
    let program = program_for(count);
    let mut pipeline = Pipeline::new(&program, &Config::default()).expect("the program loads");
    let classes = pipeline.table_index("ingress.classes").expect("the table exists");
    let set_class = pipeline.action_index(classes, "ingress.set_class").expect("it exists");
    let masks =
        [(0x3fu32, 0xffu32, 0xffffu32), (0, 0xff, 0xffff), (0x3f, 0, 0xffff), (0, 0, 0xfff0)];
    let mut chance = Chance(4);
    let mut entries = 0;
    while entries < count {
        let (dscp, protocol, port) = masks[chance.below(4) as usize];
        let part = |value: u64, mask: u32| KeyMatch::Ternary {
            value: (value as u32 & mask).into(),
            mask: mask.into(),
        };
        let key = vec![
            part(chance.next(), dscp),
            part(chance.next(), protocol),
            part(chance.next(), port),
        ];
        let entry = entry(key, chance.below(1000) as i32, set_class, &[chance.below(8)]);
        entries += usize::from(pipeline.insert_entry(classes, entry, Time::ZERO).is_ok());
    }
    pipeline
}

/// A TCP segment to an address, 1500 bytes long as an IP packet.
fn frame(destination: u32, source_port: u16) -> Vec<u8> {
    let mut frame = vec![0u8; 1514];
    frame[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
    frame[14..26].copy_from_slice(&[0x45, 2, 5, 0xdc, 0, 1, 0x40, 0, 64, 6, 0, 0]);
    frame[26..30].copy_from_slice(&[10, 0, 0, 1]);
    frame[30..34].copy_from_slice(&destination.to_be_bytes());
    let sum: u32 =
        frame[14..34].chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let checksum = !((folded & 0xffff) + (folded >> 16)) as u16;
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    frame[34..36].copy_from_slice(&source_port.to_be_bytes());
    frame[36..38].copy_from_slice(&443u16.to_be_bytes());
    frame
}

fn frames(addresses: &[u32]) -> Vec<Vec<u8>> {
    let mut chance = Chance(2);
    let mut address = || addresses[chance.below(addresses.len() as u64) as usize];
    (0..PACKETS).map(|number| frame(address(), number as u16)).collect()
}

/// One packet through ingress and egress, as the device drives it: its frame is handed over and
/// comes back. Not inlined, so that every figure is of the same code.
#[inline(never)]
fn hand_over(pipeline: &mut Pipeline, pool: &mut Pool, frame: Frame, now: Time) -> Frame {
    let mut packet = pipeline.receive(pool, PortId(1), frame, now);
    let end = pipeline.ingress(&mut packet, now);
    let fate = after_ingress(&end);
    let pipeline::IngressWay::Unicast { port, class } = fate.way else {
        panic!("the router forwards every packet of the bench: {fate:?}")
    };
    pipeline.dispatch(&mut packet, port, InstanceType::Normal, 0);
    let queueing = Queueing { class, enqueued: now, departed: now, ..Queueing::default() };
    let end = pipeline.egress(&mut packet, &queueing, now);
    assert_eq!(after_egress(&end).way, pipeline::EgressWay::Transmit);
    pipeline.deparse(&mut packet, now);
    pipeline.transmit(pool, packet)
}

/// The same with the copy that a port makes of each received frame.
fn forward(pipeline: &mut Pipeline, pool: &mut Pool, bytes: &[u8], now: Time) -> usize {
    let frame = pool.frame_of([bytes, &[]]);
    let sent = hand_over(pipeline, pool, frame, now);
    let length = sent.bytes().len();
    pool.recycle(sent);
    length
}

/// Packets parsed and ready to be looked up.
fn parsed(pipeline: &mut Pipeline, frames: &[Vec<u8>]) -> Vec<Packet> {
    let parse = |frame: &Vec<u8>| {
        let frame = Frame::new(&frame[..64]);
        let mut packet = pipeline.receive(&mut Pool::default(), PortId(1), frame, Time::ZERO);
        let _ = pipeline.ingress(&mut packet, Time::ZERO);
        packet
    };
    frames.iter().map(parse).collect()
}

/// Nanoseconds an operation, the best of several rounds of `count`.
fn best(count: usize, mut operation: impl FnMut(usize)) -> f64 {
    let mut round = || -> Duration {
        let start = Instant::now();
        (0..count).for_each(&mut operation);
        start.elapsed()
    };
    let rounds = (0..20).map(|_| round());
    rounds.min().expect("there are rounds").as_nanos() as f64 / count as f64
}

/// Resident memory in MB, where the system says so.
fn resident_mb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

fn main() {
    println!("\nBest of 20 rounds:");
    forwarding_summary();
    let before = resident_mb();
    let start = Instant::now();
    let (mut pipeline, addresses) = router(1_000_000, &native());
    let loading = start.elapsed().as_secs_f64();
    let memory =
        resident_mb().zip(before).map_or(0, |(after, before)| after.saturating_sub(before));
    println!("  loading 1,000,000 routes                      {loading:8.2} s, {memory} MB");
    let packets = parsed(&mut pipeline, &frames(&addresses));
    let routes = pipeline.table_index("ingress.routes").expect("the table exists");
    let lookup = best(100_000, |number| {
        black_box(pipeline.find(routes, &packets[number % PACKETS]));
    });
    println!("  lookup in 1,000,000 routes                    {lookup:8.1} ns");
    drop(pipeline);
    lookup_summary();
}

/// The cost of a packet in the lab router and in the kit's, either way.
fn forwarding_summary() {
    let program = Pipeline::new(&program_for(ROUTES), &Config::default());
    let source = program.expect("the program loads").source();
    let compiling = best(20, |_| drop(black_box(native::compile(&source)))) / 1e6;
    println!("  compiling the lab router to machine code      {compiling:8.2} ms");
    println!("  lab router, 10,000 routes                 machine code  interpreted");
    let (mut compiled, addresses) = router(ROUTES, &native());
    let (mut interpreted, _) = router(ROUTES, &Config::default());
    let packets = frames(&addresses);
    let ours = frame_rows([&mut compiled, &mut interpreted], &packets);
    match std::fs::read(KIT_ROUTER) {
        Ok(json) => {
            println!("  p4src/programs/router.p4, 10,000 routes");
            let (mut compiled, addresses) = kit_router(&json, &native());
            let (mut interpreted, _) = kit_router(&json, &Config::default());
            let _ = frame_rows([&mut compiled, &mut interpreted], &frames(&addresses));
        }
        Err(_) => {
            println!("  p4src/programs/router.p4                      not measured: make build")
        }
    }
    ratio_summary(&compiled, &shortened(&packets), ours);
}

/// The cost of frames of several kinds in both forms of a program; returns that of a short one in
/// the first.
fn frame_rows(mut forms: [&mut Pipeline; 2], packets: &[Vec<u8>]) -> f64 {
    let copied = |pipeline: &mut Pipeline, packets: &[Vec<u8>]| {
        let mut pool = Pool::default();
        best(20_000, |number| {
            black_box(forward(pipeline, &mut pool, &packets[number % PACKETS], Time::ZERO));
        })
    };
    let mut row = |what: &str, cost: &dyn Fn(&mut Pipeline) -> f64| {
        let [first, second] = forms.each_mut().map(|form| cost(form));
        println!("    {what:<34}{first:11.1}  {second:11.1}  ns a packet");
        first
    };
    let _ = row("1514-byte frames, copied in", &|pipeline| copied(pipeline, packets));
    let _ = row("1514-byte frames, handed over", &|pipeline| handed_over(pipeline, packets));
    let short = shortened(packets);
    row("64-byte frames, copied in", &|pipeline| copied(pipeline, &short))
}

/// The first 64 bytes of each.
fn shortened(packets: &[Vec<u8>]) -> Vec<Vec<u8>> {
    packets.iter().map(|frame| frame[..64].to_vec()).collect()
}

/// The cost of a packet whose frame is handed over; its headers are put back before the next round,
/// or its time to live would run out.
fn handed_over(pipeline: &mut Pipeline, packets: &[Vec<u8>]) -> f64 {
    const HEADERS: usize = 34;
    let mut frames: Vec<Option<Frame>> =
        packets.iter().map(|bytes| Some(Frame::new(bytes))).collect();
    let mut pool = Pool::default();
    best(20_000, |number| {
        let at = number % PACKETS;
        let mut frame = frames[at].take().expect("it came back");
        frame.bytes_mut()[..HEADERS].copy_from_slice(&packets[at][..HEADERS]);
        frames[at] = Some(black_box(hand_over(pipeline, &mut pool, frame, Time::ZERO)));
    })
}

/// The same cost in the standard switch, where it is installed.
fn ratio_summary(pipeline: &Pipeline, packets: &[Vec<u8>], ours: f64) {
    let Some(switch) = simple_switch::find() else {
        println!(
            "  simple_switch, the same                       not measured: it is not installed"
        );
        return;
    };
    match simple_switch::measure(&switch, &program_for(ROUTES), pipeline, packets, 50_000) {
        Ok(theirs) => {
            println!("  simple_switch, the same, all its threads      {theirs:8.1} ns a packet");
            println!("  ... times ours                                {:8.1}", theirs / ours);
        }
        Err(message) => {
            println!("  simple_switch, the same                       not measured: {message}");
        }
    }
}

/// Exact and ternary tables.
fn lookup_summary() {
    let start = Instant::now();
    let (mut pipeline, addresses) = exact_router(1_000_000);
    let loading = start.elapsed().as_secs_f64();
    println!("  loading 1,000,000 exact entries               {loading:8.2} s");
    let packets = parsed(&mut pipeline, &frames(&addresses));
    let next_hops = pipeline.table_index("ingress.next_hops").expect("the table exists");
    let lookup = best(100_000, |number| {
        black_box(pipeline.find(next_hops, &packets[number % PACKETS]));
    });
    println!("  lookup in 1,000,000 exact entries             {lookup:8.1} ns");
    let mut pipeline = ternary_router(10_000);
    let packets = parsed(&mut pipeline, &frames(&addresses));
    let classes = pipeline.table_index("ingress.classes").expect("the table exists");
    let lookup = best(100_000, |number| {
        black_box(pipeline.find(classes, &packets[number % PACKETS]));
    });
    println!("  lookup in 10,000 ternary entries, 4 masks     {lookup:8.1} ns");
}
