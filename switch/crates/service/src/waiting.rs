//! Long work, away from the threads that serve others.

use p4runtime::{Code, Refusal};
use tokio::task::spawn_blocking;

/// Does `work` on a thread that may wait.
pub async fn waiting<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let done = spawn_blocking(work).await;
    done.map_err(|error| Refusal::new(Code::Internal, format!("it broke off: {error}")))?
}
