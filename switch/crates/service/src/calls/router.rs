//! `vitrine.v1.Router`: the proto file says what the calls mean.

use std::pin::Pin;
use std::sync::Arc;

use agent::Request;
use agent::exchange::{answered, slot};
use agent::feed::{Feed, FeedStream};
use agent::ports::NotAdded;
use messages::vitrine::v1;
use p4runtime::arbitration::ElectionId;
use p4runtime::details::{Room, problems_status};
use p4runtime::router::{config, counters, input, mirror, trace, watch};
use p4runtime::{Code, Refusal, Status};
use tokio::task::spawn_blocking;
use tokio_stream::{Stream, StreamExt};
use tonic::{Request as Call, Response};
use units::{PORT_NUMBER_MAX, PortId};

use super::Shared;
use crate::connections::room_of;
use crate::session::Claim;
use crate::status::{answer, tonic_status};
use crate::stubs::vitrine::router_server::Router;

/// What a stream of answers is to tonic.
type Messages<T> = Pin<Box<dyn Stream<Item = Result<T, tonic::Status>> + Send>>;

/// The service.
#[derive(Debug)]
pub struct RouterService {
    /// What it shares with the others.
    pub shared: Arc<Shared>,
}

#[tonic::async_trait]
impl Router for RouterService {
    async fn describe(
        &self,
        call: Call<v1::DescribeRequest>,
    ) -> Result<Response<v1::DescribeResponse>, tonic::Status> {
        answer(self.description(call.get_ref()).await)
    }

    async fn configure(
        &self,
        call: Call<v1::ConfigureRequest>,
    ) -> Result<Response<v1::ConfigureResponse>, tonic::Status> {
        let room = room_of(&call);
        answer(self.change(call.into_inner(), room).await)
    }

    async fn add_port(
        &self,
        call: Call<v1::AddPortRequest>,
    ) -> Result<Response<v1::AddPortResponse>, tonic::Status> {
        let room = room_of(&call);
        answer(self.open_and_add(call.into_inner(), room).await)
    }

    async fn remove_port(
        &self,
        call: Call<v1::RemovePortRequest>,
    ) -> Result<Response<v1::RemovePortResponse>, tonic::Status> {
        answer(self.remove_and_close(call.into_inner()).await)
    }

    type TraceStream = Messages<v1::TraceResponse>;

    async fn trace(
        &self,
        call: Call<v1::TraceRequest>,
    ) -> Result<Response<Self::TraceStream>, tonic::Status> {
        let feed = self.begin_trace(call.get_ref()).await.map_err(tonic_status)?;
        Ok(Response::new(Box::pin(feed.map(trace::batch_message).map(Ok))))
    }

    type WatchStream = Messages<v1::WatchResponse>;

    async fn watch(
        &self,
        call: Call<v1::WatchRequest>,
    ) -> Result<Response<Self::WatchStream>, tonic::Status> {
        let (start, feed) = self.begin_watch(call.get_ref()).await.map_err(tonic_status)?;
        let messages = tokio_stream::once(start).chain(feed.map(watch::batch_message));
        Ok(Response::new(Box::pin(messages.map(Ok))))
    }
}

impl RouterService {
    async fn description(
        &self,
        request: &v1::DescribeRequest,
    ) -> Result<v1::DescribeResponse, Status> {
        let ports = watch::ports_of(&request.ports)?;
        let make = |reply| Request::Describe { ports: ports.clone(), reply };
        let found = self.shared.plane.ask(make).await?;
        let configs = &found.config;
        if let Some(stranger) = ports.iter().find(|port| !configs.ports.contains_key(port)) {
            return Err(Refusal::not_found(format!("the switch has no port {stranger}")).into());
        }
        let seen = &found.snapshot;
        let ports = seen.ports.iter().map(|port| v1::Port {
            port: u32::from(port.port.0),
            config: (configs.ports.get(&port.port).zip(found.links.get(&port.port)))
                .map(|(config, link)| config::port_message(config, link)),
            counters: Some(counters::port_message(port)),
            device: found.devices.get(&port.port).cloned().unwrap_or_default(),
            netdev: found.netdevs.get(&port.port).map(counters::netdev_message),
        });
        Ok(v1::DescribeResponse {
            time_ps: seen.time.ps(),
            ports: ports.collect(),
            buffer: Some(input::buffer_message(configs.buffer.as_ref())),
            input: Some(input::input_message(configs.input.as_ref())),
            lost_reports: self.shared.lost_report_count(),
            epoch_offset_ns: found.epoch_offset_ns,
            inputs: seen.inputs.iter().map(counters::input_message).collect(),
            transfers: seen.transfers.iter().map(counters::transfer_message).collect(),
            books: Some(counters::books_message(&found.books, found.held, found.balanced)),
            lags: Some(counters::histogram_message(&found.lags)),
            drop_mirror: Some(mirror::message(found.drop_mirror)),
        })
    }

    async fn change(
        &self,
        request: v1::ConfigureRequest,
        room: Room,
    ) -> Result<v1::ConfigureResponse, Status> {
        let claim = claim_of(request.device_id, request.role, request.election_id);
        let permit = self.shared.plane.reserve().await?;
        let (reply, answer) = slot();
        let changes = config::Changes {
            ports: request.ports,
            buffer: request.buffer,
            input: request.input,
            drop_mirror: request.drop_mirror,
        };
        self.shared
            .sessions
            .authorize(&claim, || permit.send(Request::Configure { changes, reply }))?;
        match answered(answer).await? {
            Ok(time) => Ok(v1::ConfigureResponse { time_ps: time.ps() }),
            Err(problems) => Err(problems_status(&problems, room)),
        }
    }

    async fn open_and_add(
        &self,
        request: v1::AddPortRequest,
        room: Room,
    ) -> Result<v1::AddPortResponse, Status> {
        let claim = claim_of(request.device_id, request.role, request.election_id);
        let port = port_of(request.port)?;
        // Who may not add ports is to open no devices; asked again when the request is sent.
        self.shared.sessions.authorize(&claim, || ())?;
        let (devices, device) = (Arc::clone(&self.shared.devices), request.device.clone());
        let opening = spawn_blocking(move || devices.open(port, &device));
        let opened =
            opening.await.map_err(|error| Refusal::new(Code::Internal, error.to_string()))??;
        let permit = self.shared.plane.reserve().await?;
        let (reply, answer) = slot();
        let (device, settings) = (request.device, Box::new(request.config.unwrap_or_default()));
        self.shared.sessions.authorize(&claim, || {
            permit.send(Request::AddPort { port, device, settings, opened, reply });
        })?;
        match answered(answer).await? {
            Ok(time) => Ok(v1::AddPortResponse { time_ps: time.ps() }),
            Err(NotAdded::Problems(problems)) => Err(problems_status(&problems, room)),
            Err(NotAdded::Refused(refusal)) => Err(refusal.into()),
        }
    }

    async fn remove_and_close(
        &self,
        request: v1::RemovePortRequest,
    ) -> Result<v1::RemovePortResponse, Status> {
        let claim = claim_of(request.device_id, request.role, request.election_id);
        let port = port_of(request.port)?;
        let permit = self.shared.plane.reserve().await?;
        let (reply, answer) = slot();
        self.shared
            .sessions
            .authorize(&claim, || permit.send(Request::RemovePort { port, reply }))?;
        let (time, opened) = answered(answer).await??;
        // The kernel takes its time to close a packet socket.
        let _closed = spawn_blocking(move || drop(opened)).await;
        Ok(v1::RemovePortResponse { time_ps: time.ps() })
    }

    async fn begin_trace(&self, request: &v1::TraceRequest) -> Result<FeedStream, Refusal> {
        let filters = trace::filters_of(request)?;
        let feed = FeedStream(Arc::new(Feed::default()));
        let for_plane = Arc::clone(&feed.0);
        let make = |reply| Request::Trace { filters, feed: for_plane, reply };
        self.shared.plane.ask(make).await??;
        Ok(feed)
    }

    /// What the watch begins with, and what follows.
    async fn begin_watch(
        &self,
        request: &v1::WatchRequest,
    ) -> Result<(v1::WatchResponse, FeedStream), Refusal> {
        let filter = watch::filter_of(request)?;
        // Should this call end before the data plane has answered, the feed closes with it.
        let feed = FeedStream(Arc::new(Feed::default()));
        let for_plane = Arc::clone(&feed.0);
        let make = |reply| Request::Watch { filter, feed: for_plane, reply };
        let start = self.shared.plane.ask(make).await??;
        Ok((watch::start_message(&start), feed))
    }
}

/// Who wants to change something.
fn claim_of(device_id: u64, role: String, election_id: Option<v1::ElectionId>) -> Claim {
    let election_id = election_id.map(|id| ElectionId::from_halves(id.high, id.low));
    Claim { device_id, role, election_id }
}

fn port_of(number: u32) -> Result<PortId, Refusal> {
    let port = u16::try_from(number).ok().filter(|number| *number <= PORT_NUMBER_MAX);
    port.map(PortId).ok_or_else(|| {
        Refusal::invalid(format!("port {number} does not fit: ports are 0 to {PORT_NUMBER_MAX}"))
    })
}
