//! How time is to pass: until when, until what has happened, how fast.

use std::time::Duration;

use agent::exchange::Reply;
use hosts::{AppId, Host};
use messages::vitrine::v1;
use p4runtime::Refusal;
use units::{ClassId, PortId, Ratio, Span, Time};
use v1::advance_request::Until;
use world::{NodeId, World};

use crate::network::{App, Network};

/// A world that runs by itself and falls behind by more than this lets the rest go.
const LAG_MAX: Duration = Duration::from_millis(100);

/// The present activity of the world.
#[derive(Debug)]
pub enum Passing {
    Standing,
    Advancing(Advance),
    Running(Run),
}

/// Time passes for a caller that waits for it.
#[derive(Debug)]
pub struct Advance {
    /// None: until one of `stops` holds.
    pub until: Option<Time>,
    stops: Vec<Stop>,
    /// Controllers were sent a packet since it began.
    packet_in: bool,
    pub reply: Reply<Result<v1::AdvanceResponse, Refusal>>,
}

/// The conditions that stop the world.
#[derive(Debug)]
enum Stop {
    AppsEnded(Vec<(NodeId, AppId)>),
    QueueHolds { node: NodeId, port: PortId, class: ClassId, packets: u64 },
    PacketIn,
}

impl Advance {
    /// The passing that a request describes; a refusal goes out by `reply`.
    pub fn new(
        network: &Network,
        request: v1::AdvanceRequest,
        reply: Reply<Result<v1::AdvanceResponse, Refusal>>,
    ) -> Option<Advance> {
        let now = network.world.now();
        let parsed = until_of(now, request.until).and_then(|until| {
            let stops = request.stops.into_iter().map(|stop| Stop::new(network, stop));
            let stops = stops.collect::<Result<Vec<Stop>, Refusal>>()?;
            if until.is_none() && stops.is_empty() {
                return Err(Refusal::invalid(
                    "the request says neither how far time is to pass nor what is to stop it: set \
                     span_ps, time_ps or stops",
                ));
            }
            Ok((until, stops))
        });
        match parsed {
            Ok((until, stops)) => Some(Advance { until, stops, packet_in: false, reply }),
            Err(refusal) => {
                let _nobody_waits = reply.send(Err(refusal));
                None
            }
        }
    }

    /// The first of its stops that holds.
    pub fn stopped_by(&self, world: &World<Host>) -> Option<u32> {
        let holds = |stop: &Stop| stop.holds(world, self.packet_in);
        (0..).zip(&self.stops).find(|(_, stop)| holds(stop)).map(|(place, _)| place)
    }

    /// A router has sent its controllers a packet.
    pub fn note_packet_in(&mut self) {
        self.packet_in = true;
    }
}

fn until_of(now: Time, until: Option<Until>) -> Result<Option<Time>, Refusal> {
    match until {
        None => Ok(None),
        Some(Until::SpanPs(ps)) => Ok(Some(now.saturating_add(Span::from_ps(ps)))),
        Some(Until::TimePs(ps)) if Time::from_ps(ps) >= now => Ok(Some(Time::from_ps(ps))),
        Some(Until::TimePs(ps)) => {
            Err(Refusal::out_of_range(format!("time_ps: {ps} is over; it is {} now", now.ps())))
        }
    }
}

impl Stop {
    fn new(network: &Network, stop: v1::Stop) -> Result<Stop, Refusal> {
        match stop.kind {
            Some(v1::stop::Kind::AppsEnded(ended)) => {
                let apps = ended.apps.into_iter().map(|number| {
                    let App { host, id } = network.app(number)?;
                    Ok((network.hosts[host].node, id))
                });
                Ok(Stop::AppsEnded(apps.collect::<Result<_, Refusal>>()?))
            }
            Some(v1::stop::Kind::QueueHolds(it)) => {
                let router = network.routers.iter().find(|each| each.device_id == it.device_id);
                let router = router.ok_or_else(|| {
                    Refusal::not_found(format!("there is no device {}", it.device_id))
                })?;
                let port = PortId(u16::try_from(it.port).unwrap_or(u16::MAX));
                let class = ClassId(u8::try_from(it.class).unwrap_or(u8::MAX));
                let node = router.node;
                if network.world.router(node).traffic().queue(port, class).is_none() {
                    return Err(Refusal::not_found(format!(
                        "device {} has no queue {} at port {}",
                        it.device_id, it.class, it.port
                    )));
                }
                Ok(Stop::QueueHolds { node, port, class, packets: it.packets })
            }
            Some(v1::stop::Kind::PacketIn(_)) => Ok(Stop::PacketIn),
            None => Err(Refusal::invalid(
                "one of stops is empty: say apps_ended, queue_holds or packet_in",
            )),
        }
    }

    fn holds(&self, world: &World<Host>, packet_in: bool) -> bool {
        match self {
            Stop::PacketIn => packet_in,
            Stop::AppsEnded(apps) => {
                apps.iter().all(|(node, app)| world.host(*node).has_ended(*app))
            }
            Stop::QueueHolds { node, port, class, packets } => {
                let queue = world.router(*node).traffic().queue(*port, *class);
                queue.is_some_and(|queue| queue.depth.packets >= *packets)
            }
        }
    }
}

/// Time passes by itself.
#[derive(Debug)]
pub struct Run {
    /// None: as fast as it can.
    speed: Option<Ratio>,
    pub until: Option<Time>,
    /// By the real clock, and what time it was then.
    since: (Duration, Time),
}

impl Run {
    pub fn new(request: &v1::RunRequest, clock: Duration, now: Time) -> Result<Run, Refusal> {
        let speed = match request.speed {
            None => None,
            Some(v1::Ratio { over, under }) => Some(Ratio::new(over, under).ok_or_else(|| {
                Refusal::invalid(format!("speed: {over} / {under}; both must be at least 1"))
            })?),
        };
        let until = (request.until_ps > 0).then(|| Time::from_ps(request.until_ps));
        if until.is_some_and(|until| until < now) {
            let (until, now) = (request.until_ps, now.ps());
            return Err(Refusal::out_of_range(format!("until_ps: {until} is over; it is {now}")));
        }
        Ok(Run { speed, until, since: (clock, now) })
    }

    /// The time that it should be by the real clock; none: as late as possible.
    pub fn target(&mut self, clock: Duration, now: Time) -> Option<Time> {
        let speed = self.speed?;
        let after = |real: Duration| {
            Span::from_ps(speed.of(u64::try_from(real.as_nanos()).unwrap_or(u64::MAX) / 2) * 2000)
        };
        let target = self.since.1.saturating_add(after(clock.saturating_sub(self.since.0)));
        if target.since(now) > after(LAG_MAX) {
            self.since = (clock, now);
            return Some(now);
        }
        Some(target)
    }
}
