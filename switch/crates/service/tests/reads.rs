//! A Read while others write, however its slices fall: each row once, and all of one state.
//!
//! Writes and reads are on their way at the same time, in either order, and are carried out in
//! slices of 1 to 16 steps. A read must return the state before the write or after it.

use crate::support;

use std::collections::BTreeSet;

use messages::p4::v1 as p4;
use messages::p4::v1::entity::Entity;
use messages::p4::v1::update::Type;
use proptest::collection::vec;
use proptest::prelude::*;

use support::by_hand::ByHand;
use support::{Ids, id_of, stream_over, update};

/// A profile of members only, a selector's members, the selector's groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    HopMember,
    WayMember,
    WayGroup,
}

/// A batch of inserts (true) and deletes, and a Read that is on its way at the same time.
#[derive(Clone, Debug)]
struct Round {
    changes: Vec<(Kind, u32, bool)>,
    /// The kind that is read.
    read: Kind,
    /// Of every profile, or of that kind's only.
    of_every_profile: bool,
    /// One of them, or all.
    id: Option<u32>,
    /// Whether the Read is sent before the batch.
    read_first: bool,
    budget: usize,
}

fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let kind = prop_oneof![Just(Kind::HopMember), Just(Kind::WayMember), Just(Kind::WayGroup)];
    // More inserts than deletes, so that reads have more rows than a slice has steps.
    let change = (kind.clone(), 1..40u32, prop::bool::weighted(0.7));
    let id = prop_oneof![4 => Just(None), 1 => (1..40u32).prop_map(Some)];
    let flags = (any::<bool>(), any::<bool>());
    let round = (vec(change, 0..60), kind, id, flags, 1..=16usize).prop_map(
        |(changes, read, id, (of_every_profile, read_first), budget)| Round {
            changes,
            read,
            of_every_profile,
            id,
            read_first,
            budget,
        },
    );
    vec(round, 1..12)
}

/// Profile or group, and id, of everything that is there.
type Rows = BTreeSet<(Kind, u32)>;

impl Round {
    /// The state after the batch, whose wrong updates fail each for itself.
    fn apply(&self, rows: &mut Rows) {
        for (kind, id, insert) in &self.changes {
            let _fails =
                if *insert { rows.insert((*kind, *id)) } else { rows.remove(&(*kind, *id)) };
        }
    }

    /// The Read's results there.
    fn select(&self, rows: &Rows) -> Vec<(Kind, u32)> {
        let is_wanted = |kind: Kind| match (self.of_every_profile, self.read, kind) {
            (true, Kind::HopMember | Kind::WayMember, Kind::HopMember | Kind::WayMember) => true,
            _ => kind == self.read,
        };
        let wanted = |(kind, id): &(Kind, u32)| {
            is_wanted(*kind) && self.id.is_none_or(|wanted| wanted == *id)
        };
        rows.iter().copied().filter(wanted).collect()
    }
}

/// The program's ids.
struct Profiles {
    hops: u32,
    ways: u32,
    drop: u32,
}

impl Profiles {
    fn of(self: &Profiles, kind: Kind) -> u32 {
        if kind == Kind::HopMember { self.hops } else { self.ways }
    }

    /// A member or group; without an action, of profile 0 or id 0 it selects several.
    fn entity(&self, kind: Kind, profile_id: u32, id: u32, is_whole: bool) -> Entity {
        let (action_profile_id, drop) =
            (profile_id, p4::Action { action_id: self.drop, params: vec![] });
        match kind {
            Kind::HopMember | Kind::WayMember => {
                Entity::ActionProfileMember(p4::ActionProfileMember {
                    action_profile_id,
                    member_id: id,
                    action: is_whole.then_some(drop),
                })
            }
            Kind::WayGroup => Entity::ActionProfileGroup(p4::ActionProfileGroup {
                action_profile_id,
                group_id: id,
                ..Default::default()
            }),
        }
    }

    fn row(&self, entity: &Entity) -> (Kind, u32) {
        match entity {
            Entity::ActionProfileMember(member) if member.action_profile_id == self.hops => {
                (Kind::HopMember, member.member_id)
            }
            Entity::ActionProfileMember(member) => (Kind::WayMember, member.member_id),
            Entity::ActionProfileGroup(group) => (Kind::WayGroup, group.group_id),
            other => panic!("nobody asked for {other:?}"),
        }
    }
}

async fn run(rounds: Vec<Round>) {
    let mut plane = ByHand::start();
    let (writer, reader) = (plane.client().await, plane.client().await);
    let connecting = async {
        let mut controller = stream_over(writer, "").await;
        let _primary = controller.bid(Some(1)).await.unwrap();
        let info = controller.load().await;
        (controller, stream_over(reader, "").await, info)
    };
    let (mut writer, mut reader, info) = plane.drive(connecting).await;
    let profile =
        |name| id_of(info.action_profiles.iter().filter_map(|it| it.preamble.as_ref()), name);
    let ids = Profiles {
        hops: profile("many_hops"),
        ways: profile("next_hops"),
        drop: Ids(&info).action("drop"),
    };
    let mut rows = Rows::new();
    for round in rounds {
        let updates = round.changes.iter().map(|(kind, id, insert)| {
            let verb = if *insert { Type::Insert } else { Type::Delete };
            update(verb, ids.entity(*kind, ids.of(*kind), *id, true))
        });
        let updates: Vec<_> = updates.collect();
        let of = if round.of_every_profile { 0 } else { ids.of(round.read) };
        let query = ids.entity(round.read, of, round.id.unwrap_or(0), false);
        plane.budget = round.budget;
        // Updates that are wrong by themselves, a duplicate insert, fail; the others are done.
        let (write, read) = (writer.write(updates), reader.read(query));
        let (_some_fail, found) = match round.read_first {
            true => {
                let (found, written) = plane.drive(async { tokio::join!(read, write) }).await;
                (written, found)
            }
            false => plane.drive(async { tokio::join!(write, read) }).await,
        };
        let mut found: Vec<_> = found.unwrap().iter().map(|entity| ids.row(entity)).collect();
        found.sort_unstable();
        let before = round.select(&rows);
        round.apply(&mut rows);
        let after = round.select(&rows);
        assert!(found == before || found == after, "{found:?}\n{before:?}\n{after:?}\n{round:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn members_and_groups_are_read_once_each_while_others_write(rounds in rounds()) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(run(rounds));
    }
}
