//! Watching packets: a late watcher learns which packets are inside, and each gets the events it
//! asked for.

use crate::support;

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use agent::feed::FeedStream;
use futures_util::Stream;
use messages::vitrine::v1;
use p4runtime::refusal::Refusal;
use p4runtime::router::watch::batch_message;
use support::{Program, Rig};
use traffic::Limit;
use units::{PortId, Rate, Span};
use v1::event::Kind;
use v1::packet_event::Step;

/// An open watch.
struct Watch {
    start: v1::WatchStart,
    feed: FeedStream,
}

fn watch(rig: &mut Rig, request: v1::WatchRequest) -> Result<Watch, Refusal> {
    let (front, answer) = (rig.front(), Rc::new(RefCell::new(None)));
    let place = Rc::clone(&answer);
    rig.complete(Box::pin(async move {
        *place.borrow_mut() = Some(front.watch(&request).await);
    }));
    let (first, feed) = answer.take().expect("the call was answered")?;
    Ok(Watch { start: first.start.expect("the first message"), feed })
}

impl Watch {
    /// The waiting messages; `waker` learns of later ones.
    fn messages(&mut self, waker: &Waker) -> Vec<v1::WatchResponse> {
        let mut messages = Vec::new();
        let mut context = Context::from_waker(waker);
        while let Poll::Ready(Some(batch)) = Pin::new(&mut self.feed).poll_next(&mut context) {
            let message = batch_message(batch.expect("nobody ends it"));
            assert_eq!(message.lost_events, 0);
            messages.push(message);
        }
        messages
    }

    /// The new steps: in microseconds, of which packet, and its kind.
    fn steps(&mut self) -> Vec<(u64, u64, Step)> {
        let messages = self.messages(Waker::noop());
        let events = messages.into_iter().flat_map(|message| message.events);
        let steps = events.map(|event| match event.kind {
            Some(Kind::Packet(packet)) => {
                (event.time_ps / 1_000_000, packet.packet, packet.step.expect("a step"))
            }
            other => panic!("not asked for: {other:?}"),
        });
        steps.collect()
    }
}

/// A reader like a server: it reads when it is woken.
struct Reader {
    watch: Watch,
    woken: Arc<Woken>,
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Reader {
    fn new(watch: Watch) -> Reader {
        let mut reader = Reader { watch, woken: Arc::default() };
        assert_eq!(reader.read(), [], "nothing waits yet");
        reader
    }

    /// How many events, and whether a sample, the messages have for which it was woken.
    fn told(&mut self) -> Vec<(usize, bool)> {
        let is_woken = self.woken.0.swap(false, Ordering::Relaxed);
        if is_woken { self.read() } else { Vec::new() }
    }

    fn read(&mut self) -> Vec<(usize, bool)> {
        let messages = self.watch.messages(&Waker::from(Arc::clone(&self.woken)));
        messages.iter().map(|it| (it.events.len(), it.sample.is_some())).collect()
    }
}

/// A router that sends all frames to port 3 at 12 Mb/s: 1500 bytes take 1 ms. There, everything may
/// wait.
fn slow_router() -> Rig {
    let program = Program::forwarding_to(3);
    let mut rig = Rig::start(&program, &program);
    rig.drive(|device, now| {
        let mut config = device.traffic().config().clone();
        let port = config.ports.get_mut(&PortId(3)).expect("the rig has it");
        port.line_rate = Some(Rate::from_mbps(12));
        port.queues[0].limit = Limit::NONE;
        device.configure(now, config).expect("valid");
    });
    rig
}

/// An IPv4 frame, as far as its EtherType goes.
fn frame() -> Vec<u8> {
    [&[0xff; 6][..], &[0xee; 6], &[0x08, 0x00], &[0; 1486]].concat()
}

fn send(rig: &mut Rig, count: usize) {
    rig.drive(|device, now| {
        (0..count).for_each(|_| device.handle_frame(now, PortId(1), &frame()));
    });
}

fn packets(ports: &[u32], head_bytes: u32) -> v1::WatchRequest {
    let ports = ports.to_vec();
    v1::WatchRequest { packets: true, ports, head_bytes, ..Default::default() }
}

const QUEUE: v1::QueueRef = v1::QueueRef { port: 3, class: 0 };

fn queued() -> Step {
    Step::Queued(QUEUE)
}

fn departed() -> Step {
    Step::Departed(v1::PacketDeparted { queue: Some(QUEUE), marked: false })
}

fn transmitted(until_ms: u64) -> Step {
    let until_ps = until_ms * 1_000_000_000;
    Step::Transmitted(v1::PacketTransmitted { port: 3, length_bytes: 1500, until_ps })
}

#[test]
fn who_comes_late_is_told_who_is_inside_and_then_the_same_as_the_others() {
    let mut rig = slow_router();
    let mut first = watch(&mut rig, packets(&[], 2)).expect("nobody is inside");
    send(&mut rig, 2);
    let received = Step::Received(v1::PacketReceived {
        port: 1,
        length_bytes: 1500,
        head: vec![0xff, 0xff].into(),
    });
    assert_eq!(
        first.steps(),
        [
            (0, 1, received.clone()),
            (0, 1, queued()),
            (0, 2, received),
            (0, 2, queued()),
            (0, 1, departed()),
            (0, 1, transmitted(1)),
        ]
    );

    // 400 us later comes another watcher, with longer heads, and one of another port.
    rig.wait(Span::from_us(400));
    let mut late = watch(&mut rig, packets(&[3], 14)).expect("few are inside");
    let mut elsewhere = watch(&mut rig, packets(&[2], 14)).expect("few are inside");
    assert_eq!(late.start.time_ps, 400_000_000);
    let inside = v1::PacketInside {
        input: 1,
        length_bytes: 1500,
        head: frame()[..14].to_vec().into(),
        since_ps: 0,
        place: Some(v1::packet_inside::Place::Queued(QUEUE)),
    };
    assert_eq!(late.steps(), [(400, 2, Step::Inside(inside))]);

    rig.wait(Span::from_us(600));
    let end = [(1000, 2, departed()), (1000, 2, transmitted(2))];
    assert_eq!(first.steps(), end);
    assert_eq!(late.steps(), end);

    // A watcher of the output alone gets nothing of packets that come in elsewhere, before their
    // output is known.
    send(&mut rig, 1);
    assert_eq!(first.steps().len(), 2);
    assert_eq!(late.steps(), [(1000, 3, queued())]);
    assert_eq!(elsewhere.steps(), []);
}

#[test]
fn a_watch_that_would_begin_with_too_many_packets_is_refused_and_says_what_helps() {
    let mut rig = slow_router();
    // One of them is on the line.
    send(&mut rig, (1 << 14) + 2);
    let refusal = watch(&mut rig, packets(&[], 0)).err().expect("too many");
    assert!(
        refusal.message.starts_with("16385 packets are inside, more than the 16384"),
        "{}",
        refusal.message
    );
    assert!(watch(&mut rig, packets(&[2], 0)).is_ok(), "nobody waits at port 2");
    rig.wait(Span::from_ms(1));
    let mut all = watch(&mut rig, packets(&[], 0)).expect("16384 can be told of");
    assert_eq!(all.steps().len(), 1 << 14);
}

#[test]
fn who_asks_for_samples_too_is_told_events_with_the_next_one_or_after_50_ms() {
    let mut rig = slow_router();
    let mut open = |interval_ms| {
        let request = v1::WatchRequest { interval_ms, ..packets(&[], 0) };
        Reader::new(watch(&mut rig, request).expect("nobody is inside"))
    };
    let (mut often, mut seldom, mut at_once) = (open(20), open(1000), open(0));
    // Five packets come in, and a millisecond later the second one leaves: each event wakes a
    // reader.
    send(&mut rig, 5);
    rig.wait(Span::from_ms(1));
    assert_eq!(at_once.told(), [(14, false)]);
    assert_eq!((often.told(), seldom.told()), (vec![], vec![]));
    rig.wait(Span::from_ms(19));
    assert_eq!(often.told(), [(20, true)], "the sample is behind what happened before it");
    assert_eq!(seldom.told(), []);
    // Nothing more happens, and no other reader wants to be called: the message comes nevertheless.
    drop((often, at_once));
    rig.wait(Span::from_ms(1));
    assert_eq!(seldom.told(), []);
    let span = rig.idle_span().expect("what waits is to be told");
    assert_eq!(span, Span::from_ms(29), "50 ms after the first of it");
    rig.wait(span);
    assert_eq!(seldom.told(), [(20, false)]);
    assert_eq!(rig.idle_span(), Some(Span::from_ms(950)), "the next sample");
}

#[test]
fn what_the_model_catches_up_with_is_told_before_that_it_was_late() {
    let mut rig = slow_router();
    let request = v1::WatchRequest { interval_ms: 2, overruns: true, ..packets(&[], 0) };
    let mut late = watch(&mut rig, request).expect("nobody is inside");
    send(&mut rig, 3);
    rig.oversleep(Span::from_ms(5));
    let mut before_ps = 0;
    let mut kinds = Vec::new();
    for message in late.messages(Waker::noop()) {
        for event in message.events {
            assert!(before_ps <= event.time_ps, "in the order of time");
            before_ps = event.time_ps;
            kinds.push(matches!(event.kind, Some(Kind::Overrun(_))));
        }
        if let Some(sample) = message.sample {
            assert!(before_ps <= sample.time_ps, "no event is later than the sample behind it");
        }
    }
    assert_eq!(kinds.iter().filter(|is_overrun| **is_overrun).count(), 1);
    assert_eq!(kinds.last(), Some(&true), "it is told last");
}
