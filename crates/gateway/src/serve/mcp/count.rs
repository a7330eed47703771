//! How many of something there are, for those who wait until there are none.
use tokio::sync::watch;

/// A number that everybody can watch. Clones share it.
#[derive(Clone)]
pub(super) struct Count(watch::Sender<usize>);

/// One more, until it is dropped.
pub(super) struct Counted(Count);

impl Count {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    /// Counts one more.
    pub(super) fn enter(&self) -> Counted {
        self.0.send_modify(|count| *count += 1);
        Counted(self.clone())
    }

    /// As [`enter`](Self::enter), unless there are `most` already.
    pub(super) fn enter_below(&self, most: usize) -> Option<Counted> {
        let below = |count: &mut usize| {
            let fits = *count < most;
            *count += usize::from(fits);
            fits
        };
        self.0.send_if_modified(below).then(|| Counted(self.clone()))
    }

    /// Changes when somebody comes or goes.
    pub(super) fn watch(&self) -> watch::Receiver<usize> {
        self.0.subscribe()
    }

    /// Waits until there are none.
    pub(super) async fn none(&self) {
        // The number lives as long as this does.
        let _ = self.watch().wait_for(|count| *count == 0).await;
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
