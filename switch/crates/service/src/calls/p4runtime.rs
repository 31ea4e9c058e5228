//! `p4.v1.P4Runtime`: the checks of each call in the order of the specification, then a request to
//! the data plane, then its result as the specification packs it.

use std::sync::Arc;
use std::time::Duration;

use agent::exchange::{Reply, answered, slot};
use agent::{Atomicity, Load, Request, check_batch};
use messages::p4::v1 as p4;
use messages::p4::v1::set_forwarding_pipeline_config_request::Action;
use p4runtime::Refusal;
use p4runtime::config::Config;
use p4runtime::details::{Room, batch_status};
use p4runtime::found::Found;
use p4runtime::translate::change;
use p4runtime::translate::query;
use p4runtime::{Code, Status};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request as Call, Response, Streaming};

use super::{Shared, stream};
use crate::connections::room_of;
use crate::outbox::OutboxStream;
use crate::session::Claim;
use crate::status::{answer, tonic_status};
use crate::stubs::p4::p4_runtime_server::P4Runtime;

/// The version of the API that is served: that of the definitions the server is built from.
const API_VERSION: &str = "1.4.1";

/// Entities in one message of a Read's answer: some 100 KB, well below the 4 MiB that clients take.
const READ_CHUNK_COUNT: usize = 1000;

/// Messages of one Read that may wait for the client, the last word among them.
const READ_CHUNKS_WAITING_MAX: usize = 5;

/// A client that takes nothing of an answer for so long does not get the rest.
const READ_STALL_MAX: Duration = Duration::from_secs(60);

/// The service.
#[derive(Debug)]
pub struct P4RuntimeService {
    /// What it shares with the others.
    pub shared: Arc<Shared>,
}

#[tonic::async_trait]
impl P4Runtime for P4RuntimeService {
    async fn write(
        &self,
        call: Call<p4::WriteRequest>,
    ) -> Result<Response<p4::WriteResponse>, tonic::Status> {
        let room = room_of(&call);
        answer(self.write_updates(call.into_inner(), room).await)
    }

    type ReadStream = ReceiverStream<Result<p4::ReadResponse, tonic::Status>>;

    async fn read(
        &self,
        call: Call<p4::ReadRequest>,
    ) -> Result<Response<Self::ReadStream>, tonic::Status> {
        let room = room_of(&call);
        answer(self.read_entities(call.into_inner(), room).await)
    }

    async fn set_forwarding_pipeline_config(
        &self,
        call: Call<p4::SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<p4::SetForwardingPipelineConfigResponse>, tonic::Status> {
        answer(self.set_config(call.into_inner()).await)
    }

    async fn get_forwarding_pipeline_config(
        &self,
        call: Call<p4::GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<p4::GetForwardingPipelineConfigResponse>, tonic::Status> {
        answer(self.get_config(call.get_ref()))
    }

    type StreamChannelStream = OutboxStream;

    async fn stream_channel(
        &self,
        call: Call<Streaming<p4::StreamMessageRequest>>,
    ) -> Result<Response<OutboxStream>, tonic::Status> {
        Ok(Response::new(stream::open(Arc::clone(&self.shared), call.into_inner())))
    }

    async fn capabilities(
        &self,
        _call: Call<p4::CapabilitiesRequest>,
    ) -> Result<Response<p4::CapabilitiesResponse>, tonic::Status> {
        let p4runtime_api_version = API_VERSION.to_owned();
        Ok(Response::new(p4::CapabilitiesResponse { p4runtime_api_version }))
    }
}

impl P4RuntimeService {
    async fn write_updates(
        &self,
        request: p4::WriteRequest,
        room: Room,
    ) -> Result<p4::WriteResponse, Status> {
        let election_id = request.election_id.as_ref();
        let claim = Claim::new(request.device_id, &request.role, request.role_id, election_id)?;
        // First without a place in the channel: a sender that is not primary takes up none.
        self.shared.sessions.authorize(&claim, || ())?;
        let config = self.shared.configs.current()?;
        let atomicity = Atomicity::new(request.atomicity)?;
        let changes = request
            .updates
            .iter()
            .map(|update| change::change_of(&config.index, update, &request.role))
            .collect::<Vec<_>>();
        check_batch(&changes, atomicity)?;
        let permit = self.shared.plane.reserve().await?;
        let (reply, answer) = slot();
        let write = Request::Write { config, changes, atomicity, reply };
        self.shared.sessions.authorize(&claim, || permit.send(write))?;
        let results = answered(answer).await??.into_results();
        if results.iter().all(Result::is_ok) {
            Ok(p4::WriteResponse::default())
        } else {
            Err(batch_status("Write", &results, room))
        }
    }

    async fn read_entities(
        &self,
        request: p4::ReadRequest,
        room_for_errors: Room,
    ) -> Result<ReceiverStream<Result<p4::ReadResponse, tonic::Status>>, Status> {
        self.shared.sessions.check_device(request.device_id)?;
        if request.entities.iter().any(|entity| entity.entity.is_none()) {
            let message = "an entity is empty: say what to read, with ids 0 for all of a kind";
            return Err(Refusal::invalid(message).into());
        }
        let config = self.shared.configs.current()?;
        let queries = request.entities.iter().map(|entity| query::query_of(&config.index, entity));
        let queries = queries.collect();
        let read = |reply| Request::Read {
            config: Arc::clone(&config),
            queries,
            role: request.role,
            reply,
        };
        let (found, results) = self.shared.plane.ask(read).await??;
        let room = self.shared.reserve_answer(found.iter().map(Vec::len).sum())?;
        let (sender, receiver) = mpsc::channel(READ_CHUNKS_WAITING_MAX);
        tokio::spawn(async move {
            let last = || batch_status("Read", &results, room_for_errors);
            let last = results.iter().any(Result::is_err).then(last);
            send_chunks(&config, found, last, sender).await;
            drop(room);
        });
        Ok(ReceiverStream::new(receiver))
    }

    async fn set_config(
        &self,
        request: p4::SetForwardingPipelineConfigRequest,
    ) -> Result<p4::SetForwardingPipelineConfigResponse, Status> {
        let election_id = request.election_id.as_ref();
        let claim = Claim::new(request.device_id, &request.role, request.role_id, election_id)?;
        self.shared.sessions.authorize(&claim, || ())?;
        // One at a time: loading takes long, and what is saved must not change on the way.
        let _one_at_a_time = self.shared.changing_config.lock().await;
        match request.action() {
            Action::Unspecified => {
                return Err(Refusal::invalid("the action is not set; use VERIFY_AND_COMMIT").into());
            }
            Action::Verify => {
                self.load(request.config).await?;
            }
            Action::VerifyAndSave => {
                let (config, load) = self.load(request.config).await?;
                self.hand_over(&claim, |reply| Request::Save { load, reply }).await?;
                self.shared.configs.save(config);
            }
            Action::VerifyAndCommit => {
                let (config, load) = self.load(request.config).await?;
                self.hand_over(&claim, |reply| Request::Commit { load: Some(load), reply }).await?;
                self.shared.configs.commit(config);
            }
            Action::Commit => {
                if request.config.is_some() {
                    return Err(Refusal::invalid(
                        "COMMIT puts the saved configuration in force; leave config unset",
                    )
                    .into());
                }
                let saved = self.shared.configs.saved().ok_or_else(|| {
                    Refusal::not_found("no configuration is saved; use VERIFY_AND_SAVE first")
                })?;
                self.hand_over(&claim, |reply| Request::Commit { load: None, reply }).await?;
                self.shared.configs.commit(saved);
            }
            Action::ReconcileAndCommit => {
                let (config, load) = self.load(request.config).await?;
                self.hand_over(&claim, |reply| Request::Reconcile { load, reply }).await?;
                self.shared.configs.commit(config);
            }
        }
        Ok(p4::SetForwardingPipelineConfigResponse::default())
    }

    fn get_config(
        &self,
        request: &p4::GetForwardingPipelineConfigRequest,
    ) -> Result<p4::GetForwardingPipelineConfigResponse, Status> {
        self.shared.sessions.check_device(request.device_id)?;
        let wanted = request.response_type();
        let config = self.shared.configs.committed().map(|config| config.reply(wanted));
        Ok(p4::GetForwardingPipelineConfigResponse { config })
    }

    /// Reads and links the program, away from the threads that serve others.
    async fn load(
        &self,
        message: Option<p4::ForwardingPipelineConfig>,
    ) -> Result<(Arc<Config>, Load), Refusal> {
        let config = Arc::new(Config::new(message)?);
        let for_thread = Arc::clone(&config);
        let settings = self.shared.pipeline;
        let loaded = tokio::task::spawn_blocking(move || Load::new(for_thread, &settings)).await;
        let load = loaded.map_err(|error| {
            Refusal::new(Code::Internal, format!("loading the program failed: {error}"))
        })??;
        Ok((config, load))
    }

    /// Sends a request if the sender is primary still, and waits until it is carried out.
    async fn hand_over(
        &self,
        claim: &Claim,
        make: impl FnOnce(Reply<Result<(), Refusal>>) -> Request,
    ) -> Result<(), Refusal> {
        let permit = self.shared.plane.reserve().await?;
        let (reply, answer) = slot();
        self.shared.sessions.authorize(claim, || permit.send(make(reply)))?;
        answered(answer).await?
    }
}

/// Sends what was found in messages of bounded size, as fast as the client takes them; then the
/// last word, if there is one to say.
async fn send_chunks(
    config: &Config,
    found: Vec<Vec<Found>>,
    last_word: Option<Status>,
    sender: mpsc::Sender<Result<p4::ReadResponse, tonic::Status>>,
) {
    // Room for the last word is kept, so that an answer that is cut short says so.
    let Ok(last) = sender.clone().reserve_owned().await else { return };
    let mut found = found.into_iter().flatten().peekable();
    while found.peek().is_some() {
        let entities = found.by_ref().take(READ_CHUNK_COUNT);
        let entities = entities.map(|found| found.message(&config.index)).collect();
        match timeout(READ_STALL_MAX, sender.send(Ok(p4::ReadResponse { entities }))).await {
            Ok(Ok(())) => {}
            // The client has gone.
            Ok(Err(_)) => return,
            Err(_) => {
                let seconds = READ_STALL_MAX.as_secs();
                let message = format!("nothing of the answer was taken for {seconds} s; ask again");
                last.send(Err(tonic_status(Refusal::new(Code::DeadlineExceeded, message))));
                return;
            }
        }
    }
    if let Some(status) = last_word {
        last.send(Err(tonic_status(status)));
    }
}
