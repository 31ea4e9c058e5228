//! The order of events at one instant, and that the steps of time do not matter.

use crate::rig;

use device::{LinkConfig, SenderConfig, SenderRate};
use rig::{Notebook, Port, order, orders, router, source_routes};
use traffic::PortConfig;
use units::{Rate, Span, Time};
use world::{CableDrop, ROUNDS_MAX, World};

/// A port at which frames arrive when they are handed over.
fn port(rate: Option<Rate>) -> Port {
    let sender = SenderConfig { rate: SenderRate::Unlimited, ..SenderConfig::default() };
    (PortConfig::strict(rate, 2), LinkConfig { sender, ..LinkConfig::default() })
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

#[test]
fn frames_of_one_instant_arrive_by_port_and_not_by_the_order_of_hosts() {
    // Host 0 is added first and hangs at port 2, host 1 at port 1; both send at 5 us. Their frames
    // meet in port 3, of 8 Mb/s: a byte takes 1 us.
    let mut world = World::new();
    let mark = |mark: u8| [orders(&[(order::FORWARD, 3, 0)], 9), vec![mark]].concat();
    let late = world.add_host(Notebook::sending(vec![(us(5), mark(2))]));
    let early = world.add_host(Notebook::sending(vec![(us(5), mark(1))]));
    let sink = world.add_host(Notebook::default());
    let ports = [(1, port(None)), (2, port(None)), (3, port(Some(Rate::from_mbps(8))))];
    let middle = world.add_router(router(1, ports, source_routes), None);
    world.connect(late.port(0), middle.port(2));
    world.connect(early.port(0), middle.port(1));
    world.connect(middle.port(3), sink.port(0));
    world.advance(us(100));
    let seen = &world.host(sink).seen;
    let marks: Vec<u8> = seen.iter().filter_map(|(_, bytes)| bytes.last().copied()).collect();
    assert_eq!(marks, [1, 2]);
    // The router takes the order off, so 10 of 14 bytes are on the line: the second leaves 10 us
    // after the first, which found the port idle.
    assert_eq!(world.host(sink).instants(), [us(5), us(15)]);
}

#[test]
fn an_answer_without_delay_is_back_at_the_same_instant() {
    let answer = |frame: &[u8]| Some([&[order::FORWARD, 1, 0, 0], frame].concat());
    let ask = orders(&[(order::FORWARD, 2, 0)], 20);
    let mut world = World::new();
    let asking = world.add_host(Notebook::sending(vec![(us(7), ask)]));
    let answering = world.add_host(Notebook::answering(answer));
    let middle =
        world.add_router(router(1, [(1, port(None)), (2, port(None))], source_routes), None);
    world.connect(asking.port(0), middle.port(1));
    world.connect(answering.port(0), middle.port(2));
    world.advance(us(7));
    assert_eq!(world.host(asking).seen, [(us(7), vec![0; 20])]);
    assert_eq!(world.next_due(), None);
}

#[test]
fn control_comes_after_the_packets_of_its_instant() {
    // The frame leaves at 5 us; the cable is cut at 5 us, when it is through.
    let send = orders(&[(order::FORWARD, 2, 0)], 20);
    let mut world = World::new();
    let sender = world.add_host(Notebook::sending(vec![(us(5), send)]));
    let sink = world.add_host(Notebook::default());
    let middle =
        world.add_router(router(1, [(1, port(None)), (2, port(None))], source_routes), None);
    world.connect(sender.port(0), middle.port(1));
    let cable = world.connect(middle.port(2), sink.port(0));
    world.advance(us(5));
    world.cut(cable);
    assert_eq!(world.host(sink).instants(), [us(5)]);
}

#[test]
fn a_circle_that_takes_no_time_ends() {
    // A host that sends back whatever it gets to another one that does so too: between ports
    // without rate no time passes.
    let again = |_: &[u8]| Some(orders(&[(order::FORWARD, 2, 0)], 20));
    let back = |_: &[u8]| Some(orders(&[(order::FORWARD, 1, 0)], 20));
    let mut first = Notebook::sending(vec![(us(1), orders(&[(order::FORWARD, 2, 0)], 20))]);
    first.set_answer(again);
    let mut world = World::new();
    let first = world.add_host(first);
    let second = world.add_host(Notebook::answering(back));
    let middle =
        world.add_router(router(1, [(1, port(None)), (2, port(None))], source_routes), None);
    world.connect(first.port(0), middle.port(1));
    world.connect(second.port(0), middle.port(2));
    world.advance(us(1));
    // The frame that has crossed this many cables is dropped on the next one; two rounds are one
    // cable and the router behind it.
    let ends = [first.port(0), second.port(0), middle.port(1), middle.port(2)];
    let counters = ends.map(|end| world.counters(end));
    let dropped = counters.map(|port| port.dropped_for(CableDrop::NoTimePasses).packets);
    assert_eq!(dropped.iter().sum::<u64>(), 1);
    let received: u64 = counters.iter().map(|port| port.received.packets).sum();
    assert_eq!(received, u64::from(ROUNDS_MAX));
    assert!(world.balances(), "{:?}", world.ledger());
    assert_eq!(world.next_due(), None);
}

#[test]
fn time_stands_where_the_last_event_is_what_was_waited_for() {
    let mut world = World::new();
    let sender =
        world.add_host(Notebook::sending(vec![(us(7), orders(&[(order::FORWARD, 2, 0)], 20))]));
    let sink = world.add_host(Notebook::default());
    let middle =
        world.add_router(router(1, [(1, port(None)), (2, port(None))], source_routes), None);
    world.connect(sender.port(0), middle.port(1));
    world.connect(sink.port(0), middle.port(2));
    let nothing_arrived = |world: &World<Notebook>| world.host(sink).seen.is_empty();
    assert!(!world.advance_while(us(100), 1000, nothing_arrived));
    assert_eq!((world.now(), world.next_due()), (us(7), None));
    // From there it goes on.
    assert!(world.advance_while(us(100), 1000, |_| true));
    assert_eq!(world.now(), us(100));
}
