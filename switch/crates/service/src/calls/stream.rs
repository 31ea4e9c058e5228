//! StreamChannel over gRPC: a task per controller reads what it sends; the answer is its outbox.

use std::pin::Pin;
use std::sync::Arc;

use agent::front::{Front, Stream};
use messages::p4::v1 as p4;
use tokio_stream::StreamExt;

use crate::status::{our_status, tonic_status};

/// What a controller is sent.
pub type Answers = Pin<
    Box<dyn tokio_stream::Stream<Item = Result<p4::StreamMessageResponse, tonic::Status>> + Send>,
>;

/// Opens a stream: `requests` is read by a task of its own, the returned stream is the answer.
pub fn open(
    front: &Arc<Front>,
    mut requests: impl tokio_stream::Stream<Item = Result<p4::StreamMessageRequest, tonic::Status>>
    + Send
    + Unpin
    + 'static,
) -> Answers {
    let (stream, answers) = Stream::open(front);
    tokio::spawn(async move {
        // An error here is the transport's: the controller is gone, or sent what is no protobuf.
        while let Some(request) = requests.next().await {
            let heard = match request {
                Ok(request) => stream.hear(request).await,
                Err(status) => Err(our_status(status)),
            };
            if let Err(status) = heard {
                return stream.end(Err(status));
            }
        }
        stream.end(Ok(()));
    });
    Box::pin(answers.map(|answer| answer.map_err(tonic_status)))
}
