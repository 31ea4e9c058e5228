//! [`Sessions`]: the open streams, and what arbitration says about them.
//!
//! All streams share one value behind one lock. The lock is held for bookkeeping only, never
//! while anything waits: a message for a stream goes into its [`Outbox`], which takes it at once.
//! Notices are put into the outboxes under the lock, so every stream sees them in the order in
//! which they came about.
//!
//! Nobody is told that it is primary while the data plane still carries out what earlier primaries
//! asked for: such a notice, and with it all later ones, waits for a [`Fence`].

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::p4runtime::Code;
use ::p4runtime::arbitration::{Arbitration, Bid, ClientId, ElectionId, Notice, Standing};
use ::p4runtime::refusal::Refusal;
use messages::google::rpc;
use messages::p4::v1 as p4;
use messages::p4::v1::stream_message_response::Update;

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
    /// What all outboxes hold.
    room: Arc<Room>,
    /// Whether primaries have handed over requests behind which no fence stands.
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

/// Notices wait until it is dropped: by then the data plane has carried out all that was handed over
/// before, or nobody cares any more.
#[derive(Debug)]
#[must_use = "the notices behind a fence go as soon as it is dropped"]
pub struct Fence<'a> {
    sessions: &'a Sessions,
    number: u64,
}

impl Drop for Fence<'_> {
    fn drop(&mut self) {
        self.sessions.pass(self.number);
    }
}

/// What identifies the sender of a request that changes something.
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
        while let Some(displaced) = state.arbitration.poll_displaced() {
            if let Some(outbox) = state.outboxes.get(&displaced) {
                outbox.end(Err(Refusal::exhausted(
                    "a controller that became primary needed the place of this backup",
                )
                .into()));
            }
        }
        let makes_a_primary = notices.iter().any(|notice| notice.standing == Standing::Primary);
        let fence = (makes_a_primary && state.unsettled).then(|| {
            state.unsettled = false;
            state.next_fence += 1;
            Fence { sessions: self, number: state.next_fence }
        });
        self.deliver(&mut state, notices, fence.as_ref().map(|fence| fence.number));
        drop(state);
        Ok(fence)
    }

    fn pass(&self, number: u64) {
        let mut state = self.lock();
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

    /// The same, and then hands something to the data plane while nobody else can become primary: it
    /// comes before anything a later primary hands over, and before that is told that it is one.
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
