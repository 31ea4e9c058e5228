//! `p4.v1.P4Runtime` over gRPC: the calls are [`Front`](agent::front::Front)'s; here is what threads
//! and streams add.

use std::sync::Arc;
use std::time::Duration;

use ::p4runtime::{Code, Refusal, Status};
use agent::Load;
use agent::front::{ReadAnswer, capabilities};
use messages::p4::v1 as p4;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request as Call, Response, Streaming};

use super::Shared;
use super::stream::{self, Answers};
use crate::connections::{Caller, caller_of, roles_of, room_of};
use crate::status::{answer, tonic_status};
use crate::stubs::p4::p4_runtime_server::P4Runtime;

/// Messages of one Read that may wait for the client, the last word among them.
const READ_MESSAGES_WAITING_MAX: usize = 5;

/// A client that takes nothing of an answer for this long does not get the rest.
const READ_STALL_MAX: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct P4RuntimeService {
    /// Shared with the others.
    pub shared: Arc<Shared>,
}

#[tonic::async_trait]
impl P4Runtime for P4RuntimeService {
    async fn write(
        &self,
        call: Call<p4::WriteRequest>,
    ) -> Result<Response<p4::WriteResponse>, tonic::Status> {
        roles_of(&call).check(&call.get_ref().role).map_err(tonic_status)?;
        let room = room_of(&call);
        let request = call.into_inner();
        let served = self.shared.fronts.named(request.device_id).map_err(tonic_status)?;
        answer(served.front.write(request, room).await)
    }

    type ReadStream = ReceiverStream<Result<p4::ReadResponse, tonic::Status>>;

    async fn read(
        &self,
        call: Call<p4::ReadRequest>,
    ) -> Result<Response<Self::ReadStream>, tonic::Status> {
        let (room, caller) = (room_of(&call), caller_of(call.extensions()).cloned());
        let request = call.into_inner();
        let served = self.shared.fronts.named(request.device_id).map_err(tonic_status)?;
        let owner = caller.as_ref().map(Caller::owner).cloned().unwrap_or_default();
        let found = served.front.read(request, room, &owner).await.map_err(tonic_status)?;
        let (sender, receiver) = mpsc::channel(READ_MESSAGES_WAITING_MAX);
        tokio::spawn(send_all(found, sender));
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    async fn set_forwarding_pipeline_config(
        &self,
        call: Call<p4::SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<p4::SetForwardingPipelineConfigResponse>, tonic::Status> {
        roles_of(&call).check(&call.get_ref().role).map_err(tonic_status)?;
        roles_of(&call).check_program().map_err(tonic_status)?;
        let request = call.into_inner();
        let served = self.shared.fronts.named(request.device_id).map_err(tonic_status)?;
        let (settings, loading) = (served.pipeline, Arc::clone(&self.shared.loading));
        let load = |config| async move {
            loading.run(move |is_wanted| Load::new_while(config, &settings, is_wanted)).await
        };
        answer(served.front.set_config(request, load).await)
    }

    async fn get_forwarding_pipeline_config(
        &self,
        call: Call<p4::GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<p4::GetForwardingPipelineConfigResponse>, tonic::Status> {
        let request = call.get_ref();
        let served = self.shared.fronts.named(request.device_id).map_err(tonic_status)?;
        answer(served.front.get_config(request))
    }

    type StreamChannelStream = Answers;

    async fn stream_channel(
        &self,
        call: Call<Streaming<p4::StreamMessageRequest>>,
    ) -> Result<Response<Answers>, tonic::Status> {
        let caller = caller_of(call.extensions()).cloned();
        Ok(Response::new(stream::open(&self.shared.fronts, caller, call.into_inner())))
    }

    async fn capabilities(
        &self,
        _call: Call<p4::CapabilitiesRequest>,
    ) -> Result<Response<p4::CapabilitiesResponse>, tonic::Status> {
        Ok(Response::new(capabilities()))
    }
}

/// Sends an answer as fast as the client takes it.
async fn send_all(
    mut found: ReadAnswer,
    sender: mpsc::Sender<Result<p4::ReadResponse, tonic::Status>>,
) {
    // Room for the last word is kept, so that an answer that is cut short says so.
    let Ok(last) = sender.clone().reserve_owned().await else { return };
    let failure = found.failure.take();
    for message in found {
        match timeout(READ_STALL_MAX, sender.send(Ok(message))).await {
            Ok(Ok(())) => {}
            // The client has gone.
            Ok(Err(_)) => return,
            Err(_) => {
                let seconds = READ_STALL_MAX.as_secs();
                let message = format!("nothing of the answer was taken for {seconds} s; ask again");
                let status: Status = Refusal::new(Code::DeadlineExceeded, message).into();
                last.send(Err(tonic_status(status)));
                return;
            }
        }
    }
    if let Some(status) = failure {
        last.send(Err(tonic_status(status)));
    }
}
