//! StreamChannel: one task per controller reads what it sends; what is sent to it waits in its
//! outbox.
//!
//! The life of a stream:
//!
//! 1. it opens: an outbox, a client number, nothing else;
//! 2. each arbitration update goes to the sessions; one that is refused ends the stream;
//! 3. packet-out and digest acknowledgements are taken from the primary only; what is wrong with
//!    one is said in a StreamError, and the stream goes on;
//! 4. it ends when the controller closes it or dies, or on an error of 2. Then the role may be
//!    without primary, and the others are told.

use std::sync::Arc;

use agent::Request;
use messages::p4::v1 as p4;
use messages::p4::v1::stream_error::Details;
use messages::p4::v1::stream_message_request::Update;
use messages::p4::v1::stream_message_response::Update as Response;
use p4runtime::Status;
use p4runtime::arbitration::ClientId;
use p4runtime::config::Config;
use p4runtime::packet_io;
use p4runtime::refusal::Refusal;
use tokio_stream::{Stream, StreamExt};

use super::Shared;
use crate::outbox::{Outbox, OutboxStream};
use crate::status::our_status;

/// Opens a stream: `requests` is read by a task of its own, the returned stream is the answer.
pub fn open(
    shared: Arc<Shared>,
    requests: impl Stream<Item = Result<p4::StreamMessageRequest, tonic::Status>>
    + Send
    + Unpin
    + 'static,
) -> OutboxStream {
    let (client, outbox) = shared.sessions.open();
    let answer = OutboxStream(Arc::clone(&outbox));
    tokio::spawn(async move {
        let end = Conversation { shared: &shared, client, outbox: &outbox }.run(requests).await;
        shared.sessions.close(client);
        outbox.end(end);
    });
    answer
}

struct Conversation<'a> {
    shared: &'a Shared,
    client: ClientId,
    outbox: &'a Outbox,
}

impl Conversation<'_> {
    /// Until the controller ends it (`Ok`) or breaks a rule of arbitration.
    async fn run(
        &self,
        mut requests: impl Stream<Item = Result<p4::StreamMessageRequest, tonic::Status>> + Unpin,
    ) -> Result<(), Status> {
        // An error here is the transport's: the controller is gone, or sent what is no protobuf.
        while let Some(request) = requests.next().await {
            match request.map_err(our_status)?.update {
                Some(Update::Arbitration(update)) => {
                    self.shared.sessions.bid(self.client, &update)?;
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
        }
        Ok(())
    }

    async fn packet_out(&self, packet: &p4::PacketOut) -> Result<(), Refusal> {
        self.check_primary("packet-out")?;
        let config = self.in_force()?;
        let frame = packet_io::packet_out_frame(&config.index, packet)?;
        self.shared.plane.reserve().await?.send(Request::PacketOut { frame });
        Ok(())
    }

    async fn digest_ack(&self, ack: p4::DigestListAck) -> Result<(), Refusal> {
        self.check_primary("a digest acknowledgement")?;
        let config = self.in_force()?;
        config.index.digest(ack.digest_id)?;
        let request = Request::DigestAck { digest_id: ack.digest_id, list_id: ack.list_id };
        self.shared.plane.reserve().await?.send(request);
        Ok(())
    }

    /// What packets run through: a program that is only saved is not asked.
    fn in_force(&self) -> Result<Arc<Config>, Refusal> {
        self.shared
            .configs
            .committed()
            .ok_or_else(|| Refusal::precondition("no program is in force; commit one first"))
    }

    fn check_primary(&self, what: &str) -> Result<(), Refusal> {
        match self.shared.sessions.role_led_by(self.client) {
            Some(_) => Ok(()),
            None => {
                Err(Refusal::denied(format!("only a primary may send {what}; this stream is none")))
            }
        }
    }

    /// Says what was wrong with a message; if there is no room for it, it is counted as lost.
    fn complain(&self, refusal: Refusal, details: Details) {
        let error = p4::StreamError {
            canonical_code: refusal.code as i32,
            message: refusal.message,
            space: String::new(),
            code: 0,
            details: Some(details),
        };
        let _taken =
            self.outbox.report(p4::StreamMessageResponse { update: Some(Response::Error(error)) });
    }
}
