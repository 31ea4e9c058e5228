//! Where a packet can wait: every place of the table in docs/ports.md, and that there is no other.

use crate::rig;

use device::{Change, Device, LinkConfig};
use proptest::prelude::*;
use rig::{Said, device_with, frame, order, poll};
use traffic::{
    ArbiterConfig, Impairment, InputConfig, InputQueueing, Jitter, Limit, Loss, PortConfig,
    Probability, Stalls,
};
use units::{PortId, Rate, Span, Time};

const IN: PortId = PortId(1);
const OUT: PortId = PortId(2);

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// Ports 1 to 3 at 100 Mb/s, port 2 at `slow`; cables as `link` says; at the inputs virtual output
/// queues of eight packets each before a crossbar of 50 Mb/s.
fn device(slow: Rate, link: LinkConfig) -> Device {
    let rate = Rate::from_mbps(100);
    let mut device = device_with(Some(rate), link);
    let arbiter = ArbiterConfig::Islip { iterations: 1 };
    let input = InputConfig {
        voq_limit: Limit::packets(8),
        ..InputConfig::new(InputQueueing::Voq, Rate::from_mbps(50), arbiter)
    };
    let traffic = traffic::Change {
        ports: [(OUT, Some(PortConfig::strict(Some(slow), 2)))].into(),
        input: Some(Some(input)),
        ..traffic::Change::default()
    };
    device.change(Time::ZERO, Change { traffic, ..Change::default() }).expect("valid");
    device
}

/// The depths shown, in packets: the neighbours' cards, the lines, the input stage, the output
/// queues.
fn shown(device: &Device) -> [u64; 4] {
    let lines = (1..=3).flat_map(|port| <[_; 2]>::from(device.lines(PortId(port))));
    let (backlog, under_way) = lines.fold((0, 0), |(backlog, under_way), line| {
        (backlog + line.backlog.packets, under_way + line.under_way.packets)
    });
    let inputs = device.traffic().inputs().map(|input| input.depth.packets).sum();
    let queues = device.traffic().queues().map(|queue| queue.depth.packets).sum();
    [backlog, under_way, inputs, queues]
}

#[test]
fn a_packet_is_shown_in_one_place_at_a_time() {
    // Of 1500 bytes. The card and the line in take 120 us each, the crossbar 240 us, the line out
    // 1200 us; cables add 50 us.
    let way = Impairment { delay: Span::from_us(50), ..Impairment::default() };
    let link = LinkConfig { receive: way, transmit: way, ..LinkConfig::default() };
    let mut device = device(Rate::from_mbps(10), link);
    for _ in 0..5 {
        device.handle_frame(us(0), IN, &frame(order::FORWARD, 2, 0, 1500));
    }
    assert_eq!(shown(&device), [4, 1, 0, 0]);
    // The first has arrived at 170 us and crosses until 410. Its output is idle, so it is on the
    // cable out already: neither who crosses nor who is being sent is anywhere else.
    assert!(poll(&mut device, us(180)).is_empty());
    assert_eq!(shown(&device), [3, 2, 0, 0]);
    assert_eq!(device.traffic().transfers(us(180)).len(), 1);
    // The second has arrived at 290 us and waits for the crossbar.
    let said = poll(&mut device, us(300));
    assert_eq!(said.iter().map(Said::at).collect::<Vec<_>>(), [us(220)]);
    assert_eq!(shown(&device), [2, 1, 1, 0]);
    // It crosses from 410 us on and counts in the output's queue, where it waits for the line; the
    // third has arrived, the fourth is on the line in, the fifth in the card.
    assert!(poll(&mut device, us(420)).is_empty());
    assert_eq!(shown(&device), [1, 1, 1, 1]);
    assert_eq!(device.traffic().transfers(us(420)).len(), 1);
}

/// Both ways delay, stall, lose, corrupt and double frames.
fn rough() -> LinkConfig {
    let way = Impairment {
        delay: Span::from_us(300),
        jitter: Jitter { max: Span::from_us(500), reorder: true },
        stalls: Stalls { share: Probability::ppm(100_000), max: Span::from_us(500) },
        loss: Loss::Independent(Probability::ppm(100_000)),
        corruption: Probability::ppm(100_000),
        duplication: Probability::ppm(100_000),
    };
    LinkConfig { receive: way, transmit: way, ..LinkConfig::default() }
}

/// Frames on their way through device and cables: all that came in, was copied or doubled, less all
/// that went out or ended.
fn in_flight(device: &Device, handed_over: u64, delivered: u64) -> i64 {
    let mut count = (handed_over as i64 - delivered as i64) + device.books().copied();
    for (_, books) in device.books().ports() {
        count -= books.dropped.values().map(|tally| tally.packets as i64).sum::<i64>();
    }
    for line in (1..=3).flat_map(|port| <[_; 2]>::from(device.lines(PortId(port)))) {
        let counters = line.counters;
        count += counters.duplicated.packets as i64;
        count -= (counters.lost.packets + counters.refused.packets) as i64;
    }
    count
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// At every instant at which something happens, the places together show what is in flight.
    #[test]
    fn all_that_is_in_flight_is_shown(
        frames in proptest::collection::vec((0u64..200, 0..order::COUNT, 0u8..5, 64usize..1500), 1..80)
    ) {
        let mut device = device(Rate::from_mbps(30), rough());
        let (mut handed_over, mut delivered, mut now) = (0, 0, 0);
        for (wait, what, port, size) in frames {
            now += wait;
            while let Some(due) = device.next_due().filter(|due| *due <= us(now)) {
                let said = poll(&mut device, due);
                delivered += said.iter().filter(|it| matches!(it, Said::Sent { .. })).count() as u64;
                let shown: u64 = shown(&device).iter().sum();
                prop_assert_eq!(shown as i64, in_flight(&device, handed_over, delivered));
            }
            device.handle_frame(us(now), IN, &frame(what, port, 0, size));
            handed_over += 1;
            let shown: u64 = shown(&device).iter().sum();
            prop_assert_eq!(shown as i64, in_flight(&device, handed_over, delivered));
        }
    }
}
