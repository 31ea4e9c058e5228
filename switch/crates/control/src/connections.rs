//! The connections of controllers: a bounded number, and none that says nothing.
//!
//! Each connection takes memory, a descriptor and, later, calls; so there is a number that are open
//! at most. Who comes when they are is told so in the words of HTTP/2, which gRPC clients show to
//! their users, and is closed. Who connects and then says nothing, or stops in the middle of its
//! first words, is closed after a while; who has vanished later is found out by keep-alive.
//!
//! Running out of descriptors, or whatever else makes `accept` fail, passes: the server goes on.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Sleep, sleep, timeout};
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::{Connected, TcpConnectInfo};

/// Connections that may be open at the same time. A process may have 1024 descriptors unless
/// somebody raises that, and ports and captures need some.
pub const CONNECTION_COUNT_MAX: usize = 256;

/// Connections beyond those that are told why they are closed; still more are just closed.
const REFUSED_COUNT_MAX: usize = 16;

/// How long a client may take to say its first words.
pub const GREETING_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a client that was refused may take to go.
const FAREWELL_TIMEOUT: Duration = Duration::from_secs(1);

/// After `accept` has failed, the next one waits so long: descriptors do not come back at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How a client of HTTP/2 opens a connection; TLS begins with more bytes than this, too.
const GREETING_SIZE_BYTES: usize = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len();

/// The connections of a listener, as they come, until nobody takes them any more.
pub fn incoming(listener: TcpListener) -> ReceiverStream<io::Result<Connection<TcpStream>>> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(accept(listener, sender));
    ReceiverStream::new(receiver)
}

async fn accept(listener: TcpListener, sender: mpsc::Sender<io::Result<Connection<TcpStream>>>) {
    let room = Arc::new(Semaphore::new(CONNECTION_COUNT_MAX));
    let room_to_refuse = Arc::new(Semaphore::new(REFUSED_COUNT_MAX));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = sender.closed() => return,
        };
        let Ok((stream, _)) = accepted else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        // It only makes answers quicker.
        let _nodelay = stream.set_nodelay(true);
        if let Ok(permit) = Arc::clone(&room).try_acquire_owned() {
            // Nobody takes it: the server is stopping.
            let _taken = sender.send(Ok(Connection::new(stream, permit))).await;
        } else if let Ok(permit) = Arc::clone(&room_to_refuse).try_acquire_owned() {
            tokio::spawn(async move {
                // Whoever goes without listening has gone, which is what was wanted.
                let _heard = timeout(FAREWELL_TIMEOUT, refuse(stream)).await;
                drop(permit);
            });
        }
    }
}

/// Says why in a GOAWAY frame, and waits until the client has gone: closed at once, the connection
/// would be reset, and what was said be lost.
async fn refuse(mut stream: TcpStream) -> io::Result<()> {
    stream.write_all(&goaway()).await?;
    stream.shutdown().await?;
    let mut unheard = [0; 1024];
    while stream.read(&mut unheard).await? > 0 {}
    Ok(())
}

/// An empty SETTINGS frame, with which a server begins, and a GOAWAY frame (RFC 9113, sections 6.5
/// and 6.8) of the error ENHANCE_YOUR_CALM.
fn goaway() -> Vec<u8> {
    const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    const GOAWAY: u8 = 7;
    const ENHANCE_YOUR_CALM: u8 = 11;
    let reason =
        format!("RESOURCE_EXHAUSTED: {CONNECTION_COUNT_MAX} connections are open; close one");
    // Last stream 0: nothing was taken. The reason is short: its length fits the last byte.
    let length = u8::try_from(8 + reason.len()).unwrap_or(u8::MAX);
    let mut bytes = SETTINGS.to_vec();
    bytes.extend([0, 0, length, GOAWAY, 0, 0, 0, 0, 0]);
    bytes.extend([0, 0, 0, 0, 0, 0, 0, ENHANCE_YOUR_CALM]);
    bytes.extend(reason.as_bytes());
    bytes
}

/// A connection that counts as one as long as it lives.
#[derive(Debug)]
pub struct Connection<S> {
    stream: S,
    /// While the client has not said its first words: until when it must.
    greeting: Option<Pin<Box<Sleep>>>,
    heard_bytes: usize,
    _permit: OwnedSemaphorePermit,
}

impl<S> Connection<S> {
    fn new(stream: S, permit: OwnedSemaphorePermit) -> Self {
        let greeting = Some(Box::pin(sleep(GREETING_TIMEOUT)));
        Self { stream, greeting, heard_bytes: 0, _permit: permit }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        let Some(greeting) = &mut self.greeting else { return polled };
        if polled.is_pending() {
            ready!(greeting.as_mut().poll(context));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        self.heard_bytes += buffer.filled().len() - before;
        if self.heard_bytes >= GREETING_SIZE_BYTES {
            self.greeting = None;
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
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl Connected for Connection<TcpStream> {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.stream.connect_info()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection() -> (tokio::io::DuplexStream, Connection<tokio::io::DuplexStream>) {
        let (client, server) = tokio::io::duplex(1024);
        let permit = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
        (client, Connection::new(server, permit))
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

    #[tokio::test(start_paused = true)]
    async fn who_has_said_its_first_words_may_be_silent() {
        let (mut client, mut connection) = connection();
        client.write_all(&[b'P'; 24]).await.unwrap();
        let mut heard = [0; 64];
        assert_eq!(connection.read(&mut heard).await.unwrap(), 24);
        let silence = timeout(10 * GREETING_TIMEOUT, connection.read(&mut heard)).await;
        assert!(silence.is_err(), "the connection is open still");
    }

    #[test]
    fn the_last_words_are_frames_of_the_length_that_they_say() {
        let bytes = goaway();
        // Nine bytes of SETTINGS, nine of the header of GOAWAY, then as many as that says.
        assert_eq!(bytes.len(), 18 + usize::from(bytes[11]));
        assert!(bytes.ends_with(b"256 connections are open; close one"));
    }
}
