//! In the steady state a packet costs no allocation, and a program no more memory than its text has
//! bytes for: counted, not claimed.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use bits::Int;
use common::LAB_ROUTER;
use frames::Pool;
use pipeline::native::Compile;
use pipeline::{
    Config, Entry, EntryAction, IngressWay, InstanceType, KeyMatch, Pipeline, Queueing,
    after_ingress,
};
use units::memory::{Budget, Purpose};
use units::{Bytes, PortId, Time};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static HELD_BYTES: Cell<i64> = const { Cell::new(0) };
    static PEAK_BYTES: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, counting what this thread asks of it.
struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        HELD_BYTES.set(HELD_BYTES.get() + layout.size() as i64);
        PEAK_BYTES.set(PEAK_BYTES.get().max(HELD_BYTES.get()));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD_BYTES.set(HELD_BYTES.get() - layout.size() as i64);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The router, as machine code or interpreted.
fn router(compile: Option<Compile>) -> Pipeline {
    let config = Config { compile, ..Config::default() };
    let mut pipeline = Pipeline::load(LAB_ROUTER, &config).unwrap();
    assert_eq!(pipeline.is_native(), compile.is_some());
    let mut add = |table: &str, key: KeyMatch, action: &str, data: &[u64]| {
        let table = pipeline.table_index(table).unwrap();
        let action = pipeline.action_index(table, action).unwrap();
        let data = data.iter().map(|value| Int::from(*value)).collect();
        let action = EntryAction::Action { action, data };
        let entry = Entry { key: vec![key], priority: 0, action, idle_timeout: None };
        pipeline.insert_entry(table, entry, Time::ZERO).unwrap();
    };
    let network = KeyMatch::Lpm { value: Int::from(0x0a00_0000u32), length_bits: 8 };
    add("ingress.routes", network, "ingress.set_next_hop", &[5]);
    add("ingress.next_hops", KeyMatch::Exact(Int::from(5)), "ingress.forward", &[2, 0xa, 0xb]);
    pipeline
}

/// An IPv4 packet to 10.0.0.9 with TTL 64 and a right checksum.
fn packet() -> Vec<u8> {
    let mut packet = vec![0; 100];
    packet[12..14].copy_from_slice(&[8, 0]);
    packet[14..34]
        .copy_from_slice(&[0x45, 0, 0, 86, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 9]);
    // 4500 + 0056 + 4006 + 0a00 + 0001 + 0a00 + 0009 = 9966; its complement is 6699.
    packet[24..26].copy_from_slice(&[0x66, 0x99]);
    packet
}

fn forward(pipeline: &mut Pipeline, frames: &mut Pool, bytes: &[u8]) {
    let frame = frames.frame_of([bytes, &[]]);
    let mut packet = pipeline.receive(frames, PortId(1), frame, Time::ZERO);
    let end = pipeline.ingress(&mut packet, Time::ZERO);
    let IngressWay::Unicast { port, .. } = after_ingress(&end).way else { panic!("{end:?}") };
    pipeline.dispatch(&mut packet, port, InstanceType::Normal, 0);
    let _ = pipeline.egress(&mut packet, &Queueing::default(), Time::ZERO);
    pipeline.deparse(&mut packet, Time::ZERO);
    let sent = pipeline.transmit(frames, packet);
    frames.recycle(sent);
}

#[test]
fn a_packet_through_the_lab_router_allocates_nothing_in_the_steady_state() {
    for compile in [None, Some(native::compile as Compile)] {
        let mut pipeline = router(compile);
        let (mut frames, bytes) = (Pool::default(), packet());
        // The first packets make the memory, and the pools it goes back to, that later ones use.
        forward(&mut pipeline, &mut frames, &bytes);
        forward(&mut pipeline, &mut frames, &bytes);
        let before = ALLOCATIONS.get();
        for _ in 0..1000 {
            forward(&mut pipeline, &mut frames, &bytes);
        }
        assert_eq!(ALLOCATIONS.get() - before, 0);
    }
}

#[test]
fn the_lab_router_rewrites_addresses_ttl_and_checksum() {
    let mut pipeline = router(None);
    let outputs = common::send(&mut pipeline, &packet());
    let mut expected = packet();
    expected[..12].copy_from_slice(&[0, 0, 0, 0, 0, 0xb, 0, 0, 0, 0, 0, 0xa]);
    // TTL 63: the sum falls by 0x0100, so the checksum rises by as much: 6799.
    expected[22] = 63;
    expected[24..26].copy_from_slice(&[0x67, 0x99]);
    assert_eq!(outputs, [common::leaves(2, &expected)]);
}

/// Loads a program and says how it ended and how many bytes were held at most, for each byte of JSON.
fn loaded(json: &str) -> (Result<(), String>, i64) {
    let before = HELD_BYTES.get();
    PEAK_BYTES.set(before);
    let result = Pipeline::load(json.as_bytes(), &Config::default());
    let peak = PEAK_BYTES.get() - before;
    (result.map(drop).map_err(|error| error.to_string()), peak / json.len() as i64)
}

fn join(count: usize, element: impl Fn(usize) -> String) -> String {
    (0..count).map(element).collect::<Vec<_>>().join(",")
}

fn header(id: usize) -> String {
    format!(r#"{{"name":"h{id}","id":{id},"header_type":"t"}}"#)
}

/// The fields that the switch itself reads and writes.
const STANDARD_FIELDS: &str = r#"[
    ["ingress_port",9,false],["egress_spec",9,false],["egress_port",9,false],
    ["instance_type",32,false],["packet_length",32,false],["enq_timestamp",32,false],
    ["enq_qdepth",19,false],["deq_timedelta",32,false],["deq_qdepth",19,false],
    ["ingress_global_timestamp",48,false],["egress_global_timestamp",48,false],
    ["mcast_grp",16,false],["egress_rid",16,false],["checksum_error",1,false],
    ["parser_error",32,false],["priority",3,false],["_padding",3,false]
]"#;

/// A program of `header_count` headers with `field_count` fields of `field_bits` each, all in one
/// union.
fn one_union(header_count: usize, field_count: usize, field_bits: usize) -> String {
    format!(
        r#"{{"header_types":[{{"name":"t","id":0,"fields":[{}]}},
                {{"name":"standard_metadata","id":1,"fields":{STANDARD_FIELDS}}}],
            "headers":[{{"name":"standard_metadata","id":99999,
                "header_type":"standard_metadata","metadata":true}},{}],
            "header_union_types":[{{"name":"u_t","id":0,"headers":[]}}],
            "header_unions":[{{"name":"u","id":0,"union_type":"u_t","header_ids":[{}]}}],
            "parsers":[{{"name":"parser","id":0,"init_state":"start","parse_states":[
                {{"name":"start","id":0,"parser_ops":[],"transition_key":[],"transitions":[]}}]}}],
            "deparsers":[{{"name":"deparser","id":0,"order":["h0"]}}],
            "pipelines":[{{"name":"ingress","id":0,"init_table":null,"tables":[]}},
                {{"name":"egress","id":1,"init_table":null,"tables":[]}}]}}"#,
        join(field_count, |index| format!(r#"["f{index}",{field_bits},false]"#)),
        join(header_count, header),
        join(header_count, |id| id.to_string()),
    )
}

/// How many bytes may be held for each byte of JSON: the text as a tree takes most of them.
const HELD_PER_BYTE_MAX: i64 = 32;

#[test]
fn a_union_of_many_headers_takes_memory_for_each_header_not_for_each_pair() {
    for header_count in [5_000, 20_000] {
        let (result, held) = loaded(&one_union(header_count, 0, 0));
        assert_eq!(result, Ok(()), "{header_count} headers");
        assert!(held < HELD_PER_BYTE_MAX, "{header_count} headers hold {held} bytes a byte");
    }
}

#[test]
fn headers_that_take_too_much_are_refused_before_their_fields_are_copied() {
    let (result, held) = loaded(&one_union(4_000, 4_000, 8));
    let error = result.expect_err("4,000 headers of 4,000 bytes");
    assert!(error.contains("headers take 16004145 bytes; at most 65536"), "{error}");
    assert!(held < HELD_PER_BYTE_MAX, "{held} bytes a byte");
}

#[test]
fn a_deparser_that_makes_packets_longer_by_megabytes_is_refused() {
    let json = one_union(1, 1, 8 * 60_000);
    assert_eq!(loaded(&json).0, Ok(()));
    let (result, held) = loaded(&json.replace(r#"["h0"]"#, r#"["h0","h0"]"#));
    let error = result.expect_err("120,000 bytes");
    let said = "at /deparsers/0/order: the headers emitted take up to 120000 bytes; at most 65536";
    assert!(error.contains(said), "{error}");
    assert!(held < HELD_PER_BYTE_MAX, "{held} bytes a byte");
}

/// Loads a program and says how many bytes were held at most, and how many allocations it took.
fn cost_of(json: &str) -> (i64, u64) {
    let (held, allocations) = (HELD_BYTES.get(), ALLOCATIONS.get());
    PEAK_BYTES.set(held);
    drop(Pipeline::load(json.as_bytes(), &Config::default()));
    (PEAK_BYTES.get() - held, ALLOCATIONS.get() - allocations)
}

/// The charge for loading, and a constant for error messages and tables of names.
fn charged(json: &str) -> i64 {
    let reading = bmv2::reading_bytes(json.as_bytes()) as i64;
    reading + 4 * json.len() as i64 + (64 << 10)
}

/// Numbers that look random (SplitMix64), the same on every machine.
struct Dice(u64);

impl Dice {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.bits() % bound
    }
}

/// Some lists of a program in JSON.
const LISTS: [&str; 14] = [
    "header_types",
    "headers",
    "header_stacks",
    "header_unions",
    "header_union_stacks",
    "field_lists",
    "errors",
    "enums",
    "parsers",
    "actions",
    "pipelines",
    "calculations",
    "register_arrays",
    "extern_instances",
];

/// An element of a list: of a program, or of none.
fn element(dice: &mut Dice, id: usize) -> String {
    let digits = 1 + dice.below(400);
    let number = "9".repeat(digits as usize);
    let few = 1 + dice.below(40) as usize;
    let next = dice.below(20);
    match dice.below(16) {
        0 => "{}".to_owned(),
        1 => "[]".to_owned(),
        2 => "[[]]".to_owned(),
        3 => "1".to_owned(),
        4 => format!(r#""{}""#, "x".repeat(few)),
        5 => header(id),
        6 => format!(r#"["f{id}",{next}]"#),
        7 => format!(
            r#"{{"name":"t{id}","id":{id},"fields":[{}]}}"#,
            join(few, |field| format!(r#"["f{field}",8,false]"#))
        ),
        8 => format!(
            r#"{{"name":"u{id}","id":{id},"header_ids":[{}]}}"#,
            join(few, |header| header.to_string())
        ),
        9 => format!(
            r#"{{"name":"a{id}","id":{id},"runtime_data":[],"primitives":[{}]}}"#,
            join(few, |_| format!(
                r#"{{"op":"assign","parameters":[{{"type":"field","value":
                ["standard_metadata","egress_spec"]}},{{"type":"hexstr","value":"0x{number}"}}]}}"#
            ))
        ),
        10 => format!(
            r#"{{"name":"c{id}","id":{id},"true_next":"c{next}","false_next":"c{id}",
            "expression":{{"type":"bool","value":true}}}}"#
        ),
        11 => format!(
            r#"{{"name":"p{id}","id":{id},"init_state":"s0","parse_states":[{}]}}"#,
            join(few, |state| format!(
                r#"{{"name":"s{state}","id":{state},"parser_ops":[],
                "transition_key":[],"transitions":[{{"type":"default","value":"default",
                "mask":null,"next_state":"s{next}"}}]}}"#
            ))
        ),
        12 => format!(
            r#"{{"name":"e{id}","entries":[{}]}}"#,
            join(few, |entry| format!(r#"["m{entry}",{entry}]"#))
        ),
        13 => format!(
            r#"{{"name":"s{id}","id":{id},"header_type":"t","size":{few},"header_ids":[{}]}}"#,
            join(few, |header| header.to_string())
        ),
        14 => format!(r#"{{"a":{{"b":{{"c":{}}}}}}}"#, "[".repeat(few) + &"]".repeat(few)),
        _ => format!(r#"{{"name":"{}","id":{number}}}"#, "n".repeat(few)),
    }
}

/// A text with the lists of a program, of elements of a few kinds; about as long as `bytes`.
fn generated(dice: &mut Dice, bytes: usize) -> String {
    let whole = one_union(1 + dice.below(8) as usize, 1 + dice.below(8) as usize, 8);
    let mut text = whole.trim_end().strip_suffix('}').expect("it is an object").to_owned();
    while text.len() < bytes {
        let list = LISTS[dice.below(LISTS.len() as u64) as usize];
        let kind_seed = dice.bits();
        let count = 1 + dice.below(200) as usize;
        // All elements of a list are of one kind: what is dense is dense everywhere.
        let elements = join(count, |id| element(&mut Dice(kind_seed), id));
        text += &format!(r#","{list}":[{elements}]"#);
    }
    text + "}"
}

fn seeds() -> u64 {
    std::env::var("SEEDS").map_or(60, |seeds| seeds.parse().expect("SEEDS is a number"))
}

#[test]
fn no_text_takes_more_memory_than_it_is_charged_or_more_steps_than_its_length_says() {
    for seed in 0..seeds() {
        let mut dice = Dice(seed);
        let json = generated(&mut dice, 1 << (10 + seed % 8));
        let (held, allocations) = cost_of(&json);
        let (bytes, charged) = (json.len(), charged(&json));
        assert!(held <= charged, "seed {seed}: {held} held, {charged} charged, {bytes} bytes");
        let steps_max = 4096 + 2 * bytes as u64;
        assert!(allocations <= steps_max, "seed {seed}: {allocations} for {bytes} bytes");
    }
}

/// Nothing but one kind of element: each is the densest text of its kind.
#[test]
fn the_densest_texts_take_no_more_than_they_are_charged() {
    for dense in ["{}", "[]", "1", "\"\"", "{\"a\":1}", "[1]", "[[]]", "{\"a\":{}}", "null"] {
        for key in ["nothing", "headers", "errors"] {
            // One more than a power of two: the list has grown just now.
            let json = format!(r#"{{"{key}":[{}]}}"#, join(32_769, |_| dense.to_owned()));
            let (held, _) = cost_of(&json);
            let charged = charged(&json);
            assert!(held <= charged, "{dense} in {key}: {held} held, {charged} charged");
        }
    }
}

#[test]
fn a_text_whose_tree_finds_no_room_is_refused_before_it_is_read() {
    // 10 MiB for programs: 30,000 empty objects take more, though their text is short.
    let memory = Budget::new(Bytes(64 << 20), Bytes(16 << 20));
    let config = Config { memory, ..Config::default() };
    let json = format!(r#"{{"headers":[{}]}}"#, join(30_000, |_| "{}".to_owned()));
    let held = HELD_BYTES.get();
    PEAK_BYTES.set(held);
    let error = Pipeline::load(json.as_bytes(), &config).expect_err("there is no room");
    assert!(error.is_of_memory, "{error}");
    assert!(error.to_string().contains("no room for reading the program"), "{error}");
    assert!(PEAK_BYTES.get() - held < json.len() as i64, "nothing was read");
    // The charge for reading is given back once the program is loaded.
    let json = one_union(1, 1, 8);
    let loaded = Pipeline::load(json.as_bytes(), &config).expect("there is room for it");
    assert!(memory.taken(Purpose::Programs).0 < bmv2::reading_bytes(json.as_bytes()));
    drop(loaded);
}
