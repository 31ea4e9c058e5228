//! [`Front`]: the calls of `vitrine.v1.World`, however they are carried.
//!
//! As [`agent::front`]: futures that wait for nothing but the stage. A call whose future is dropped
//! before it is answered is carried out anyway, but for Advance, which ends early.

use std::sync::Arc;

use agent::exchange::{Handle, Reply};
use messages::vitrine::v1;
use p4runtime::details::{Room, problems_status};
use p4runtime::{Refusal, Status};

use crate::request::Request;
use crate::spout::{Spout, SpoutStream};

/// The world, as its clients see it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Front {
    stage: Handle<Request>,
}

impl Front {
    /// `stage` leads to the stage's inbox.
    pub fn new(stage: Handle<Request>) -> Front {
        Front { stage }
    }

    /// Build. `room`: how much of problems the client takes.
    pub async fn build(
        &self,
        request: v1::BuildRequest,
        room: Room,
    ) -> Result<v1::BuildResponse, Status> {
        let request = Box::new(request);
        let built = self.stage.ask(|reply| Request::Build(request, reply)).await?;
        built.map_err(|problems| problems_status(&problems, room))
    }

    pub async fn start(&self, request: v1::StartRequest) -> Result<v1::StartResponse, Refusal> {
        self.ask(|reply| Request::Start((request, reply))).await
    }

    pub async fn stop(&self, request: v1::StopRequest) -> Result<v1::StopResponse, Refusal> {
        self.ask(|reply| Request::Stop((request, reply))).await
    }

    pub async fn advance(
        &self,
        request: v1::AdvanceRequest,
    ) -> Result<v1::AdvanceResponse, Refusal> {
        self.ask(|reply| Request::Advance((request, reply))).await
    }

    pub async fn run(&self, request: v1::RunRequest) -> Result<v1::RunResponse, Refusal> {
        self.ask(|reply| Request::Run((request, reply))).await
    }

    pub async fn pause(&self, request: v1::PauseRequest) -> Result<v1::PauseResponse, Refusal> {
        self.ask(|reply| Request::Pause((request, reply))).await
    }

    pub async fn look(&self, request: v1::LookRequest) -> Result<v1::LookResponse, Refusal> {
        self.ask(|reply| Request::Look((request, reply))).await
    }

    pub async fn fault(&self, request: v1::FaultRequest) -> Result<v1::FaultResponse, Refusal> {
        self.ask(|reply| Request::Fault((request, reply))).await
    }

    pub async fn inject(&self, request: v1::InjectRequest) -> Result<v1::InjectResponse, Refusal> {
        self.ask(|reply| Request::Inject((request, reply))).await
    }

    pub async fn invite(&self, request: v1::InviteRequest) -> Result<v1::InviteResponse, Refusal> {
        self.ask(|reply| Request::Invite((request, reply))).await
    }

    pub async fn watch_hosts(
        &self,
        request: v1::WatchHostsRequest,
    ) -> Result<SpoutStream<v1::WatchHostsResponse>, Refusal> {
        let spout = SpoutStream(Arc::new(Spout::default()));
        let filled = Arc::clone(&spout.0);
        self.ask(|reply| Request::WatchHosts(((request, filled), reply))).await?;
        Ok(spout)
    }

    pub async fn capture(
        &self,
        request: v1::CaptureRequest,
    ) -> Result<SpoutStream<v1::CaptureResponse>, Refusal> {
        let spout = SpoutStream(Arc::new(Spout::default()));
        let filled = Arc::clone(&spout.0);
        self.ask(|reply| Request::Capture(((request, filled), reply))).await?;
        Ok(spout)
    }

    async fn ask<A>(
        &self,
        make: impl FnOnce(Reply<Result<A, Refusal>>) -> Request,
    ) -> Result<A, Refusal> {
        self.stage.ask(make).await?
    }
}
