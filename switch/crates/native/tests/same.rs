//! Machine code does what the interpreter does: the same packets, drops, digests, registers, counters,
//! meters and idle times, for every program of this repository and for programs that are made up.

mod support;

use std::collections::BTreeSet;

use pipeline::native::Op;
use pipeline::{Config, Pipeline};
use support::calls;
use support::chance::Chance;
use support::programs::{compile, compile_text, files, made_up, packets, root};
use support::{Both, Output, Seen};
use units::{DropReason, PortId};

/// Sends packets like these through both forms of a program whose tables have entries.
fn compare(
    name: &str,
    program: bmv2::Program,
    packets: &[Vec<u8>],
    seed: u64,
    count: usize,
) -> Option<Seen> {
    let mut both = Both::load(name, program)?;
    let mut chance = Chance(seed);
    for _ in 0..2 {
        send(&mut both, &mut chance, packets, count / 2);
        both.fill_tables(&mut chance, packets);
    }
    send(&mut both, &mut chance, packets, count);
    both.compare_state();
    Some(both.seen)
}

/// Sends packets like these from some port.
fn send(both: &mut Both, chance: &mut Chance, packets: &[Vec<u8>], count: usize) {
    for _ in 0..count {
        let port = PortId(chance.below(4) as u16);
        let _compared = both.send(port, &chance.packet_like(packets));
    }
}

#[test]
fn every_program_of_the_repository_gives_the_same_either_way() {
    let folders = [
        "p4src/programs",
        "p4src/queues",
        "tests/packets",
        "tests/psa",
        "tests/tofino",
        "switch/crates/pipeline/tests/programs",
        "switch/crates/service/tests/support",
        "switch/crates/device/tests",
    ];
    let mut count = 0;
    for path in folders.into_iter().flat_map(files) {
        let name = path.to_string_lossy().into_owned();
        let Some(program) = compile(&path) else { continue };
        count += usize::from(compare(&name, program, &packets(&path), 1, 100).is_some());
    }
    // Those of the packet tests alone are more; a change of folders must not make this test empty.
    assert!(count > 50, "only {count} programs");
}

/// A program with one of each thing that a table can have: the comparison is of meters that packets
/// draw on, of entries that grow old, and of members and groups that are chosen.
#[test]
fn entries_with_meters_grow_old_the_same_either_way() {
    let path = root().join("switch/crates/service/tests/support/everything.p4");
    let mut both = Both::load("everything.p4", compile(&path).expect("it compiles"));
    let (both, packets) = (both.as_mut().expect("it loads"), packets(&path));
    let mut chance = Chance(1);
    both.fill_tables(&mut chance, &packets);
    let before = both.direct_meters("ingress.exact_table");
    send(both, &mut chance, &packets, 50);
    both.compare_state();
    assert_ne!(both.direct_meters("ingress.exact_table"), before);
    let [idle, others] = both.idle_and_not();
    assert!(idle > 0 && others > 0, "{idle} entries are idle, {others} are not");
}

/// A loop of 10,000 rounds comes to its end; one of 10,001 is a drop with its own reason, also where
/// another loop took some of them.
#[test]
fn a_loop_that_goes_round_too_often_drops_the_packet_either_way() {
    let path = root().join("tests/packets/loop_limit.p4");
    let both = Both::load("loop_limit.p4", compile(&path).expect("it compiles"));
    let mut both = both.expect("it loads");
    let limit = vec![Output::Drop(DropReason::LoopLimit)];
    for ([high, low], second, is_too_often) in [
        ([0x27, 0x10], 0, false),
        ([0x27, 0x11], 0, true),
        ([0x13, 0x88], 1, false),
        ([0x13, 0x89], 1, true),
        ([0, 3], 2, true),
        ([0, 10], 2, false),
    ] {
        let outputs = both.send(PortId(0), &[high, low, second, 0, 0, 0]);
        assert_eq!(outputs == limit, is_too_often, "{high:02x}{low:02x} {second}: {outputs:?}");
        assert!(is_too_often || matches!(outputs[..], [Output::Transmit { .. }]), "{outputs:?}");
    }
}

/// The lab router leaves three tables to the interpreter. Everything else on a packet's way is
/// machine code.
#[test]
fn the_lab_router_leaves_only_tables() {
    let path = root().join("switch/crates/pipeline/tests/programs/lab_router.p4");
    let program = compile(&path).expect("it compiles");
    let source = Pipeline::new(&program, &Config::default()).expect("it loads").source();
    let left = source.ops.iter().filter(|op| matches!(op, Op::Leave { .. }));
    assert_eq!(left.count(), 3);
    // `drop` is run in several places, and what follows `set_next_hop` depends on a hit.
    let ends = source.ops.iter().filter(|op| matches!(op, Op::Return { after: None, .. }));
    assert_eq!(ends.count(), 2);
    assert!(source.states.iter().all(Option::is_some));
    assert!(source.verified.is_some() && source.updated.is_some() && source.headers.is_some());
}

/// Of a packet without IPv4 options the kit's router leaves no part outside its controls to the
/// interpreter: the only state that it does not know is the one that extracts options.
#[test]
fn the_kits_router_parses_sums_and_writes_headers_as_machine_code() {
    let program = compile(&root().join("p4src/programs/router.p4")).expect("it compiles");
    let source = Pipeline::new(&program, &Config::default()).expect("it loads").source();
    assert_eq!(source.states.iter().filter(|state| state.is_none()).count(), 1);
    assert!(source.verified.is_some() && source.updated.is_some() && source.headers.is_some());
}

/// Of a program for PSA both parsers and both deparsers are machine code, as its controls are.
#[test]
fn a_program_for_psa_is_machine_code() {
    let program = compile(&root().join("tests/psa/ways.p4")).expect("it compiles");
    let pipeline = Pipeline::new(&program, &Config::default()).expect("it loads");
    let source = pipeline.source();
    assert!(source.ops.iter().any(|op| !matches!(op, Op::Leave { .. })));
    let between = pipeline.source_between().expect("it has a parser in front of egress");
    for source in [source, between] {
        assert!(!source.states.is_empty() && source.states.iter().all(Option::is_some));
        assert!(source.headers.is_some());
    }
}

/// Packets whose first byte and the three bits after it choose what a made-up program does with the
/// rest: a header of 33 bytes, and what follows it. In every other one, the field of 16 bits is the
/// checksum of the field of 32.
fn made_up_packets(chance: &mut Chance) -> Vec<Vec<u8>> {
    let packet = |number: u8| {
        let mut packet: Vec<u8> = (0..70).map(|_| chance.next() as u8).collect();
        (packet[0], packet[1]) = (number % 4, packet[1] & 0x1f | number << 5);
        if number.is_multiple_of(2) {
            let sum = [!packet[22], !packet[23], 0, 0];
            packet[4..8].copy_from_slice(&sum);
        }
        packet
    };
    (0..8).map(packet).collect()
}

/// Compares both forms of a program that is made up.
fn compare_made_up(name: &str, source: String, packets: &[Vec<u8>], seed: u64) -> Seen {
    let program = compile_text(source.clone());
    let outcome = std::panic::catch_unwind(|| compare(name, program, packets, seed, 60));
    outcome.ok().flatten().unwrap_or_else(|| panic!("{source}"))
}

#[test]
fn programs_that_are_made_up_give_the_same_either_way() {
    for seed in 0..60 {
        let mut chance = Chance(seed);
        let source = made_up(&mut chance);
        let packets = made_up_packets(&mut chance);
        let _seen = compare_made_up(&format!("made up from seed {seed}"), source, &packets, seed);
    }
}

/// `VITRINE_SEEDS=1000-3000` tries those seeds instead.
#[test]
fn programs_of_calls_that_are_made_up_give_the_same_either_way() {
    let given = std::env::var("VITRINE_SEEDS").unwrap_or_else(|_| "0-80".to_owned());
    let (first, end) = given.split_once('-').expect("two seeds");
    let [first, end] = [first, end].map(|seed| seed.parse::<u64>().expect("a seed"));
    let (mut used, mut seen) = (BTreeSet::new(), Seen::new());
    for seed in first..end {
        let mut chance = Chance(seed);
        let (source, calls) = calls::program(&mut chance);
        used.extend(calls);
        let packets = made_up_packets(&mut chance);
        let name = format!("calls made up from seed {seed}");
        seen.extend(compare_made_up(&name, source, &packets, seed));
    }
    let all = calls::CALLS.iter().map(|(name, ..)| *name);
    let unused: Vec<&str> = all
        .chain(calls::STATES.iter().map(|(name, _)| *name))
        .filter(|name| !used.contains(name))
        .collect();
    assert!(unused.is_empty(), "no program has {unused:?}");
    // Clones leave at port 4, multicast packets at 1 to 3.
    for wanted in
        ["Assertion", "EgressProgram", "IngressProgram", "a digest", "port 1", "port 3", "port 4"]
    {
        assert!(seen.contains(wanted), "{wanted}: {seen:?}");
    }
}
