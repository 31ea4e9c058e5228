//! In the steady state a packet of TCP costs no allocation, in hosts, cables and routers, dropped or
//! not: counted, not claimed.

mod rig;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use hosts::Until;
use rig::dumbbell::{Dumbbell, Plan};
use rig::router_p4;
use units::{Rate, Span};

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

#[test]
fn packets_of_long_flows_allocate_nothing() {
    // Ten flows on a short queue: it drops some of them in every round trip.
    let plan = Plan::new(Rate::from_mbps(20), Span::from_ms(5), 30).pairs(10);
    let mut net = Dumbbell::new(&plan, &mut router_p4, None);
    net.listen();
    for place in 0..10 {
        net.bulk(place, Until::Span(Span::from_secs(1_000)), 1, Span::from_ms(place as u64));
    }
    // Whatever grows with the windows has its size by then.
    net.run(Span::from_secs(30));
    let dropped = |net: &Dumbbell| net.world.ledger().dropped.values().sum::<u64>();
    let (packets, drops) = (net.carried().packets, dropped(&net));
    let before = ALLOCATIONS.get();
    net.run(Span::from_secs(10));
    let allocations = ALLOCATIONS.get() - before;
    let (packets, drops) = (net.carried().packets - packets, dropped(&net) - drops);
    // 20 Mb/s x 10 s / 1514 bytes are 16,512 packets.
    assert!(packets > 15_000 && drops > 100, "{packets} packets, {drops} dropped");
    // A list that grows once more is no allocation per packet.
    assert!(allocations < 20, "{allocations} allocations, {packets} packets, {drops} dropped");
}
