//! `vitrine.v1.Router`: the proto file says what the calls mean.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request as Call, Response, Status};
use units::PortId;

use super::Shared;
use crate::agent::{Observation, Request};
use crate::arbitration::ElectionId;
use crate::exchange::answered;
use crate::proto::vitrine::v1;
use crate::proto::vitrine::v1::router_server::Router;
use crate::refusal::Refusal;
use crate::router::{config, counters, input, problems_status};
use crate::session::Claim;

/// Samples that may wait for a client that reads slowly; beyond that they are left out.
const SAMPLES_WAITING_MAX: usize = 512;
const INTERVAL_MS_DEFAULT: u32 = 100;
const INTERVAL_MS_MAX: u32 = 1000;

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
    ) -> Result<Response<v1::DescribeResponse>, Status> {
        let ports = ports_of(&call.get_ref().ports)?;
        let make = |reply| Request::Describe { ports: ports.clone(), reply };
        let (configs, seen) = self.shared.plane.ask(make).await?;
        if let Some(stranger) = ports.iter().find(|port| !configs.ports.contains_key(port)) {
            return Err(Refusal::not_found(format!("the switch has no port {stranger}")).into());
        }
        let ports = seen.ports.iter().map(|port| v1::Port {
            port: u32::from(port.port.0),
            config: configs.ports.get(&port.port).map(config::port_message),
            counters: Some(counters::port_message(port)),
        });
        let ports = ports.collect();
        Ok(Response::new(v1::DescribeResponse {
            time_ps: seen.time.ps(),
            ports,
            buffer: Some(input::buffer_message(configs.buffer.as_ref())),
            input: Some(input::input_message(configs.input.as_ref())),
            lost_reports: self.shared.lost_report_count(),
        }))
    }

    async fn configure(
        &self,
        call: Call<v1::ConfigureRequest>,
    ) -> Result<Response<v1::ConfigureResponse>, Status> {
        let request = call.into_inner();
        let claim = Claim {
            device_id: request.device_id,
            role: request.role,
            election_id: request.election_id.map(|id| ElectionId::from_halves(id.high, id.low)),
        };
        let permit = self.shared.plane.reserve().await?;
        let (reply, answer) = tokio::sync::oneshot::channel();
        let changes =
            config::Changes { ports: request.ports, buffer: request.buffer, input: request.input };
        self.shared
            .sessions
            .authorize(&claim, || permit.send(Request::Configure { changes, reply }))?;
        match answered(answer).await? {
            Ok(time) => Ok(Response::new(v1::ConfigureResponse { time_ps: time.ps() })),
            Err(problems) => Err(problems_status(&problems)),
        }
    }

    type WatchStream = Pin<Box<dyn Stream<Item = Result<v1::Sample, Status>> + Send>>;

    async fn watch(
        &self,
        call: Call<v1::WatchRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let request = call.into_inner();
        let interval_ms = match request.interval_ms {
            0 => INTERVAL_MS_DEFAULT,
            1..=INTERVAL_MS_MAX => request.interval_ms,
            other => {
                return Err(Refusal::invalid(format!(
                    "interval_ms {other} is above {INTERVAL_MS_MAX}; take 1 to {INTERVAL_MS_MAX}"
                ))
                .into());
            }
        };
        let ports = ports_of(&request.ports)?;
        let (sender, receiver) = mpsc::channel(SAMPLES_WAITING_MAX);
        let shared = Arc::clone(&self.shared);
        let interval = Duration::from_millis(u64::from(interval_ms));
        tokio::spawn(async move { sample(&shared, interval, &ports, &sender).await });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }
}

/// Takes samples until the client or the data plane is gone.
///
/// A sample that is late, or for which the client has no room, is left out and counted in the next
/// one; nothing is ever queued up for the data plane.
async fn sample(
    shared: &Shared,
    interval: Duration,
    ports: &[PortId],
    sender: &mpsc::Sender<Result<v1::Sample, Status>>,
) {
    let mut ticks = tokio::time::interval(interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut last: Option<tokio::time::Instant> = None;
    let mut missed = 0;
    loop {
        let tick = tokio::select! {
            tick = ticks.tick() => tick,
            () = sender.closed() => return,
        };
        missed += last.map_or(0, |last| ticks_between(last, tick, interval));
        last = Some(tick);
        let observe = |reply| Request::Observe { ports: ports.to_vec(), reply };
        let Ok(seen) = shared.plane.ask(observe).await else { return };
        match sender.try_send(Ok(sample_message(&seen, missed))) {
            Ok(()) => missed = 0,
            Err(mpsc::error::TrySendError::Full(_)) => missed += 1,
            Err(mpsc::error::TrySendError::Closed(_)) => return,
        }
    }
}

/// Ticks that were skipped between two that were not.
fn ticks_between(
    last: tokio::time::Instant,
    tick: tokio::time::Instant,
    interval: Duration,
) -> u64 {
    let intervals = (tick - last).as_nanos() / interval.as_nanos();
    u64::try_from(intervals).unwrap_or(u64::MAX).saturating_sub(1)
}

fn sample_message(seen: &Observation, missed: u64) -> v1::Sample {
    let ports = seen.ports.iter().map(|port| v1::PortSample {
        port: u32::from(port.port.0),
        counters: Some(counters::port_message(port)),
    });
    v1::Sample { time_ps: seen.time.ps(), missed, ports: ports.collect() }
}

fn ports_of(ports: &[u32]) -> Result<Vec<PortId>, Refusal> {
    let port = |port: &u32| {
        u16::try_from(*port)
            .map(PortId)
            .map_err(|_| Refusal::invalid(format!("{port} is too large for a port number")))
    };
    ports.iter().map(port).collect()
}
