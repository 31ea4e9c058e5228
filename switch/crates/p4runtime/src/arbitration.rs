//! The rights to write: roles, 128-bit election ids, one primary and any number of backups per
//! role.
//!
//! This is the specification's chapter "Client Arbitration and Controller Replication" as a
//! synchronous state machine. It knows no streams and no threads: the service reports what streams
//! say and when they end, and delivers the [`Notice`]s that come back, in their order.
//!
//! The rules in one paragraph: a client joins a role with its first update and stays in it. The
//! client whose election id is the highest the role has *ever* seen is primary; when it leaves or
//! lowers its id, the role has no primary until a client presents that highest id again (so a
//! controller that reconnects with its old id is primary again) or a higher one.
//!
//! In PI's dialect, ids of clients that have left do not count: the live client with the highest id
//! is primary, and while there is none, requests without an id are accepted.
//!
//! Numbers are bounded, and idle holders give way: where a role has no room, the
//! lowest of its backups goes for a client that becomes primary, so a primary that returns always
//! gets in; where there is no room for roles, the one that has been without clients longest is
//! forgotten, with the highest id that it has seen, and where all have clients one goes of the
//! connection that leads most; and the streams of one connection have a limited number of roles.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::dialect::Dialect;
use crate::refusal::Refusal;

/// Roles that may exist beside each other; the specification allows a limit.
pub const ROLE_COUNT_MAX: usize = 64;

/// Streams that may be open for one role.
pub const CLIENT_COUNT_MAX: usize = 64;

/// Roles that the streams of one connection may have.
pub const ROLES_PER_CONNECTION_MAX: usize = 16;

/// One open stream. Numbers are never reused while the switch runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientId(pub u64);

/// The 128-bit number by which controllers agree, outside the switch, who is primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ElectionId(pub u128);

impl ElectionId {
    /// From the two halves a protobuf message carries.
    pub fn from_halves(high: u64, low: u64) -> Self {
        Self(u128::from(high) << 64 | u128::from(low))
    }

    /// The two halves, high first.
    pub fn halves(self) -> (u64, u64) {
        ((self.0 >> 64) as u64, self.0 as u64)
    }
}

impl fmt::Display for ElectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (high, low) = self.halves();
        write!(f, "{{high {high}, low {low}}}")
    }
}

/// A client's message when it joins or changes its election id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bid {
    /// The device the client means.
    pub device_id: u64,
    /// The role's name; empty is the default role, which has access to everything.
    pub role: String,
    /// Unset: a standby that never becomes primary.
    pub election_id: Option<ElectionId>,
}

/// A client's standing within its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It may write. Reported as OK.
    Primary,
    /// Somebody else may write. Reported as ALREADY_EXISTS.
    Backup,
    /// Nobody may write at the moment. Reported as NOT_FOUND.
    Orphan,
}

/// A message to be sent to one client's stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The client to notify.
    pub client: ClientId,
    /// The role it concerns.
    pub role: String,
    /// The highest election id the role has seen; `None` while there has been none.
    pub highest: Option<ElectionId>,
    /// The client's standing now.
    pub standing: Standing,
}

/// A client that has joined a role.
#[derive(Debug)]
struct Member {
    role: String,
    election_id: Option<ElectionId>,
}

/// A role outlives its clients: it must remember the highest id it has seen.
#[derive(Debug, Default)]
struct Role {
    highest: Option<ElectionId>,
    /// Always a live member of this role, with `election_id == highest`.
    primary: Option<ClientId>,
    /// When its last member left, counted in members that left.
    left_at: u64,
}

/// The state of arbitration for one device.
#[derive(Debug)]
pub struct Arbitration {
    device_id: u64,
    dialect: Dialect,
    roles: BTreeMap<String, Role>,
    members: BTreeMap<ClientId, Member>,
    /// By which connection a client has come, if that is known.
    connections: BTreeMap<ClientId, u64>,
    /// Clients that had to go for others, and their refusals.
    displaced: Vec<(ClientId, Refusal)>,
    /// How many members have left.
    left_count: u64,
}

impl Arbitration {
    /// Nobody is connected; only the default role exists.
    pub fn new(device_id: u64) -> Self {
        let roles = BTreeMap::from([(String::new(), Role::default())]);
        Self {
            device_id,
            dialect: Dialect::Specification,
            roles,
            members: BTreeMap::new(),
            connections: BTreeMap::new(),
            displaced: Vec::new(),
            left_count: 0,
        }
    }

    /// The rules by which ids count.
    pub fn set_dialect(&mut self, dialect: Dialect) {
        self.dialect = dialect;
    }

    /// An unset id is 0 to PI.
    fn id_of(&self, given: Option<ElectionId>) -> Option<ElectionId> {
        match self.dialect {
            Dialect::Pi => given.or(Some(ElectionId(0))),
            Dialect::Specification => given,
        }
    }

    /// A client has come by this connection.
    pub fn handle_open(&mut self, client: ClientId, connection: u64) {
        self.connections.insert(client, connection);
    }

    /// A client that had to go for another: its stream must be ended with this status, and is no
    /// member any more.
    pub fn poll_displaced(&mut self) -> Option<(ClientId, Refusal)> {
        self.displaced.pop()
    }

    /// A client joins, or changes its election id. An error means that its stream must be ended
    /// with this status (and [`Self::handle_close`] called, as for any stream that ends).
    pub fn handle_bid(&mut self, client: ClientId, mut bid: Bid) -> Result<Vec<Notice>, Refusal> {
        bid.election_id = self.id_of(bid.election_id);
        self.check(client, &bid)?;
        if !self.members.contains_key(&client) {
            self.make_room(client, &bid)?;
        }
        let was_primary =
            self.roles.get(&bid.role).is_some_and(|role| role.primary == Some(client));
        let Bid { role: name, election_id, .. } = bid;
        self.members.insert(client, Member { role: name.clone(), election_id });

        let role = self.roles.entry(name.clone()).or_default();
        // `None < Some(_)`: the first id of all is the highest until now.
        if election_id.is_some() && election_id >= role.highest {
            role.highest = election_id;
            role.primary = Some(client);
            return Ok(self.tell_all(&name));
        }
        if was_primary {
            role.primary = None;
            self.promote(&name);
            return Ok(self.tell_all(&name));
        }
        Ok(vec![self.notice(client, &name)])
    }

    /// A stream has ended, for whatever reason; harmless for a client that never joined.
    pub fn handle_close(&mut self, client: ClientId) -> Vec<Notice> {
        self.connections.remove(&client);
        let Some(member) = self.members.remove(&client) else { return Vec::new() };
        self.left_count += 1;
        if let Some(role) = self.roles.get_mut(&member.role) {
            role.left_at = self.left_count;
        }
        match self.roles.get_mut(&member.role) {
            Some(role) if role.primary == Some(client) => {
                role.primary = None;
                self.promote(&member.role);
                self.tell_all(&member.role)
            }
            _ => Vec::new(),
        }
    }

    /// In PI's dialect the primary of a role that has lost its own is the highest that is left.
    fn promote(&mut self, name: &str) {
        if self.dialect != Dialect::Pi {
            return;
        }
        let of_role = self.members.iter().filter(|(_, member)| member.role == name);
        let next = of_role.max_by_key(|(_, member)| member.election_id);
        let next = next.map(|(client, member)| (*client, member.election_id));
        if let Some(role) = self.roles.get_mut(name) {
            role.primary = next.map(|(client, _)| client);
            role.highest = next.and_then(|(_, id)| id);
        }
    }

    /// The first two checks of every request that changes something, in the specification's order:
    /// device and role exist, then the sender is primary.
    pub fn authorize(
        &self,
        device_id: u64,
        role: &str,
        election_id: Option<ElectionId>,
    ) -> Result<(), Refusal> {
        self.check_device(device_id)?;
        if self.dialect == Dialect::Pi && self.members.is_empty() && election_id.is_none() {
            return Ok(());
        }
        let election_id = self.id_of(election_id);
        let state = self.roles.get(role).ok_or_else(|| {
            Refusal::not_found(format!(
                "no controller has ever joined role {role:?}; open a StreamChannel with it first"
            ))
        })?;
        match (state.primary, election_id) {
            (Some(_), Some(id)) if state.highest == Some(id) => Ok(()),
            (None, _) => Err(Refusal::denied(format!(
                "role {role:?} has no primary; open a StreamChannel and send an arbitration \
                 update with election id {} or higher",
                state.highest.unwrap_or(ElectionId(0)),
            ))),
            (Some(_), given) => Err(Refusal::denied(format!(
                "only the primary of role {role:?} may do this, and its election id is {}; the \
                 request has {}",
                state.highest.unwrap_or(ElectionId(0)),
                given.map_or_else(|| "none".to_owned(), |id| id.to_string()),
            ))),
        }
    }

    /// NOT_FOUND unless `device_id` names this device.
    pub fn check_device(&self, device_id: u64) -> Result<(), Refusal> {
        if device_id == self.device_id {
            return Ok(());
        }
        Err(Refusal::not_found(format!(
            "device {device_id} is not here; this switch is device {}",
            self.device_id
        )))
    }

    /// The role that `client` has joined, if it is that role's primary.
    pub fn role_led_by(&self, client: ClientId) -> Option<&str> {
        let role = &self.members.get(&client)?.role;
        (self.roles.get(role)?.primary == Some(client)).then_some(role.as_str())
    }

    /// Whether a client of this connection leads a role.
    pub fn leads(&self, connection: u64) -> bool {
        self.primaries().any(|(_, client)| self.connections.get(&client) == Some(&connection))
    }

    /// Every role that has a primary, with that primary: who receives what the device reports.
    pub fn primaries(&self) -> impl Iterator<Item = (&str, ClientId)> {
        self.roles.iter().filter_map(|(name, role)| Some((name.as_str(), role.primary?)))
    }

    fn check(&self, client: ClientId, bid: &Bid) -> Result<(), Refusal> {
        let joined = self.members.get(&client);
        if let Some(member) = joined {
            if bid.device_id != self.device_id {
                return Err(Refusal::precondition(format!(
                    "this stream belongs to device {}; open another for device {}",
                    self.device_id, bid.device_id
                )));
            }
            if bid.role != member.role {
                return Err(Refusal::precondition(format!(
                    "this stream has role {:?}; close it and open another for role {:?}",
                    member.role, bid.role
                )));
            }
        }
        self.check_device(bid.device_id)?;
        let twin = self.members.iter().find(|(id, member)| {
            **id != client && member.role == bid.role && member.election_id == bid.election_id
        });
        match (twin, bid.election_id) {
            (Some(_), Some(id)) => Err(Refusal::invalid(format!(
                "election id {id} is used by another live controller of role {:?}; take a \
                 different one, or close the other stream",
                bid.role
            ))),
            _ => Ok(()),
        }
    }

    /// Room for a client in a role, perhaps that of another client or of another role.
    fn make_room(&mut self, client: ClientId, bid: &Bid) -> Result<(), Refusal> {
        let Some(role) = self.roles.get(&bid.role) else {
            self.check_connection(client)?;
            return self.make_room_for_a_role(client);
        };
        let live = self.members.values().filter(|member| member.role == bid.role).count();
        if live < CLIENT_COUNT_MAX {
            return Ok(());
        }
        let becomes_primary = bid.election_id.is_some() && bid.election_id >= role.highest;
        let backups = self.members.iter().filter(|(id, member)| {
            member.role == bid.role && Some(**id) != role.primary && becomes_primary
        });
        // Of those without an id, the last that came.
        let lowest = backups.min_by_key(|(id, member)| (member.election_id, Reverse(**id)));
        let Some(lowest) = lowest.map(|(id, _)| *id) else {
            return Err(Refusal::exhausted(format!(
                "{CLIENT_COUNT_MAX} streams are open for role {:?}; close one first",
                bid.role
            )));
        };
        self.displace(lowest, "a controller that became primary needed the place of this backup");
        Ok(())
    }

    fn displace(&mut self, client: ClientId, why: &str) {
        self.members.remove(&client);
        self.connections.remove(&client);
        self.displaced.push((client, Refusal::exhausted(why)));
    }

    /// Forgets a role if there are too many, for a client that joins another: one without clients,
    /// or one of a connection that has many.
    fn make_room_for_a_role(&mut self, client: ClientId) -> Result<(), Refusal> {
        if self.roles.len() < ROLE_COUNT_MAX {
            return Ok(());
        }
        let is_empty = |name: &str| self.members.values().all(|member| member.role != name);
        let deserted = self.roles.iter().filter(|(name, _)| !name.is_empty() && is_empty(name));
        let oldest = deserted.min_by_key(|(_, role)| role.left_at).map(|(name, _)| name.clone());
        let Some(name) = oldest.or_else(|| self.giving_way_to(client)) else {
            return Err(Refusal::exhausted(format!(
                "{ROLE_COUNT_MAX} roles have clients; no more fit"
            )));
        };
        self.roles.remove(&name);
        let of_it = self.members.iter().filter(|(_, member)| member.role == name);
        for displaced in of_it.map(|(id, _)| *id).collect::<Vec<_>>() {
            let why = "another connection needed a role, and this one leads more than any other";
            self.displace(displaced, why);
        }
        Ok(())
    }

    /// The last role of the connection that has most, if those are at least two more than the
    /// client's own connection has: with as many, a client leaves others theirs. A role belongs to
    /// its primary, or else to the first that joined it.
    fn giving_way_to(&self, client: ClientId) -> Option<String> {
        let mut leaders: BTreeMap<&str, ClientId> = BTreeMap::new();
        for (id, member) in &self.members {
            leaders.entry(&member.role).or_insert(*id);
        }
        leaders.extend(self.primaries());
        // The default role belongs to all.
        leaders.remove("");
        let mut owned: BTreeMap<u64, Vec<(ClientId, &str)>> = BTreeMap::new();
        for (name, leader) in leaders {
            let connection = self.connections.get(&leader);
            connection
                .into_iter()
                .for_each(|it| owned.entry(*it).or_default().push((leader, name)));
        }
        let its_own =
            self.connections.get(&client).and_then(|it| owned.get(it)).map_or(0, Vec::len);
        let most = owned.values().max_by_key(|roles| roles.len())?;
        let (_, last) = most.iter().max()?;
        (most.len() >= its_own + 2).then(|| (*last).to_owned())
    }

    /// Refuses a connection that has many roles already.
    fn check_connection(&self, client: ClientId) -> Result<(), Refusal> {
        let Some(connection) = self.connections.get(&client) else { return Ok(()) };
        let of_it =
            self.members.iter().filter(|(id, _)| self.connections.get(id) == Some(connection));
        let roles: BTreeSet<&str> = of_it.map(|(_, member)| member.role.as_str()).collect();
        if roles.len() < ROLES_PER_CONNECTION_MAX {
            return Ok(());
        }
        Err(Refusal::exhausted(format!(
            "the streams of this connection have {ROLES_PER_CONNECTION_MAX} roles; more need another"
        )))
    }

    /// Everybody in the role, the primary last: it must hear of its office only when all others
    /// know that they do not hold it.
    fn tell_all(&self, role: &str) -> Vec<Notice> {
        let primary = self.roles.get(role).and_then(|role| role.primary);
        let of_role = self.members.iter().filter(|(_, member)| member.role == role);
        let backups = of_role.map(|(id, _)| *id).filter(|id| Some(*id) != primary);
        backups.chain(primary).map(|client| self.notice(client, role)).collect()
    }

    fn notice(&self, client: ClientId, name: &str) -> Notice {
        let (highest, primary) =
            self.roles.get(name).map_or((None, None), |role| (role.highest, role.primary));
        let standing = match primary {
            Some(primary) if primary == client => Standing::Primary,
            Some(_) => Standing::Backup,
            None => Standing::Orphan,
        };
        Notice { client, role: name.to_owned(), highest, standing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;

    const DEVICE: u64 = 7;

    fn bid(role: &str, election_id: Option<u128>) -> Bid {
        Bid { device_id: DEVICE, role: role.to_owned(), election_id: election_id.map(ElectionId) }
    }

    /// Client numbers with their notices, in order.
    fn told(notices: &[Notice]) -> Vec<(u64, Standing)> {
        notices.iter().map(|notice| (notice.client.0, notice.standing)).collect()
    }

    #[test]
    fn the_first_controller_with_an_election_id_is_primary() {
        let mut state = Arbitration::new(DEVICE);
        let notices = state.handle_bid(ClientId(1), bid("", Some(1))).unwrap();
        assert_eq!(told(&notices), [(1, Standing::Primary)]);
        assert_eq!(notices[0].highest, Some(ElectionId(1)));
        assert!(state.authorize(DEVICE, "", Some(ElectionId(1))).is_ok());
    }

    #[test]
    fn a_controller_without_election_id_waits_and_never_becomes_primary() {
        let mut state = Arbitration::new(DEVICE);
        let notices = state.handle_bid(ClientId(1), bid("", None)).unwrap();
        assert_eq!(told(&notices), [(1, Standing::Orphan)]);
        assert_eq!(notices[0].highest, None);
        let refusal = state.authorize(DEVICE, "", None).unwrap_err();
        assert_eq!(refusal.code, Code::PermissionDenied);
    }

    #[test]
    fn election_id_zero_differs_from_an_unset_one() {
        let mut state = Arbitration::new(DEVICE);
        let notices = state.handle_bid(ClientId(1), bid("", Some(0))).unwrap();
        assert_eq!(told(&notices), [(1, Standing::Primary)]);
    }

    #[test]
    fn a_higher_id_takes_over_and_the_others_hear_of_it_first() {
        let mut state = Arbitration::new(DEVICE);
        state.handle_bid(ClientId(1), bid("", Some(1))).unwrap();
        state.handle_bid(ClientId(2), bid("", None)).unwrap();
        let notices = state.handle_bid(ClientId(3), bid("", Some(2))).unwrap();
        let backup = Standing::Backup;
        assert_eq!(told(&notices), [(1, backup), (2, backup), (3, Standing::Primary)]);
        assert_eq!(
            state.authorize(DEVICE, "", Some(ElectionId(1))).unwrap_err().code,
            Code::PermissionDenied
        );
        assert!(state.authorize(DEVICE, "", Some(ElectionId(2))).is_ok());
    }

    #[test]
    fn all_128_bits_of_an_election_id_count() {
        let mut state = Arbitration::new(DEVICE);
        let large = ElectionId::from_halves(1, 0);
        state.handle_bid(ClientId(1), bid("", Some(u128::from(u64::MAX)))).unwrap();
        let notices = state.handle_bid(ClientId(2), bid("", Some(large.0))).unwrap();
        assert_eq!(told(&notices), [(1, Standing::Backup), (2, Standing::Primary)]);
        assert_eq!(large.halves(), (1, 0));
    }

    #[test]
    fn a_lower_id_is_a_backup_and_only_that_client_is_told() {
        let mut state = Arbitration::new(DEVICE);
        state.handle_bid(ClientId(1), bid("", Some(5))).unwrap();
        let notices = state.handle_bid(ClientId(2), bid("", Some(4))).unwrap();
        assert_eq!(told(&notices), [(2, Standing::Backup)]);
    }

    #[test]
    fn when_the_primary_leaves_nobody_is_primary_and_the_backups_are_told() {
        let mut state = Arbitration::new(DEVICE);
        state.handle_bid(ClientId(1), bid("", Some(5))).unwrap();
        state.handle_bid(ClientId(2), bid("", Some(4))).unwrap();
        let notices = state.handle_close(ClientId(1));
        assert_eq!(told(&notices), [(2, Standing::Orphan)]);
        assert_eq!(notices[0].highest, Some(ElectionId(5)));
        // The backup's own id does not make it primary: 4 < 5, the highest ever seen.
        assert!(state.authorize(DEVICE, "", Some(ElectionId(4))).is_err());
        assert!(state.authorize(DEVICE, "", Some(ElectionId(5))).is_err());
    }

    #[test]
    fn a_controller_that_reconnects_with_its_id_is_primary_again() {
        let mut state = Arbitration::new(DEVICE);
        state.handle_bid(ClientId(1), bid("", Some(1))).unwrap();
        let refusal = state.handle_bid(ClientId(2), bid("", Some(1))).unwrap_err();
        assert_eq!(refusal.code, Code::InvalidArgument, "the earlier stream is still there");
        state.handle_close(ClientId(1));
        let notices = state.handle_bid(ClientId(3), bid("", Some(1))).unwrap();
        assert_eq!(told(&notices), [(3, Standing::Primary)]);
    }

    #[test]
    fn a_primary_that_lowers_its_id_steps_down_and_all_are_told() {
        let mut state = Arbitration::new(DEVICE);
        state.handle_bid(ClientId(1), bid("", Some(9))).unwrap();
        state.handle_bid(ClientId(2), bid("", Some(8))).unwrap();
        let notices = state.handle_bid(ClientId(1), bid("", Some(3))).unwrap();
        assert_eq!(told(&notices), [(1, Standing::Orphan), (2, Standing::Orphan)]);
        assert!(state.primaries().next().is_none());
    }

    #[test]
    fn roles_elect_independently() {
        let mut state = Arbitration::new(DEVICE);
        state.handle_bid(ClientId(1), bid("", Some(1))).unwrap();
        state.handle_bid(ClientId(2), bid("telemetry", Some(1))).unwrap();
        let led: Vec<_> = state.primaries().map(|(role, id)| (role.to_owned(), id.0)).collect();
        assert_eq!(led, [(String::new(), 1), ("telemetry".to_owned(), 2)]);
        assert_eq!(state.role_led_by(ClientId(2)), Some("telemetry"));
        assert_eq!(
            state.authorize(DEVICE, "nobody", Some(ElectionId(1))).unwrap_err().code,
            Code::NotFound
        );
    }

    #[test]
    fn a_stream_keeps_its_device_and_its_role() {
        let mut state = Arbitration::new(DEVICE);
        let stranger = Bid { device_id: 8, ..bid("", Some(1)) };
        let first = state.handle_bid(ClientId(1), stranger.clone()).unwrap_err();
        assert_eq!(first.code, Code::NotFound);
        state.handle_bid(ClientId(1), bid("", Some(1))).unwrap();
        let device = state.handle_bid(ClientId(1), stranger).unwrap_err();
        assert_eq!(device.code, Code::FailedPrecondition);
        let role = state.handle_bid(ClientId(1), bid("other", Some(1))).unwrap_err();
        assert_eq!(role.code, Code::FailedPrecondition);
    }

    #[test]
    fn the_number_of_streams_of_a_role_is_bounded() {
        let mut state = Arbitration::new(DEVICE);
        for n in 0..CLIENT_COUNT_MAX as u64 {
            state.handle_bid(ClientId(n), bid("", Some(u128::from(n)))).unwrap();
        }
        // A client that would be a backup as well displaces none.
        let refusal = state.handle_bid(ClientId(1000), bid("", None)).unwrap_err();
        assert_eq!(refusal.code, Code::ResourceExhausted);
        assert_eq!(state.poll_displaced(), None);
        state.handle_close(ClientId(0));
        assert!(state.handle_bid(ClientId(1001), bid("", None)).is_ok());
    }

    #[test]
    fn a_primary_that_returns_finds_room_among_standbys() {
        let mut state = Arbitration::new(DEVICE);
        state.handle_bid(ClientId(500), bid("", Some(9))).unwrap();
        state.handle_close(ClientId(500));
        for n in 0..CLIENT_COUNT_MAX as u64 - 1 {
            state.handle_bid(ClientId(n), bid("", None)).unwrap();
        }
        state.handle_bid(ClientId(600), bid("", Some(8))).unwrap();
        let notices = state.handle_bid(ClientId(501), bid("", Some(9))).unwrap();
        assert_eq!(told(&notices).last(), Some(&(501, Standing::Primary)));
        // The last of those that never become primary, and no other.
        let displaced = state.poll_displaced().map(|(client, _)| client);
        assert_eq!(displaced, Some(ClientId(CLIENT_COUNT_MAX as u64 - 2)));
        assert_eq!(state.poll_displaced(), None);
        assert_eq!(notices.len(), CLIENT_COUNT_MAX);
    }

    #[test]
    fn the_role_that_was_deserted_first_is_forgotten_first() {
        let mut state = Arbitration::new(DEVICE);
        state.handle_bid(ClientId(0), bid("", Some(7))).unwrap();
        state.handle_close(ClientId(0));
        // The default role and 63 others are all there is room for.
        for n in 1..ROLE_COUNT_MAX as u64 {
            state.handle_bid(ClientId(n), bid(&format!("role {n}"), Some(1))).unwrap();
        }
        let refusal = state.handle_bid(ClientId(100), bid("another", Some(1))).unwrap_err();
        assert_eq!(refusal.code, Code::ResourceExhausted, "all have clients");
        state.handle_close(ClientId(2));
        state.handle_close(ClientId(1));
        state.handle_bid(ClientId(100), bid("another", Some(1))).unwrap();
        let knows = |role| state.authorize(DEVICE, role, None).unwrap_err().code != Code::NotFound;
        assert!(!knows("role 2") && knows("role 1"));
        // The default role is never forgotten, nor its highest id.
        assert!(knows(""));
    }

    #[test]
    fn one_connection_does_not_take_all_roles() {
        let mut state = Arbitration::new(DEVICE);
        let mut join = |connection, n: u64| {
            state.handle_open(ClientId(n), connection);
            state.handle_bid(ClientId(n), bid(&format!("role {n}"), Some(1))).map(drop)
        };
        let taken = (0..40).filter(|n| join(1, *n).is_ok()).count();
        assert_eq!(taken, ROLES_PER_CONNECTION_MAX);
        assert!(join(2, 50).is_ok());
    }

    /// Clients 1 to 63 have a role each, so with the default role there is no room for another. As
    /// many come by each connection as it may have.
    fn all_roles_taken() -> Arbitration {
        let mut state = Arbitration::new(DEVICE);
        for n in 1..ROLE_COUNT_MAX as u64 {
            state.handle_open(ClientId(n), n / ROLES_PER_CONNECTION_MAX as u64);
            state.handle_bid(ClientId(n), bid(&format!("role {n}"), Some(1))).unwrap();
        }
        state
    }

    #[test]
    fn who_has_many_roles_makes_room_for_a_primary_that_returns() {
        let mut state = all_roles_taken();
        // It is theirs, even if others wait in it.
        state.handle_open(ClientId(90), 8);
        state.handle_bid(ClientId(90), bid("role 63", None)).unwrap();
        state.handle_open(ClientId(100), 9);
        let notices = state.handle_bid(ClientId(100), bid("its own", Some(7))).unwrap();
        assert_eq!(told(&notices), [(100, Standing::Primary)]);
        // Connections 1 to 3 have sixteen; of the last of them the role that was joined last.
        let gone: Vec<_> = std::iter::from_fn(|| state.poll_displaced()).collect();
        assert_eq!(gone.iter().map(|(client, _)| client.0).collect::<Vec<_>>(), [90, 63]);
        assert!(gone.iter().all(|(_, why)| why.code == Code::ResourceExhausted));
        let ended = state.authorize(DEVICE, "role 63", Some(ElectionId(1))).unwrap_err();
        assert_eq!(ended.code, Code::NotFound);
        assert!(state.handle_close(ClientId(63)).is_empty(), "it is no member any more");
    }

    #[test]
    fn who_has_no_more_roles_than_others_takes_none_away() {
        let mut state = all_roles_taken();
        // Connection 0 has fifteen: with one more it would have as many as the others.
        state.handle_open(ClientId(100), 0);
        let refused = state.handle_bid(ClientId(100), bid("another", Some(7))).unwrap_err();
        assert_eq!((refused.code, state.poll_displaced()), (Code::ResourceExhausted, None));
    }
}
