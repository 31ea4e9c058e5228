//! Queues and lines without a limit hold no more than the device may take.

use crate::rig;

use device::{Change, DropReason, LinkConfig, PACKET_OVERHEAD_BYTES};
use rig::{device, frame, order, poll};
use traffic::{Limit, PortConfig};
use units::{Bytes, PortId, Rate, Span, Time};

const IN: PortId = PortId(1);
const OUT: PortId = PortId(2);
const LENGTH: u64 = 100;
const TOTAL: u64 = LENGTH + PACKET_OVERHEAD_BYTES;

/// A device whose port 2 sends at 1 Mb/s and queues without a limit. There is room for twenty
/// packets; of one port for ten, because then it holds as much as is free.
fn bounded() -> device::Device {
    let mut device = device(None);
    let mut config = device.traffic().config().clone();
    let mut port = PortConfig::strict(Some(Rate::from_mbps(1)), 2);
    port.queues.iter_mut().for_each(|queue| queue.limit = Limit::NONE);
    config.ports.insert(OUT, port);
    device.configure(Time::ZERO, config).expect("valid");
    device.bound_memory(Bytes(20 * TOTAL));
    device
}

#[test]
fn an_unlimited_queue_drops_what_does_not_fit_into_memory_and_goes_on_when_there_is_room() {
    let mut device = bounded();
    for _ in 0..25 {
        device.handle_frame(Time::ZERO, IN, &frame(order::FORWARD, 2, 1, LENGTH as usize));
    }
    assert_eq!(device.memory_in_use(), Bytes(10 * TOTAL));
    assert_eq!(device.books().dropped(DropReason::PacketMemory).packets, 15);
    // 100 bytes take 0.8 ms: ten are gone after 8 ms, and there is room again.
    let later = Time::ZERO + Span::from_ms(8);
    let _sent = poll(&mut device, later);
    assert_eq!(device.memory_in_use(), Bytes::ZERO);
    device.handle_frame(later, IN, &frame(order::FORWARD, 2, 1, LENGTH as usize));
    assert_eq!(device.memory_in_use(), Bytes(TOTAL));
    assert_eq!(device.books().dropped(DropReason::PacketMemory).packets, 15);
    assert!(device.balance());
}

#[test]
fn a_full_port_leaves_an_idle_one_its_share() {
    let mut device = bounded();
    let mut config = device.traffic().config().clone();
    config.ports.insert(PortId(3), config.ports[&OUT].clone());
    device.configure(Time::ZERO, config).expect("valid");
    let mut fill = |port| {
        for _ in 0..25 {
            device.handle_frame(Time::ZERO, IN, &frame(order::FORWARD, port, 1, LENGTH as usize));
        }
        device.memory_in_use_of(PortId(port.into()))
    };
    assert_eq!(fill(2), Bytes(10 * TOTAL));
    // Ten are free, and a port may hold as much as would be free: five.
    assert_eq!(fill(3), Bytes(5 * TOTAL));
    // Port 2, which has more than the five that are free, gets nothing more.
    assert_eq!(fill(2), Bytes(10 * TOTAL));
    assert!(device.balance());
    let _sent = poll(&mut device, Time::ZERO + Span::from_ms(8));
    assert_eq!(device.memory_in_use(), Bytes::ZERO);
    assert!(device.balance());
}

/// The sender hands over at once what its line carries one frame at a time.
#[test]
fn what_waits_before_a_line_counts_and_is_dropped_as_received() {
    let mut device = bounded();
    let port = PortConfig::strict(Some(Rate::from_mbps(1)), 2);
    let mut change = Change::default();
    change.traffic.ports.insert(IN, Some(port));
    change.links.insert(IN, LinkConfig::default());
    device.change(Time::ZERO, change).expect("valid");
    for _ in 0..25 {
        device.handle_frame(Time::ZERO, IN, &frame(order::FORWARD, 3, 1, LENGTH as usize));
    }
    assert_eq!(device.memory_in_use(), Bytes(10 * TOTAL));
    assert_eq!(device.books().port(IN).received.packets, 15, "those that were dropped");
    let _sent = poll(&mut device, Time::ZERO + Span::from_ms(8));
    assert_eq!(device.books().port(IN).received.packets, 25);
    assert!(device.balance());
}
