//! The places of connections: a bounded number, and idle ones give way.
//!
//! A connection without an open call takes a place and does nothing with it; if a client comes
//! when all are taken, the one that has been idle longest is closed, of the peer that has the most
//! connections. A client of gRPC notices nothing: it connects again with its next call. Where each
//! connection has a call, a stream for instance, the oldest gives way that is no primary's, of the
//! peer that has the most. So a primary that returns always gets in, and has time to become one
//! before its turn would come. Where all are primaries', who comes is refused.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Context;

use futures_util::task::AtomicWaker;
use p4runtime::details::Room;
use units::memory::{Owner, Share};

use crate::roles::Roles;

/// Connections that may be open at the same time, if there is memory for them. A process may have
/// 1024 descriptors by default, and ports and captures need some.
pub const CONNECTION_COUNT_MAX: usize = 256;

/// The peer of a connection, as far as the kernel knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Peer {
    /// Somebody's at this address.
    Host(IpAddr),
    /// This user's, on this machine.
    User(u32),
}

/// A user who may not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stranger {
    pub uid: u32,
    /// The owner of the socket.
    pub owner: u32,
}

/// The refusal of a stranger.
impl fmt::Display for Stranger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { uid, owner } = self;
        match owner {
            0 => write!(f, "this switch is root's, and you are user {uid}: run this with sudo"),
            _ => write!(
                f,
                "this switch is that of user {owner}, whose socket it is, and of root, and you are user \
                 {uid}: run this as user {owner} or with sudo"
            ),
        }
    }
}

/// All places.
#[derive(Debug)]
pub(crate) struct Places {
    /// So many there are.
    count: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    by: BTreeMap<u64, (Peer, Client)>,
    /// Numbers connections, and orders the instants at which they became idle.
    count: u64,
}

/// A place, as long as it lives.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    pub client: Client,
}

/// A client, as its calls know it.
#[derive(Clone, Debug, Default)]
pub struct Client(Arc<State>);

#[derive(Debug, Default)]
struct State {
    number: u64,
    /// How large a list of headers it takes; it says so once.
    room: OnceLock<Room>,
    /// Which roles its certificate lets it take, where it has shown one.
    roles: OnceLock<Roles>,
    calls: AtomicU32,
    /// Greater means later.
    idle_since: AtomicU64,
    gives_way: AtomicBool,
    /// Its part of the memory.
    owner: Owner,
    /// The memory of the bytes in its connection's own buffer.
    written: Mutex<Vec<Share>>,
    reader: AtomicWaker,
}

/// A call that is open.
#[derive(Debug)]
pub(crate) struct OpenCall {
    client: Client,
    places: Arc<Places>,
}

impl Places {
    /// So many places.
    pub fn new(count: usize) -> Places {
        Places { count, taken: Mutex::default() }
    }

    /// A place for a connection of `peer`, perhaps that of another, which is closed. `leads` says
    /// which connections are those of primaries.
    pub fn take(self: &Arc<Self>, peer: Peer, leads: impl Fn(u64) -> bool) -> Option<Place> {
        let mut taken = self.lock();
        if taken.by.len() >= self.count {
            let giver = taken.longest_idle().or_else(|| taken.oldest_without(leads))?;
            if let Some((_, client)) = taken.by.remove(&giver) {
                client.give_way();
            }
        }
        taken.count += 1;
        let (number, idle_since) = (taken.count, AtomicU64::new(taken.count));
        let client = Client(Arc::new(State { number, idle_since, ..State::default() }));
        taken.by.insert(number, (peer, client.clone()));
        Some(Place { places: Arc::clone(self), client })
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    /// How many connections each peer has.
    fn counts(&self) -> BTreeMap<Peer, usize> {
        let mut counts = BTreeMap::new();
        self.by.values().for_each(|(peer, _)| *counts.entry(*peer).or_default() += 1);
        counts
    }

    /// The oldest connection that leads nothing, of the peer that has most; numbers say which is
    /// older.
    fn oldest_without(&self, leads: impl Fn(u64) -> bool) -> Option<u64> {
        let counts = self.counts();
        let others = self.by.iter().filter(|(number, _)| !leads(**number));
        let order =
            |(number, (peer, _)): &(&u64, &(Peer, Client))| (usize::MAX - counts[peer], **number);
        others.min_by_key(order).map(|(number, _)| *number)
    }

    fn longest_idle(&self) -> Option<u64> {
        let counts = self.counts();
        let idle = self.by.iter().filter(|(_, (_, client))| client.is_idle());
        let order = |(peer, client): &(Peer, Client)| {
            (usize::MAX - counts[peer], client.0.idle_since.load(Ordering::Relaxed))
        };
        idle.min_by_key(|(_, it)| order(it)).map(|(number, _)| *number)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.lock().by.remove(&self.client.0.number);
    }
}

impl Place {
    /// The client has begun a call.
    pub fn caller(&self) -> Caller {
        Caller { client: self.client.clone(), places: Arc::clone(&self.places) }
    }
}

/// The caller and its connection.
#[derive(Clone, Debug)]
pub struct Caller {
    client: Client,
    places: Arc<Places>,
}

impl Caller {
    /// Its connection is not idle as long as what is returned lives.
    pub(crate) fn begin(&self) -> OpenCall {
        self.client.0.calls.fetch_add(1, Ordering::Relaxed);
        OpenCall { client: self.client.clone(), places: Arc::clone(&self.places) }
    }

    /// The client itself.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Its connection's part of the memory.
    pub(crate) fn owner(&self) -> &Owner {
        &self.client.0.owner
    }

    /// The number of its connection.
    pub fn connection(&self) -> u64 {
        self.client.0.number
    }

    /// Which roles it may take.
    pub(crate) fn roles(&self) -> &Roles {
        self.client.0.roles.get().unwrap_or(&Roles::Any)
    }

    /// How much metadata it takes with an answer.
    pub fn room(&self) -> Room {
        self.client.0.room.get().copied().unwrap_or(Room::USUAL)
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        taken.count += 1;
        self.client.0.idle_since.store(taken.count, Ordering::Relaxed);
        self.client.0.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Client {
    /// It has said how large a list of headers it takes.
    pub(crate) fn announce(&self, room: Room) {
        // It is said once.
        let _first = self.0.room.set(room);
    }

    /// It has shown a certificate.
    pub(crate) fn show(&self, roles: Roles) {
        // Hands are shaken once.
        let _first = self.0.roles.set(roles);
    }

    /// The bytes of this share wait in the connection's own buffer, and keep it until that is
    /// empty.
    pub(crate) fn writes(&self, share: Share) {
        self.lock_written().push(share);
    }

    /// The connection's buffer is empty.
    pub(crate) fn has_written(&self) {
        self.lock_written().clear();
    }

    fn lock_written(&self) -> MutexGuard<'_, Vec<Share>> {
        self.0.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(crate) fn announced(&self) -> Option<Room> {
        self.0.room.get().copied()
    }

    fn is_idle(&self) -> bool {
        self.0.calls.load(Ordering::Relaxed) == 0
    }

    fn give_way(&self) {
        self.0.gives_way.store(true, Ordering::Relaxed);
        self.0.reader.wake();
    }

    /// Whether its connection is to be closed for another; if it is not, who reads is woken once it
    /// is.
    pub(crate) fn gives_way(&self, context: &Context<'_>) -> bool {
        self.0.reader.register(context.waker());
        self.0.gives_way.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    const HERE: Peer = Peer::User(1000);
    const THERE: Peer = Peer::User(1001);

    fn nobody(_connection: u64) -> bool {
        false
    }

    fn gives_way(place: &Place) -> bool {
        place.client.gives_way(&Context::from_waker(Waker::noop()))
    }

    #[test]
    fn the_longest_idle_connection_of_whoever_has_most_gives_way() {
        let places = Arc::new(Places::new(CONNECTION_COUNT_MAX));
        let other = places.take(THERE, nobody).expect("room");
        let many: Vec<Place> =
            (1..CONNECTION_COUNT_MAX).map(|_| places.take(HERE, nobody).expect("room")).collect();
        // The first was idle longest until it called, the second calls still.
        drop(many[0].caller().begin());
        let call = many[1].caller().begin();
        let late = places.take(THERE, nobody).expect("an idle one gives way");
        let gone: Vec<usize> = (0..many.len()).filter(|at| gives_way(&many[*at])).collect();
        assert_eq!((gone, gives_way(&other)), (vec![2], false));
        drop((call, late));
    }

    /// Connections 1 to 256, a call on each.
    fn all_busy(places: &Arc<Places>) -> Vec<(Place, OpenCall)> {
        let held = (0..CONNECTION_COUNT_MAX).map(|_| places.take(HERE, nobody).expect("room"));
        held.map(|place| (place.caller().begin(), place)).map(|(call, it)| (it, call)).collect()
    }

    #[test]
    fn where_nobody_is_idle_the_oldest_gives_way_that_is_no_primarys() {
        let places = Arc::new(Places::new(CONNECTION_COUNT_MAX));
        let held = all_busy(&places);
        let late = (0..2).map(|_| places.take(HERE, |number| number <= 3).expect("one gives way"));
        let late: Vec<_> = late.map(|place| (place.caller().begin(), place)).collect();
        let gone: Vec<usize> = (0..held.len()).filter(|at| gives_way(&held[*at].0)).collect();
        assert_eq!(gone, [3, 4], "connections 4 and 5");
        drop(late);
    }

    #[test]
    fn who_floods_the_switch_gives_way_before_others() {
        let places = Arc::new(Places::new(CONNECTION_COUNT_MAX));
        let other = places.take(THERE, nobody).expect("room");
        let call = other.caller().begin();
        let flood: Vec<Place> =
            (0..2 * CONNECTION_COUNT_MAX).filter_map(|_| places.take(HERE, nobody)).collect();
        assert_eq!(flood.len(), 2 * CONNECTION_COUNT_MAX);
        assert!(!gives_way(&other), "it is older than all of them");
        drop(call);
    }

    #[test]
    fn where_all_are_primaries_there_is_no_place() {
        let places = Arc::new(Places::new(CONNECTION_COUNT_MAX));
        let mut held = all_busy(&places);
        assert!(places.take(THERE, |_| true).is_none());
        drop(held.pop());
        assert!(places.take(THERE, |_| true).is_some());
    }

    #[test]
    fn there_may_be_fewer_places() {
        let places = Arc::new(Places::new(2));
        let held: Vec<_> = (0..3).filter_map(|_| places.take(HERE, nobody)).collect();
        assert_eq!(held.iter().map(gives_way).collect::<Vec<_>>(), [true, false, false]);
    }

    #[test]
    fn a_stranger_is_told_whose_the_switch_is_and_what_to_do() {
        let stranger = Stranger { uid: 7, owner: 1000 };
        assert_eq!(
            stranger.to_string(),
            "this switch is that of user 1000, whose socket it is, and of root, and you are user 7: \
             run this as user 1000 or with sudo"
        );
        assert_eq!(
            Stranger { owner: 0, ..stranger }.to_string(),
            "this switch is root's, and you are user 7: run this with sudo"
        );
    }
}
