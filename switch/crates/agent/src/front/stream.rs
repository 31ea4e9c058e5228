//! [`Stream`]: one controller's StreamChannel.
//!
//! The life of a stream:
//!
//! 1. it opens: an outbox, a client number, nothing else;
//! 2. each arbitration update goes to the sessions; one that is refused ends the stream, and one
//!    that makes a primary is answered after all that earlier primaries handed over;
//! 3. packet-out and digest acknowledgements are taken from the primary only; an error in one
//!    is reported in a StreamError, and the stream goes on;
//! 4. it ends when the controller closes it or dies, or on an error of 2. Then the role may be
//!    without primary, and the others are notified.

use std::sync::Arc;

use ::p4runtime::arbitration::ClientId;
use ::p4runtime::config::Config;
use ::p4runtime::{Refusal, Status, packet_io};
use messages::p4::v1 as p4;
use messages::p4::v1::stream_error::Details;
use messages::p4::v1::stream_message_request::Update;

use super::Front;
use super::outbox::{Outbox, OutboxStream};
use crate::request::Request;

/// The messages of one controller. Dropped, the stream ends.
#[derive(Debug)]
pub struct Stream {
    front: Arc<Front>,
    client: ClientId,
    outbox: Arc<Outbox>,
}

impl Stream {
    /// Opens a stream, which comes by this connection; the second of the pair is what the controller
    /// is sent.
    pub fn open(front: &Arc<Front>, connection: u64) -> (Stream, OutboxStream) {
        let (client, outbox) = front.sessions.open(connection);
        let answers = OutboxStream(Arc::clone(&outbox));
        (Stream { front: Arc::clone(front), client, outbox }, answers)
    }

    /// The controller has sent a message. An error must end the stream.
    pub async fn hear(&self, request: p4::StreamMessageRequest) -> Result<(), Status> {
        match request.update {
            Some(Update::Arbitration(update)) => {
                if let Some(fence) = self.front.sessions.bid(self.client, &update)? {
                    let settled = self.front.plane.ask(|reply| Request::Settle { reply }).await;
                    settled?;
                    fence.lift();
                }
            }
            Some(Update::Packet(packet)) => {
                if let Err(refusal) = self.packet_out(&packet).await {
                    let details = p4::PacketOutError { packet_out: Some(packet) };
                    self.complain(refusal, Details::PacketOut(details));
                }
            }
            Some(Update::DigestAck(ack)) => {
                if let Err(refusal) = self.digest_ack(ack).await {
                    let details = p4::DigestListAckError { digest_list_ack: Some(ack) };
                    self.complain(refusal, Details::DigestListAck(details));
                }
            }
            Some(Update::Other(other)) => {
                let refusal = Refusal::unimplemented(
                    "this switch understands no stream messages beyond P4Runtime's own",
                );
                let details = p4::StreamOtherError { other: Some(other) };
                self.complain(refusal, Details::Other(details));
            }
            None => {
                let refusal = Refusal::invalid("the stream message is empty");
                self.complain(refusal, Details::Other(p4::StreamOtherError::default()));
            }
        }
        Ok(())
    }

    /// Ends the stream: normally, or with the controller's error.
    pub fn end(self, result: Result<(), Status>) {
        // First, so that its last word is not that it has become a backup.
        self.front.sessions.close(self.client);
        self.outbox.end(result);
    }

    async fn packet_out(&self, packet: &p4::PacketOut) -> Result<(), Refusal> {
        self.check_primary("packet-out")?;
        let config = self.in_force()?;
        let frame = packet_io::packet_out_frame(&config.index, packet)?;
        self.front.plane.reserve().await?.send(Request::PacketOut { frame });
        Ok(())
    }

    async fn digest_ack(&self, ack: p4::DigestListAck) -> Result<(), Refusal> {
        self.check_primary("a digest acknowledgement")?;
        let config = self.in_force()?;
        config.index.digest(ack.digest_id)?;
        let request = Request::DigestAck { digest_id: ack.digest_id, list_id: ack.list_id };
        self.front.plane.reserve().await?.send(request);
        Ok(())
    }

    /// The program that packets run through: a saved one does not count.
    fn in_force(&self) -> Result<Arc<Config>, Refusal> {
        let in_force = self.front.programs.now().in_force;
        in_force.ok_or_else(|| Refusal::precondition("no program is in force; commit one first"))
    }

    fn check_primary(&self, what: &str) -> Result<(), Refusal> {
        match self.front.sessions.role_led_by(self.client) {
            Some(_) => Ok(()),
            None => {
                Err(Refusal::denied(format!("only a primary may send {what}; this stream is none")))
            }
        }
    }

    /// Says what was wrong with a message, without that message if there is no room for it; if there
    /// is none for the words either, it is counted as lost.
    fn complain(&self, refusal: Refusal, details: Details) {
        let error = p4::StreamError {
            canonical_code: refusal.code as i32,
            message: refusal.message,
            space: String::new(),
            code: 0,
            details: Some(details),
        };
        self.outbox.complain(error);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // Both do nothing where the stream has ended already.
        self.front.sessions.close(self.client);
        self.outbox.end(Ok(()));
    }
}
