//! The connections of controllers: a bounded number, and none that says nothing.
//!
//! Each connection takes memory, a descriptor and, later, calls; so the number of open ones is
//! bounded, and others give way (`places.rs`). A client that comes when none can is refused in
//! HTTP/2, whose message gRPC clients show to their users, and closed; a forbidden client is
//! refused by `strangers.rs`. A client that connects and then stays silent, or stops in the middle
//! of its preface, is closed after a while; one that vanishes later is found by keep-alive.
//!
//! In its preface a client of HTTP/2 announces how large a header it takes, within TLS if there is
//! TLS. Services read that with [`room_of`].
//!
//! Running out of descriptors, or whatever else makes `accept` fail, passes: the log says so once,
//! and the server goes on.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agent::front::Fronts;
use p4runtime::details::Room;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Sleep, sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::Connected;

use crate::address::{Carrier, Listener};
pub use crate::places::{CONNECTION_COUNT_MAX, Caller, Peer};
use crate::places::{Place, Places};
use crate::roles::Roles;
use crate::strangers::Doorstep;

/// Connections beyond those that are refused with a reason; still more are just closed.
const REFUSED_COUNT_MAX: usize = 16;

/// How long a client may take to say its first words.
pub const GREETING_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a client that was refused may take to go.
const FAREWELL_TIMEOUT: Duration = Duration::from_secs(1);

/// The pause after `accept` has failed: descriptors do not come back at once.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How a client of HTTP/2 opens a connection; a hello of TLS is longer, too.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The bytes before the payload of a frame of HTTP/2 (RFC 9113, section 4.1).
const FRAME_HEADER_SIZE_BYTES: usize = 9;

/// Longer settings than any client has reason to send are not listened to.
const SETTINGS_SIZE_BYTES_MAX: usize = 1024;

/// The number of a frame that holds settings.
const SETTINGS: u8 = 4;

/// The number of the setting SETTINGS_MAX_HEADER_LIST_SIZE (RFC 9113, section 6.5.2).
const MAX_HEADER_LIST_SIZE: u16 = 6;

/// A controller's connection.
type Accepted = Connection<Box<dyn Carrier>>;

/// The connections of a listener, as they come and a bounded number at a time, as long as they are
/// taken. With `tls` they come after the handshake. Primaries of `fronts` keep theirs.
pub(crate) fn incoming(
    listener: Listener,
    tls: Option<TlsAcceptor>,
    fronts: Arc<Fronts>,
    count: usize,
) -> ReceiverStream<io::Result<Accepted>> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(accept(listener, tls, fronts, count, sender));
    ReceiverStream::new(receiver)
}

async fn accept(
    listener: Listener,
    tls: Option<TlsAcceptor>,
    fronts: Arc<Fronts>,
    count: usize,
    sender: mpsc::Sender<io::Result<Accepted>>,
) {
    let places = Arc::new(Places::new(count));
    let room_to_refuse = Arc::new(Semaphore::new(REFUSED_COUNT_MAX));
    let doorstep = Doorstep::default();
    let mut has_failed = false;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = sender.closed() => return,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                if !std::mem::replace(&mut has_failed, true) {
                    tracing::warn!("no controller can connect: {}", reason(&error));
                }
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        has_failed = false;
        let peer = match peer {
            Ok(peer) => peer,
            Err(stranger) => {
                doorstep.turn_away(stranger, stream);
                continue;
            }
        };
        let leads =
            |connection| fronts.present().values().any(|served| served.front.leads(connection));
        if let Some(place) = places.take(peer, leads) {
            match tls.clone() {
                // Nobody takes it: the server is stopping.
                None => {
                    let _taken = sender.send(Ok(Connection::new(stream, place))).await;
                }
                Some(tls) => {
                    tokio::spawn(shake_hands(tls, stream, place, sender.clone()));
                }
            }
        } else if let Ok(permit) = Arc::clone(&room_to_refuse).try_acquire_owned() {
            tokio::spawn(async move {
                // A client that leaves without listening has left, which was the purpose.
                let _heard = timeout(FAREWELL_TIMEOUT, refuse(stream, count)).await;
                drop(permit);
            });
        }
    }
}

/// The reason for a failed `accept`.
fn reason(error: &io::Error) -> String {
    // Those of the process, and those of the machine; they have these numbers on every Linux.
    const EMFILE: i32 = 24;
    const ENFILE: i32 = 23;
    match error.raw_os_error() {
        Some(EMFILE | ENFILE) => "too many files are open; `ulimit -n` raises the limit".to_owned(),
        _ => error.to_string(),
    }
}

/// Hands a connection on after its TLS handshake. A client that fails, or takes its time, gets an
/// error of TLS or nothing; it counts as a connection meanwhile.
async fn shake_hands(
    tls: TlsAcceptor,
    stream: Box<dyn Carrier>,
    place: Place,
    sender: mpsc::Sender<io::Result<Accepted>>,
) {
    if let Ok(Ok(stream)) = timeout(GREETING_TIMEOUT, tls.accept(stream)).await {
        let (_, session) = stream.get_ref();
        if let Some([own, ..]) = session.peer_certificates() {
            place.client.show(Roles::of_certificate(own));
        }
        // As above: nothing takes it when the server is stopping.
        let _taken = sender.send(Ok(Connection::new(Box::new(stream), place))).await;
    }
}

/// Says why in a GOAWAY frame, and waits until the client has gone: closed at once, the connection
/// would be reset, and what was said be lost.
async fn refuse(mut stream: Box<dyn Carrier>, count: usize) -> io::Result<()> {
    stream.write_all(&goaway(count)).await?;
    stream.shutdown().await?;
    let mut unheard = [0; 1024];
    while stream.read(&mut unheard).await? > 0 {}
    Ok(())
}

/// An empty SETTINGS frame, with which a server begins, and a GOAWAY frame (RFC 9113, sections 6.5
/// and 6.8) of the error ENHANCE_YOUR_CALM.
fn goaway(count: usize) -> Vec<u8> {
    const GOAWAY: u8 = 7;
    const ENHANCE_YOUR_CALM: u8 = 11;
    let reason = format!("RESOURCE_EXHAUSTED: {count} connections are open; close one");
    // Last stream 0: nothing was taken. The reason is short: its length fits the last byte.
    let length = u8::try_from(8 + reason.len()).unwrap_or(u8::MAX);
    let mut bytes = vec![0, 0, 0, SETTINGS, 0, 0, 0, 0, 0];
    bytes.extend([0, 0, length, GOAWAY, 0, 0, 0, 0, 0]);
    bytes.extend([0, 0, 0, 0, 0, 0, 0, ENHANCE_YOUR_CALM]);
    bytes.extend(reason.as_bytes());
    bytes
}

/// The caller, if the call came by a connection of ours.
pub fn caller_of(extensions: &tonic::codegen::http::Extensions) -> Option<&Caller> {
    extensions.get::<Caller>()
}

/// Which roles the client of a call may take.
pub(crate) fn roles_of<T>(call: &tonic::Request<T>) -> &Roles {
    caller_of(call.extensions()).map_or(&Roles::Any, Caller::roles)
}

/// How much metadata the client of a call takes with the answer.
pub fn room_of<T>(call: &tonic::Request<T>) -> Room {
    call.extensions().get::<Caller>().map_or(Room::USUAL, Caller::room)
}

/// A connection that has its place as long as it lives.
#[derive(Debug)]
pub struct Connection<S> {
    stream: S,
    /// While the client has not said its first words.
    greeting: Option<Greeting>,
    place: Place,
}

/// The first words of a client.
#[derive(Debug)]
struct Greeting {
    /// Until when they must be said.
    deadline: Pin<Box<Sleep>>,
    /// As far as they have been.
    heard: Vec<u8>,
}

/// The contents of a whole greeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Greeted {
    /// The settings of HTTP/2: how large a list of headers the client takes, if it says so.
    Announced(Option<u32>),
    /// Something else, such as TLS where it is not expected; the reader will recognise it.
    Otherwise,
}

impl<S> Connection<S> {
    fn new(stream: S, place: Place) -> Self {
        let greeting = Greeting { deadline: Box::pin(sleep(GREETING_TIMEOUT)), heard: Vec::new() };
        Self { stream, greeting: Some(greeting), place }
    }
}

/// The contents of a greeting, a preface and a frame of settings (RFC 9113, section 3.4). `None`
/// while it is not over.
fn greeted(heard: &[u8]) -> Option<Greeted> {
    let (preface, frame) = heard.split_at_checked(PREFACE.len())?;
    if preface != PREFACE {
        return Some(Greeted::Otherwise);
    }
    let (header, payload) = frame.split_at_checked(FRAME_HEADER_SIZE_BYTES)?;
    let length =
        usize::from(header[0]) << 16 | usize::from(header[1]) << 8 | usize::from(header[2]);
    if header[3] != SETTINGS || length > SETTINGS_SIZE_BYTES_MAX {
        return Some(Greeted::Otherwise);
    }
    let (settings, _) = payload.get(..length)?.as_chunks::<6>();
    let mut sizes = settings.iter().filter_map(|[id_high, id_low, value @ ..]| {
        let id = u16::from_be_bytes([*id_high, *id_low]);
        (id == MAX_HEADER_LIST_SIZE).then(|| u32::from_be_bytes(*value))
    });
    Some(Greeted::Announced(sizes.next_back()))
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.place.client.gives_way(context) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        let Some(greeting) = &mut self.greeting else { return polled };
        if polled.is_pending() {
            ready!(greeting.deadline.as_mut().poll(context));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        greeting.heard.extend_from_slice(&buffer.filled()[before..]);
        if let Some(said) = greeted(&greeting.heard) {
            self.greeting = None;
            if let Greeted::Announced(size_bytes) = said {
                self.place.client.announce(Room::announced(size_bytes));
            }
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        // HTTP/2 flushes when all that it had encoded has been written.
        if flushed.is_ready() {
            self.place.client.has_written();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Bytes that were never written wait no longer.
impl<S> Drop for Connection<S> {
    fn drop(&mut self) {
        self.place.client.has_written();
    }
}

impl Connected for Accepted {
    type ConnectInfo = Caller;

    fn connect_info(&self) -> Caller {
        self.place.caller()
    }
}

#[cfg(test)]
mod tests {
    use units::memory::{Budget, Purpose};

    use super::*;

    fn connection() -> (tokio::io::DuplexStream, Connection<tokio::io::DuplexStream>) {
        let (client, server) = tokio::io::duplex(1024);
        let place = Arc::new(Places::new(1)).take(Peer::User(0), |_| false).unwrap();
        (client, Connection::new(server, place))
    }

    /// 23 of 24 bytes are no greeting. Time is the test's own.
    #[tokio::test(start_paused = true)]
    async fn who_stops_in_the_middle_of_its_first_words_is_closed_after_a_while() {
        let (mut client, mut connection) = connection();
        client.write_all(&[b'P'; 23]).await.unwrap();
        let began = tokio::time::Instant::now();
        let mut heard = [0; 64];
        assert_eq!(connection.read(&mut heard).await.unwrap(), 23);
        let error = connection.read(&mut heard).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), GREETING_TIMEOUT.as_secs());
    }

    /// The preface, and settings of two numbers: at most 16,384 bytes a frame, 20,000 of headers.
    fn greeting() -> Vec<u8> {
        let mut greeting = PREFACE.to_vec();
        greeting.extend([0, 0, 12, SETTINGS, 0, 0, 0, 0, 0]);
        greeting.extend([0, 5, 0, 0, 0x40, 0, 0, 6, 0, 0, 0x4e, 0x20]);
        greeting
    }

    #[test]
    fn the_size_of_headers_is_known_when_the_settings_are_whole() {
        let whole = greeting();
        assert!((0..whole.len()).all(|length| greeted(&whole[..length]).is_none()));
        assert_eq!(greeted(&whole), Some(Greeted::Announced(Some(20_000))));
        // A client of TLS says hello otherwise.
        assert_eq!(greeted(&[22; 24]), Some(Greeted::Otherwise));
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_said_its_first_words_may_be_silent() {
        let (mut client, mut connection) = connection();
        client.write_all(&greeting()).await.unwrap();
        let mut heard = [0; 64];
        assert_eq!(connection.read(&mut heard).await.unwrap(), greeting().len());
        assert_eq!(connection.place.client.announced(), Some(Room::announced(Some(20_000))));
        let silence = timeout(10 * GREETING_TIMEOUT, connection.read(&mut heard)).await;
        assert!(silence.is_err(), "the connection is open still");
    }

    #[tokio::test]
    async fn what_was_encoded_counts_until_it_is_written() {
        let memory = Budget::new(units::Bytes(48 << 20), units::Bytes(0));
        let share = |bytes| memory.take(Purpose::Answers, bytes).expect("there is room");
        let (_client, mut connection) = connection();
        connection.place.client.writes(share(1000));
        connection.place.client.writes(share(2000));
        assert_eq!(memory.taken(Purpose::Answers).0, 3000);
        connection.flush().await.unwrap();
        assert_eq!(memory.taken(Purpose::Answers).0, 0);
        connection.place.client.writes(share(1000));
        drop(connection);
        assert_eq!(memory.taken(Purpose::Answers).0, 0);
    }

    #[test]
    fn the_last_words_are_frames_of_the_length_that_they_say() {
        let bytes = goaway(256);
        // Nine bytes of SETTINGS, nine of the header of GOAWAY, then as many as that says.
        assert_eq!(bytes.len(), 18 + usize::from(bytes[11]));
        assert!(bytes.ends_with(b"256 connections are open; close one"));
    }
}
