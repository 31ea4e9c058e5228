//! [`Request`]: what those who serve clients ask of the stage.

use std::sync::Arc;

use agent::exchange::Reply;
use messages::vitrine::v1;
use p4runtime::Refusal;
use p4runtime::router::Problem;

use crate::spout::Spout;

/// A message, and where its answer goes.
pub type Call<Q, A> = (Q, Reply<Result<A, Refusal>>);

/// A request to the stage.
#[derive(Debug)]
pub enum Request {
    Advance(Call<v1::AdvanceRequest, v1::AdvanceResponse>),
    /// Answered with all that is wrong.
    Build(Box<v1::BuildRequest>, Reply<Result<v1::BuildResponse, Vec<Problem>>>),
    Capture(Call<(v1::CaptureRequest, Arc<Spout<v1::CaptureResponse>>), ()>),
    Fault(Call<v1::FaultRequest, v1::FaultResponse>),
    Inject(Call<v1::InjectRequest, v1::InjectResponse>),
    Invite(Call<v1::InviteRequest, v1::InviteResponse>),
    Look(Call<v1::LookRequest, v1::LookResponse>),
    Pause(Call<v1::PauseRequest, v1::PauseResponse>),
    Run(Call<v1::RunRequest, v1::RunResponse>),
    Start(Call<v1::StartRequest, v1::StartResponse>),
    Stop(Call<v1::StopRequest, v1::StopResponse>),
    WatchHosts(Call<(v1::WatchHostsRequest, Arc<Spout<v1::WatchHostsResponse>>), ()>),
}
