//! Laws for every configuration, every traffic and every change at run time.

use crate::support;

use std::collections::{BTreeMap, VecDeque};

use proptest::collection::vec;
use proptest::prelude::*;
use support::Packet;
use support::replay::Replay;
use traffic::{
    AqmConfig, ArbiterConfig, Arbitration, Arrival, BufferConfig, BufferShare, Config, Departure,
    Discipline, DropReason, Ecn, FullOutput, InputConfig, InputQueueing, Limit, Manager, Match,
    NodeConfig, Output, Parameter, PortConfig, Probability, QueueConfig, QueueOrder,
    SchedulerConfig, ShaperConfig, StepKind, Verdict, Watching,
};
use units::{Bytes, ClassId, PacketRate, PortId, Rate, Ratio, Span, Time};

/// Ports 0 to 3, three classes each; packets may also be for port 4 or class 3, which never exist.
const PORT_COUNT: u16 = 4;
const CLASS_COUNT: usize = 3;

#[derive(Clone, Debug)]
enum Step {
    /// Time passes.
    Wait(Span),
    Send {
        input: u16,
        output: u16,
        class: u8,
        length: u64,
        ecn: Ecn,
    },
    Configure(Box<Config>),
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        2 => Just(Limit::NONE),
        2 => (1..20u64).prop_map(Limit::packets),
        1 => (1500..20_000u64).prop_map(|bytes| Limit::bytes(Bytes(bytes))),
    ]
}

fn shaper() -> impl Strategy<Value = Option<ShaperConfig>> {
    let bits = (1..50u64, 0..5000u64).prop_map(|(mbps, burst)| ShaperConfig::Bits {
        rate: Rate::from_mbps(mbps),
        burst: Bytes(burst),
    });
    let packets = (100..100_000u64, 1..5u32, any::<bool>()).prop_map(|(pps, burst, catches_up)| {
        let rate = PacketRate::from_pps(pps).expect("not zero");
        ShaperConfig::Packets { rate, burst, catches_up }
    });
    prop_oneof![4 => Just(None), 1 => bits.prop_map(Some), 1 => packets.prop_map(Some)]
}

/// Every method there is, with short times and high gains, so that a short run meets them.
fn aqm() -> impl Strategy<Value = Option<AqmConfig>> {
    let hurried = |name| {
        let mut aqm = AqmConfig::named(name).expect("a name of the list");
        for (name, parameter) in aqm.parameters() {
            match parameter {
                Parameter::Limit(limit) => *limit = Limit::packets(3),
                Parameter::Ratio(gain) => {
                    *gain = Ratio::new(1000 * gain.over(), gain.under()).expect("not zero");
                }
                Parameter::Share(weight) if name == "weight" => *weight = Probability::ALWAYS,
                Parameter::Span(span) => *span = Span::from_ps(span.ps() / 200),
                _ => {}
            }
        }
        Some(aqm)
    };
    let methods = prop::sample::select(AqmConfig::NAMES.to_vec());
    prop_oneof![Just(None), methods.prop_map(hurried)]
}

fn queue() -> impl Strategy<Value = QueueConfig> {
    let share = (prop::option::of(1..5u32), 0..2000u64).prop_map(|(alpha, minimum)| BufferShare {
        alpha: alpha.and_then(|alpha| Ratio::new(alpha, 2)),
        minimum: Bytes(minimum),
    });
    let order = prop_oneof![Just(QueueOrder::Arrival), Just(QueueOrder::Rank)];
    (limit(), shaper(), aqm(), share, order).prop_map(|(limit, shaper, aqm, share, order)| {
        QueueConfig { limit, shaper, aqm, share, order }
    })
}

fn scheduler(class_count: usize) -> impl Strategy<Value = SchedulerConfig> {
    let leaves = (0..class_count as u8)
        .map(|class| NodeConfig::leaf("leaf", class, Rate::from_mbps(10), Rate::from_mbps(60)));
    let (rate, ceil) = (Rate::from_mbps(40), Rate::from_mbps(80));
    let tree = NodeConfig::inner("root", rate, ceil, leaves.collect());
    prop_oneof![
        Just(SchedulerConfig::strict(class_count)),
        (prop::sample::select(Discipline::NAMES), vec(1..5u32, class_count), 100..2000u64)
            .prop_map(|(name, weights, quantum)| {
                let discipline = Discipline::named(name, Bytes(quantum)).expect("its own name");
                SchedulerConfig::shared(discipline, &weights)
            }),
        Just(SchedulerConfig::Hierarchy(tree)),
    ]
}

/// Gives each queue that is managed together with a second one the next queue of the port, which
/// then has no management of its own; the last has none to get.
fn pair_up(queues: &mut [QueueConfig]) {
    for class in 0..queues.len() {
        let Some(aqm) = queues[class].aqm.as_mut().filter(|aqm| aqm.l4s_class().is_some()) else {
            continue;
        };
        for (_, parameter) in aqm.parameters() {
            if let Parameter::Class(l4s) = parameter {
                *l4s = ClassId(class as u8 + 1);
            }
        }
        match queues.get_mut(class + 1) {
            Some(l4s) => l4s.aqm = None,
            None => queues[class].aqm = None,
        }
    }
}

fn port() -> impl Strategy<Value = PortConfig> {
    (1..=CLASS_COUNT).prop_flat_map(|class_count| {
        let queues = vec(queue(), class_count);
        (10..200u64, 0..30u64, limit(), shaper(), scheduler(class_count), queues).prop_map(
            |(mbps, overhead, limit, shaper, scheduler, mut queues)| {
                pair_up(&mut queues);
                let mut port = PortConfig {
                    line_rate: Some(Rate::from_mbps(mbps)),
                    overhead: Bytes(overhead),
                    limit,
                    shaper,
                    scheduler,
                    utilisation_window: Span::from_us(500),
                    queues,
                };
                // The one that no scheduler refuses.
                if port.check("port").is_err() {
                    port.queues.iter_mut().for_each(|queue| queue.order = QueueOrder::Arrival);
                }
                port
            },
        )
    })
}

fn input() -> impl Strategy<Value = Option<InputConfig>> {
    let arbiter =
        (prop::sample::select(ArbiterConfig::NAMES), 1..4u8).prop_map(|(name, iterations)| {
            ArbiterConfig::named(name, iterations).expect("its own name")
        });
    let queueing = prop_oneof![Just(InputQueueing::Fifo), Just(InputQueueing::Voq)];
    let full = prop_oneof![Just(FullOutput::Backpressure), Just(FullOutput::Lossy)];
    let some = (queueing, arbiter, full, limit(), limit(), 2..9u32).prop_map(
        |(queueing, arbiter, full_output, limit, voq_limit, halves)| {
            let mut input = InputConfig::new(queueing, Rate::from_mbps(200), arbiter);
            input.limit = limit;
            input.voq_limit = voq_limit;
            input.fabric.full_output = full_output;
            input.fabric.speedup = Ratio::new(halves, 2).expect("not zero");
            input
        },
    );
    prop_oneof![1 => Just(None), 2 => some.prop_map(Some)]
}

fn config() -> impl Strategy<Value = Config> {
    let buffer =
        prop::option::of((40_000..100_000u64).prop_map(|size| BufferConfig { size: Bytes(size) }));
    let ports = prop::collection::btree_map(
        (0..PORT_COUNT).prop_map(PortId),
        port(),
        1..=PORT_COUNT as usize,
    );
    (ports, buffer, input()).prop_map(|(ports, buffer, input)| Config { ports, buffer, input })
}

fn send() -> impl Strategy<Value = Step> {
    let ecn = (0..4u8).prop_map(Ecn::from_bits);
    let length = prop_oneof![Just(64u64), 65..1500u64, Just(1500u64)];
    (0..PORT_COUNT + 1, 0..PORT_COUNT + 1, 0..4u8, length, ecn).prop_map(
        |(input, output, class, length, ecn)| Step::Send { input, output, class, length, ecn },
    )
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let wait = (0..200u64).prop_map(|us| Step::Wait(Span::from_us(us)));
    let change = config().prop_map(|config| Step::Configure(Box::new(config)));
    vec(prop_oneof![30 => send(), 10 => wait, 1 => change], 1..150)
}

/// A router in which packets can pass: strict priority, no shapers, no AQM, nothing shared.
fn plain() -> impl Strategy<Value = Config> {
    config().prop_map(|mut config| {
        for port in config.ports.values_mut() {
            port.shaper = None;
            port.scheduler = SchedulerConfig::strict(port.queues.len());
            for queue in &mut port.queues {
                (queue.aqm, queue.shaper) = (None, None);
            }
        }
        Config { buffer: None, input: None, ..config }
    })
}

/// Steps between which time passes as a rule, so that many packets meet an idle port.
fn sparse_steps() -> impl Strategy<Value = Vec<Step>> {
    let wait = (1..400u64).prop_map(|us| Step::Wait(Span::from_us(us)));
    let change = prop_oneof![config(), plain()];
    let change = change.prop_map(|config| Step::Configure(Box::new(config)));
    vec(prop_oneof![20 => send(), 20 => wait, 1 => change], 1..150)
}

/// Each packet's events, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Log {
    departures: Vec<Departure<Packet>>,
    drops: Vec<(u64, Time, DropReason)>,
}

/// Drives a manager by its contract and checks the laws after every call.
struct Driver {
    manager: Manager<Packet>,
    now: Time,
    sent: u64,
    /// How many packets passed.
    passed: u64,
    log: Log,
    /// Those who follow every packet.
    replays: Vec<Replay>,
    /// Matched inputs that have not crossed yet.
    matched: VecDeque<Match>,
}

impl Driver {
    fn new(config: Config) -> Driver {
        let mut manager = Manager::new(5);
        manager.configure(Time::ZERO, config).expect("the strategies make valid configurations");
        let (now, sent, passed, log) = (Time::ZERO, 0, 0, Log::default());
        let (replays, matched) = (Vec::new(), VecDeque::new());
        Driver { manager, now, sent, passed, log, replays, matched }
    }

    /// Somebody follows every packet from now on.
    fn follow(&mut self) {
        self.drain(self.now);
        self.replay();
        let all = Watching { packets: true, arbitrations: true, ..Watching::default() };
        self.manager.watch(&all);
        self.replays.push(Replay::of_inside(&self.manager));
    }

    fn replay(&mut self) {
        while let Some(event) = self.manager.poll_event() {
            match event {
                traffic::Event::Arbitration(it) => check_arbitration(&it, &mut self.matched),
                traffic::Event::Step(step) => {
                    if matches!(step.kind, StepKind::Crossing { .. }) {
                        let pair = Match { input: step.input, output: step.output };
                        assert_eq!(self.matched.pop_front(), Some(pair), "in this order");
                    }
                    self.replays.iter_mut().for_each(|replay| replay.follow(&step));
                }
            }
        }
        assert_eq!(self.matched, [], "who is matched crosses at once");
        self.replays.iter().for_each(|replay| replay.check(&self.manager));
    }

    /// A packet that is the only one of its instant.
    fn send_alone(&mut self, step: &Step) {
        let Step::Send { input, output, class, length, ecn } = *step else {
            return self.step(step);
        };
        self.drain(self.now);
        let packet = Packet { id: self.sent + 1, length };
        let mut arrival = Arrival::new(packet, PortId(input), PortId(output), ClassId(class));
        arrival.ecn = ecn;
        match self.manager.pass_packet(self.now, arrival) {
            Ok(departure) => {
                self.sent += 1;
                self.passed += 1;
                self.log.departures.push(departure);
                assert!(self.manager.balance(), "conservation after {step:?}");
            }
            Err(back) => {
                assert_eq!(back.packet, packet);
                self.step(step);
            }
        }
    }

    /// All books, as text.
    fn books(&self) -> String {
        let queues: Vec<_> = self.manager.queues().collect();
        let ports: Vec<_> = self.manager.ports().collect();
        format!("{:?} {queues:?} {ports:?}", self.manager.totals())
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Wait(span) => self.now += *span,
            Step::Send { input, output, class, length, ecn } => {
                self.drain(self.now);
                self.sent += 1;
                let packet = Packet { id: self.sent, length: *length };
                let (input, output) = (PortId(*input), PortId(*output));
                let mut arrival = Arrival::new(packet, input, output, ClassId(*class));
                (arrival.ecn, arrival.number) = (*ecn, packet.id);
                if let Verdict::Dropped(dropped) = self.manager.handle_packet(self.now, arrival) {
                    self.log.drops.push((dropped.packet.id, dropped.at, dropped.reason));
                }
            }
            Step::Configure(config) => {
                self.drain(self.now);
                self.manager.configure(self.now, Config::clone(config)).expect("valid");
                assert_eq!(self.manager.config(), &**config, "it reads back as it was written");
            }
        }
        assert!(self.manager.balance(), "conservation after {step:?}");
        self.replay();
    }

    fn drain(&mut self, now: Time) {
        while let Some(output) = self.manager.poll_output(now) {
            match output {
                Output::Depart(departure) => self.log.departures.push(departure),
                Output::Drop(dropped) => {
                    self.log.drops.push((dropped.packet.id, dropped.at, dropped.reason));
                }
            }
            assert!(self.manager.balance(), "conservation after an output");
            self.replay();
        }
    }

    /// Runs to the end of all traffic.
    fn finish(mut self) -> Log {
        while let Some(due) = self.manager.next_due() {
            self.drain(due);
        }
        assert_eq!(self.manager.held().packets, 0, "nothing is stuck");
        let ends = self.log.departures.len() + self.log.drops.len();
        assert_eq!(ends as u64, self.sent, "every packet has one end");
        if let Some(first) = self.replays.first() {
            assert!(first.ended.iter().copied().eq(1..=self.sent), "and is seen to have it");
        }
        self.log
    }
}

fn run(config: &Config, steps: &[Step]) -> Log {
    let mut driver = Driver::new(config.clone());
    steps.iter().for_each(|step| driver.step(step));
    driver.finish()
}

/// Drives two managers, one of which lets packets pass where it can, and compares them after every
/// step. Returns how many packets passed.
fn compare_with_passing(config: &Config, steps: &[Step]) -> u64 {
    let (mut long, mut short) = (Driver::new(config.clone()), Driver::new(config.clone()));
    for (index, step) in steps.iter().enumerate() {
        let is_wait = |index: usize| matches!(steps.get(index), Some(Step::Wait(_)));
        long.step(step);
        match index > 0 && is_wait(index - 1) && is_wait(index + 1) {
            true => short.send_alone(step),
            false => short.step(step),
        }
        // The remaining events of the long way at this instant.
        long.drain(long.now);
        short.drain(short.now);
        assert_eq!(long.log, short.log, "after {step:?}");
        assert_eq!(long.books(), short.books(), "after {step:?}");
    }
    let passed = short.passed;
    assert_eq!(long.finish(), short.finish());
    passed
}

/// Nobody is granted what was not asked for, or accepts what was not granted, or is matched twice.
fn check_arbitration(arbitration: &Arbitration, matched: &mut VecDeque<Match>) {
    assert_eq!(*matched, [], "the matches before this one have crossed");
    let asks = |pair: &Match| {
        arbitration.asks.iter().any(|ask| (ask.input, ask.output) == (pair.input, pair.output))
    };
    for round in &arbitration.rounds {
        assert!(round.grants.iter().all(asks) && round.accepts.iter().all(asks));
        let granted = |pair: &Match| round.grants.contains(pair);
        assert!(round.grants.is_empty() || round.accepts.iter().all(granted));
        for pair in &round.accepts {
            let meets = |other: &Match| other.input == pair.input || other.output == pair.output;
            assert!(!matched.iter().any(meets), "{arbitration:?}");
            matched.push_back(*pair);
        }
    }
}

/// Packets of one input, output and class leave in the order in which they came.
fn check_order(log: &Log) {
    let mut last = BTreeMap::new();
    for departure in &log.departures {
        let flow = (departure.input, departure.output, departure.class);
        let before = last.insert(flow, departure.packet.id);
        assert!(before < Some(departure.packet.id), "order within {flow:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packets_are_conserved_whatever_is_changed_meanwhile(config in config(), steps in steps()) {
        let log = run(&config, &steps);
        check_order(&log);
        let changed = steps.iter().any(|step| matches!(step, Step::Configure(_)));
        let removed = log.drops.iter().any(|(.., reason)| *reason == DropReason::QueueRemoved);
        prop_assert!(changed || !removed, "queues are only removed by a change");
    }

    /// One watches from the beginning, one comes later.
    #[test]
    fn steps_alone_tell_what_waits_where_and_in_which_order(
        config in config(), steps in steps(), late in 0..100usize
    ) {
        let mut driver = Driver::new(config.clone());
        driver.follow();
        for (index, step) in steps.iter().enumerate() {
            if index == late {
                driver.follow();
            }
            driver.step(step);
        }
        prop_assert_eq!(driver.finish(), run(&config, &steps), "whoever watches changes nothing");
    }

    #[test]
    fn time_never_goes_backwards_and_lines_carry_one_frame_at_a_time(
        config in config(), steps in steps()
    ) {
        let log = run(&config, &steps);
        let changed = steps.iter().any(|step| matches!(step, Step::Configure(_)));
        prop_assert!(log.departures.is_sorted_by_key(|departure| departure.at));
        let mut free_at: BTreeMap<PortId, Time> = BTreeMap::new();
        for departure in &log.departures {
            let residence = &departure.residence;
            prop_assert!(residence.arrived_at <= residence.enqueued_at);
            prop_assert!(residence.enqueued_at <= departure.at);
            let before = free_at.insert(departure.output, departure.line_free_at);
            // A port that was removed and came back has a new line.
            let one_line = changed || before.is_none_or(|free_at| departure.at >= free_at);
            prop_assert!(one_line, "{departure:?}");
        }
    }

    #[test]
    fn a_packet_that_passes_leaves_what_the_long_way_leaves(
        config in prop_oneof![config(), plain()], steps in sparse_steps()
    ) {
        compare_with_passing(&config, &steps);
    }

    #[test]
    fn the_same_seed_and_input_give_the_same_result(config in config(), steps in steps()) {
        prop_assert_eq!(run(&config, &steps), run(&config, &steps));
    }

    #[test]
    fn no_queue_port_or_buffer_exceeds_its_limit(
        config in config(), sends in vec(send(), 1..200)
    ) {
        let mut driver = Driver::new(config.clone());
        for (number, send) in sends.iter().enumerate() {
            if number % 8 == 0 {
                driver.now += Span::from_us(100);
            }
            driver.step(send);
            let within = |limit: Limit, packets, bytes| {
                limit.packets.is_none_or(|most| packets <= most)
                    && limit.bytes.is_none_or(|most| bytes <= most)
            };
            let mut held = Bytes::ZERO;
            for queue in driver.manager.queues() {
                let depth = queue.high_water;
                prop_assert!(within(queue.config.limit, depth.packets, depth.bytes));
                held += queue.depth.bytes;
            }
            for port in driver.manager.ports() {
                prop_assert!(within(port.config.limit, port.depth.packets, port.depth.bytes));
            }
            if let Some(input) = &config.input {
                for port in driver.manager.inputs() {
                    prop_assert!(within(input.limit, port.depth.packets, port.depth.bytes));
                }
                for voq in driver.manager.voqs() {
                    prop_assert!(within(input.voq_limit, voq.high_water.packets, voq.high_water.bytes));
                }
            }
            prop_assert!(config.buffer.is_none_or(|buffer| held <= buffer.size));
        }
    }

    #[test]
    fn a_port_without_shapers_is_never_idle_while_packets_wait(
        scheduler in scheduler(3)
            .prop_filter("a tree has rates", |s| !matches!(s, SchedulerConfig::Hierarchy(_))),
        steps in vec(prop_oneof![3 => send(), 1 => (0..300u64).prop_map(|us| Step::Wait(Span::from_us(us)))], 1..150)
    ) {
        let mut port = PortConfig::strict(Some(Rate::from_mbps(50)), 3);
        port.scheduler = scheduler;
        let ports = [(PortId(1), port)].into();
        let log = run(&Config { ports, ..Config::default() }, &steps);
        let mut free_at = Time::ZERO;
        for departure in &log.departures {
            // Either the line goes on without a gap, or it was idle and nothing had to wait.
            let idle = departure.at > free_at;
            prop_assert!(!idle || departure.at == departure.residence.enqueued_at, "{departure:?}");
            prop_assert!(departure.at >= free_at);
            free_at = departure.line_free_at;
        }
    }

    #[test]
    fn a_shaper_never_sends_more_than_its_bucket_and_its_rate(
        mbps in 1..20u64,
        burst in 0..6000u64,
        on_port in any::<bool>(),
        steps in vec(prop_oneof![3 => send(), 1 => (0..2000u64).prop_map(|us| Step::Wait(Span::from_us(us)))], 1..100)
    ) {
        let rate = Rate::from_mbps(mbps);
        let shaper = Some(ShaperConfig::Bits { rate, burst: Bytes(burst) });
        let mut port = PortConfig::strict(Some(Rate::from_mbps(100)), 3);
        if on_port { port.shaper = shaper } else { port.queues[1].shaper = shaper }
        let ports = [(PortId(1), port)].into();
        let log = run(&Config { ports, ..Config::default() }, &steps);
        let sent: Vec<_> = (log.departures.iter())
            .filter(|departure| on_port || departure.class == ClassId(1))
            .collect();
        for (first, from) in sent.iter().enumerate() {
            let mut bytes = 0;
            let mut longest = 0;
            for to in &sent[first..] {
                bytes += to.packet.length;
                longest = longest.max(to.packet.length);
                // A packet longer than the bucket leaves when the bucket is full.
                let allowed = burst.max(longest) + rate.bytes_in(to.at.since(from.at)).count() + 1;
                prop_assert!(bytes <= allowed, "{bytes} of {allowed} from {} to {}", from.at, to.at);
            }
        }
    }
}

#[test]
fn packets_pass_an_idle_port_and_wait_for_a_busy_one() {
    let mut port = PortConfig::strict(Some(Rate::from_mbps(12)), 2);
    port.utilisation_window = Span::from_us(500);
    let config = Config { ports: [(PortId(1), port)].into(), ..Config::default() };
    let send = Step::Send { input: 0, output: 1, class: 1, length: 1500, ecn: Ecn::NotEct };
    let wait = |us| Step::Wait(Span::from_us(us));
    // 1500 bytes take 1 ms at 12 Mb/s. The first packet comes at 1 us and keeps the line until
    // 1001, so the second, at 1000, waits; the third comes at 2001, when the line is free again.
    let steps = [wait(1), send.clone(), wait(999), send.clone(), wait(1001), send, wait(1)];
    assert_eq!(compare_with_passing(&config, &steps), 2);
}
