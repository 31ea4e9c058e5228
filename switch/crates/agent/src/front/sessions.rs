//! [`Sessions`]: the open streams, and what arbitration says about them.
//!
//! All streams share one value behind one lock. The lock is held for bookkeeping only, never
//! while anything waits: a message for a stream goes into its [`Outbox`], which takes it at once.
//! Notices are put into the outboxes under the lock, so every stream sees them in the order in
//! which they came about.
//!
//! No controller is notified that it is primary while the data plane still carries out requests of
//! earlier primaries: such a notice, and with it all later ones, waits for a [`Fence`].

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::p4runtime::arbitration::{Arbitration, Bid, ClientId, ElectionId, Notice, Standing};
use ::p4runtime::refusal::Refusal;
use ::p4runtime::{Code, Dialect};
use messages::google::rpc;
use messages::p4::v1 as p4;
use messages::p4::v1::stream_message_response::Update;
use units::memory::Budget;

use super::outbox::{Outbox, Room};

/// Every open stream of one device.
#[derive(Debug)]
pub struct Sessions {
    device_id: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    arbitration: Arbitration,
    outboxes: BTreeMap<ClientId, Arc<Outbox>>,
    next_client: u64,
    /// Reports lost by streams that are closed.
    lost_reports_before: u64,
    /// The room of all outboxes.
    room: Arc<Room>,
    /// Whether primaries have handed over requests behind which no fence stands, or none that waits
    /// to be lifted.
    unsettled: bool,
    /// Notices that wait, in their order.
    waiting: VecDeque<Waiting>,
    next_fence: u64,
}

/// Notices, and the number of the fence that they wait for, if it is not theirs to go.
#[derive(Debug)]
struct Waiting {
    fence: Option<u64>,
    notices: Vec<Notice>,
}

/// Notices wait until it is lifted, when the data plane has carried out everything handed over
/// before. Dropped without that, because the bidding stream has gone, it lets them go: only the new
/// primary would have had to wait. The next one has a fence of its own.
#[derive(Debug)]
#[must_use = "the notices behind a fence go as soon as it is dropped"]
pub struct Fence<'a> {
    sessions: &'a Sessions,
    number: u64,
    is_lifted: bool,
}

impl Fence<'_> {
    /// All has been carried out.
    pub fn lift(mut self) {
        self.is_lifted = true;
    }
}

impl Drop for Fence<'_> {
    fn drop(&mut self) {
        self.sessions.pass(self.number, self.is_lifted);
    }
}

/// The identity of a client that wants to change something.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The device it means.
    pub device_id: u64,
    /// The role it has.
    pub role: String,
    /// The election id it says it is primary with.
    pub election_id: Option<ElectionId>,
}

impl Claim {
    /// The claim in the three fields that every such request has, and the one that is gone.
    pub fn new(
        device_id: u64,
        role: &str,
        role_id: u64,
        election_id: Option<&p4::Uint128>,
    ) -> Result<Self, Refusal> {
        if role_id != 0 {
            return Err(numeric_role(role_id));
        }
        Ok(Self { device_id, role: role.to_owned(), election_id: election_id.map(election) })
    }
}

impl Sessions {
    /// No stream is open yet.
    pub fn new(device_id: u64) -> Self {
        let state = State {
            arbitration: Arbitration::new(device_id),
            outboxes: BTreeMap::new(),
            next_client: 0,
            lost_reports_before: 0,
            room: Arc::default(),
            unsettled: false,
            waiting: VecDeque::new(),
            next_fence: 0,
        };
        Self { device_id, state: Mutex::new(state) }
    }

    /// The waiting messages of all streams come out of this memory.
    pub fn with_memory(self, memory: Budget) -> Self {
        self.lock().room = Arc::new(Room::of(memory));
        self
    }

    /// The rules by which election ids count.
    pub fn with_dialect(self, dialect: Dialect) -> Self {
        self.lock().arbitration.set_dialect(dialect);
        self
    }

    /// A stream has been opened, by this connection; it takes part in nothing until its first
    /// [`Self::bid`].
    pub fn open(&self, connection: u64) -> (ClientId, Arc<Outbox>) {
        let mut state = self.lock();
        let client = ClientId(state.next_client);
        state.next_client += 1;
        state.arbitration.handle_open(client, connection);
        let outbox = Arc::new(Outbox::new(&state.room));
        state.outboxes.insert(client, Arc::clone(&outbox));
        (client, outbox)
    }

    /// A stream has ended.
    pub fn close(&self, client: ClientId) {
        let mut state = self.lock();
        if let Some(outbox) = state.outboxes.remove(&client) {
            state.lost_reports_before += outbox.lost_reports();
        }
        let notices = state.arbitration.handle_close(client);
        self.deliver(&mut state, notices, None);
    }

    /// A stream joins a role or changes its election id; an error must end the stream. A fence has to
    /// be held until the data plane has answered a request that comes after this.
    pub fn bid(
        &self,
        client: ClientId,
        update: &p4::MasterArbitrationUpdate,
    ) -> Result<Option<Fence<'_>>, Refusal> {
        let bid = bid_of(update)?;
        let mut state = self.lock();
        let notices = state.arbitration.handle_bid(client, bid)?;
        while let Some((displaced, why)) = state.arbitration.poll_displaced() {
            if let Some(outbox) = state.outboxes.get(&displaced) {
                outbox.end(Err(why.into()));
            }
        }
        let makes_a_primary = notices.iter().any(|notice| notice.standing == Standing::Primary);
        // The stream whose fence is still up may go before it is lifted.
        let is_settled = !state.unsettled && state.waiting.is_empty();
        let fence = (makes_a_primary && !is_settled).then(|| {
            state.unsettled = false;
            state.next_fence += 1;
            Fence { sessions: self, number: state.next_fence, is_lifted: false }
        });
        self.deliver(&mut state, notices, fence.as_ref().map(|fence| fence.number));
        drop(state);
        Ok(fence)
    }

    fn pass(&self, number: u64, is_lifted: bool) {
        let mut state = self.lock();
        state.unsettled |= !is_lifted;
        let passed = state.waiting.iter_mut().find(|waiting| waiting.fence == Some(number));
        if let Some(waiting) = passed {
            waiting.fence = None;
        }
        while let Some(Waiting { fence: None, .. }) = state.waiting.front() {
            let waiting = state.waiting.pop_front();
            waiting.iter().for_each(|waiting| self.send(&state, &waiting.notices));
        }
    }

    /// Refuses a sender that is not primary; see [`Arbitration::authorize`].
    pub fn authorize(&self, claim: &Claim) -> Result<(), Refusal> {
        let state = self.lock();
        state.arbitration.authorize(claim.device_id, &claim.role, claim.election_id)
    }

    /// The same, and then hands something to the data plane while no other can become primary: it
    /// comes before anything a later primary hands over, and before that one's notice.
    pub fn hand_over(&self, claim: &Claim, send: impl FnOnce()) -> Result<(), Refusal> {
        let mut state = self.lock();
        state.arbitration.authorize(claim.device_id, &claim.role, claim.election_id)?;
        state.unsettled = true;
        send();
        Ok(())
    }

    /// NOT_FOUND unless `device_id` names this device.
    pub fn check_device(&self, device_id: u64) -> Result<(), Refusal> {
        self.lock().arbitration.check_device(device_id)
    }

    /// The role that `client` leads, if it leads one.
    pub fn role_led_by(&self, client: ClientId) -> Option<String> {
        self.lock().arbitration.role_led_by(client).map(str::to_owned)
    }

    /// Whether a stream of this connection leads a role.
    pub fn leads(&self, connection: u64) -> bool {
        self.lock().arbitration.leads(connection)
    }

    /// Offers a report to the primary of every role that `concerns` lets through.
    pub fn report(&self, message: &p4::StreamMessageResponse, concerns: impl Fn(&str) -> bool) {
        let state = self.lock();
        for (role, client) in state.arbitration.primaries() {
            if let Some(outbox) = state.outboxes.get(&client).filter(|_| concerns(role)) {
                // A refusal is counted by the outbox, and shown by `lost_reports`.
                let _taken = outbox.report(message.clone());
            }
        }
    }

    /// Reports that found no room, of all streams since the switch started.
    pub fn lost_reports(&self) -> u64 {
        let state = self.lock();
        let open: u64 = state.outboxes.values().map(|outbox| outbox.lost_reports()).sum();
        state.lost_reports_before + open
    }

    /// Ends every stream.
    pub fn end_all(&self, why: &Refusal) {
        for outbox in self.lock().outboxes.values() {
            outbox.end(Err(why.clone().into()));
        }
    }

    /// Whether half of the room of a stream is taken.
    pub fn is_filling(&self) -> bool {
        self.lock().outboxes.values().any(|outbox| outbox.is_filling())
    }

    /// Ends the streams that are read too slowly.
    pub fn end_filling(&self, why: &Refusal) {
        for outbox in self.lock().outboxes.values().filter(|outbox| outbox.is_filling()) {
            outbox.end(Err(why.clone().into()));
        }
    }

    /// Tells what has come about, after what waits.
    fn deliver(&self, state: &mut State, notices: Vec<Notice>, fence: Option<u64>) {
        if fence.is_none() && state.waiting.is_empty() {
            self.send(state, &notices);
        } else {
            state.waiting.push_back(Waiting { fence, notices });
        }
    }

    fn send(&self, state: &State, notices: &[Notice]) {
        for notice in notices {
            if let Some(outbox) = state.outboxes.get(&notice.client) {
                outbox.notify(self.message(notice));
            }
        }
    }

    fn message(&self, notice: &Notice) -> p4::StreamMessageResponse {
        let (code, text) = match notice.standing {
            Standing::Primary => (Code::Ok, "you are primary"),
            Standing::Backup => (Code::AlreadyExists, "you are backup; another is primary"),
            Standing::Orphan => (Code::NotFound, "you are backup; nobody is primary"),
        };
        let status =
            rpc::Status { code: code as i32, message: text.to_owned(), details: Vec::new() };
        let role = (!notice.role.is_empty())
            .then(|| p4::Role { name: notice.role.clone(), ..Default::default() });
        let election_id = notice.highest.map(|id| {
            let (high, low) = id.halves();
            p4::Uint128 { high, low }
        });
        let update = p4::MasterArbitrationUpdate {
            device_id: self.device_id,
            role,
            election_id,
            status: Some(status),
        };
        p4::StreamMessageResponse { update: Some(Update::Arbitration(update)) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic under the lock would be a bug of this file; the bookkeeping stays usable.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn election(id: &p4::Uint128) -> ElectionId {
    ElectionId::from_halves(id.high, id.low)
}

fn bid_of(update: &p4::MasterArbitrationUpdate) -> Result<Bid, Refusal> {
    let role = update.role.clone().unwrap_or_default();
    if role.id != 0 {
        return Err(numeric_role(role.id));
    }
    if role.config.is_some() {
        return Err(Refusal::invalid(
            "role.config is set, but this switch takes no role configuration: leave it unset; a \
             role has access to everything that the program does not reserve for another role \
             with @p4runtime_role",
        ));
    }
    let election_id = update.election_id.as_ref().map(election);
    Ok(Bid { device_id: update.device_id, role: role.name, election_id })
}

fn numeric_role(role_id: u64) -> Refusal {
    Refusal::invalid(format!(
        "role id {role_id} is set; P4Runtime 1.4 names roles by string (fields role and role.name)"
    ))
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Waker};

    use futures_util::Stream;

    use super::*;
    use crate::front::outbox::OutboxStream;

    const DEVICE_ID: u64 = 3;

    fn election_id(low: u64) -> p4::Uint128 {
        p4::Uint128 { high: 0, low }
    }

    /// A new stream that becomes primary, and what it waits for.
    fn new_primary(sessions: &Sessions, low: u64) -> (Arc<Outbox>, Option<Fence<'_>>) {
        let (client, outbox) = sessions.open(low);
        let election_id = Some(election_id(low));
        let update =
            p4::MasterArbitrationUpdate { device_id: DEVICE_ID, election_id, ..Default::default() };
        (outbox, sessions.bid(client, &update).expect("its id is the highest"))
    }

    /// Whether something waits for a stream; then it is taken.
    fn is_told(outbox: &Arc<Outbox>) -> bool {
        let mut answers = OutboxStream(Arc::clone(outbox));
        Pin::new(&mut answers).poll_next(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    fn sessions_with_a_write() -> Sessions {
        let sessions = Sessions::new(DEVICE_ID);
        assert!(new_primary(&sessions, 1).1.is_none(), "nothing was handed over yet");
        let claim = Claim::new(DEVICE_ID, "", 0, Some(&election_id(1))).expect("it is one");
        sessions.hand_over(&claim, || ()).expect("it is primary");
        sessions
    }

    #[test]
    fn who_goes_before_writes_are_carried_out_leaves_the_next_primary_to_wait_for_them() {
        let sessions = sessions_with_a_write();
        let (_outbox, fence) = new_primary(&sessions, 2);
        drop(fence.expect("a write is on its way"));
        let (_outbox, fence) = new_primary(&sessions, 3);
        fence.expect("the write is on its way still").lift();
        let (_outbox, fence) = new_primary(&sessions, 4);
        assert!(fence.is_none(), "it was carried out");
    }

    #[test]
    fn who_goes_while_the_next_primary_waits_lets_nobody_pass_but_himself() {
        let sessions = sessions_with_a_write();
        let (_outbox, first) = new_primary(&sessions, 2);
        let (second, fence) = new_primary(&sessions, 3);
        drop(first.expect("a write is on its way"));
        assert!(!is_told(&second), "it waits for itself");
        fence.expect("a fence of its own").lift();
        assert!(is_told(&second));
    }
}
