//! P4Runtime's promises, as simply as possible: arbitration as a table of roles, and the device as
//! one value that every request changes at one instant, in the order in which requests were handed
//! over.

use std::collections::{BTreeMap, BTreeSet};

use p4runtime::Code;
use units::Time;

use super::learning::Learning;

/// Hosts to which packets go, and about which entries are.
pub const KEY_COUNT: usize = 6;

/// An entry's treatment of packets for its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Does {
    Drop,
    Forward(u16),
}

/// A program with its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// Which program it is: a number of its own each time that one is loaded.
    pub cookie: u64,
    /// By which port packets leave of which no entry says anything.
    pub port: u16,
    pub entries: BTreeMap<usize, Does>,
    /// Whether the digest is switched on, and what of it is under way.
    pub learning: Option<Learning>,
}

impl Loaded {
    pub fn new(cookie: u64, port: u16) -> Loaded {
        Loaded { cookie, port, entries: BTreeMap::new(), learning: None }
    }

    /// By which ports packets for each host leave.
    pub fn ways(&self) -> Vec<Option<u16>> {
        let way = |key| match self.entries.get(&key) {
            None => Some(self.port),
            Some(Does::Drop) => None,
            Some(Does::Forward(port)) => Some(*port),
        };
        (0..KEY_COUNT).map(way).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Insert(Does),
    Modify(Does),
    Delete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    ContinueOnError,
    RollbackOnError,
    DataplaneAtomic,
}

/// A request handed over to the device.
#[derive(Clone, Debug)]
pub enum Request {
    AddPort(u16),
    Commit,
    CommitNew(Loaded),
    /// Switches the digest on or off.
    Learn(bool),
    Read,
    Reconcile(Loaded),
    RemovePort(u16),
    Save(Loaded),
    Write(Batch, Vec<(usize, Change)>),
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Done,
    Entries(BTreeMap<usize, Does>),
    Refused(Code),
}

/// The device after everything that was handed over.
pub struct Model {
    in_force: Loaded,
    saved: Option<Loaded>,
    pub ports: BTreeSet<u16>,
    /// Everything that packets may have seen, in order.
    states: Vec<Loaded>,
    /// Before this one there is none that packets may still see.
    seen: usize,
}

impl Model {
    pub fn new(in_force: Loaded) -> Model {
        let states = vec![in_force.clone()];
        Model { in_force, saved: None, ports: (1..=3).collect(), states, seen: 0 }
    }

    /// Requests are about the saved program, if there is one.
    fn current(&mut self) -> &mut Loaded {
        self.saved.as_mut().unwrap_or(&mut self.in_force)
    }

    /// A request is handed over, made for the program with this cookie. Returns what must be
    /// answered, and which state is in force then.
    pub fn hand_over(&mut self, request: Request, made_for: u64) -> (Answer, usize) {
        let answer = self.carry_out(request, made_for);
        self.pass();
        (answer, self.states.len() - 1)
    }

    /// Packets may pass.
    fn pass(&mut self) {
        if self.states.last() != Some(&self.in_force) {
            self.states.push(self.in_force.clone());
        }
    }

    fn carry_out(&mut self, request: Request, made_for: u64) -> Answer {
        let is_about_entries =
            matches!(request, Request::Learn(_) | Request::Read | Request::Write(..));
        if is_about_entries && self.current().cookie != made_for {
            return Answer::Refused(Code::Aborted);
        }
        match request {
            Request::Read => return Answer::Entries(self.current().entries.clone()),
            Request::Write(batch, changes) => return self.write(batch, &changes),
            Request::Learn(on) if self.current().learning.is_some() == on => {
                return Answer::Refused(Code::Unknown);
            }
            Request::Learn(on) => self.current().learning = on.then(Learning::default),
            Request::Save(program) => self.saved = Some(program),
            Request::CommitNew(program) => (self.in_force, self.saved) = (program, None),
            Request::Reconcile(program) => {
                let entries = self.in_force.entries.clone();
                // That it is on is taken over; what is under way is not.
                let learning = self.in_force.learning.is_some().then(Learning::default);
                (self.in_force, self.saved) = (Loaded { entries, learning, ..program }, None);
            }
            Request::Commit => match self.saved.take() {
                Some(saved) => self.in_force = saved,
                None => return Answer::Refused(Code::NotFound),
            },
            Request::AddPort(port) if self.ports.insert(port) => {}
            Request::AddPort(_) => return Answer::Refused(Code::AlreadyExists),
            Request::RemovePort(port) if self.ports.remove(&port) => {}
            Request::RemovePort(_) => return Answer::Refused(Code::NotFound),
        }
        Answer::Done
    }

    fn write(&mut self, batch: Batch, changes: &[(usize, Change)]) -> Answer {
        let mut answer = Answer::Done;
        let mut before = vec![self.current().entries.clone()];
        for (key, change) in changes {
            let entries = &mut self.current().entries;
            let fits = entries.contains_key(key) != matches!(change, Change::Insert(_));
            if !fits {
                answer = Answer::Refused(Code::Unknown);
                if batch == Batch::ContinueOnError {
                    continue;
                }
                break;
            }
            match change {
                Change::Insert(does) | Change::Modify(does) => drop(entries.insert(*key, *does)),
                Change::Delete => drop(entries.remove(key)),
            }
            before.push(entries.clone());
            if batch != Batch::DataplaneAtomic {
                self.pass();
            }
        }
        if batch != Batch::ContinueOnError && answer != Answer::Done {
            // Put back, the last first; packets may see that, unless the batch forbids it.
            for entries in before.into_iter().rev() {
                self.current().entries = entries;
                if batch == Batch::RollbackOnError {
                    self.pass();
                }
            }
        }
        answer
    }

    /// The program sends this message, now that everything handed over is carried out; returns the
    /// lists that the primaries must get.
    pub fn learn(&mut self, now: Time, message: u8) -> Vec<(u64, Vec<u8>)> {
        let Some(learning) = &mut self.in_force.learning else { return Vec::new() };
        let overdue = learning.poll(now);
        overdue.into_iter().chain(learning.hear(now, message)).collect()
    }

    /// A primary has acted on a list.
    pub fn acknowledge(&mut self, list: u64) {
        if let Some(learning) = &mut self.in_force.learning {
            learning.acknowledge(list);
        }
    }

    /// Something was answered: what was before that is over.
    pub fn answered(&mut self, state: usize) {
        self.seen = self.seen.max(state);
    }

    /// Packets have left so: there must be a state that says so, none that is over.
    pub fn observe_packets(&mut self, ways: &[Option<u16>]) {
        let found = self.states[self.seen..].iter().position(|state| state.ways() == ways);
        let Some(later) = found else {
            panic!("packets left by {ways:?}; possible is {:?}", &self.states[self.seen..]);
        };
        self.seen += later;
    }

    /// The program in force is said to be this one.
    pub fn observe_program(&mut self, cookie: u64) {
        let found = self.states[self.seen..].iter().position(|state| state.cookie == cookie);
        let Some(later) = found else { panic!("program {cookie} is not in force") };
        self.seen += later;
    }
}

/// The writers, in the specification's words.
#[derive(Default)]
pub struct Roles {
    highest: BTreeMap<&'static str, u128>,
    primary: BTreeMap<&'static str, usize>,
    members: BTreeMap<usize, (&'static str, Option<u128>)>,
    /// By any stream, ever.
    named: BTreeSet<&'static str>,
}

impl Roles {
    /// A stream bids. An error must end it.
    pub fn bid(&mut self, stream: usize, role: &'static str, id: Option<u128>) -> Result<(), Code> {
        let joined = self.members.get(&stream).map(|(joined, _)| *joined);
        if joined.is_some_and(|joined| joined != role) {
            return Err(Code::FailedPrecondition);
        }
        let twin = self.members.iter().any(|(other, it)| *other != stream && *it == (role, id));
        if twin && id.is_some() {
            return Err(Code::InvalidArgument);
        }
        self.members.insert(stream, (role, id));
        self.named.insert(role);
        let highest = self.highest.get(role).copied();
        match id {
            Some(id) if highest.is_none_or(|highest| id >= highest) => {
                self.highest.insert(role, id);
                self.primary.insert(role, stream);
            }
            _ if self.primary.get(role) == Some(&stream) => drop(self.primary.remove(role)),
            _ => {}
        }
        Ok(())
    }

    pub fn close(&mut self, stream: usize) {
        self.members.remove(&stream);
        self.primary.retain(|_, primary| *primary != stream);
    }

    /// Whether a request with this role and id may change something.
    pub fn authorize(&self, role: &'static str, id: Option<u128>) -> Result<(), Code> {
        let was_named = role.is_empty() || self.named.contains(role);
        match (self.primary.get(role), id) {
            _ if !was_named => Err(Code::NotFound),
            (Some(_), Some(id)) if self.highest.get(role) == Some(&id) => Ok(()),
            _ => Err(Code::PermissionDenied),
        }
    }

    /// The claims that are a primary's now.
    pub fn leading(&self) -> Vec<(&'static str, Option<u128>)> {
        self.primary.keys().map(|role| (*role, self.highest.get(role).copied())).collect()
    }

    /// The last notice that a stream must have got, if it has joined a role.
    pub fn standing(&self, stream: usize) -> Option<Code> {
        let (role, _) = self.members.get(&stream)?;
        Some(match self.primary.get(role) {
            Some(primary) if *primary == stream => Code::Ok,
            Some(_) => Code::AlreadyExists,
            None => Code::NotFound,
        })
    }

    pub fn is_primary(&self, stream: usize) -> bool {
        self.primary.values().any(|primary| *primary == stream)
    }
}
