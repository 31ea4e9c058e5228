//! StreamChannel over gRPC: a task per controller reads what it sends; the answer is its outbox.

use std::pin::Pin;
use std::sync::Arc;

use ::p4runtime::{Refusal, Status};
use agent::front::{Fronts, Stream};
use futures_util::StreamExt;
use messages::p4::v1 as p4;
use messages::p4::v1::stream_message_request::Update;
use tokio::sync::oneshot;

use crate::places::Caller;
use crate::status::{our_status, tonic_status};

/// Messages to a controller.
pub type Answers = Pin<
    Box<dyn tokio_stream::Stream<Item = Result<p4::StreamMessageResponse, tonic::Status>> + Send>,
>;

/// A controller's message.
type Request = Result<p4::StreamMessageRequest, tonic::Status>;

/// Opens a stream by a connection: `requests` is read by a task of its own, the returned stream is the answer. The
/// first message says which device it is with; there is nothing to answer before.
pub fn open(
    fronts: &Arc<Fronts>,
    caller: Option<Caller>,
    mut requests: impl tokio_stream::Stream<Item = Request> + Send + Unpin + 'static,
) -> Answers {
    let fronts = Arc::clone(fronts);
    let (sender, opened) = oneshot::channel::<Answers>();
    tokio::spawn(async move {
        // A controller that leaves silently gets no answer.
        let Some(first) = requests.next().await else { return };
        let connection = caller.as_ref().map_or(0, Caller::connection);
        match open_by(&fronts, connection, &first) {
            Ok((stream, answers)) => {
                if sender.send(answers).is_ok() {
                    listen(stream, caller, first, requests).await;
                }
            }
            Err(status) => {
                let refused = tokio_stream::once(Err(tonic_status(status)));
                let _nobody_reads = sender.send(Box::pin(refused));
            }
        }
    });
    let answers = futures_util::stream::once(opened).filter_map(async |answers| answers.ok());
    Box::pin(answers.flatten())
}

/// A stream with the device that the first message names.
fn open_by(fronts: &Fronts, connection: u64, first: &Request) -> Result<(Stream, Answers), Status> {
    let update = first.as_ref().map_err(|status| our_status(status.clone()))?.update.as_ref();
    let served = match update {
        Some(Update::Arbitration(update)) => fronts.named(update.device_id)?,
        _ => fronts.meant(0)?,
    };
    let (stream, answers) = Stream::open(&served.front, connection);
    Ok((stream, Box::pin(answers.map(|answer| answer.map_err(tonic_status)))))
}

/// Refuses a role that the controller's certificate does not let it take.
fn check(caller: Option<&Caller>, request: &p4::StreamMessageRequest) -> Result<(), Refusal> {
    let (Some(caller), Some(Update::Arbitration(update))) = (caller, &request.update) else {
        return Ok(());
    };
    caller.roles().check(update.role.as_ref().map_or("", |role| &role.name))
}

async fn listen(
    stream: Stream,
    caller: Option<Caller>,
    first: Request,
    mut requests: impl tokio_stream::Stream<Item = Request> + Send + Unpin,
) {
    let mut next = Some(first);
    // An error here is the transport's: the controller is gone, or sent what is no protobuf.
    while let Some(request) = next {
        let heard = match request {
            Ok(request) => match check(caller.as_ref(), &request) {
                Ok(()) => stream.hear(request).await,
                Err(refusal) => Err(refusal.into()),
            },
            Err(status) => Err(our_status(status)),
        };
        if let Err(status) = heard {
            return stream.end(Err(status));
        }
        next = requests.next().await;
    }
    stream.end(Ok(()));
}
