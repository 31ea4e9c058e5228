//! Strangers at a Unix socket: users who do not own the switch, and get a refusal.
//!
//! A connection that is closed silently looks like a missing switch, and a client of gRPC tries
//! again for ever. So a stranger's stays open for a moment: each call on it is refused as gRPC
//! refuses calls, with PERMISSION_DENIED and a sentence, and then the client gets GOAWAY. No call
//! reaches a service, and no message is read.
//!
//! It costs little: a bounded number of strangers at a time, none for longer than a moment, each
//! with the least memory of HTTP/2. A place is not free before the moment is over, so a client that
//! comes and goes all the time is refused, and noted in the log, no more often than that. More
//! strangers are just closed.

use std::sync::Arc;
use std::time::Duration;

use h2::server::Builder;
use prost::bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tonic::Status;

use crate::address::Carrier;
use crate::places::Stranger;

/// Strangers that are refused with a reason at a time.
const STRANGER_COUNT_MAX: usize = 16;

/// How long a stranger may stay: time enough to connect and then to call.
const STAY: Duration = Duration::from_secs(1);

/// How long it may then take to go.
const FAREWELL: Duration = Duration::from_secs(1);

/// Calls of a stranger that are refused before it gets GOAWAY.
const CALL_COUNT_MAX: u32 = 16;

/// No client of gRPC has reason to send more headers with a call.
const HEADERS_SIZE_BYTES_MAX: u32 = 8 << 10;

/// The refusals of strangers.
#[derive(Debug)]
pub(crate) struct Doorstep(Arc<Semaphore>);

impl Default for Doorstep {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(STRANGER_COUNT_MAX)))
    }
}

impl Doorstep {
    /// Tells a stranger, on its own time, if there is room.
    pub fn turn_away(&self, stranger: Stranger, stream: Box<dyn Carrier>) {
        let Ok(place) = Arc::clone(&self.0).try_acquire_owned() else { return };
        tracing::warn!("user {}, whose switch this is not, wanted to connect", stranger.uid);
        tokio::spawn(stand(place, stranger, stream));
    }
}

async fn stand(place: OwnedSemaphorePermit, stranger: Stranger, stream: Box<dyn Carrier>) {
    // A client that leaves without listening has left, which was the purpose.
    let told = timeout(STAY + FAREWELL, tell(stranger, stream));
    let (_gone, ()) = tokio::join!(told, sleep(STAY));
    drop(place);
}

/// Refuses calls until the client has gone.
async fn tell(stranger: Stranger, stream: Box<dyn Carrier>) -> Result<(), h2::Error> {
    let stay = sleep(STAY);
    tokio::pin!(stay);
    let mut connection = Builder::new()
        .max_concurrent_streams(CALL_COUNT_MAX)
        .max_header_list_size(HEADERS_SIZE_BYTES_MAX)
        .handshake::<_, Bytes>(stream)
        .await?;
    let mut refused = 0;
    loop {
        let call = tokio::select! {
            call = connection.accept() => call,
            () = &mut stay, if refused < CALL_COUNT_MAX => {
                refused = CALL_COUNT_MAX;
                connection.graceful_shutdown();
                continue;
            }
        };
        let Some(call) = call else { return Ok(()) };
        let (_unread, mut answer) = call?;
        let refusal = Status::permission_denied(stranger.to_string());
        answer.send_response(refusal.into_http(), true)?;
        // Calls come until the client has heard it, and are refused as well.
        refused += 1;
        if refused == CALL_COUNT_MAX {
            connection.graceful_shutdown();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRANGER: Stranger = Stranger { uid: 7, owner: 1000 };

    async fn asked(client: &mut h2::client::SendRequest<Bytes>) -> Option<Status> {
        let request = tonic::codegen::http::Request::post("http://localhost/any");
        let (answer, _body) = client.send_request(request.body(()).unwrap(), false).ok()?;
        let answer = answer.await.ok()?;
        Status::from_header_map(answer.headers())
    }

    /// Calls that never send their message, and more of them than are answered.
    #[tokio::test(start_paused = true)]
    async fn each_call_is_refused_and_then_the_client_is_asked_to_go() {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let doorstep = Doorstep::default();
        doorstep.turn_away(STRANGER, Box::new(ours));
        let (mut client, connection) = h2::client::handshake(theirs).await.unwrap();
        let gone = tokio::spawn(connection);
        for _ in 0..CALL_COUNT_MAX {
            let refusal = asked(&mut client).await.expect("an answer");
            assert_eq!(refusal.code(), tonic::Code::PermissionDenied);
            assert_eq!(refusal.message(), STRANGER.to_string());
        }
        // The next is refused too, or not begun, as soon as the client has heard.
        while asked(&mut client).await.is_some() {}
        drop(client);
        gone.await.unwrap().expect("it is asked to go, and nothing was wrong");
    }

    /// Neither those that say nothing nor those that hang up at once.
    #[tokio::test(start_paused = true)]
    async fn strangers_have_so_many_places_and_only_for_a_moment() {
        let doorstep = Doorstep::default();
        let began = tokio::time::Instant::now();
        let mut silent = Vec::new();
        for number in 0..2 * STRANGER_COUNT_MAX {
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            doorstep.turn_away(STRANGER, Box::new(ours));
            if number % 2 == 0 {
                silent.push(theirs);
            }
        }
        assert_eq!(doorstep.0.available_permits(), 0);
        let all = STRANGER_COUNT_MAX as u32;
        let _free = doorstep.0.acquire_many(all).await.unwrap();
        assert_eq!(began.elapsed(), STAY + FAREWELL);
    }
}
