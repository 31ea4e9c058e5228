//! The other door: the runtime interface of bmv2 switches, over Thrift's binary protocol on a TCP
//! socket of this machine. It is open only on request.
//!
//! Its clients say neither who they are nor that they are the only ones, so it listens on the loopback
//! address. A connection's calls are answered one after the other, as its clients expect.
//!
//! Their resources are bounded: idle connections give way (`places.rs`), and of long messages,
//! which are programs, a few are taken at a time, each for as long as a client needs that sends it
//! without stopping. The number of values in a message is bounded where it is read (`thrift`).

use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use agent::Load;
use agent::devices::{Devices, Opened};
use agent::front::Front;
use bmruntime::{Host, Runtime};
use p4runtime::Refusal;
use p4runtime::config::Config;
use thrift::{CallReader, ProtocolError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout_at};
use units::PortId;
use units::memory::{Budget, Purpose};

use crate::address::listen_tcp;
use crate::capacity::Capacity;
use crate::connections::{ACCEPT_PAUSE, Peer};
use crate::loading::Loading;
use crate::places::{Place, Places};
use crate::waiting::waiting;

/// The longest message: a program.
const MESSAGE_SIZE_BYTES_MAX: usize = 16 << 20;

/// Messages up to this are taken at any time.
const SMALL_MESSAGE_SIZE_BYTES_MAX: usize = 256 << 10;

/// Longer messages that are read or carried out at the same time; one more waits.
const LARGE_MESSAGE_COUNT_MAX: usize = 2;

/// How long the rest of a long message may take.
const LARGE_MESSAGE_TIMEOUT: Duration = Duration::from_secs(10);

/// The memory of each byte of a message, while it is read and carried out.
const MEMORY_PER_BYTE: u64 = 8;

/// How much is read at once.
const READ_SIZE_BYTES: usize = 16 << 10;

/// A door that is bound, and not opened yet.
#[derive(Debug)]
pub struct Door {
    listener: TcpListener,
    address: SocketAddr,
}

/// Does long work on threads that may wait.
#[derive(Debug)]
pub struct Waiter {
    /// The switch's settings for programs.
    pub settings: pipeline::Config,
    /// Opens the network devices of ports that come later.
    pub devices: Arc<dyn Devices>,
    /// The programs that are being loaded.
    pub loading: Arc<Loading>,
}

impl Host for Waiter {
    async fn load(&self, config: Arc<Config>) -> Result<Load, Refusal> {
        let settings = self.settings;
        self.loading.run(move |is_wanted| Load::new_while(config, &settings, is_wanted)).await
    }

    async fn open(&self, port: PortId, device: String) -> Result<Opened, Refusal> {
        let devices = Arc::clone(&self.devices);
        waiting(move || devices.open(port, &device)).await
    }

    async fn close(&self, opened: Opened) {
        // The kernel takes its time to close a packet socket.
        let _closed = spawn_blocking(move || drop(opened)).await;
    }
}

impl Door {
    /// Binds this port of the loopback address, within a runtime; 0 is any free one.
    pub fn bind(port: u16) -> io::Result<Door> {
        let listener = listen_tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        let address = listener.local_addr()?;
        Ok(Door { listener, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves every client.
    pub async fn serve(
        self,
        front: Arc<Front>,
        device_id: u64,
        waiter: Waiter,
        notifications: String,
        events: String,
    ) {
        let memory = waiter.settings.memory;
        let runtime = Runtime::new(front, waiter, device_id, self.address.port());
        let runtime = Arc::new(runtime.publishing(notifications, events));
        let places = Arc::new(Places::new(Capacity::of(memory).connections));
        let large = Arc::new(Semaphore::new(LARGE_MESSAGE_COUNT_MAX));
        loop {
            // Descriptors that have run out come back, though not at once.
            let Ok((stream, from)) = self.listener.accept().await else {
                sleep(ACCEPT_PAUSE).await;
                continue;
            };
            let Some(place) = places.take(Peer::Host(from.ip()), |_| false) else { continue };
            let (runtime, large) = (Arc::clone(&runtime), Arc::clone(&large));
            tokio::spawn(async move {
                // Why a connection ended is its client's affair.
                let _ended = Conversation { stream, place, large, memory }.hold(&runtime).await;
            });
        }
    }
}

/// One connection.
struct Conversation {
    stream: TcpStream,
    place: Place,
    /// Places of long messages.
    large: Arc<Semaphore>,
    /// The switch's memory for received messages.
    memory: Budget,
}

impl Conversation {
    /// Answers the calls until the connection ends, or says what is no call.
    async fn hold(mut self, runtime: &Runtime<Waiter>) -> io::Result<()> {
        self.stream.set_nodelay(true)?;
        let mut received = Vec::new();
        loop {
            // So much has to be there before it is worth looking for a message.
            let mut needed = 1;
            let mut reader = CallReader::new(MESSAGE_SIZE_BYTES_MAX);
            let mut room = None;
            let owner = self.place.caller().owner().clone();
            let mut share = self.memory.share_of(Purpose::Requests, &owner);
            let call = loop {
                if received.len() < needed {
                    if needed > SMALL_MESSAGE_SIZE_BYTES_MAX && room.is_none() {
                        let large = Arc::clone(&self.large);
                        let place = unless_displaced(&self.place, large.acquire_owned()).await?;
                        room = Some((place, Instant::now() + LARGE_MESSAGE_TIMEOUT));
                    }
                    let until = room.as_ref().map(|(_, until)| *until);
                    if !self.read(&mut received, needed, until).await? {
                        return Ok(());
                    }
                }
                match reader.read(&received) {
                    Ok((call, length)) => {
                        received.drain(..length);
                        // The buffer of a long message is not kept.
                        received.shrink_to(READ_SIZE_BYTES);
                        break call;
                    }
                    Err(ProtocolError::Incomplete(more)) => {
                        needed = more;
                        // Thrift cannot express it: a client whose message is too large is dropped.
                        let wanted = (needed as u64).saturating_mul(MEMORY_PER_BYTE);
                        share.cover(wanted).map_err(io::Error::other)?;
                    }
                    Err(wrong @ ProtocolError::Wrong(_)) => return Err(io::Error::other(wrong)),
                }
            };
            let (method, sequence) = (call.method.clone(), call.sequence);
            let is_one_way = call.is_one_way;
            let calling = self.place.caller().begin();
            let reply = runtime.answer(call).await;
            drop((calling, room, share));
            if !is_one_way {
                self.write(&reply.write(&method, sequence)).await?;
            }
        }
    }

    /// Reads until this much is there; `false`: the client has gone.
    async fn read(
        &mut self,
        received: &mut Vec<u8>,
        needed: usize,
        until: Option<Instant>,
    ) -> io::Result<bool> {
        let Conversation { stream, place, .. } = self;
        let reading = async {
            while received.len() < needed {
                received.reserve(READ_SIZE_BYTES);
                if stream.read_buf(received).await? == 0 {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        let reading = unless_displaced(place, reading);
        match until {
            None => reading.await?,
            Some(until) => timeout_at(until, reading).await.map_err(io::Error::from)??,
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Conversation { stream, place, .. } = self;
        unless_displaced(place, stream.write_all(bytes)).await?
    }
}

/// Waits for something that is the client's to do, unless its place is needed by another.
async fn unless_displaced<T>(place: &Place, work: impl Future<Output = T>) -> io::Result<T> {
    let displaced = poll_fn(|context| match place.client.gives_way(context) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    });
    tokio::select! {
        () = displaced => Err(io::ErrorKind::ConnectionAborted.into()),
        done = work => Ok(done),
    }
}
