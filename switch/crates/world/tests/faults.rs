//! Cables that are cut, routers that start again, programs that are replaced.

use crate::rig;

use device::LinkConfig;
use rig::{Notebook, order, orders, router, source_routes};
use traffic::PortConfig;
use units::{Rate, Span, Time};
use world::{CableDrop, CableId, Loss, NodeId, World};

/// A sender, a router and a receiver; both ports carry a byte in 1 us.
struct Line {
    world: World<Notebook>,
    middle: NodeId,
    receiver: NodeId,
    cable: CableId,
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn device(seed: u64) -> device::Device {
    let port = || (PortConfig::strict(Some(Rate::from_mbps(8)), 1), LinkConfig::default());
    router(seed, [(1, port()), (2, port())], source_routes)
}

/// Ten frames of 100 bytes at once: they come in at 100, 200, ... 1000 us and leave at once.
fn line() -> Line {
    let frames = (0..10).map(|_| (us(0), orders(&[(order::FORWARD, 2, 0)], 96))).collect();
    let mut world = World::new();
    let sender = world.add_host(Notebook::sending(frames));
    let receiver = world.add_host(Notebook::default());
    let middle = world.add_router(device(1), None);
    world.connect(sender.port(0), middle.port(1));
    let cable = world.connect(middle.port(2), receiver.port(0));
    Line { world, middle, receiver, cable }
}

#[test]
fn a_cut_cable_loses_what_comes_to_it_until_it_is_mended() {
    let Line { mut world, middle, receiver, cable } = line();
    world.advance(us(350));
    world.cut(cable);
    assert!(world.is_cut(cable));
    assert!(!world.router(middle).port_is_up(units::PortId(2)));
    world.advance(us(650));
    world.mend(cable);
    world.advance(us(2_000));
    // Those of 400, 500 and 600 us are lost: the router knows that its port is down.
    let expected = [100, 200, 300, 700, 800, 900, 1_000].map(us);
    assert_eq!(world.host(receiver).instants(), expected);
    let down = Loss::Router(device::DropReason::PortDown);
    assert_eq!(world.ledger().dropped, [(down, 3)].into());
    assert!(world.balances());
}

#[test]
fn a_router_that_starts_again_has_lost_what_was_in_it() {
    let Line { mut world, middle, receiver, .. } = line();
    world.advance(us(350));
    world.restart(middle, device(2));
    assert!(world.balances(), "{:?}", world.ledger());
    world.advance(us(2_000));
    // Seven were in the sender's card, which the receive line emulates.
    assert_eq!(world.host(receiver).instants(), [100, 200, 300].map(us));
    assert_eq!(world.ledger().dropped, [(Loss::Restart, 7)].into());
    assert!(world.balances());
}

#[test]
fn a_port_that_starts_again_at_a_cut_cable_is_down() {
    let Line { mut world, middle, cable, .. } = line();
    world.cut(cable);
    world.restart(middle, device(2));
    assert!(!world.router(middle).port_is_up(units::PortId(2)));
    world.mend(cable);
    assert!(world.router(middle).port_is_up(units::PortId(2)));
}

#[test]
fn a_program_is_replaced_without_losing_a_packet() {
    let Line { mut world, middle, receiver, .. } = line();
    world.advance(us(350));
    world.with_router(middle, |device, _| {
        let program = source_routes(device.program_config());
        device.install(Box::new(program));
    });
    world.advance(us(2_000));
    assert_eq!(world.host(receiver).seen.len(), 10);
    assert!(world.balances());
}

#[test]
fn what_leaves_a_port_without_a_cable_is_counted_as_unplugged() {
    let mut world = World::new();
    let frames = vec![(us(0), orders(&[(order::FORWARD, 2, 0)], 96))];
    let sender = world.add_host(Notebook::sending(frames));
    let middle = world.add_router(device(1), None);
    world.connect(sender.port(0), middle.port(1));
    world.advance(us(1_000));
    assert_eq!(world.ledger().dropped, [(Loss::Cable(CableDrop::Unplugged), 1)].into());
    assert!(world.balances());
}
