//! Input stage and crossbar: exact instants, head-of-line blocking, backpressure, and what a
//! change of the input stage does to packets that wait.
//!
//! All ports run at 100 Mb/s, the crossbar at the same rate unless said otherwise: 1500 bytes take
//! 120 us on either.

use crate::support;

use support::{Packet, departures, outputs, us};
use traffic::{
    ArbiterConfig, Arbitration, Arrival, BufferConfig, Change, Config, DropReason, Event,
    FullOutput, InputConfig, InputQueueing, Limit, Manager, Match, PortConfig, StepKind, Verdict,
    Watching,
};
use units::{Bytes, ClassId, PortId, Rate, Ratio, Span, Time};

const RATE: Rate = Rate::from_mbps(100);

fn stage(queueing: InputQueueing) -> InputConfig {
    InputConfig::new(queueing, RATE, ArbiterConfig::Islip { iterations: 1 })
}

/// Ports 0 to 3 with two classes each.
fn router(input: Option<InputConfig>) -> Manager<Packet> {
    router_with(input, None)
}

fn router_with(input: Option<InputConfig>, buffer: Option<BufferConfig>) -> Manager<Packet> {
    let ports = (0..4).map(|id| (PortId(id), PortConfig::strict(Some(RATE), 2))).collect();
    let mut manager = Manager::new(1);
    manager.configure(Time::ZERO, Config { ports, buffer, input }).expect("valid");
    manager
}

fn arrival(id: u64, input: u16, output: u16, class: u8) -> Arrival<Packet> {
    Arrival::new(Packet { id, length: 1500 }, PortId(input), PortId(output), ClassId(class))
}

fn send(manager: &mut Manager<Packet>, now: Time, id: u64, input: u16, output: u16) {
    assert_eq!(manager.handle_packet(now, arrival(id, input, output, 0)), Verdict::Held);
}

/// `(id, output, microseconds)` of all that departs by `now`.
fn instants(manager: &mut Manager<Packet>, now: Time) -> Vec<(u64, u16, u64)> {
    let departures = departures(manager, now);
    assert!(manager.balance());
    let triple = |d: &traffic::Departure<Packet>| (d.packet.id, d.output.0, d.at.whole_us());
    departures.iter().map(triple).collect()
}

#[test]
fn a_fifo_input_blocks_a_packet_for_an_idle_output_and_voqs_do_not() {
    let run = |queueing| {
        let mut manager = router(Some(stage(queueing)));
        // Inputs 0 and 1 both want output 2; behind the packet at input 1 waits one for output 3.
        send(&mut manager, us(0), 1, 0, 2);
        send(&mut manager, us(0), 2, 1, 2);
        send(&mut manager, us(0), 3, 1, 3);
        instants(&mut manager, us(1000))
    };
    // FIFO: output 2 takes packet 1, then packet 2 at 120 us, and only then comes packet 3.
    assert_eq!(run(InputQueueing::Fifo), [(1, 2, 0), (2, 2, 120), (3, 3, 240)]);
    // VOQ: packet 3 crosses at once; input 1 is busy with it until 120 us, as output 2 is.
    assert_eq!(run(InputQueueing::Voq), [(1, 2, 0), (3, 3, 0), (2, 2, 120)]);
}

/// A memory for one packet behind the crossbar.
const ONE_PACKET: BufferConfig = BufferConfig { size: Bytes(2000) };

#[test]
fn of_two_matched_packets_the_second_waits_until_a_shared_memory_has_room_again() {
    let mut manager = router_with(Some(stage(InputQueueing::Voq)), Some(ONE_PACKET));
    // Each of them fits. The first leaves at once, which makes room for the second.
    send(&mut manager, us(0), 1, 0, 2);
    send(&mut manager, us(0), 2, 1, 3);
    assert_eq!(instants(&mut manager, us(1000)), [(1, 2, 0), (2, 3, 0)]);
}

#[test]
fn room_in_a_shared_memory_is_room_for_every_output() {
    let mut manager = router_with(Some(stage(InputQueueing::Voq)), Some(ONE_PACKET));
    let slow = PortConfig::strict(Some(Rate::from_mbps(10)), 2);
    let change = Change { ports: [(PortId(2), Some(slow))].into(), ..Change::default() };
    manager.change(Time::ZERO, change).expect("valid");
    send(&mut manager, us(0), 1, 0, 2);
    send(&mut manager, us(0), 2, 0, 2);
    assert_eq!(instants(&mut manager, us(500)), [(1, 2, 0)]);
    // Packet 2 has the memory until packet 1 is off its line of 10 Mb/s, at 1200 us.
    send(&mut manager, us(500), 3, 1, 3);
    assert_eq!(instants(&mut manager, us(5000)), [(2, 2, 1200), (3, 3, 1200)]);
}

/// `(input, output)` of each match.
fn pairs(matches: &[Match]) -> Vec<(u16, u16)> {
    matches.iter().map(|pair| (pair.input.0, pair.output.0)).collect()
}

/// The arbitrations until now, and a check that their matches are the transfers that follow.
fn arbitrations(manager: &mut Manager<Packet>) -> Vec<Arbitration> {
    let (mut seen, mut crossing): (Vec<Arbitration>, Vec<(u16, u16)>) = (Vec::new(), Vec::new());
    while let Some(event) = manager.poll_event() {
        match event {
            Event::Arbitration(arbitration) => {
                let accepts = arbitration.rounds.iter().flat_map(|round| &round.accepts);
                crossing.extend(accepts.map(|pair| (pair.input.0, pair.output.0)));
                seen.push(*arbitration);
            }
            Event::Step(step) => {
                assert!(matches!(step.kind, StepKind::Crossing { .. }), "{step:?}");
                assert_eq!(crossing.remove(0), (step.input.0, step.output.0));
            }
        }
    }
    assert_eq!(crossing, [], "who was matched has crossed");
    seen
}

fn watch_the_arbiter(manager: &mut Manager<Packet>) {
    let watching = Watching { arbitrations: true, crossings: true, ..Watching::default() };
    manager.watch(&watching);
}

#[test]
fn islip_is_seen_to_ask_grant_and_accept_and_to_turn_its_pointers() {
    let mut input = stage(InputQueueing::Voq);
    input.fabric.arbiter = ArbiterConfig::Islip { iterations: 2 };
    let mut manager = router(Some(input));
    watch_the_arbiter(&mut manager);
    // Input 0 has packets for 2 and 3, input 1 for 2.
    for (id, input, output) in [(1, 0, 2), (2, 0, 3), (3, 1, 2)] {
        send(&mut manager, us(0), id, input, output);
    }
    departures(&mut manager, us(0) + Span::from_ps(1));
    let seen = arbitrations(&mut manager);
    let [first] = &seen[..] else { panic!("one instant, one arbitration: {seen:?}") };
    assert_eq!(first.at, us(0));
    let asks = first.asks.iter().map(|ask| (ask.input.0, ask.output.0, ask.weight));
    assert_eq!(asks.collect::<Vec<_>>(), [(0, 2, 0), (1, 2, 0), (0, 3, 0)]);
    // All pointers are at 0: both outputs grant to input 0, which accepts output 2. In a second
    // iteration output 3 has no input left to grant to.
    let [round] = &first.rounds[..] else { panic!("{:?}", first.rounds) };
    assert_eq!(pairs(&round.grants), [(0, 2), (0, 3)]);
    assert_eq!(pairs(&round.accepts), [(0, 2)]);
    // Output 2 goes on with input 1, input 0 with output 3.
    let pointers: Vec<_> = first.pointers.iter().map(|it| (it.grant.0, it.accept.0)).collect();
    assert_eq!(pointers, [(0, 3), (0, 0), (1, 0), (0, 0)]);

    departures(&mut manager, us(1000));
    let seen = arbitrations(&mut manager);
    let [second] = &seen[..] else { panic!("all that is left crosses at 120 us: {seen:?}") };
    assert_eq!(second.at, us(120));
    assert_eq!(pairs(&second.rounds[0].accepts), [(0, 3), (1, 2)]);
}

#[test]
fn a_longest_queue_is_seen_to_weigh_its_bytes_and_an_oldest_cell_its_age() {
    let weights = |arbiter| {
        let mut input = stage(InputQueueing::Voq);
        input.fabric.arbiter = arbiter;
        let mut manager = router(Some(input));
        watch_the_arbiter(&mut manager);
        // While output 2 takes packet 1, input 1 gathers two packets for it, input 3 one.
        send(&mut manager, us(0), 1, 0, 2);
        departures(&mut manager, us(10));
        send(&mut manager, us(10), 2, 1, 2);
        send(&mut manager, us(10), 3, 1, 2);
        departures(&mut manager, us(20));
        send(&mut manager, us(20), 4, 3, 2);
        departures(&mut manager, us(121));
        let seen = arbitrations(&mut manager);
        let last = seen.last().expect("output 2 is free at 120 us");
        last.asks.iter().map(|ask| (ask.input.0, ask.weight)).collect::<Vec<_>>()
    };
    assert_eq!(weights(ArbiterConfig::Lqf), [(1, 3000), (3, 1500)]);
    // 110 and 100 us, in picoseconds.
    assert_eq!(weights(ArbiterConfig::Ocf), [(1, 110_000_000), (3, 100_000_000)]);
    assert_eq!(weights(ArbiterConfig::Wavefront), [(1, 0), (3, 0)]);
}

#[test]
fn a_packet_knows_how_long_it_waited_where() {
    let mut manager = router(Some(stage(InputQueueing::Voq)));
    send(&mut manager, us(0), 1, 0, 2);
    send(&mut manager, us(0), 2, 0, 2);
    send(&mut manager, us(0), 3, 0, 2);
    let out = departures(&mut manager, us(1000));
    // Packet 3 found two packets in its VOQ and crossed at 240 us into an empty output queue.
    assert_eq!(out[2].residence.input_depth.packets, 2);
    assert_eq!(out[2].residence.input_depth.bytes, Bytes(3000));
    assert_eq!(out[2].input_span(), Span::from_us(240));
    assert_eq!(out[2].queueing_span(), Span::ZERO);
}

#[test]
fn speedup_shortens_the_crossing_and_moves_the_queue_to_the_output() {
    let mut input = stage(InputQueueing::Voq);
    input.fabric.speedup = Ratio::new(3, 2).expect("not zero");
    let mut manager = router(Some(input));
    (1..4).for_each(|id| send(&mut manager, us(0), id, 0, 2));
    let out = departures(&mut manager, us(1000));
    // A crossing takes 120 / 1.5 = 80 us: packets enter the output queue at 0, 80 and 160 us and
    // depart at 0, 120 and 240 us.
    let entered: Vec<u64> = out.iter().map(|d| d.residence.enqueued_at.whole_us()).collect();
    assert_eq!(entered, [0, 80, 160]);
    let departed: Vec<u64> = out.iter().map(|d| d.at.whole_us()).collect();
    assert_eq!(departed, [0, 120, 240]);
}

#[test]
fn packets_of_different_lengths_hold_their_sides_for_different_times() {
    // With a second iteration, input 1 finds output 3 after input 0 has turned it down.
    let mut input = stage(InputQueueing::Voq);
    input.fabric.arbiter = ArbiterConfig::Islip { iterations: 2 };
    let mut manager = router(Some(input));
    let short = Packet { id: 1, length: 500 };
    let short = Arrival::new(short, PortId(0), PortId(2), ClassId(0));
    assert_eq!(manager.handle_packet(us(0), short), Verdict::Held);
    send(&mut manager, us(0), 2, 1, 3);
    send(&mut manager, us(0), 3, 0, 3);
    send(&mut manager, us(0), 4, 1, 2);
    // Input 0 is free at 40 us, but output 3 is busy until 120 us, and then both sides of packet 3
    // are free; packet 4 has both sides at 120 us too.
    assert_eq!(instants(&mut manager, us(1000)), [(1, 2, 0), (2, 3, 0), (4, 2, 120), (3, 3, 120)]);
}

#[test]
fn the_higher_class_crosses_first() {
    let mut manager = router(Some(stage(InputQueueing::Voq)));
    send(&mut manager, us(0), 1, 0, 2);
    send(&mut manager, us(0), 2, 1, 2);
    let mut out = instants(&mut manager, us(50));
    let urgent = arrival(3, 1, 2, 1);
    assert_eq!(manager.handle_packet(us(50), urgent), Verdict::Held);
    out.extend(instants(&mut manager, us(1000)));
    assert_eq!(out, [(1, 2, 0), (3, 2, 120), (2, 2, 240)]);
}

#[test]
fn a_full_output_holds_packets_back_and_loses_none() {
    let run = |full_output| {
        let mut input = stage(InputQueueing::Voq);
        input.fabric.full_output = full_output;
        input.fabric.speedup = Ratio::new(4, 1).expect("not zero");
        let mut manager = router(Some(input));
        let mut config = manager.config().clone();
        config.ports.values_mut().for_each(|port| port.queues[0].limit = Limit::packets(1));
        manager.configure(us(0), config).expect("valid");
        (1..5).for_each(|id| send(&mut manager, us(0), id, 0, 2));
        let (departed, dropped) = outputs(&mut manager, us(2000));
        assert!(manager.balance());
        let ids: Vec<u64> = departed.iter().map(|departure| departure.packet.id).collect();
        let lost: Vec<_> = dropped.iter().map(|d| (d.packet.id, d.at, d.reason)).collect();
        (ids, lost)
    };
    assert_eq!(run(FullOutput::Backpressure), (vec![1, 2, 3, 4], vec![]));
    // A crossing takes 30 us: 2 enters at 30 us and waits; 3 and 4 find the queue full.
    let lost = vec![(3, us(60), DropReason::QueueLimit), (4, us(90), DropReason::QueueLimit)];
    assert_eq!(run(FullOutput::Lossy), (vec![1, 2], lost));
}

#[test]
fn input_and_voq_limits_drop_by_their_names() {
    let mut input = stage(InputQueueing::Voq);
    input.limit = Limit::packets(3);
    input.voq_limit = Limit::packets(2);
    let mut manager = router(Some(input));
    let mut reason = |id, output| match manager.handle_packet(us(0), arrival(id, 0, output, 0)) {
        Verdict::Held => None,
        Verdict::Dropped(dropped) => Some(dropped.reason),
    };
    assert_eq!([reason(1, 2), reason(2, 2)], [None, None]);
    assert_eq!(reason(3, 2), Some(DropReason::VoqLimit));
    assert_eq!(reason(4, 3), None);
    assert_eq!(reason(5, 3), Some(DropReason::InputLimit));
    assert!(manager.balance());
    let voq = manager.voqs().find(|voq| voq.output == PortId(2)).expect("it was used");
    assert_eq!(voq.counters.dropped(DropReason::VoqLimit).packets, 1);
    assert_eq!((voq.depth.packets, voq.high_water.packets), (2, 2));
}

#[test]
fn a_packet_from_outside_the_fabric_goes_to_its_output_directly() {
    let mut manager = router(Some(stage(InputQueueing::Voq)));
    send(&mut manager, us(0), 1, 0, 2);
    // Port 99 is the controller's: it is no input of the crossbar.
    send(&mut manager, us(0), 2, 99, 2);
    assert_eq!(instants(&mut manager, us(1000)), [(2, 2, 0), (1, 2, 120)]);
}

#[test]
fn copies_of_a_packet_are_packets_of_their_own() {
    let mut manager = router(Some(stage(InputQueueing::Voq)));
    // Replicated to outputs 1, 2 and 3: the input sends one copy at a time.
    (1..4).for_each(|output| send(&mut manager, us(0), 7, 0, output));
    let out = instants(&mut manager, us(1000));
    assert_eq!(out, [(7, 1, 0), (7, 2, 120), (7, 3, 240)]);
    assert_eq!(manager.totals().departed.packets, 3);
}

#[test]
fn what_egress_sends_back_enters_at_the_instant_of_the_departure() {
    let mut manager = router(Some(stage(InputQueueing::Voq)));
    send(&mut manager, us(0), 1, 0, 2);
    let due = manager.next_due().expect("the crossbar is due");
    let Some(traffic::Output::Depart(departure)) = manager.poll_output(due) else {
        panic!("packet 1 crosses and departs");
    };
    assert_eq!(departure.at, us(0));
    // A clone to port 3: input 0 is busy until 120 us.
    send(&mut manager, departure.at, 2, 0, 3);
    assert_eq!(instants(&mut manager, us(1000)), [(2, 3, 120)]);
}

#[test]
fn changing_the_input_queues_files_what_waits_anew_and_loses_nothing() {
    let mut manager = router(Some(stage(InputQueueing::Fifo)));
    send(&mut manager, us(0), 1, 0, 2);
    send(&mut manager, us(0), 2, 1, 2);
    send(&mut manager, us(0), 3, 1, 3);
    send(&mut manager, us(0), 4, 1, 3);
    let mut out = instants(&mut manager, us(10));
    let mut config = manager.config().clone();
    config.input = Some(stage(InputQueueing::Voq));
    manager.configure(us(10), config).expect("valid");
    // From 10 us on packet 3 is no longer blocked; the new crossbar begins with all sides free,
    // so packet 2 enters output queue 2 behind packet 1, which is on the line until 120 us.
    out.extend(instants(&mut manager, us(1000)));
    assert_eq!(out, [(1, 2, 0), (2, 2, 120), (3, 3, 130), (4, 3, 250)]);
}

#[test]
fn removing_the_input_stage_moves_what_waits_to_the_outputs_in_order_of_arrival() {
    let mut manager = router(Some(stage(InputQueueing::Voq)));
    send(&mut manager, us(0), 1, 0, 2);
    let mut out = instants(&mut manager, us(1));
    send(&mut manager, us(1), 2, 1, 2);
    out.extend(instants(&mut manager, us(2)));
    send(&mut manager, us(2), 3, 0, 2);
    out.extend(instants(&mut manager, us(10)));
    let mut config = manager.config().clone();
    config.input = None;
    config.ports.values_mut().for_each(|port| port.queues[0].limit = Limit::packets(1));
    manager.configure(us(10), config).expect("valid");
    let (departed, dropped) = outputs(&mut manager, us(1000));
    out.extend(departed.iter().map(|d| (d.packet.id, d.output.0, d.at.whole_us())));
    // Packet 2 came before packet 3 and takes the only place.
    assert_eq!(out, [(1, 2, 0), (2, 2, 120)]);
    let lost: Vec<_> = dropped.iter().map(|d| (d.packet.id, d.reason)).collect();
    assert_eq!(lost, [(3, DropReason::QueueLimit)]);
    assert!(manager.balance());
}

#[test]
fn a_new_arbiter_or_speedup_takes_over_where_packets_wait() {
    let mut manager = router(Some(stage(InputQueueing::Voq)));
    (1..4).for_each(|id| send(&mut manager, us(0), id, 0, 2));
    let mut out = departures(&mut manager, us(10));
    let mut config = manager.config().clone();
    let input = config.input.as_mut().expect("there is an input stage");
    input.fabric.arbiter = ArbiterConfig::Wavefront;
    input.fabric.speedup = Ratio::new(2, 1).expect("not zero");
    manager.configure(us(10), config).expect("valid");
    out.extend(departures(&mut manager, us(1000)));
    // The crossing under way ends at 120 us as granted; the next takes 60 us.
    let entered: Vec<u64> = out.iter().map(|d| d.residence.enqueued_at.whole_us()).collect();
    assert_eq!(entered, [0, 120, 180]);
}

#[test]
fn a_crossbar_slower_than_a_line_is_refused() {
    let mut input = stage(InputQueueing::Voq);
    input.fabric.speedup = Ratio::new(1, 2).expect("not zero");
    let mut manager = router(None);
    let config = Config { input: Some(input), ..manager.config().clone() };
    let error = manager.configure(us(0), config).expect_err("a speedup below 1");
    assert!(error.to_string().starts_with("fabric, speedup: a speedup of 1/2"), "{error}");
}
