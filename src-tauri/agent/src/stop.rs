//! Stops a run from outside, at any time.

use tokio::sync::watch;

/// Stops the run it was given to. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Stop(watch::Sender<bool>);

impl Default for Stop {
    fn default() -> Self {
        Self(watch::channel(false).0)
    }
}

impl Stop {
    /// Stops it. What is under way is broken off, what waits is withdrawn.
    pub fn now(&self) {
        self.0.send_replace(true);
    }

    /// Ends once it is to stop.
    pub(crate) async fn wanted(&self) {
        let mut receiver = self.0.subscribe();
        // The sender is here, so waiting cannot fail.
        let _ = receiver.wait_for(|stop| *stop).await;
    }
}
