//! The switch loads one program at a time, from all of its interfaces, because loading takes
//! memory. A client that leaves gives up its turn: loading stops at its next stage.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use p4runtime::Refusal;
use tokio::sync::Mutex;

use crate::waiting::waiting;

/// The turn to load a program.
#[derive(Debug, Default)]
pub struct Loading {
    turn: Arc<Mutex<()>>,
}

/// Says that the client has left when it is dropped, as the future of a call is.
#[derive(Debug, Default)]
struct Client {
    has_left: Arc<AtomicBool>,
}

impl Drop for Client {
    fn drop(&mut self) {
        self.has_left.store(true, Ordering::Relaxed);
    }
}

impl Loading {
    /// Does `work` on a thread of its own when its turn comes; it asks now and then whether it is
    /// still wanted.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Fn() -> bool) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let client = Client::default();
        let has_left = Arc::clone(&client.has_left);
        waiting(move || {
            // The thread has the turn until it has stopped, for it has the memory until then.
            let _turn = turn;
            work(&|| !has_left.load(Ordering::Relaxed))
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::oneshot;
    use tokio::time::timeout;

    use super::*;

    const DEADLINE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_client_that_leaves_gives_its_turn_to_the_next() {
        let loading = Arc::new(Loading::default());
        let (begin, begun) = oneshot::channel();
        let first = tokio::spawn({
            let loading = Arc::clone(&loading);
            async move {
                let work = move |is_wanted: &dyn Fn() -> bool| {
                    begin.send(()).expect("the test waits");
                    while is_wanted() {
                        std::thread::yield_now();
                    }
                    Ok(())
                };
                loading.run(work).await
            }
        });
        begun.await.expect("it begins");
        let second = loading.run(|is_wanted| Ok(is_wanted()));
        tokio::pin!(second);
        let waits = timeout(Duration::from_millis(1), &mut second).await;
        assert!(waits.is_err(), "two programs were loaded at once");
        first.abort();
        let second = timeout(DEADLINE, second).await.expect("the turn was given away");
        assert!(second.expect("it is loaded"), "the second client is still there");
    }
}
