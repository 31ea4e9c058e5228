//! One thing of v1model after another, on `programs/externs.p4`: the first byte of a packet says
//! what the program shall do, `arg` and `data` follow, then a stack of items, then the payload.

use crate::common;

use bits::Int;
use common::{EXTERNS, Output, leaves, load, run_to_completion, send, send_at};
use pipeline::{
    CloneSession, Counter, Entry, EntryAction, Event, KeyMatch, MeterConfig, MeterRate, Node,
    TableError,
};
use units::{DropReason, PortId, Span, Time};

/// A packet with one item and two bytes of payload.
fn ask(what: u8, arg: u8, data: u32) -> Vec<u8> {
    let [a, b, c, d] = data.to_be_bytes();
    vec![what, arg, a, b, c, d, 0x05, 0x50, 0xaa, 0xbb]
}

fn to_port(port: u16) -> CloneSession {
    CloneSession { port: Some(PortId(port)), ..CloneSession::default() }
}

#[test]
fn an_ingress_clone_is_the_packet_as_it_came() {
    let mut pipeline = load(EXTERNS);
    pipeline.replication.set_session(5, Some(to_port(9)));
    let outputs = send(&mut pipeline, &ask(1, 0, 0x1234));
    // The clone keeps its data and is marked with instance type 1; the original has other data.
    assert_eq!(outputs, [leaves(9, &ask(1, 1, 0x1234)), leaves(1, &ask(1, 0, 0xffff_ffff))]);
}

#[test]
fn cloning_to_an_unknown_session_does_nothing() {
    let outputs = send(&mut load(EXTERNS), &ask(1, 0, 0));
    assert_eq!(outputs, [leaves(1, &ask(1, 0, 0xffff_ffff))]);
}

#[test]
fn a_clone_session_cuts_its_copies() {
    let mut pipeline = load(EXTERNS);
    let session = CloneSession { length_bytes_max: 7, ..to_port(9) };
    pipeline.replication.set_session(5, Some(session));
    let outputs = send(&mut pipeline, &ask(1, 0, 0));
    assert_eq!(outputs[0], leaves(9, &ask(1, 1, 0)[..7]));
}

#[test]
fn resubmitting_keeps_the_fields_of_its_list_and_nothing_else() {
    // Two passes add 1 to `passes` and 2^64 to the 128-bit field; the third shows both: a resubmit
    // takes effect after the control, so the last pass still sees the values of the second.
    let outputs = send(&mut load(EXTERNS), &ask(2, 0, 0));
    assert_eq!(outputs, [leaves(1, &ask(2, 2, 2))]);
}

#[test]
fn an_egress_clone_survives_the_packet_being_dropped() {
    let mut pipeline = load(EXTERNS);
    pipeline.replication.set_session(6, Some(to_port(8)));
    let outputs = send(&mut pipeline, &ask(16, 0, 5));
    assert_eq!(outputs, [Output::Drop(DropReason::EgressProgram), leaves(8, &ask(16, 2, 5))]);
}

#[test]
fn recirculating_goes_through_everything_again() {
    // Three times round, each adds 1 to the data. `arg` stays: a packet on its way to one port has
    // instance type 0 in egress, wherever it came from (`simple_switch.cpp`, end of ingress).
    let outputs = send(&mut load(EXTERNS), &ask(17, 0, 10));
    assert_eq!(outputs, [leaves(1, &ask(17, 0, 13))]);
}

#[test]
fn multicast_sends_a_copy_with_its_replication_id_to_each_port() {
    let mut pipeline = load(EXTERNS);
    let node = |rid, port| Node { rid, ports: vec![PortId(port)], lags: Vec::new() };
    pipeline.replication.set_group(4, Some(vec![node(70, 2), node(71, 6)]));
    let outputs = send(&mut pipeline, &ask(3, 4, 0));
    assert_eq!(outputs, [leaves(2, &ask(3, 5, 70)), leaves(6, &ask(3, 5, 71))]);
}

#[test]
fn a_digest_carries_the_fields_of_its_list() {
    let outputs = send(&mut load(EXTERNS), &ask(4, 0x21, 0x0403_0201));
    let values = vec![Int::from(0x21u32), Int::from(0x0403_0201u32)];
    assert_eq!(outputs[0], Output::Digest { list: 1, values });
    assert_eq!(outputs[1], leaves(1, &ask(4, 0x21, 0x0403_0201)));
}

#[test]
fn a_meter_colours_packets() {
    let mut pipeline = load(EXTERNS);
    let rate = pipeline.meter_index("ingress.rate").unwrap();
    let config = MeterConfig {
        committed_rate: MeterRate::per_s(1),
        committed_burst: 1,
        peak_rate: MeterRate::per_s(1),
        peak_burst: 2,
        excess_burst: None,
    };
    pipeline.meters_mut(rate).meters[2].configure(Some(config), Time::ZERO);
    let now = Time::ZERO + Span::from_us(1);
    // Green, yellow, red: the committed bucket holds one packet, the peak bucket two.
    for color in 0..3 {
        assert_eq!(send_at(&mut pipeline, &ask(5, 2, 9), now), [leaves(1, &ask(5, 2, color))]);
    }
    // A meter that is not configured, and one that does not exist.
    assert_eq!(send(&mut pipeline, &ask(5, 0, 9)), [leaves(1, &ask(5, 0, 0))]);
    assert_eq!(send(&mut pipeline, &ask(5, 9, 9)), [leaves(1, &ask(5, 9, 0))]);
}

#[test]
fn registers_remember_and_additions_saturate() {
    let mut pipeline = load(EXTERNS);
    assert_eq!(send(&mut pipeline, &ask(6, 3, 40)), [leaves(1, &ask(6, 3, 40))]);
    assert_eq!(send(&mut pipeline, &ask(6, 3, 2)), [leaves(1, &ask(6, 3, 42))]);
    let full = send(&mut pipeline, &ask(6, 3, 0xffff_ffff));
    assert_eq!(full, [leaves(1, &ask(6, 3, 0xffff_ffff))]);
    let sums = pipeline.register_index("ingress.sums").unwrap();
    assert_eq!(pipeline.registers(sums).read(3), Some(Int::from(0xffff_ffffu32)));
    assert_eq!(pipeline.registers(sums).read(4), None);
}

#[test]
fn counters_count_packets_and_their_bytes() {
    let mut pipeline = load(EXTERNS);
    send(&mut pipeline, &ask(7, 0, 0));
    send(&mut pipeline, &ask(7, 0, 0));
    let asked = pipeline.counter_index("ingress.asked").unwrap();
    assert_eq!(pipeline.counters(asked)[7], Counter { packets: 2, bytes: 20 });
}

#[test]
fn a_selector_chooses_the_same_member_for_the_same_fields() {
    let mut pipeline = load(EXTERNS);
    let table = pipeline.table_index("ingress.spreading").unwrap();
    let profile = pipeline.profile_index("ingress.spread").unwrap();
    let send_to = pipeline.action_index(table, "ingress.send").unwrap();
    for member in 0..4u32 {
        let data = vec![Int::from(20 + member)];
        pipeline.set_member(profile, member, send_to, data, true).unwrap();
    }
    pipeline.set_group(profile, 1, &[0, 1, 2, 3], true).unwrap();
    let key = vec![KeyMatch::Exact(Int::from(1))];
    let entry = Entry { key, priority: 0, action: EntryAction::Group(1), idle_timeout: None };
    pipeline.insert_entry(table, entry, Time::ZERO).unwrap();
    let mut port_of = |data: u32| match send(&mut pipeline, &ask(7, 1, data)).as_slice() {
        [Output::Transmit { port, .. }] => port.0,
        other => panic!("{other:?}"),
    };
    // A CRC is linear: only data that differs in many bits spreads over the low bits of the hash.
    let mut port_of = |number: u32| port_of(number.wrapping_mul(0x9e37_79b9));
    let ports: Vec<u16> = (0..64).map(&mut port_of).collect();
    assert_eq!((0..64).map(&mut port_of).collect::<Vec<u16>>(), ports);
    assert!((20..24).all(|port| ports.contains(&port)), "every member is chosen: {ports:?}");
    // In use: the group by the entry, the member by the group.
    assert!(matches!(pipeline.delete_group(profile, 1), Err(TableError::InUse { .. })));
    assert!(matches!(pipeline.delete_member(profile, 2), Err(TableError::InUse { .. })));
}

#[test]
fn ranges_match_between_their_ends_and_the_highest_priority_wins() {
    let mut pipeline = load(EXTERNS);
    let table = pipeline.table_index("ingress.ranges").unwrap();
    let send_to = pipeline.action_index(table, "ingress.send").unwrap();
    let mut add = |low: u32, high: u32, priority: i32, port: u32| {
        let key = vec![KeyMatch::Range { low: low.into(), high: high.into() }, KeyMatch::Any];
        let action = EntryAction::Action { action: send_to, data: vec![port.into()] };
        let entry = Entry { key, priority, action, idle_timeout: None };
        pipeline.insert_entry(table, entry, Time::ZERO).map(drop)
    };
    add(10, 20, 1, 100).unwrap();
    add(15, 30, 2, 101).unwrap();
    assert!(matches!(add(10, 20, 1, 102), Err(TableError::Exists { .. })));
    assert!(matches!(add(20, 10, 1, 102), Err(TableError::Key { .. })));
    for (data, port) in [(9, 1), (10, 100), (14, 100), (15, 101), (30, 101), (31, 1)] {
        assert_eq!(send(&mut pipeline, &ask(7, 0, data)), [leaves(port, &ask(7, 0, data))]);
    }
}

#[test]
fn a_hash_is_reduced_to_its_range() {
    // crc16 (ARC) of 02 00 00 00 07 is 0xfb01... reduced modulo 50 and moved by 100: in 100..150.
    let outputs = send(&mut load(EXTERNS), &ask(8, 2, 7));
    let [Output::Transmit { frame, .. }] = outputs.as_slice() else { panic!("{outputs:?}") };
    let value = u32::from_be_bytes(frame[2..6].try_into().unwrap());
    assert!((100..150).contains(&value), "{value}");
}

#[test]
fn stacks_move_by_pop_and_push() {
    let mut pipeline = load(EXTERNS);
    // Two items: 0x85 says that another follows.
    let packet = [9, 0, 0, 0, 0, 0, 0x85, 1, 0x06, 2, 0xee];
    assert_eq!(send(&mut pipeline, &packet), [leaves(1, &[9, 0, 0, 0, 0, 0, 0x06, 2, 0xee])]);
    let packet = [10, 0, 0, 0, 0, 0, 0x05, 1, 0xee];
    let pushed = [10, 0, 0, 0, 0, 0, 0x89, 0x99, 0x05, 1, 0xee];
    assert_eq!(send(&mut pipeline, &packet), [leaves(1, &pushed)]);
}

#[test]
fn truncating_cuts_the_frame() {
    let packet = ask(11, 0, 0);
    assert_eq!(send(&mut load(EXTERNS), &packet), [leaves(1, &packet[..8])]);
}

#[test]
fn a_parser_error_does_not_drop_the_packet() {
    let mut pipeline = load(EXTERNS);
    // Four items, where three have room: StackOutOfBounds, and the fourth stays payload.
    let packet = [12, 0, 0, 0, 0, 0, 0x81, 1, 0x82, 2, 0x83, 3, 0x04, 4];
    let mut seen = packet;
    seen[5] = 1;
    assert_eq!(send(&mut pipeline, &packet), [leaves(1, &seen)]);
    // Nothing where an item is to be: PacketTooShort.
    assert_eq!(send(&mut pipeline, &[12, 0, 0, 0, 0, 0]), [leaves(1, &[12, 0, 0, 0, 0, 2])]);
}

#[test]
fn members_of_a_value_set_steer_the_parser() {
    let mut pipeline = load(EXTERNS);
    // Without items to parse, a packet that ends after the first header is whole.
    let short = [12, 0, 0, 0, 0, 0];
    assert_eq!(send(&mut pipeline, &short), [leaves(1, &[12, 0, 0, 0, 0, 2])]);
    let set = pipeline.value_set_index("parse_packet.plain").unwrap();
    pipeline.set_value_set(set, vec![Int::from(12).into()]).unwrap();
    assert_eq!(send(&mut pipeline, &short), [leaves(1, &short)]);
    assert!(pipeline.set_value_set(set, vec![Int::from(256).into()]).is_err());
}

#[test]
fn an_assertion_that_fails_ends_the_packet() {
    let mut pipeline = load(EXTERNS);
    assert_eq!(send(&mut pipeline, &ask(13, 1, 0)), [leaves(1, &ask(13, 1, 0))]);
    assert_eq!(send(&mut pipeline, &ask(13, 0, 0)), [Output::Drop(DropReason::Assertion)]);
}

#[test]
fn random_numbers_stay_in_their_range_and_repeat_with_their_seed() {
    let draw = || {
        let mut pipeline = load(EXTERNS);
        let outputs: Vec<Output> =
            (0..50).flat_map(|_| send(&mut pipeline, &ask(14, 0, 0))).collect();
        outputs
    };
    assert_eq!(draw(), draw());
    for output in draw() {
        let Output::Transmit { frame, .. } = output else { panic!("{output:?}") };
        assert!((10..=20).contains(&u32::from_be_bytes(frame[2..6].try_into().unwrap())));
    }
}

#[test]
fn what_the_program_logs_is_an_event() {
    let mut pipeline = load(EXTERNS);
    let mut events: Vec<Event> = Vec::new();
    run_to_completion(&mut pipeline, PortId(3), &ask(0, 8, 0), Time::ZERO, &mut events);
    assert!(events.contains(&Event::Log { text: "what 0 arg 8".to_owned() }), "{events:?}");
    // `exit` comes before the log.
    events.clear();
    run_to_completion(&mut pipeline, PortId(3), &ask(15, 8, 0), Time::ZERO, &mut events);
    assert!(!events.iter().any(|event| matches!(event, Event::Log { .. })));
}

#[test]
fn resetting_forgets_everything_but_the_program() {
    let mut pipeline = load(EXTERNS);
    send(&mut pipeline, &ask(6, 3, 40));
    pipeline.replication.set_session(5, Some(to_port(9)));
    pipeline.reset();
    assert_eq!(send(&mut pipeline, &ask(6, 3, 2)), [leaves(1, &ask(6, 3, 2))]);
    assert_eq!(send(&mut pipeline, &ask(1, 0, 0)).len(), 1);
}
