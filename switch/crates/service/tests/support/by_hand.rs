//! A server whose data plane the test drives itself, a slice at a time.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent::{Agent, SLICE_STEPS_MAX};
use device::Device;
use service::server::{self, Server};
use service::stubs::p4::p4_runtime_client::P4RuntimeClient;
use tonic::transport::Channel;
use units::Time;
use units::memory::Budget;

use super::{Plane, channel_to, server_config, stop, tcp_address};

pub struct ByHand {
    pub device: Device,
    /// Steps of a slice.
    pub budget: usize,
    /// Each slice is over at the first check of its time.
    pub is_slow: bool,
    /// How many requests have been sent to the data plane.
    pub sent: Arc<AtomicUsize>,
    agent: Agent,
    server: Option<Server>,
}

impl ByHand {
    pub fn start() -> ByHand {
        ByHand::start_with(Budget::UNLIMITED)
    }

    /// One that has this memory.
    pub fn start_with(memory: Budget) -> ByHand {
        let sent = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&sent);
        let wake = Arc::new(move || {
            count.fetch_add(1, Ordering::Release);
        });
        let mut config = server_config();
        config.pipeline.memory = memory;
        let (server, agent) = server::start(config, wake).unwrap();
        let device = Device::new(pipeline::Config::default());
        let (budget, server) = (SLICE_STEPS_MAX, Some(server));
        ByHand { device, budget, is_slow: false, sent, agent, server }
    }

    /// A connection; the server needs no data plane for that.
    pub async fn channel(&self) -> Channel {
        channel_to(tcp_address(self.server.as_ref().unwrap())).await
    }

    /// A client of a connection of its own.
    pub async fn client(&self) -> P4RuntimeClient<Channel> {
        P4RuntimeClient::new(self.channel().await).max_decoding_message_size(64 << 20)
    }

    /// Drives the data plane until `call` is answered.
    pub async fn drive<T>(&mut self, call: impl Future<Output = T>) -> T {
        self.drive_slices(call, |_, _| ()).await
    }

    /// The same; after every slice `look` gets whether there is more to do.
    pub async fn drive_slices<T>(
        &mut self,
        call: impl Future<Output = T>,
        mut look: impl FnMut(&Device, bool),
    ) -> T {
        let mut call = pin!(call);
        let mut more = false;
        loop {
            tokio::select! {
                biased;
                answer = &mut call => return answer,
                () = tokio::time::sleep(Duration::from_millis(1)), if !more => {}
                () = tokio::task::yield_now(), if more => {}
            }
            let mut plane = Plane { device: &mut self.device, now: Time::ZERO };
            more = match self.is_slow {
                true => self.agent.work_a_slice(&mut plane, || true),
                false => self.agent.work(&mut plane, self.budget),
            };
            look(&self.device, more);
        }
    }
}

impl Drop for ByHand {
    fn drop(&mut self) {
        stop(self.server.take());
    }
}
