//! Cables at a device: when frames arrive and leave, and where the others are counted.

use crate::rig;

use device::{Change, DropReason, LinkConfig, PortBooks, SenderConfig, SenderRate};
use proptest::prelude::*;
use rig::{Said, device_with, frame, order, poll};
use traffic::{Impairment, Jitter, Limit, Loss, PortConfig, Probability, Stalls, Tally};
use units::{Bytes, PortId, Rate, Span, Time};

const IN: PortId = PortId(1);
const OUT: PortId = PortId(2);

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn instants(said: &[Said]) -> Vec<Time> {
    said.iter().map(Said::at).collect()
}

/// A cable that delays both ways and stalls, loses, corrupts and doubles one frame in ten each way.
fn rough() -> LinkConfig {
    let tenth = Probability::ppm(100_000);
    let way = Impairment {
        delay: Span::from_us(300),
        jitter: Jitter { max: Span::from_us(500), reorder: true },
        stalls: Stalls { share: tenth, max: Span::from_us(500) },
        loss: Loss::Independent(tenth),
        corruption: tenth,
        duplication: tenth,
    };
    LinkConfig { receive: way, transmit: way, ..LinkConfig::default() }
}

#[test]
fn a_super_packet_arrives_spaced_at_the_rate_of_the_port() {
    let mut device = device_with(Some(Rate::from_mbps(100)), LinkConfig::default());
    for _ in 0..3 {
        device.handle_frame(us(0), IN, &frame(order::FORWARD, 2, 0, 1500));
    }
    // 1500 bytes at 100 Mb/s take 120 us. The last two wait in the sender, one is on the line.
    let line = device.lines(IN).0;
    assert_eq!((line.backlog.packets, line.under_way.packets), (2, 1));
    assert_eq!(device.next_due(), Some(us(120)));
    let said = poll(&mut device, us(119));
    assert_eq!(device.books().port(IN), PortBooks::default(), "nothing has arrived: {said:?}");
    // Each has arrived when its last bit has, finds an idle port and leaves at once: the router
    // never holds two of them.
    let said = poll(&mut device, us(5_000));
    assert_eq!(instants(&said), [us(120), us(240), us(360)]);
    assert_eq!(device.traffic().queues().map(|queue| queue.high_water.packets).max(), Some(1));
    let line = device.lines(IN).0;
    assert_eq!(line.backlog_high_water.packets, 2);
    assert_eq!(line.counters.delivered.packets, 3);
    assert!(device.balance());
}

#[test]
fn a_port_without_a_rate_has_no_line_at_all() {
    let mut device = device_with(None, LinkConfig::default());
    device.handle_frame(us(7), IN, &frame(order::FORWARD, 2, 0, 1500));
    assert_eq!(instants(&poll(&mut device, us(7))), [us(7)]);
    assert_eq!(device.lines(IN).0, traffic::LineReport::default());
}

#[test]
fn what_the_senders_card_cannot_hold_is_not_the_routers_loss() {
    let backlog = Limit::bytes(Bytes(3000));
    let sender = SenderConfig { rate: SenderRate::Own(Rate::from_mbps(10)), backlog };
    let mut device = device_with(None, LinkConfig { sender, ..LinkConfig::default() });
    for _ in 0..4 {
        device.handle_frame(us(0), IN, &frame(order::FORWARD, 2, 0, 1500));
    }
    // One is being sent, two of 1500 bytes wait, the fourth does not fit. 1500 bytes at 10 Mb/s
    // take 1.2 ms.
    assert_eq!(instants(&poll(&mut device, us(9_000))), [us(1_200), us(2_400), us(3_600)]);
    let line = device.lines(IN).0;
    assert_eq!(line.counters.refused, Tally { packets: 1, bytes: Bytes(1500) });
    assert_eq!(device.books().port(IN).received.packets, 3);
    assert!(device.balance());
}

#[test]
fn a_cable_that_nobody_configured_hides_no_queue() {
    let mut device = device_with(Some(Rate::from_mbps(10)), LinkConfig::default());
    for _ in 0..1_100 {
        device.handle_frame(us(0), IN, &frame(order::FORWARD, 2, 0, 1500));
    }
    // One is being sent and 1000 wait, as in a Linux network card; 99 do not fit.
    let line = device.lines(IN).0;
    assert_eq!(line.backlog.packets, 1_000);
    assert_eq!(line.counters.refused.packets, 99);
    // Every frame handed over is in a visible number.
    let shown = line.backlog.packets + line.under_way.packets + line.counters.refused.packets;
    assert_eq!(shown + device.books().port(IN).received.packets, 1_100);
    assert!(device.balance());
}

#[test]
fn a_transmit_line_delivers_later_and_holds_nobody_up() {
    let transmit = Impairment { delay: Span::from_ms(10), ..Impairment::default() };
    let sender = SenderConfig { rate: SenderRate::Unlimited, ..SenderConfig::default() };
    let link = LinkConfig { transmit, sender, ..LinkConfig::default() };
    let mut device = device_with(Some(Rate::from_mbps(100)), link);
    for _ in 0..2 {
        device.handle_frame(us(0), IN, &frame(order::FORWARD, 2, 0, 1500));
    }
    assert!(poll(&mut device, us(9_999)).is_empty());
    // The router has sent both, at 0 and at 120 us; they are under way.
    assert_eq!(device.books().port(OUT).transmitted.packets, 2);
    assert_eq!(device.traffic().held().packets, 0);
    assert_eq!(device.lines(OUT).1.under_way.bytes, Bytes(3000));
    assert_eq!(instants(&poll(&mut device, us(20_000))), [us(10_000), us(10_120)]);
    assert!(device.balance());
}

#[test]
fn a_line_that_loses_everything_is_counted_and_not_dropped_by_the_router() {
    let transmit =
        Impairment { loss: Loss::Independent(Probability::ALWAYS), ..Impairment::default() };
    let mut device = device_with(None, LinkConfig { transmit, ..LinkConfig::default() });
    device.handle_frame(us(0), IN, &frame(order::FORWARD, 2, 0, 100));
    assert!(poll(&mut device, us(1)).is_empty());
    assert_eq!(device.lines(OUT).1.counters.lost.packets, 1);
    assert_eq!(device.books().port(OUT).transmitted.packets, 1);
    assert!(device.balance());
}

#[test]
fn a_corrupting_line_flips_one_bit_of_each_frame() {
    let receive = Impairment { corruption: Probability::ALWAYS, ..Impairment::default() };
    let mut device = device_with(None, LinkConfig { receive, ..LinkConfig::default() });
    // Where the flipped bit falls into the order's own three bytes the frame may go elsewhere or
    // nowhere; most of 1500 bytes are payload.
    let sent = frame(order::FORWARD, 2, 0, 1500);
    for at in 0..20 {
        device.handle_frame(us(at), IN, &sent);
    }
    let flipped = |bytes: &[u8]| -> u32 {
        bytes.iter().zip(&sent).skip(12).map(|(one, other)| (one ^ other).count_ones()).sum()
    };
    let said = poll(&mut device, us(100));
    let flips = said.iter().map(|said| match said {
        Said::Sent { frame, .. } => flipped(frame),
        Said::Digest { .. } => 0,
    });
    let flips: Vec<u32> = flips.collect();
    assert!(flips.len() >= 15 && flips.iter().all(|count| *count <= 1), "{flips:?}");
    assert!(flips.iter().sum::<u32>() >= 15, "{flips:?}");
    assert_eq!(device.lines(IN).0.counters.corrupted.packets, 20);
}

#[test]
fn a_line_that_becomes_clear_empties_before_it_is_bypassed() {
    let receive = Impairment { delay: Span::from_us(100), ..Impairment::default() };
    let mut device = device_with(None, LinkConfig { receive, ..LinkConfig::default() });
    device.handle_frame(us(0), IN, &frame(order::FORWARD, 2, 0, 64));
    let links = [(IN, LinkConfig::default())].into();
    device.change(us(10), Change { links, ..Change::default() }).expect("valid");
    // The second would overtake the first if it went straight to the router.
    device.handle_frame(us(20), IN, &frame(order::FORWARD, 2, 0, 128));
    let mut said = poll(&mut device, us(200));
    device.handle_frame(us(300), IN, &frame(order::FORWARD, 2, 0, 256));
    said.extend(poll(&mut device, us(300)));
    assert_eq!(instants(&said), [us(100), us(100), us(300)]);
    assert_eq!(device.lines(IN).0.counters.offered.packets, 2);
}

/// Frames as (instant in us since the one before, order, port, class, size).
/// At 1 b/s a frame of 1500 bytes is on its line for 12,000 seconds.
#[test]
fn a_port_that_is_removed_takes_its_lines_with_it() {
    let delay = Impairment { delay: Span::from_us(300), ..Impairment::default() };
    let link = LinkConfig { transmit: delay, ..LinkConfig::default() };
    let mut device = device_with(Rate::from_bps(1), link);
    let forward = frame(order::FORWARD, 2, 0, 1500);
    for _ in 0..3 {
        device.handle_frame(us(0), IN, &forward);
    }
    let put = |device: &mut device::Device, at, port: Option<PortConfig>| {
        let mut change = Change::default();
        change.traffic.ports.insert(IN, port);
        device.change(at, change).expect("valid");
    };
    put(&mut device, us(10), None);
    // The line alone counted them; without it the frames have come and been dropped.
    assert_eq!(device.books().port(IN).received.packets, 3);
    assert_eq!(device.books().dropped(DropReason::PortDown).packets, 3);
    assert_eq!(device.memory_in_use(), Bytes::ZERO);
    assert!(device.balance());
    // The new port's line carries a frame in 12 us, and its books begin anew.
    put(&mut device, us(20), Some(PortConfig::strict(Some(Rate::from_gbps(1)), 2)));
    device.handle_frame(us(20), IN, &forward);
    assert_eq!(device.next_due(), Some(us(32)));
    let said = poll(&mut device, us(40));
    assert!(said.is_empty(), "it is on the transmit line of port 2: {said:?}");
    assert_eq!(device.lines(IN).0.counters.offered.packets, 1);
    assert_eq!(device.lines(OUT).1.under_way.packets, 1);
    // Frames on their way to a neighbour are lost with the cable.
    let mut change = Change::default();
    change.traffic.ports.insert(OUT, None);
    device.change(us(50), change).expect("valid");
    assert_eq!(device.next_due(), None);
    assert!(device.balance());
}

fn frames() -> impl Strategy<Value = Vec<(u64, u8, u8, u8, usize)>> {
    let one = (0u64..200, 0..order::COUNT, 0u8..5, 0u8..2, 0usize..1600);
    proptest::collection::vec(one, 1..80)
}

/// Hands in the frames over such cables, polls every `late` us, and checks the books on the way.
fn run(link: LinkConfig, frames: &[(u64, u8, u8, u8, usize)], late: u64) -> Vec<Said> {
    let mut device = device_with(Some(Rate::from_mbps(200)), link);
    let mut said = Vec::new();
    let mut now = 0;
    for (wait, what, port, class, size) in frames {
        now += wait;
        said.extend(poll(&mut device, us(now)));
        device.handle_frame(us(now), IN, &frame(*what, *port, *class, *size));
        assert!(device.balance(), "after order {what}: {:?}", device.books());
    }
    let end = now + 10_000_000;
    while now < end && device.next_due().is_some() {
        now += late;
        said.extend(poll(&mut device, us(now)));
    }
    assert!(device.balance());
    for line in (1..=3).flat_map(|port| <[_; 2]>::from(device.lines(PortId(port)))) {
        let held = line.under_way.packets + line.backlog.packets;
        assert_eq!(held, 0, "ten seconds are enough: {line:?}");
    }
    said
}

/// Like `run` over plain cables, but polled at each instant at which something is due and at no
/// other: then it is never known that an arrival is alone, and none passes.
fn run_at_every_instant(frames: &[(u64, u8, u8, u8, usize)]) -> Vec<Said> {
    let mut device = device_with(Some(Rate::from_mbps(200)), LinkConfig::default());
    let mut said = Vec::new();
    let mut now = us(0);
    for (wait, what, port, class, size) in frames {
        now += Span::from_us(*wait);
        while let Some(due) = device.next_due().filter(|due| *due <= now) {
            said.extend(poll(&mut device, due));
        }
        device.handle_frame(now, IN, &frame(*what, *port, *class, *size));
    }
    while let Some(due) = device.next_due() {
        said.extend(poll(&mut device, due));
    }
    assert!(device.balance());
    said
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Late polls give the same frames at the same instants as prompt ones.
    #[test]
    fn rough_cables_balance_and_do_not_care_how_late_they_are_polled(frames in frames()) {
        let prompt = run(rough(), &frames, 10);
        prop_assert!(prompt.is_sorted_by_key(Said::at));
        prop_assert_eq!(run(rough(), &frames, 50_000), prompt);
    }

    /// Over plain cables most packets find their port idle and pass it, unless they are polled at
    /// the very instant of their arrival: a microsecond's step meets many of those.
    #[test]
    fn packets_that_pass_an_idle_port_do_it_at_the_instants_of_those_that_wait(
        frames in frames()
    ) {
        let prompt = run_at_every_instant(&frames);
        prop_assert!(prompt.is_sorted_by_key(Said::at));
        prop_assert_eq!(&run(LinkConfig::default(), &frames, 10), &prompt);
        prop_assert_eq!(&run(LinkConfig::default(), &frames, 50_000), &prompt);
    }
}
