//! The memory of packets and controllers comes out of one budget, and goes back to it.

use crate::support;

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use agent::Load;
use agent::exchange::{self, Reply};
use agent::visit::{Site, Visit};
use messages::p4::v1 as p4;
use messages::p4::v1::entity::Entity;
use messages::p4::v1::set_forwarding_pipeline_config_request::Action;
use messages::p4::v1::update::Type;
use messages::p4::v1::write_request::Atomicity;
use p4runtime::details::Room;
use p4runtime::{Code, Status};
use pipeline::CloneSession;
use support::{DEVICE_ID, Program, Rig};
use units::Bytes;
use units::memory::{Budget, Exhausted, Purpose};

/// 128 MiB: 32 for packets, 28 for entries, 20 for programs; the empty tables take 8.6.
fn budget() -> Budget {
    Budget::new(Bytes(128 << 20), Bytes(32 << 20))
}

/// Entries with 100 kB of metadata each.
fn write(
    rig: &mut Rig,
    kind: Type,
    numbers: Range<u32>,
    atomicity: Atomicity,
) -> Result<(), Status> {
    let long = |number| {
        let mut update = rig.update(kind, number);
        let Some(p4::Entity { entity: Some(Entity::TableEntry(entry)) }) = &mut update.entity
        else {
            unreachable!("the rig writes entries")
        };
        entry.metadata = vec![0; 100_000].into();
        update
    };
    let request = p4::WriteRequest {
        device_id: DEVICE_ID,
        election_id: Some(p4::Uint128 { high: 0, low: 1 }),
        updates: numbers.map(long).collect(),
        atomicity: atomicity.into(),
        ..Default::default()
    };
    let (front, answer) = (rig.front(), Rc::new(RefCell::new(None)));
    let place = Rc::clone(&answer);
    rig.complete(Box::pin(async move {
        *place.borrow_mut() = Some(front.write(request, Room::USUAL).await);
    }));
    answer.take().expect("it was answered").map(drop)
}

fn load(rig: &mut Rig, program: &Program, memory: Budget) -> Result<(), Status> {
    let settings = pipeline::Config { memory, ..pipeline::Config::default() };
    let request = rig.config_request(Action::VerifyAndCommit, program);
    let (front, answer) = (rig.front(), Rc::new(RefCell::new(None)));
    let place = Rc::clone(&answer);
    rig.complete(Box::pin(async move {
        let load = |config| async move { Load::new(config, &settings) };
        *place.borrow_mut() = Some(front.set_config(request, load).await);
    }));
    answer.take().expect("it was answered").map(drop)
}

#[test]
fn entries_are_refused_when_their_part_is_full_and_removed_ones_make_room() {
    let (budget, program) = (budget(), Program::forwarding_to(2));
    let mut rig = Rig::start_with(&program, &program, budget);
    let at_first = budget.taken(Purpose::Entries).0;
    let refused = write(&mut rig, Type::Insert, 0..300, Atomicity::ContinueOnError);
    let refused = refused.expect_err("that would be 30 MB");
    let details = String::from_utf8_lossy(&refused.details);
    assert!(details.contains("no memory is left for entries, members and groups"), "{details}");
    let full = budget.taken(Purpose::Entries).0;
    // Entries are paid for afterwards: the last one may be too much.
    assert!(budget.limit(Purpose::Entries).0 - full < 200_000, "{full}");

    let one_more = |rig: &mut Rig| write(rig, Type::Insert, 900..901, Atomicity::ContinueOnError);
    assert!(one_more(&mut rig).is_err());
    write(&mut rig, Type::Delete, 0..10, Atomicity::ContinueOnError).expect("they are there");
    one_more(&mut rig).expect("ten have made room");

    // Without them it is as before, but for the room of the table for as many.
    let all = (at_first..=full).contains(&budget.taken(Purpose::Entries).0);
    assert!(all, "{at_first} {full}");
    let _those_that_were_refused =
        write(&mut rig, Type::Delete, 10..901, Atomicity::ContinueOnError);
    let left = budget.taken(Purpose::Entries).0 - at_first;
    assert!(left < 100_000, "{left} bytes are left");
}

#[test]
fn a_batch_that_finds_no_memory_is_taken_back_and_gives_back_what_it_took() {
    let (budget, program) = (budget(), Program::forwarding_to(2));
    let mut rig = Rig::start_with(&program, &program, budget);
    write(&mut rig, Type::Insert, 0..100, Atomicity::RollbackOnError).expect("10 MB fit");
    let before = budget.taken(Purpose::Entries).0;
    let refused = write(&mut rig, Type::Insert, 100..300, Atomicity::RollbackOnError);
    assert!(refused.is_err());
    // The table keeps room for as many entries as it had for a while.
    let left = budget.taken(Purpose::Entries).0 - before;
    assert!(left < 200_000, "{left} bytes are left");
    write(&mut rig, Type::Insert, 100..110, Atomicity::RollbackOnError)
        .expect("they are not there");
}

#[test]
fn a_program_that_finds_no_memory_is_refused_and_the_one_in_force_stays() {
    let (budget, program) = (budget(), Program::forwarding_to(2));
    let other = Program::forwarding_to(3);
    let mut rig = Rig::start_with(&program, &other, budget);
    let before = budget.taken(Purpose::Programs).0;
    let full = budget.take(Purpose::Programs, budget.limit(Purpose::Programs).0 - before);
    let full = full.expect("all that is left");
    let refused = load(&mut rig, &other, budget).expect_err("nothing is left");
    assert_eq!(refused.code, Code::ResourceExhausted);
    assert!(refused.message.contains("there is no room for the program"), "{refused:?}");
    drop(full);
    rig.check_agreement();
    for _ in 0..20 {
        load(&mut rig, &other, budget).expect("there is room for two");
    }
    assert_eq!(budget.taken(Purpose::Programs).0, before, "nineteen have given theirs back");
}

/// Sets a clone session as the door for bmv2's interface does.
#[derive(Debug)]
struct Mirroring(Option<Reply<Result<(), Exhausted>>>);

impl Visit for Mirroring {
    fn go_on(&mut self, site: &mut Site<'_>, _left: &mut usize) -> bool {
        let done = site.set_clone_session(9, Some(CloneSession::default()));
        if let Some(reply) = self.0.take() {
            exchange::reply(reply, done);
        }
        true
    }
}

fn mirror(rig: &mut Rig) -> Result<(), Exhausted> {
    let (front, answer) = (rig.front(), Rc::new(RefCell::new(None)));
    let place = Rc::clone(&answer);
    rig.complete(Box::pin(async move {
        let visit = front.visit(|reply| Box::new(Mirroring(Some(reply))));
        *place.borrow_mut() = Some(visit.await.expect("it is carried out"));
    }));
    answer.take().expect("it was answered")
}

#[test]
fn a_clone_session_by_another_door_is_refused_where_the_entries_have_taken_all() {
    let (budget, program) = (budget(), Program::forwarding_to(2));
    let mut rig = Rig::start_with(&program, &program, budget);
    let full = write(&mut rig, Type::Insert, 0..300, Atomicity::ContinueOnError);
    assert!(full.is_err());
    assert!(mirror(&mut rig).is_err());
    write(&mut rig, Type::Delete, 0..10, Atomicity::ContinueOnError).expect("they are there");
    mirror(&mut rig).expect("ten have made room");
}
