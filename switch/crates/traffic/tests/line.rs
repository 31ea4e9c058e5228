//! The emulated line: exact instants, and what jitter, loss, corruption and duplication do.

use crate::support;

use proptest::prelude::*;
use support::{Packet, us};
use traffic::{
    Impairment, Jitter, Limit, Line, LineConfig, LineOutput, LineVerdict, Lines, Loss, Probability,
    Stalls,
};
use units::{Bytes, PortId, Rate, Span, Time};

fn line(config: LineConfig) -> Line<Packet> {
    Line::new(config, 7, "test").expect("the test's configuration is valid")
}

/// A line with no rate that does this to frames.
fn impaired(impairment: Impairment) -> LineConfig {
    LineConfig { impairment, ..LineConfig::default() }
}

fn send(line: &mut Line<Packet>, now: Time, id: u64, length: u64) {
    assert_eq!(line.handle_frame(now, Packet { id, length }), LineVerdict::Held);
}

/// `(id, instant)` of all that arrives by `now`.
fn arrivals(line: &mut Line<Packet>, now: Time) -> Vec<(u64, Time)> {
    let mut arrived = Vec::new();
    while let Some(output) = line.poll_output(now) {
        if let LineOutput::Deliver { packet, at, .. } = output {
            arrived.push((packet.id, at));
        }
    }
    assert!(line.balance());
    arrived
}

#[test]
fn what_a_sender_hands_over_at_once_arrives_at_the_rate_of_the_line() {
    let rate = Some(Rate::from_mbps(100));
    let impairment = Impairment { delay: Span::from_us(500), ..Impairment::default() };
    let mut line = line(LineConfig { rate, impairment, ..LineConfig::default() });
    (0..3).for_each(|id| send(&mut line, us(0), id, 1500));
    // One frame is being taken in, two wait.
    assert_eq!((line.backlog().packets, line.backlog().bytes), (2, Bytes(3000)));
    assert_eq!(line.next_due(), Some(us(620)));
    // 1500 bytes at 100 Mb/s take 120 us, and 500 us later the last bit is there.
    assert_eq!(arrivals(&mut line, us(900)), [(0, us(620)), (1, us(740)), (2, us(860))]);
    assert_eq!(line.next_due(), None);
}

#[test]
fn a_new_rate_acts_on_what_the_sender_still_holds() {
    let mut line = line(LineConfig { rate: Some(Rate::from_mbps(100)), ..LineConfig::default() });
    (0..3).for_each(|id| send(&mut line, us(0), id, 1500));
    let faster = LineConfig { rate: Some(Rate::from_mbps(1000)), ..LineConfig::default() };
    line.configure(us(60), faster).expect("valid");
    // Frame 0 is half on the line and ends as promised; the others take 12 us each.
    assert_eq!(arrivals(&mut line, us(900)), [(0, us(120)), (1, us(132)), (2, us(144))]);
}

#[test]
fn a_bounded_backlog_refuses_and_counts() {
    let backlog = Limit::bytes(Bytes(3000));
    let rate = Some(Rate::from_mbps(100));
    let mut line = line(LineConfig { rate, backlog, ..LineConfig::default() });
    (0..3).for_each(|id| send(&mut line, us(0), id, 1500));
    let packet = Packet { id: 3, length: 1500 };
    assert_eq!(line.handle_frame(us(119), packet), LineVerdict::Refused(packet));
    send(&mut line, us(120), 4, 1500);
    assert_eq!(line.counters().refused.packets, 1);
    assert_eq!(arrivals(&mut line, us(900)).len(), 4);
}

#[test]
fn jitter_keeps_the_order_unless_told_otherwise() {
    for reorder in [false, true] {
        let jitter = Jitter { max: Span::from_us(100), reorder };
        let delay = Span::from_us(50);
        let mut line = line(impaired(Impairment { delay, jitter, ..Impairment::default() }));
        (0..1000).for_each(|id| send(&mut line, us(id), id, 100));
        let arrived = arrivals(&mut line, us(2000));
        assert_eq!(arrived.len(), 1000);
        assert!(arrived.windows(2).all(|pair| pair[0].1 <= pair[1].1), "by instant");
        let late = |(id, at): &(u64, Time)| at.since(us(*id)) - Span::from_us(50);
        assert!(arrived.iter().all(|frame| late(frame) <= Span::from_us(100)));
        assert!(arrived.iter().any(|frame| late(frame) > Span::from_us(90)));
        assert_eq!(arrived.is_sorted_by_key(|(id, _)| *id), !reorder);
    }
}

#[test]
fn a_neighbour_that_stalls_sends_what_waited_together() {
    let stalls = Stalls { share: Probability::ppm(10_000), max: Span::from_us(1000) };
    let mut line = line(impaired(Impairment { stalls, ..Impairment::default() }));
    let mut late_us = Vec::new();
    let mut last = 0;
    for id in 0..100_000 {
        // A frame every 100 us.
        send(&mut line, us(id * 100), id, 100);
        while let Some(output) = line.poll_output(us(id * 100)) {
            let LineOutput::Deliver { at, packet, .. } = output else { panic!("nothing is lost") };
            assert_eq!(packet.id, last, "none overtakes another");
            last += 1;
            late_us.push(at.since(us(packet.id * 100)).whole_us());
        }
    }
    // One in a hundred begins a wait of 500 us in the mean, and the frames of the next x us wait for
    // one that is x us late: x / 100 of them, (1000 / 2) / 100 = 5 on average.
    let late = late_us.iter().filter(|us| **us > 0).count();
    assert!((4_500..6_500).contains(&late), "{late}");
    assert!(late_us.iter().all(|us| *us <= 1000));
    assert!(late_us.iter().any(|us| *us > 950));
}

#[test]
fn loss_corruption_and_duplication_strike_their_share() {
    let tenth = Probability::ppm(100_000);
    let mut line = line(impaired(Impairment {
        loss: Loss::Independent(tenth),
        corruption: tenth,
        duplication: tenth,
        ..Impairment::default()
    }));
    let mut bits = Vec::new();
    for id in 0..100_000 {
        send(&mut line, us(id), id, 100);
        while let Some(output) = line.poll_output(us(id)) {
            if let LineOutput::Deliver { flip_bit: Some(bit), .. } = output {
                bits.push(bit);
            }
        }
    }
    let counters = line.counters();
    // A tenth of 100000 is lost, a tenth of the 90000 others doubled, a tenth of those 99000
    // damaged; standard deviation about 95.
    assert!(counters.lost.packets.abs_diff(10_000) < 400, "{counters:?}");
    assert!(counters.duplicated.packets.abs_diff(9_000) < 400, "{counters:?}");
    assert!(counters.corrupted.packets.abs_diff(9_900) < 400, "{counters:?}");
    assert!(bits.iter().all(|bit| *bit < 800), "a frame of 100 bytes has 800 bits");
    assert!(line.balance());
}

#[test]
fn the_same_seed_gives_the_same_line_and_another_seed_another() {
    let run = |seed| {
        let jitter = Jitter { max: Span::from_us(100), reorder: true };
        let loss = Loss::Independent(Probability::ppm(200_000));
        let config = impaired(Impairment { jitter, loss, ..Impairment::default() });
        let mut line = Line::new(config, seed, "test").expect("valid");
        (0..100).for_each(|id| send(&mut line, us(id), id, 100));
        arrivals(&mut line, us(1000))
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_line_of_25_megabytes_keeps_every_frame_and_its_instant() {
    // 10 Gb/s x 20 ms: 1500 bytes take 1.2 us, so 20 ms / 1.2 us = 16666 frames are under way
    // when the first arrives.
    let delay = Span::from_ms(20);
    let mut line = line(impaired(Impairment { delay, ..Impairment::default() }));
    let sent_at = |id| Time::ZERO + Span::from_ns(1200) * id;
    (0..16_667).for_each(|id| send(&mut line, sent_at(id), id, 1500));
    assert_eq!(line.under_way().bytes, Bytes(16_667 * 1500));
    let arrived = arrivals(&mut line, Time::ZERO + Span::from_secs(1));
    let expected: Vec<_> = (0..16_667).map(|id| (id, sent_at(id) + delay)).collect();
    assert_eq!(arrived, expected);
}

#[test]
fn a_shorter_delay_does_not_make_frames_overtake() {
    let of = |ms| impaired(Impairment { delay: Span::from_ms(ms), ..Impairment::default() });
    let mut line = line(of(20));
    send(&mut line, us(0), 0, 100);
    line.configure(us(1), of(5)).expect("valid");
    send(&mut line, us(2), 1, 100);
    // Frame 0 arrives as promised; frame 1 would be there at 5.002 ms and has to wait for it.
    assert_eq!(arrivals(&mut line, us(30_000)), [(0, us(20_000)), (1, us(20_000))]);
}

#[test]
fn lines_of_many_ports_come_out_by_instant_and_port() {
    let mut lines = Lines::new(7, "receive");
    let serialises = LineConfig { rate: Some(Rate::from_mbps(100)), ..LineConfig::default() };
    for number in [1, 2, 3] {
        lines.configure(us(0), PortId(number), serialises.clone()).expect("valid");
    }
    // 1500 bytes at 100 Mb/s take 120 us, 750 take 60.
    for (number, length) in [(3, 1500), (2, 1500), (1, 750), (1, 750)] {
        let packet = Packet { id: number.into(), length };
        assert_eq!(lines.handle_frame(us(0), PortId(number), packet), LineVerdict::Held);
    }
    let mut found = Vec::new();
    while let Some(due) = lines.next_due() {
        while let Some((port, LineOutput::Deliver { at, .. })) = lines.poll_output(due) {
            found.push((port.0, at));
        }
    }
    assert_eq!(found, [(1, us(60)), (1, us(120)), (2, us(120)), (3, us(120))]);
    assert!(lines.balance());
    // A line that nothing happens on is not asked.
    lines.configure(us(200), PortId(1), LineConfig::default()).expect("valid");
    assert!(lines.is_clear(PortId(1)) && lines.is_clear(PortId(9)));
    assert!(!lines.is_clear(PortId(2)));
}

#[test]
fn copies_made_while_a_line_is_configured_are_in_the_books() {
    let mut lines = Lines::new(7, "receive");
    let port = PortId(1);
    let impairment = Impairment {
        delay: Span::from_us(500),
        duplication: Probability::ppm(1_000_000),
        ..Impairment::default()
    };
    let plain = LineConfig { rate: Some(Rate::from_mbps(100)), ..LineConfig::default() };
    let rough = LineConfig { impairment, ..plain.clone() };
    lines.configure(us(0), port, rough).expect("valid");
    for id in 0..2 {
        let packet = Packet { id, length: 1500 };
        assert_eq!(lines.handle_frame(us(0), port, packet), LineVerdict::Held);
    }
    // The first frame begins at once, and is duplicated. The second begins at 120 us, without a
    // poll: the first copies arrive at 620 us. So the change of configuration finds it begun.
    assert_eq!(lines.held().packets, 3);
    lines.configure(us(130), port, plain).expect("valid");
    assert_eq!(lines.held().packets, 4);
    assert!(lines.balance());
    while lines.poll_output(us(1000)).is_some() {}
    assert_eq!(lines.held().packets, 0);
}

/// The actions of a test on a line, in order of time.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Rate in Mb/s and delay in microseconds from now on.
    Configure { mbps: u64, delay: u64 },
    /// Hands over a frame of this many bytes.
    Send(u64),
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let configure =
        (prop::sample::select(vec![10, 100, 1000]), prop::sample::select(vec![0, 0, 300]))
            .prop_map(|(mbps, delay)| Step::Configure { mbps, delay });
    let send = (1..1500u64).prop_map(Step::Send);
    prop::collection::vec((0..400u64, prop_oneof![1 => configure, 5 => send]), 1..40)
}

/// The obvious line: each frame begins when the one before has been sent, with the rate and the
/// delay of that instant, and overtakes no other.
fn expected(steps: &[(u64, Step)]) -> Vec<Time> {
    let mut now = Time::ZERO;
    let (mut rate, mut delay) = (Rate::from_mbps(10), Span::ZERO);
    let (mut waiting, mut arrivals) = (std::collections::VecDeque::new(), Vec::new());
    let (mut free_at, mut last) = (Time::ZERO, Time::ZERO);
    let mut begin_until = |waiting: &mut std::collections::VecDeque<(Time, u64)>,
                           (now, rate, delay): (Time, Rate, Span),
                           at_least: Time| {
        free_at = free_at.max(at_least);
        while let Some((since, length)) = waiting.front().copied() {
            let begins = free_at.max(since);
            if begins > now {
                break;
            }
            waiting.pop_front();
            free_at = begins + rate.span_of(Bytes(length));
            last = last.max(free_at + delay);
            arrivals.push(last);
        }
    };
    for (pause, step) in steps {
        now += Span::from_us(*pause);
        begin_until(&mut waiting, (now, rate, delay), Time::ZERO);
        match *step {
            Step::Send(length) => waiting.push_back((now, length)),
            Step::Configure { mbps, delay: us } => {
                (rate, delay) = (Rate::from_mbps(mbps), Span::from_us(us));
                begin_until(&mut waiting, (Time::ZERO, rate, delay), now);
            }
        }
    }
    begin_until(&mut waiting, (Time::MAX, rate, delay), Time::ZERO);
    arrivals
}

proptest! {
    /// Lines that only serialise keep their frames elsewhere than lines with a delay; this must not
    /// be visible, not when one becomes the other with frames on it, nor by how promptly it is
    /// polled.
    #[test]
    fn frames_arrive_by_the_rates_and_delays_under_which_they_begin(
        steps in steps(),
        prompt in any::<bool>(),
    ) {
        let rate = |mbps| Some(Rate::from_mbps(mbps));
        let mut line = line(LineConfig { rate: rate(10), ..LineConfig::default() });
        let (mut now, mut arrived) = (Time::ZERO, Vec::new());
        for (id, (pause, step)) in (0..).zip(&steps) {
            now += Span::from_us(*pause);
            while let Some(due) = line.next_due().filter(|due| prompt && *due <= now) {
                arrived.extend(arrivals(&mut line, due));
            }
            match *step {
                Step::Send(length) => send(&mut line, now, id, length),
                Step::Configure { mbps, delay } => {
                    let delay = Span::from_us(delay);
                    let impairment = Impairment { delay, ..Impairment::default() };
                    let config = LineConfig { rate: rate(mbps), impairment, ..LineConfig::default() };
                    line.configure(now, config).expect("valid");
                }
            }
        }
        arrived.extend(arrivals(&mut line, Time::MAX));
        prop_assert_eq!(line.held().packets, 0);
        prop_assert!(arrived.is_sorted_by_key(|(id, _)| *id), "{:?}", arrived);
        let instants: Vec<Time> = arrived.iter().map(|(_, at)| *at).collect();
        prop_assert_eq!(instants, expected(&steps));
    }
}
