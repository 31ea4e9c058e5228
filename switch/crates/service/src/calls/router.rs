//! `vitrine.v1.Router`: the proto file says what the calls mean.

use std::pin::Pin;
use std::sync::Arc;

use ::p4runtime::router::{trace, watch};
use messages::vitrine::v1;
use tokio::task::spawn_blocking;
use tokio_stream::{Stream, StreamExt};
use tonic::{Request as Call, Response};

use super::Shared;
use crate::connections::{roles_of, room_of};
use crate::status::{answer, tonic_status};
use crate::stubs::vitrine::router_server::Router;
use crate::waiting::waiting;

/// tonic's type for a stream of answers.
pub type Messages<T> = Pin<Box<dyn Stream<Item = Result<T, tonic::Status>> + Send>>;

#[derive(Debug)]
pub struct RouterService {
    /// Shared with the others.
    pub shared: Arc<Shared>,
}

#[tonic::async_trait]
impl Router for RouterService {
    async fn describe(
        &self,
        call: Call<v1::DescribeRequest>,
    ) -> Result<Response<v1::DescribeResponse>, tonic::Status> {
        let request = call.get_ref();
        let served = self.shared.fronts.meant(request.device_id).map_err(tonic_status)?;
        answer(served.front.describe(request).await)
    }

    async fn configure(
        &self,
        call: Call<v1::ConfigureRequest>,
    ) -> Result<Response<v1::ConfigureResponse>, tonic::Status> {
        roles_of(&call).check(&call.get_ref().role).map_err(tonic_status)?;
        let room = room_of(&call);
        let request = call.into_inner();
        let served = self.shared.fronts.named(request.device_id).map_err(tonic_status)?;
        answer(served.front.configure(request, room).await)
    }

    async fn add_port(
        &self,
        call: Call<v1::AddPortRequest>,
    ) -> Result<Response<v1::AddPortResponse>, tonic::Status> {
        roles_of(&call).check(&call.get_ref().role).map_err(tonic_status)?;
        let room = room_of(&call);
        let devices = Arc::clone(&self.shared.devices);
        let open = |port, device: String| waiting(move || devices.open(port, &device));
        let request = call.into_inner();
        let served = self.shared.fronts.named(request.device_id).map_err(tonic_status)?;
        answer(served.front.add_port(request, room, open).await)
    }

    async fn remove_port(
        &self,
        call: Call<v1::RemovePortRequest>,
    ) -> Result<Response<v1::RemovePortResponse>, tonic::Status> {
        roles_of(&call).check(&call.get_ref().role).map_err(tonic_status)?;
        let request = call.into_inner();
        let served = self.shared.fronts.named(request.device_id).map_err(tonic_status)?;
        let removed = served.front.remove_port(request).await;
        let (response, opened) = removed.map_err(tonic_status)?;
        // The kernel takes its time to close a packet socket.
        let _closed = spawn_blocking(move || drop(opened)).await;
        Ok(Response::new(response))
    }

    type TraceStream = Messages<v1::TraceResponse>;

    async fn trace(
        &self,
        call: Call<v1::TraceRequest>,
    ) -> Result<Response<Self::TraceStream>, tonic::Status> {
        let request = call.get_ref();
        let served = self.shared.fronts.meant(request.device_id).map_err(tonic_status)?;
        let feed = served.front.trace(request).await.map_err(tonic_status)?;
        let messages = feed.map(|batch| batch.map(trace::batch_message).map_err(tonic_status));
        Ok(Response::new(Box::pin(messages)))
    }

    type WatchStream = Messages<v1::WatchResponse>;

    async fn watch(
        &self,
        call: Call<v1::WatchRequest>,
    ) -> Result<Response<Self::WatchStream>, tonic::Status> {
        let request = call.get_ref();
        let served = self.shared.fronts.meant(request.device_id).map_err(tonic_status)?;
        let (start, feed) = served.front.watch(request).await.map_err(tonic_status)?;
        let batches = feed.map(|batch| batch.map(watch::batch_message).map_err(tonic_status));
        Ok(Response::new(Box::pin(tokio_stream::once(Ok(start)).chain(batches))))
    }
}
