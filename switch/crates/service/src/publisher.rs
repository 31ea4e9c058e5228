//! Messages for subscribers, over nanomsg's protocol, for clients of bmv2's runtime interface. Only
//! publishing is here, and both ways to reach it, `ipc:///path` and `tcp://host:port`.
//!
//! A connection begins with eight bytes of each side, which identify the protocol and the kind of
//! peer; then come messages, each with its length in front. A subscriber selects among them itself:
//! it is sent all of them. One that reads too slowly misses some, as with the original.

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Semaphore, broadcast};
use tokio::time::{sleep, timeout};

use crate::address::listen_tcp;
use crate::connections::ACCEPT_PAUSE;

/// A publisher's first bytes, and those of its subscribers.
const PUBLISHER: [u8; 8] = [0, b'S', b'P', 0, 0, 0x20, 0, 0];
const SUBSCRIBER: [u8; 8] = [0, b'S', b'P', 0, 0, 0x21, 0, 0];

/// In front of each message on a local socket: it is one, and no control message.
const IS_MESSAGE: u8 = 1;

/// Subscribers at a time; one more is let in when another leaves.
const SUBSCRIBER_COUNT_MAX: usize = 64;

/// Messages that wait for a subscriber; beyond that it misses the oldest.
const WAITING_COUNT_MAX: usize = 1024;

/// How long a subscriber may take to say that it is one.
const GREETING_TIMEOUT: Duration = Duration::from_secs(10);

/// Where messages are published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A socket in the file system.
    Ipc(PathBuf),
    /// The same at a path in a folder of all users; where another user has taken the name, the socket
    /// gets the process's number behind it.
    IpcNear(PathBuf),
    /// An address and a port.
    Tcp(SocketAddr),
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        match text.split_once("://") {
            Some(("ipc", path)) if !path.is_empty() => Ok(Place::Ipc(path.into())),
            Some(("tcp", address)) if address.contains(':') => {
                let any = address.replacen('*', "0.0.0.0", 1);
                let mut found = any.to_socket_addrs().map_err(|e| format!("'{text}': {e}"))?;
                found.next().map(Place::Tcp).ok_or_else(|| format!("'{text}' has no address"))
            }
            _ => Err(format!("'{text}' is no address: say ipc:///path or tcp://host:port")),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Ipc(path) | Place::IpcNear(path) => write!(f, "ipc://{}", path.display()),
            Place::Tcp(address) => write!(f, "tcp://{address}"),
        }
    }
}

/// A socket that is bound, and the messages that go out by it.
#[derive(Debug)]
pub struct Publisher {
    listener: Listener,
    place: Place,
    messages: broadcast::Sender<Arc<[u8]>>,
}

#[derive(Debug)]
enum Listener {
    Ipc { listener: UnixListener, _name: Socket },
    Tcp(TcpListener),
}

/// A socket's name in the file system. It goes with it, unless another one has taken the name.
#[derive(Debug)]
struct Socket {
    path: PathBuf,
    /// The file's number.
    number: u64,
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.path.symlink_metadata().is_ok_and(|found| found.ino() == self.number) {
            let _gone = std::fs::remove_file(&self.path);
        }
    }
}

impl Publisher {
    /// Binds the address, within a runtime.
    pub fn bind(place: &Place) -> io::Result<Publisher> {
        let listener = match place {
            Place::Ipc(path) => bind_socket(path)?,
            Place::IpcNear(path) => {
                let bound = bind_socket(path);
                return match bound {
                    Err(error) if is_taken(&error) => {
                        let own = beside(path);
                        tracing::warn!(
                            "digests are published at ipc://{}, because {} is another user's",
                            own.display(),
                            path.display()
                        );
                        Publisher::bind(&Place::Ipc(own))
                    }
                    bound => Ok(Publisher::new(bound?, place.clone())),
                };
            }
            Place::Tcp(address) => Listener::Tcp(listen_tcp(*address)?),
        };
        Ok(Publisher::new(listener, place.clone()))
    }

    fn new(listener: Listener, place: Place) -> Publisher {
        Publisher { listener, place, messages: broadcast::Sender::new(WAITING_COUNT_MAX) }
    }

    /// Where subscribers find it.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Where messages are handed in; without subscribers they go nowhere.
    pub fn messages(&self) -> broadcast::Sender<Arc<[u8]>> {
        self.messages.clone()
    }

    /// Serves every subscriber.
    pub async fn serve(self) {
        self.serve_and(|| ()).await;
    }

    /// The same, and calls `has_come` for each.
    pub async fn serve_and(self, has_come: impl Fn()) {
        let room = Arc::new(Semaphore::new(SUBSCRIBER_COUNT_MAX));
        while let Ok(place) = Arc::clone(&room).acquire_owned().await {
            let messages = &self.messages;
            // Descriptors that have run out come back, though not at once.
            let accepted = match &self.listener {
                Listener::Ipc { listener, .. } => listener.accept().await.map(|(stream, _)| {
                    let messages = messages.subscribe();
                    tokio::spawn(async move {
                        let _ended = publish(stream, messages, &[IS_MESSAGE]).await;
                        drop(place);
                    })
                }),
                Listener::Tcp(listener) => listener.accept().await.map(|(stream, _)| {
                    let messages = messages.subscribe();
                    tokio::spawn(async move {
                        let _ended = publish(stream, messages, &[]).await;
                        drop(place);
                    })
                }),
            };
            match accepted {
                Ok(_) => has_come(),
                Err(_) => sleep(ACCEPT_PAUSE).await,
            }
        }
    }
}

fn bind_socket(path: &Path) -> io::Result<Listener> {
    remove_socket(path)?;
    let listener = UnixListener::bind(path)?;
    let number = path.symlink_metadata()?.ino();
    Ok(Listener::Ipc { listener, _name: Socket { path: path.to_owned(), number } })
}

/// The name belongs to something that may not be removed, or is no socket.
fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::AddrInUse | ErrorKind::PermissionDenied)
}

/// The path with the process's number behind the name.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{}.ipc", std::process::id()));
    path.with_file_name(name)
}

/// A switch that was killed leaves its socket behind. Of two that run, who comes last has the name, as
/// with the original.
fn remove_socket(path: &Path) -> io::Result<()> {
    let is_socket = |found: std::fs::Metadata| found.file_type().is_socket();
    match path.symlink_metadata().is_ok_and(is_socket) {
        true => std::fs::remove_file(path),
        false => Ok(()),
    }
}

/// One subscriber, until it leaves.
async fn publish(
    stream: impl AsyncRead + AsyncWrite,
    mut messages: broadcast::Receiver<Arc<[u8]>>,
    before_length: &[u8],
) -> io::Result<()> {
    let (mut reading, mut writing) = tokio::io::split(Box::pin(stream));
    writing.write_all(&PUBLISHER).await?;
    let mut greeting = [0; 8];
    timeout(GREETING_TIMEOUT, reading.read_exact(&mut greeting)).await??;
    if greeting != SUBSCRIBER {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut silence = [0];
    loop {
        tokio::select! {
            // Subscribers say nothing: this is the end, or no subscriber.
            _ended = reading.read(&mut silence) => return Ok(()),
            received = messages.recv() => match received {
                Ok(message) => {
                    let length = (message.len() as u64).to_be_bytes();
                    writing.write_all(&[before_length, &length[..], &message[..]].concat()).await?;
                }
                Err(RecvError::Lagged(count)) => {
                    tracing::warn!(count, "a subscriber reads too slowly and missed some messages");
                }
                Err(RecvError::Closed) => return Ok(()),
            },
        }
    }
}
