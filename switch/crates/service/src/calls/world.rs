//! `vitrine.v1.World`: the proto file says what the calls mean.

use messages::vitrine::v1;
use tokio_stream::StreamExt;
use tonic::{Request as Call, Response};

use super::router::Messages;
use crate::connections::room_of;
use crate::status::{answer, tonic_status};
use crate::stubs::vitrine::world_server::World;

#[derive(Debug)]
pub struct WorldService {
    pub front: stage::Front,
}

#[tonic::async_trait]
impl World for WorldService {
    async fn build(
        &self,
        call: Call<v1::BuildRequest>,
    ) -> Result<Response<v1::BuildResponse>, tonic::Status> {
        let room = room_of(&call);
        answer(self.front.build(call.into_inner(), room).await)
    }

    async fn start(
        &self,
        call: Call<v1::StartRequest>,
    ) -> Result<Response<v1::StartResponse>, tonic::Status> {
        answer(self.front.start(call.into_inner()).await.map_err(Into::into))
    }

    async fn stop(
        &self,
        call: Call<v1::StopRequest>,
    ) -> Result<Response<v1::StopResponse>, tonic::Status> {
        answer(self.front.stop(call.into_inner()).await.map_err(Into::into))
    }

    async fn advance(
        &self,
        call: Call<v1::AdvanceRequest>,
    ) -> Result<Response<v1::AdvanceResponse>, tonic::Status> {
        answer(self.front.advance(call.into_inner()).await.map_err(Into::into))
    }

    async fn run(
        &self,
        call: Call<v1::RunRequest>,
    ) -> Result<Response<v1::RunResponse>, tonic::Status> {
        answer(self.front.run(call.into_inner()).await.map_err(Into::into))
    }

    async fn pause(
        &self,
        call: Call<v1::PauseRequest>,
    ) -> Result<Response<v1::PauseResponse>, tonic::Status> {
        answer(self.front.pause(call.into_inner()).await.map_err(Into::into))
    }

    async fn look(
        &self,
        call: Call<v1::LookRequest>,
    ) -> Result<Response<v1::LookResponse>, tonic::Status> {
        answer(self.front.look(call.into_inner()).await.map_err(Into::into))
    }

    async fn fault(
        &self,
        call: Call<v1::FaultRequest>,
    ) -> Result<Response<v1::FaultResponse>, tonic::Status> {
        answer(self.front.fault(call.into_inner()).await.map_err(Into::into))
    }

    async fn inject(
        &self,
        call: Call<v1::InjectRequest>,
    ) -> Result<Response<v1::InjectResponse>, tonic::Status> {
        answer(self.front.inject(call.into_inner()).await.map_err(Into::into))
    }

    async fn invite(
        &self,
        call: Call<v1::InviteRequest>,
    ) -> Result<Response<v1::InviteResponse>, tonic::Status> {
        answer(self.front.invite(call.into_inner()).await.map_err(Into::into))
    }

    type WatchHostsStream = Messages<v1::WatchHostsResponse>;

    async fn watch_hosts(
        &self,
        call: Call<v1::WatchHostsRequest>,
    ) -> Result<Response<Self::WatchHostsStream>, tonic::Status> {
        let told = self.front.watch_hosts(call.into_inner()).await.map_err(tonic_status)?;
        Ok(Response::new(Box::pin(told.map(|message| message.map_err(tonic_status)))))
    }

    type CaptureStream = Messages<v1::CaptureResponse>;

    async fn capture(
        &self,
        call: Call<v1::CaptureRequest>,
    ) -> Result<Response<Self::CaptureStream>, tonic::Status> {
        let told = self.front.capture(call.into_inner()).await.map_err(tonic_status)?;
        Ok(Response::new(Box::pin(told.map(|message| message.map_err(tonic_status)))))
    }
}
