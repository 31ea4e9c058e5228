//! In the steady state a packet costs no allocation: counted, not claimed.

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
use units::{PortId, Time};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counting what this thread asks of it.
struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
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
