//! The server: a few threads that speak gRPC, started and stopped as one.
//!
//! [`serve`] binds the address first, so that what is wrong with it is known before anything else
//! happens. [`start`] does so for one switch, and hands out what its data-plane thread drives: an
//! [`Agent`] for requests, and through it a way for reports.

use std::any::Any;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agent::Agent;
use agent::devices::Devices;
use agent::discard::Discard;
use agent::exchange::{self, Wake};
use agent::front::{Front, Fronts, Served};
use agent::reports::{Reporter, Reports};
use p4runtime::{Code, Dialect, Refusal};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio_stream::StreamExt;
use units::memory::Budget;

use crate::address::Address;
use crate::calls::Shared;
pub use crate::calls::intake::MESSAGE_SIZE_BYTES_MAX;
use crate::calls::intake::{self, Bounded};
use crate::calls::p4runtime::P4RuntimeService;
use crate::calls::router::RouterService;
use crate::calls::world::WorldService;
use crate::capacity::Capacity;
use crate::connections;
use crate::door::{Door, Waiter};
use crate::learner;
use crate::loading::Loading;
use crate::publisher::{self, Publisher};
use crate::steps::{self, StepTeller};
use crate::stubs::p4::p4_runtime_server::P4RuntimeServer;
use crate::stubs::vitrine::router_server::RouterServer;
use crate::stubs::vitrine::world_server::WorldServer;
pub use crate::tls::Tls;

/// Threads that serve. More would only take time from the data plane.
const THREAD_COUNT: usize = 2;

/// The limit for a call's metadata. Ours need none, and gRPC's library takes no more by default.
const METADATA_SIZE_BYTES_MAX: u32 = 8 << 10;

/// A controller that has vanished silently is noticed after the sum of these.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long open calls may take to end when the server stops.
const STOP_TIMEOUT: Duration = Duration::from_millis(400);

/// The work of the server's threads beside serving.
#[derive(Clone, Copy, Debug)]
pub struct Duties {
    /// First of all: they give up rights.
    pub begin: fn(),
    /// Whenever they have nothing to do: they give back memory.
    pub rest: fn(),
}

impl Duties {
    /// They only serve.
    pub const NONE: Duties = Duties { begin: || {}, rest: || {} };
}

/// The services at an address.
#[derive(Clone, Debug)]
pub struct Offer {
    /// Where to listen.
    pub address: Address,
    /// Certificates; none: plain text.
    pub tls: Option<Tls>,
    /// Opens the network devices of ports that come later.
    pub devices: Arc<dyn Devices>,
    pub duties: Duties,
    /// The devices of P4Runtime and vitrine.v1.Router.
    pub fronts: Arc<Fronts>,
    /// vitrine.v1.World, where there is one.
    pub world: Option<stage::Front>,
    /// The memory for clients' messages, and for answers that they do not take.
    pub memory: Budget,
}

/// The settings of the server of one switch.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Where to listen.
    pub address: Address,
    /// The number by which controllers address this device.
    pub device_id: u64,
    /// How programs are loaded.
    pub pipeline: pipeline::Config,
    /// Certificates; none: plain text.
    pub tls: Option<Tls>,
    /// Opens the network devices of ports that come later.
    pub devices: Arc<dyn Devices>,
    pub duties: Duties,
    /// The port of this machine at which bmv2's runtime interface is served; none: it is not.
    pub thrift_port: Option<u16>,
    /// Where digests are published for its clients; none: nowhere.
    pub notifications: Option<publisher::Place>,
    /// Where steps of packets are published, as bmv2's event logger does; none: nowhere.
    pub events: Option<publisher::Place>,
    /// The rules that controllers rely on.
    pub dialect: Dialect,
}

/// Why the server cannot start.
#[derive(Debug)]
pub enum StartError {
    /// The port for Thrift cannot be had.
    Door(io::Error),
    /// The address cannot be had.
    Listen(io::Error),
    /// The address for digests cannot be had.
    Notifications(io::Error),
    /// The address for steps of packets cannot be had.
    Events(io::Error),
    /// Threads cannot be had.
    Threads(io::Error),
    /// The certificates do not do, and why.
    Tls(String),
}

/// A running server; it stops when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: Address,
    door: Option<SocketAddr>,
    steps: Option<StepTeller>,
    fronts: Arc<Fronts>,
    loading: Arc<Loading>,
    stop: Option<oneshot::Sender<()>>,
    runtime: Option<Runtime>,
}

/// Listens and serves one switch from now on. `wake` is called whenever the agent has work.
pub fn start(config: ServerConfig, wake: Wake) -> Result<(Server, Agent), StartError> {
    let (plane, inbox) = exchange::exchange(Arc::clone(&wake));
    let memory = config.pipeline.memory;
    let (reporter, reports) = Reporter::new();
    let reporter = reporter.with_memory(memory);
    let (discard, discarded) = Discard::new();
    let lost_reports = reporter.lost_count();
    let agent = Agent::new(inbox, reporter, discard);
    let front = Front::new(config.device_id, agent.published(), plane, lost_reports);
    let front = front.with_memory(memory).with_dialect(config.dialect);
    let front = Arc::new(front);
    let served = Served { front: Arc::clone(&front), pipeline: config.pipeline };
    let devices = Arc::clone(&config.devices);
    let mut server = serve(Offer {
        address: config.address,
        tls: config.tls,
        devices: config.devices,
        duties: config.duties,
        fronts: Arc::new(Fronts::one(config.device_id, served)),
        world: None,
        memory,
    })?;
    free(discarded, config.duties.begin).map_err(StartError::Threads)?;
    if let Some(runtime) = &server.runtime {
        if let Some(port) = config.thrift_port {
            let _context = runtime.enter();
            let door = Door::bind(port).map_err(StartError::Door)?;
            server.door = Some(door.address());
            let mut notifications = String::new();
            if let Some(place) = &config.notifications {
                let publisher = Publisher::bind(place).map_err(StartError::Notifications)?;
                notifications = publisher.place().to_string();
                runtime.spawn(learner::publish(Arc::clone(&front), config.device_id, publisher));
            }
            let events = config.events.as_ref().map(ToString::to_string).unwrap_or_default();
            let (front, loading) = (Arc::clone(&front), Arc::clone(&server.loading));
            let waiter = Waiter { settings: config.pipeline, devices, loading };
            let serving = door.serve(front, config.device_id, waiter, notifications, events);
            runtime.spawn(serving);
        }
        if let Some(place) = &config.events {
            let _context = runtime.enter();
            let publisher = Publisher::bind(place).map_err(StartError::Events)?;
            let front = Arc::clone(&front);
            server.steps = Some(steps::publish(front, config.device_id, publisher, wake));
        }
        runtime.spawn(tell(front, reports));
    }
    Ok((server, agent))
}

/// Listens and serves from now on.
pub fn serve(offer: Offer) -> Result<Server, StartError> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(THREAD_COUNT)
        .thread_name("vitrine-grpc")
        .on_thread_start(offer.duties.begin)
        .on_thread_park(offer.duties.rest)
        .enable_all()
        .build()
        .map_err(StartError::Threads)?;
    let _context = runtime.enter();
    let listener = offer.address.listen().map_err(StartError::Listen)?;
    let address = listener.address().map_err(StartError::Listen)?;
    let tls = offer.tls.as_ref().map(Tls::acceptor).transpose().map_err(StartError::Tls)?;

    let loading = Arc::default();
    let shared = Arc::new(Shared {
        fronts: Arc::clone(&offer.fronts),
        devices: offer.devices,
        loading: Arc::clone(&loading),
    });
    let (stop, stopped) = oneshot::channel::<()>();
    let p4runtime = P4RuntimeServer::new(P4RuntimeService { shared: Arc::clone(&shared) })
        .max_decoding_message_size(MESSAGE_SIZE_BYTES_MAX);
    let router = RouterServer::new(RouterService { shared });
    let world = offer.world.map(|front| {
        WorldServer::new(WorldService { front }).max_decoding_message_size(MESSAGE_SIZE_BYTES_MAX)
    });
    let (room, capacity) = (intake::room(offer.memory), Capacity::of(offer.memory));
    let server = tonic::transport::Server::builder()
        .http2_keepalive_interval(Some(KEEPALIVE_INTERVAL))
        .http2_keepalive_timeout(Some(KEEPALIVE_TIMEOUT))
        .http2_max_header_list_size(METADATA_SIZE_BYTES_MAX)
        .initial_stream_window_size(capacity.call_window_bytes)
        .initial_connection_window_size(capacity.connection_window_bytes)
        .max_concurrent_streams(capacity.calls)
        .add_service(Bounded::new(p4runtime, &room))
        .add_service(Bounded::new(router, &room))
        .add_optional_service(world.map(|world| Bounded::new(world, &room)))
        .serve_with_incoming_shutdown(
            connections::incoming(listener, tls, offer.fronts.clone(), capacity.connections),
            async {
                // Both a message and a dropped sender mean: stop.
                let _either = stopped.await;
            },
        );
    runtime.spawn(server);

    Ok(Server {
        address,
        door: None,
        steps: None,
        fronts: offer.fronts,
        loading,
        stop: Some(stop),
        runtime: Some(runtime),
    })
}

impl Server {
    /// Where the server listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Where bmv2's runtime interface is served, if it is.
    pub fn door(&self) -> Option<SocketAddr> {
        self.door
    }

    /// Wakes the threads, each of which then rests again.
    pub fn stirrer(&self) -> impl Fn() + Send + 'static {
        let threads = self.runtime.as_ref().map(|runtime| runtime.handle().clone());
        move || {
            for threads in threads.iter().flat_map(|it| [it; THREAD_COUNT]) {
                threads.spawn(async {});
            }
        }
    }

    /// The publisher of packets' steps, if they are published.
    pub fn steps(&self) -> Option<&StepTeller> {
        self.steps.as_ref()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let why = Refusal::new(Code::Unavailable, "the switch is stopping");
        for served in self.fronts.present().into_values() {
            served.front.end_all(&why);
        }
        if let Some(stop) = self.stop.take() {
            let _already_stopped = stop.send(());
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(STOP_TIMEOUT);
        }
    }
}

/// Frees what the data plane has no time to; ends with the data plane.
fn free(
    discarded: std::sync::mpsc::Receiver<Box<dyn Any + Send>>,
    begin_thread: fn(),
) -> io::Result<()> {
    let thread = std::thread::Builder::new().name("vitrine-free".to_owned());
    let run = move || {
        begin_thread();
        discarded.into_iter().for_each(drop);
    };
    thread.spawn(run).map(drop)
}

/// Tells controllers what the data plane reports.
async fn tell(front: Arc<Front>, mut reports: Reports) {
    while let Some(reported) = reports.next().await {
        front.tell(&reported, epoch_ns());
    }
}

/// Nanoseconds since 1970, as the specification wants timestamps of notifications.
fn epoch_ns() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_nanos()).unwrap_or(i64::MAX)
}
