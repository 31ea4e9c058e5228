//! `vitrine.v1.Router`: the proto file says what the calls mean.

use std::sync::Arc;

use ::p4runtime::arbitration::ElectionId;
use ::p4runtime::details::{Room, problems_status};
use ::p4runtime::router::{config, counters, input, mirror, states, trace, watch};
use ::p4runtime::{Refusal, Status};
use messages::vitrine::v1;
use units::{PORT_NUMBER_MAX, PortId};

use super::Front;
use super::sessions::Claim;
use crate::devices::Opened;
use crate::feed::{Feed, FeedStream};
use crate::ports::NotAdded;
use crate::request::Request;

impl Front {
    pub async fn describe(
        &self,
        request: &v1::DescribeRequest,
    ) -> Result<v1::DescribeResponse, Status> {
        self.check_reader(request.device_id)?;
        let ports = watch::ports_of(&request.ports)?;
        let make = |reply| Request::Describe { ports: ports.clone(), reply };
        let found = self.plane.ask(make).await?;
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
            lost_reports: self.lost_report_count(),
            epoch_offset_ns: found.epoch_offset_ns,
            inputs: seen.inputs.iter().map(counters::input_message).collect(),
            transfers: seen.transfers.iter().map(counters::transfer_message).collect(),
            books: Some(counters::books_message(&found.books, found.held, found.balanced)),
            lags: Some(counters::histogram_message(&found.lags)),
            drop_mirror: Some(mirror::message(found.drop_mirror)),
            shared_buffer: seen.buffer.map(states::buffer_message),
        })
    }

    /// Configure. `room`: how much of problems the client takes.
    pub async fn configure(
        &self,
        request: v1::ConfigureRequest,
        room: Room,
    ) -> Result<v1::ConfigureResponse, Status> {
        let claim = claim_of(request.device_id, request.role, request.election_id);
        let changes = config::Changes {
            ports: request.ports,
            buffer: request.buffer,
            input: request.input,
            drop_mirror: request.drop_mirror,
        };
        match self.ask_as_primary(&claim, |reply| Request::Configure { changes, reply }).await? {
            Ok(time) => Ok(v1::ConfigureResponse { time_ps: time.ps() }),
            Err(problems) => Err(problems_status(&problems, room)),
        }
    }

    /// AddPort. `open` opens the network device of that name for the port, which may take long;
    /// `room`: how much of problems the client takes.
    pub async fn add_port<F>(
        &self,
        request: v1::AddPortRequest,
        room: Room,
        open: impl FnOnce(PortId, String) -> F,
    ) -> Result<v1::AddPortResponse, Status>
    where
        F: Future<Output = Result<Opened, Refusal>>,
    {
        let claim = claim_of(request.device_id, request.role, request.election_id);
        let port = port_of(request.port)?;
        // A client that may not add ports must not open devices; checked again when the request is
        // sent.
        self.sessions.authorize(&claim)?;
        let opened = open(port, request.device.clone()).await?;
        let (device, settings) = (request.device, Box::new(request.config.unwrap_or_default()));
        let add = |reply| Request::AddPort { port, device, settings, opened, reply };
        match self.ask_as_primary(&claim, add).await? {
            Ok(time) => Ok(v1::AddPortResponse { time_ps: time.ps() }),
            Err(NotAdded::Problems(problems)) => Err(problems_status(&problems, room)),
            Err(NotAdded::Refused(refusal)) => Err(refusal.into()),
        }
    }

    /// RemovePort; and the port's network device, which the caller closes where it may wait.
    pub async fn remove_port(
        &self,
        request: v1::RemovePortRequest,
    ) -> Result<(v1::RemovePortResponse, Option<Opened>), Status> {
        let claim = claim_of(request.device_id, request.role, request.election_id);
        let port = port_of(request.port)?;
        let remove = |reply| Request::RemovePort { port, reply };
        let (time, opened) = self.ask_as_primary(&claim, remove).await??;
        Ok((v1::RemovePortResponse { time_ps: time.ps() }, opened))
    }

    /// Trace: batches of steps, for [`trace::batch_message`].
    pub async fn trace(&self, request: &v1::TraceRequest) -> Result<FeedStream, Refusal> {
        self.check_reader(request.device_id)?;
        let filters = trace::filters_of(request)?;
        let feed = FeedStream(Arc::new(Feed::new(false, self.share_of_watcher())));
        let for_plane = Arc::clone(&feed.0);
        let make = |reply| Request::Trace { filters, feed: for_plane, reply };
        self.plane.ask(make).await??;
        Ok(feed)
    }

    /// Watch: the initial state; and batches of the later events, for [`watch::batch_message`].
    pub async fn watch(
        &self,
        request: &v1::WatchRequest,
    ) -> Result<(v1::WatchResponse, FeedStream), Refusal> {
        self.check_reader(request.device_id)?;
        let filter = watch::filter_of(request)?;
        // Should this call end before the data plane has answered, the feed closes with it.
        let feed = FeedStream(Arc::new(Feed::new(request.may_lose, self.share_of_watcher())));
        let for_plane = Arc::clone(&feed.0);
        let make = |reply| Request::Watch { filter, feed: for_plane, reply };
        let start = self.plane.ask(make).await??;
        Ok((watch::start_message(&start), feed))
    }

    /// A client that only reads may omit the device.
    fn check_reader(&self, device_id: u64) -> Result<(), Refusal> {
        if device_id == 0 { Ok(()) } else { self.sessions.check_device(device_id) }
    }
}

/// The claim of a client that wants to change something.
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
