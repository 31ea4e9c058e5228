//! `p4.v1.P4Runtime`: the checks of each call in the order of the specification, then a request to
//! the data plane, then its result as the specification packs it.

use std::collections::BTreeSet;
use std::iter::Flatten;
use std::sync::Arc;
use std::vec::IntoIter;

use ::p4runtime::config::Config;
use ::p4runtime::details::{Room, batch_status};
use ::p4runtime::found::Found;
use ::p4runtime::translate::change::{self, Change};
use ::p4runtime::translate::query;
use ::p4runtime::{Dialect, Refusal, Status};
use messages::p4::v1 as p4;
use messages::p4::v1::set_forwarding_pipeline_config_request::Action;
use prost::Message;
use units::memory::{Owner, Purpose, Share};

use super::Front;
use super::sessions::Claim;
use crate::batch::Atomicity;
use crate::forwarding::Load;
use crate::programs::no_program;
use crate::request::{Findings, Request};
use crate::write::check_batch;

/// The version of the API that is served: that of the definitions the messages are made from.
const API_VERSION: &str = "1.4.1";

/// Entities in one message of a Read's answer: some 100 KB, well below the 4 MiB that clients take.
const ENTITIES_PER_MESSAGE: usize = 1000;

/// A message with more bytes than this takes no further entity: metadata may be long.
const MESSAGE_SIZE_BYTES: usize = 1 << 20;

/// The results of a Read, as messages of bounded size: an iterator, and a final status after it.
#[derive(Debug)]
pub struct ReadAnswer {
    config: Arc<Config>,
    found: Flatten<IntoIter<Vec<Found>>>,
    /// Their memory, until the last is taken.
    _memory: Share,
    /// The failure, if there is one; sent after the results.
    pub failure: Option<Status>,
}

impl Iterator for ReadAnswer {
    type Item = p4::ReadResponse;

    fn next(&mut self) -> Option<p4::ReadResponse> {
        let (mut entities, mut size_bytes) = (Vec::new(), 0);
        while entities.len() < ENTITIES_PER_MESSAGE && size_bytes < MESSAGE_SIZE_BYTES {
            let Some(found) = self.found.next() else { break };
            let entity = found.message(&self.config.index);
            size_bytes += entity.encoded_len();
            entities.push(entity);
        }
        (!entities.is_empty()).then_some(p4::ReadResponse { entities })
    }
}

impl Front {
    /// Write. `room`: how much of errors the client takes.
    pub async fn write(
        &self,
        mut request: p4::WriteRequest,
        room: Room,
    ) -> Result<p4::WriteResponse, Status> {
        let election_id = request.election_id.as_ref();
        let claim = Claim::new(request.device_id, &request.role, request.role_id, election_id)?;
        // First without a place in the channel: a sender that is not primary takes up none.
        self.sessions.authorize(&claim)?;
        let config = self.programs.now().current()?;
        let atomicity = Atomicity::new(request.atomicity)?;
        for update in &mut request.updates {
            self.dialect.as_specified(&config.index, update);
        }
        let changes = request
            .updates
            .iter()
            .map(|update| change::change_of(&config.index, update, &request.role))
            .collect::<Vec<_>>();
        check_batch(&changes, atomicity)?;
        let awaited = match self.dialect {
            Dialect::Pi => changes.iter().flatten().flat_map(Change::watched_ports).collect(),
            Dialect::Specification => BTreeSet::new(),
        };
        let write = |reply| Request::Write { config, changes, awaited, atomicity, reply };
        let results = self.ask_as_primary(&claim, write).await??.into_results();
        if results.iter().all(Result::is_ok) {
            Ok(p4::WriteResponse::default())
        } else {
            Err(batch_status("Write", &results, room))
        }
    }

    /// Read. `room`: how much of errors the client takes. The results come out of this client's
    /// memory.
    pub async fn read(
        &self,
        request: p4::ReadRequest,
        room: Room,
        owner: &Owner,
    ) -> Result<ReadAnswer, Status> {
        self.sessions.check_device(request.device_id)?;
        if request.entities.iter().any(|entity| entity.entity.is_none()) {
            let message = "an entity is empty: say what to read, with ids 0 for all of a kind";
            return Err(Refusal::invalid(message).into());
        }
        let config = self.programs.now().current()?;
        let queries = request.entities.iter().map(|entity| query::query_of(&config.index, entity));
        let queries = queries.collect();
        let for_plane = Arc::clone(&config);
        let role = request.role;
        let memory = self.memory.share_of(Purpose::Answers, owner);
        let read = |reply| Request::Read { config: for_plane, queries, role, memory, reply };
        let Findings { portions, results, memory } = self.plane.ask(read).await??;
        let failed = results.iter().any(Result::is_err);
        Ok(ReadAnswer {
            config,
            found: portions.into_iter().flatten(),
            _memory: memory,
            failure: failed.then(|| batch_status("Read", &results, room)),
        })
    }

    /// SetForwardingPipelineConfig. `load` makes a program of a configuration, which takes long
    /// ([`Load::new`]): where others are served meanwhile, on a thread of its own.
    pub async fn set_config<F>(
        &self,
        request: p4::SetForwardingPipelineConfigRequest,
        load: impl FnOnce(Arc<Config>) -> F,
    ) -> Result<p4::SetForwardingPipelineConfigResponse, Status>
    where
        F: Future<Output = Result<Load, Refusal>>,
    {
        let action = request.action();
        let election_id = request.election_id.as_ref();
        let claim = Claim::new(request.device_id, &request.role, request.role_id, election_id)?;
        self.sessions.authorize(&claim)?;
        if action == Action::Unspecified {
            return Err(Refusal::invalid("the action is not set; use VERIFY_AND_COMMIT").into());
        }
        if action == Action::Commit {
            if request.config.is_some() {
                let message = "COMMIT puts the saved configuration in force; leave config unset";
                return Err(Refusal::invalid(message).into());
            }
            self.ask_as_primary(&claim, |reply| Request::Commit { load: None, reply }).await??;
            return Ok(p4::SetForwardingPipelineConfigResponse::default());
        }
        let load = load(Arc::new(Config::new(request.config)?)).await?;
        match action {
            Action::VerifyAndSave => {
                self.ask_as_primary(&claim, |reply| Request::Save { load, reply }).await??;
            }
            Action::VerifyAndCommit => {
                let load = Some(load);
                self.ask_as_primary(&claim, |reply| Request::Commit { load, reply }).await??;
            }
            Action::ReconcileAndCommit => {
                self.ask_as_primary(&claim, |reply| Request::Reconcile { load, reply }).await??;
            }
            Action::Unspecified | Action::Commit | Action::Verify => {}
        }
        Ok(p4::SetForwardingPipelineConfigResponse::default())
    }

    pub fn get_config(
        &self,
        request: &p4::GetForwardingPipelineConfigRequest,
    ) -> Result<p4::GetForwardingPipelineConfigResponse, Status> {
        self.sessions.check_device(request.device_id)?;
        let wanted = request.response_type();
        let found = self.programs.now().in_force;
        let hides_local = self.dialect == Dialect::Pi;
        if hides_local && found.as_ref().is_none_or(|config| config.is_local) {
            return Err(no_program().into());
        }
        let config = found.map(|config| config.reply(wanted));
        Ok(p4::GetForwardingPipelineConfigResponse { config })
    }
}

/// Capabilities, of whatever device.
pub fn capabilities() -> p4::CapabilitiesResponse {
    p4::CapabilitiesResponse { p4runtime_api_version: API_VERSION.to_owned() }
}
