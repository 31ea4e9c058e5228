//! Where a server listens: a Unix socket, which belongs to one user, or TCP.
//!
//! All users of a machine reach its loopback addresses, and all of the network the others; the
//! kernel identifies neither. The peer of a Unix socket it does. So a switch that serves others
//! than its owner listens on TCP only on request, and beyond loopback only with TLS, or on request
//! without.

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, UnixListener};

use crate::places::{Peer, Stranger};

/// How a Unix socket is written, as gRPC's clients write it.
const UNIX: &str = "unix:";

/// The users who may connect to a Unix socket: its owner, and root.
const OWNER_ONLY: u32 = 0o600;

/// The kernel's buffer for a TCP connection's output, and for its input; with its own overhead
/// twice as much. Left alone it lets both grow to many MiB, which count where a control group
/// bounds the process, and which our own budget does not see. A Unix socket keeps 208 KiB.
pub(crate) const TCP_BUFFER_BYTES: u32 = 128 << 10;

/// Connections that have come and have not been accepted yet.
const BACKLOG: u32 = 128;

/// Binds an address of TCP, within a runtime.
pub(crate) fn listen_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Connections of a switch that has just ended do not block its port.
    socket.set_reuseaddr(true)?;
    // Connections inherit these.
    socket.set_send_buffer_size(TCP_BUFFER_BYTES)?;
    socket.set_recv_buffer_size(TCP_BUFFER_BYTES)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// A place to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An address and a port; port 0 takes any free one.
    Tcp(SocketAddr),
    /// A file.
    Unix(PathBuf),
}

impl Address {
    /// Refuses an address at which strangers could take control: one that other machines reach,
    /// without TLS, unless `insecure` says that this is meant.
    pub fn check(&self, has_tls: bool, insecure: bool) -> Result<(), String> {
        match self {
            Address::Tcp(address) if !address.ip().is_loopback() && !has_tls && !insecure => {
                Err(format!(
                    "{address} can be reached from other machines, and whoever reaches it controls \
                     the switch: add a certificate for TLS, listen on 127.0.0.1 or unix:FILE, or \
                     say --insecure"
                ))
            }
            _ => Ok(()),
        }
    }

    /// Binds it, within a runtime.
    pub(crate) fn listen(&self) -> io::Result<Listener> {
        match self {
            Address::Tcp(address) => Ok(Listener::Tcp(listen_tcp(*address)?)),
            Address::Unix(path) => {
                remove_left_over(path)?;
                let listener = UnixListener::bind(path)?;
                // A client may have connected before this: each is identified on accept.
                std::fs::set_permissions(path, PermissionsExt::from_mode(OWNER_ONLY))?;
                Ok(Listener::Unix(listener, SocketFile(path.clone())))
            }
        }
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

impl FromStr for Address {
    type Err = String;

    /// `unix:FILE`, or `HOST:PORT` with a name or a number for the host.
    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = "write ADDRESS:PORT, such as 127.0.0.1:9559, or unix:FILE";
        match text.strip_prefix(UNIX) {
            Some("") => Err(format!("`{text}` names no file: {wanted}")),
            Some(path) => Ok(Self::Unix(path.into())),
            None => {
                let mut found =
                    text.to_socket_addrs().map_err(|error| format!("{error}: {wanted}"))?;
                let first = found.next().ok_or_else(|| format!("`{text}` has no address"))?;
                Ok(Self::Tcp(first))
            }
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "{UNIX}{}", path.display()),
        }
    }
}

/// The transport of a connection: TCP or a Unix socket, or TLS over it.
pub trait Carrier: AsyncRead + AsyncWrite + fmt::Debug + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + fmt::Debug + Send + Unpin> Carrier for T {}

/// A bound address.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, SocketFile),
}

impl Listener {
    /// Where it is.
    pub fn address(&self) -> io::Result<Address> {
        match self {
            Self::Tcp(listener) => Ok(Address::Tcp(listener.local_addr()?)),
            Self::Unix(_, SocketFile(path)) => Ok(Address::Unix(path.clone())),
        }
    }

    /// The next connection, and its peer, or the stranger who may not come.
    pub async fn accept(&self) -> io::Result<(Box<dyn Carrier>, Result<Peer, Stranger>)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, from) = listener.accept().await?;
                // It only makes answers quicker.
                let _nodelay = stream.set_nodelay(true);
                Ok((Box::new(stream), Ok(Peer::Host(from.ip()))))
            }
            Self::Unix(listener, SocketFile(path)) => {
                let (stream, _) = listener.accept().await?;
                let (uid, owner) = (stream.peer_cred()?.uid(), std::fs::metadata(path)?.uid());
                let may_come = uid == 0 || uid == owner;
                let peer =
                    if may_come { Ok(Peer::User(uid)) } else { Err(Stranger { uid, owner }) };
                Ok((Box::new(stream), peer))
            }
        }
    }
}

/// The file of a Unix socket; it is removed with its listener.
#[derive(Debug)]
pub(crate) struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Somebody may have removed it, and then there is nothing to do.
        let _gone = std::fs::remove_file(&self.0);
    }
}

/// Removes the socket that a killed switch has left behind, at which nothing answers. Anything else
/// stays, and cannot be bound.
fn remove_left_over(path: &Path) -> io::Result<()> {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket());
    let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    if is_socket && std::os::unix::net::UnixStream::connect(path).is_err_and(refused) {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[test]
    fn an_address_is_a_file_or_a_host_and_a_port() {
        let parse = |text: &str| text.parse::<Address>();
        assert_eq!(parse("127.0.0.1:0"), Ok(SocketAddr::from(([127, 0, 0, 1], 0)).into()));
        assert_eq!(parse("unix:/run/s1"), Ok(Address::Unix("/run/s1".into())));
        assert_eq!(parse("unix:s1").map(|it| it.to_string()), Ok("unix:s1".to_owned()));
        assert!(parse("unix:").is_err_and(|error| error.contains("names no file")));
        assert!(parse("9559").is_err_and(|error| error.contains("ADDRESS:PORT")));
    }

    #[test]
    fn strangers_are_let_in_only_on_purpose() {
        let check = |text: &str, tls, insecure| text.parse::<Address>()?.check(tls, insecure);
        for near in ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "unix:a"] {
            assert_eq!(check(near, false, false), Ok(()), "{near}");
        }
        for far in ["0.0.0.0:1", "[::]:1", "192.0.2.1:1"] {
            let refused = check(far, false, false).expect_err(far);
            assert!(refused.contains("--insecure"), "{refused}");
            assert_eq!(check(far, true, false), Ok(()), "{far}");
            assert_eq!(check(far, false, true), Ok(()), "{far}");
        }
    }

    #[tokio::test]
    async fn a_socket_is_its_owners_and_goes_with_who_listens() {
        let path = std::env::temp_dir().join(format!("vitrine-socket-{}", std::process::id()));
        let address = Address::Unix(path.clone());
        let listener = address.listen().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(listener.address().unwrap(), address);
        let taken = address.listen().unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse, "somebody answers there");
        let _client = tokio::net::UnixStream::connect(&path).await.unwrap();
        let (_, peer) = listener.accept().await.unwrap();
        assert_eq!(peer, Ok(Peer::User(std::fs::metadata(&path).unwrap().uid())));
        // Killed, it leaves its file behind, at which nothing answers.
        let Listener::Unix(listener, file) = listener else { panic!("a Unix socket") };
        std::mem::forget(file);
        drop(listener);
        drop(address.listen().unwrap());
        assert!(!path.exists());
        // A file that is no socket is not removed.
        std::fs::write(&path, "dear diary").unwrap();
        assert!(address.listen().is_err());
        std::fs::remove_file(&path).unwrap();
    }

    /// The bytes that a connection takes while its receiver reads nothing.
    async fn taken_by(listener: TcpListener) -> usize {
        let client = TcpSocket::new_v4().unwrap();
        // Its own buffer does not matter here.
        client.set_recv_buffer_size(4096).unwrap();
        let _client = client.connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let mut taken = 0;
        // Until it has taken nothing for a while.
        while timeout(Duration::from_millis(200), stream.writable()).await.is_ok() {
            taken += stream.try_write(&[0; 1 << 16]).unwrap_or(0);
        }
        taken
    }

    #[tokio::test]
    async fn the_kernel_keeps_little_of_what_nobody_takes() {
        let here = SocketAddr::from(([127, 0, 0, 1], 0));
        let bounded = taken_by(listen_tcp(here).unwrap()).await;
        assert!(bounded <= 3 * TCP_BUFFER_BYTES as usize, "{bounded}");
        // Without the setting it is another matter.
        let left_alone = taken_by(TcpListener::bind(here).await.unwrap()).await;
        assert!(left_alone > bounded, "{left_alone}");
    }
}
