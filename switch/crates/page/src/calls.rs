//! The method of each name: the futures and streams of `agent::front` and `stage::Front`, with
//! bytes at both ends. `service` does this for gRPC, this file for a page.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use agent::Load;
use agent::front::{Fronts, Stream as Channel, capabilities};
use futures_channel::mpsc::UnboundedReceiver;
use futures_util::future::ready;
use futures_util::stream::{LocalBoxStream, empty, iter, once, poll_fn};
use futures_util::{FutureExt, StreamExt, TryStreamExt};
use messages::p4::v1 as p4;
use messages::p4::v1::stream_message_request::Update;
use messages::vitrine::v1;
use p4runtime::details::Room;
use p4runtime::router::{trace, watch};
use p4runtime::{Refusal, Status};
use prost::Message;
use prost::bytes::Bytes;
use units::memory::Owner;

/// The messages to a call. They end when the page has sent all.
pub type Requests = UnboundedReceiver<Bytes>;
/// Its answers.
pub type Answers = LocalBoxStream<'static, Result<Bytes, Status>>;

/// A page takes errors of whatever length: nothing travels in headers here.
const ROOM: Room = Room { size_bytes: 16 << 20 };

/// A page is one client, however many streams it has.
const CONNECTION: u64 = 0;

/// The services.
#[derive(Clone, Debug)]
pub struct Served {
    pub world: stage::Front,
    pub fronts: Arc<Fronts>,
}

impl Served {
    /// The answers of a call.
    pub fn answers(&self, method: &str, requests: Requests) -> Answers {
        let refused = |name: &str| {
            let refusal = Refusal::unimplemented(format!("there is no method {name}"));
            once(ready(Err(refusal.into()))).boxed_local()
        };
        let Some((service, name)) = method.strip_prefix('/').and_then(|name| name.split_once('/'))
        else {
            return refused(method);
        };
        let answers = match service {
            "vitrine.v1.World" => self.world(name, requests),
            "vitrine.v1.Router" => self.router(name, requests),
            "p4.v1.P4Runtime" => self.p4runtime(name, requests),
            _ => None,
        };
        answers.unwrap_or_else(|| refused(method))
    }

    fn world(&self, name: &str, requests: Requests) -> Option<Answers> {
        let world = self.world.clone();
        Some(match name {
            "Build" => unary(requests, async move |asked| world.build(asked, ROOM).await),
            "Start" => unary(requests, async move |asked| world.start(asked).await),
            "Stop" => unary(requests, async move |asked| world.stop(asked).await),
            "Advance" => unary(requests, async move |asked| world.advance(asked).await),
            "Run" => unary(requests, async move |asked| world.run(asked).await),
            "Pause" => unary(requests, async move |asked| world.pause(asked).await),
            "Look" => unary(requests, async move |asked| world.look(asked).await),
            "Fault" => unary(requests, async move |asked| world.fault(asked).await),
            "Inject" => unary(requests, async move |asked| world.inject(asked).await),
            "Invite" => unary(requests, async move |asked| world.invite(asked).await),
            "WatchHosts" => streaming(requests, async move |asked| {
                Ok(messages(world.watch_hosts(asked).await?))
            }),
            "Capture" => {
                streaming(requests, async move |asked| Ok(messages(world.capture(asked).await?)))
            }
            _ => return None,
        })
    }

    fn router(&self, name: &str, requests: Requests) -> Option<Answers> {
        let fronts = Arc::clone(&self.fronts);
        Some(match name {
            "Describe" => unary(requests, async move |asked: v1::DescribeRequest| {
                fronts.meant(asked.device_id)?.front.describe(&asked).await
            }),
            "Configure" => unary(requests, async move |asked: v1::ConfigureRequest| {
                fronts.named(asked.device_id)?.front.configure(asked, ROOM).await
            }),
            "Trace" => streaming(requests, async move |asked: v1::TraceRequest| {
                let feed = fronts.meant(asked.device_id)?.front.trace(&asked).await?;
                Ok(messages(feed.map_ok(trace::batch_message)))
            }),
            "Watch" => streaming(requests, async move |asked: v1::WatchRequest| {
                let (start, feed) = fronts.meant(asked.device_id)?.front.watch(&asked).await?;
                let batches = feed.map_ok(watch::batch_message);
                Ok(messages(once(ready(Ok(start))).chain(batches)))
            }),
            _ => return None,
        })
    }

    fn p4runtime(&self, name: &str, requests: Requests) -> Option<Answers> {
        let fronts = Arc::clone(&self.fronts);
        Some(match name {
            "Write" => unary(requests, async move |asked: p4::WriteRequest| {
                fronts.named(asked.device_id)?.front.write(asked, ROOM).await
            }),
            "Read" => streaming(requests, async move |asked: p4::ReadRequest| {
                let front = fronts.named(asked.device_id)?.front;
                let mut found = front.read(asked, ROOM, &Owner::default()).await?;
                let failure = found.failure.take();
                Ok(messages(iter(found.map(Ok).chain(failure.map(Err)))))
            }),
            "SetForwardingPipelineConfig" => {
                unary(requests, async move |asked: p4::SetForwardingPipelineConfigRequest| {
                    let served = fronts.named(asked.device_id)?;
                    let load = |config| ready(Load::new(config, &served.pipeline));
                    served.front.set_config(asked, load).await
                })
            }
            "GetForwardingPipelineConfig" => {
                unary(requests, async move |asked: p4::GetForwardingPipelineConfigRequest| {
                    fronts.named(asked.device_id)?.front.get_config(&asked)
                })
            }
            "Capabilities" => unary(requests, async move |_: p4::CapabilitiesRequest| {
                Ok::<_, Status>(capabilities())
            }),
            "StreamChannel" => channel(fronts, requests),
            _ => return None,
        })
    }
}

/// One message in, one message out.
fn unary<Q, A, E, F>(mut requests: Requests, ask: impl FnOnce(Q) -> F + 'static) -> Answers
where
    Q: Message + Default + 'static,
    A: Message + 'static,
    E: Into<Status> + 'static,
    F: Future<Output = Result<A, E>> + 'static,
{
    let answered = async move {
        let asked = decoded(requests.next().await.unwrap_or_default())?;
        ask(asked).await.map(|answer| encoded(&answer)).map_err(Into::into)
    };
    once(answered).boxed_local()
}

/// One message in, many out.
fn streaming<Q, F>(mut requests: Requests, ask: impl FnOnce(Q) -> F + 'static) -> Answers
where
    Q: Message + Default + 'static,
    F: Future<Output = Result<Answers, Status>> + 'static,
{
    let opened = async move {
        let asked = decoded(requests.next().await.unwrap_or_default())?;
        ask(asked).await
    };
    once(opened).try_flatten().boxed_local()
}

/// A stream of messages as bytes.
fn messages<A, E>(stream: impl futures_util::Stream<Item = Result<A, E>> + 'static) -> Answers
where
    A: Message + 'static,
    E: Into<Status> + 'static,
{
    stream.map(|told| told.map(|message| encoded(&message)).map_err(Into::into)).boxed_local()
}

/// A controller's stream: as many messages in as it likes, and its outbox.
fn channel(fronts: Arc<Fronts>, mut requests: Requests) -> Answers {
    let opened = async move {
        // A controller that leaves silently gets no answer.
        let Some(first) = requests.next().await else { return Ok(empty().boxed_local()) };
        let first: p4::StreamMessageRequest = decoded(first)?;
        let served = match &first.update {
            Some(Update::Arbitration(update)) => fronts.named(update.device_id)?,
            _ => fronts.meant(0)?,
        };
        let (stream, answers) = Channel::open(&served.front, CONNECTION);
        let mut answers = messages(answers);
        let mut listening = Some(Box::pin(listen(stream, first, requests)));
        // The controller's message is taken in before it is answered.
        let heard = poll_fn(move |context| {
            if let Some(Poll::Ready(())) = listening.as_mut().map(|it| it.poll_unpin(context)) {
                listening = None;
            }
            Pin::new(&mut answers).poll_next_unpin(context)
        });
        Ok::<_, Status>(heard.boxed_local())
    };
    once(opened).try_flatten().boxed_local()
}

async fn listen(stream: Channel, first: p4::StreamMessageRequest, mut requests: Requests) {
    let mut heard = stream.hear(first).await;
    while heard.is_ok() {
        let Some(next) = requests.next().await else { return stream.end(Ok(())) };
        heard = match decoded(next) {
            Ok(request) => stream.hear(request).await,
            Err(status) => Err(status),
        };
    }
    stream.end(heard);
}

fn decoded<Q: Message + Default>(bytes: Bytes) -> Result<Q, Status> {
    Q::decode(bytes).map_err(|error| {
        Refusal::invalid(format!("the request is no message of its type: {error}")).into()
    })
}

fn encoded(message: &impl Message) -> Bytes {
    message.encode_to_vec().into()
}
