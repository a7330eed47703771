use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use super::event::{AfterToolCall, BeforeToolCall};

/// How long a hook may take when nobody says otherwise.
pub const DEFAULT_HOOK_TIME: Duration = Duration::from_secs(30);

/// How long a hook may take at most.
pub const MAX_HOOK_TIME: Duration = Duration::from_millis(600_000);

/// The hooks of the loaded plugins. Clones share one registry; a call uses the hooks that were there when it began.
#[derive(Clone, Default)]
pub struct Hooks {
    lists: Arc<RwLock<Lists>>,
}

#[derive(Clone, Default)]
struct Lists {
    before: Chain<dyn BeforeToolCall>,
    after: Chain<dyn AfterToolCall>,
}

/// The hooks of one kind, in the order they are asked.
type Chain<H> = Arc<[Hook<H>]>;

pub(super) struct Hook<H: ?Sized> {
    pub(super) owner: Arc<str>,
    pub(super) time_limit: Duration,
    pub(super) run: Arc<H>,
    priority: i32,
}

impl<H: ?Sized> Clone for Hook<H> {
    fn clone(&self) -> Self {
        Self {
            owner: Arc::clone(&self.owner),
            time_limit: self.time_limit,
            run: Arc::clone(&self.run),
            priority: self.priority,
        }
    }
}

impl Hooks {
    /// No hooks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a hook before calls. Higher priorities are asked first, equal ones in the order of registration. The
    /// time limit is [`DEFAULT_HOOK_TIME`] if absent, and kept between a millisecond and [`MAX_HOOK_TIME`].
    pub fn before(
        &self,
        owner_plugin_id: &str,
        priority: i32,
        time_limit: Option<Duration>,
        hook: Arc<dyn BeforeToolCall>,
    ) {
        let hook = Hook::new(owner_plugin_id, priority, time_limit, hook);
        self.change(|lists| lists.before = with(&lists.before, hook));
    }

    /// Adds a hook after calls; order and time limit as for [`before`](Self::before).
    pub fn after(
        &self,
        owner_plugin_id: &str,
        priority: i32,
        time_limit: Option<Duration>,
        hook: Arc<dyn AfterToolCall>,
    ) {
        let hook = Hook::new(owner_plugin_id, priority, time_limit, hook);
        self.change(|lists| lists.after = with(&lists.after, hook));
    }

    /// Removes every hook of a plugin. Calls that have already begun still ask them.
    pub fn remove_owner(&self, owner_plugin_id: &str) {
        self.change(|lists| {
            lists.before = without(&lists.before, owner_plugin_id);
            lists.after = without(&lists.after, owner_plugin_id);
        });
    }

    /// The hooks before calls, or none at no cost.
    pub(super) fn before_chain(&self) -> Option<Chain<dyn BeforeToolCall>> {
        let lists = self.lists.read().unwrap_or_else(PoisonError::into_inner);
        (!lists.before.is_empty()).then(|| Arc::clone(&lists.before))
    }

    /// The hooks after calls, or none at no cost.
    pub(super) fn after_chain(&self) -> Option<Chain<dyn AfterToolCall>> {
        let lists = self.lists.read().unwrap_or_else(PoisonError::into_inner);
        (!lists.after.is_empty()).then(|| Arc::clone(&lists.after))
    }

    fn change(&self, change: impl FnOnce(&mut Lists)) {
        // The lists are replaced as a whole, so a poisoned lock guards nothing half done.
        change(&mut self.lists.write().unwrap_or_else(PoisonError::into_inner));
    }
}

impl<H: ?Sized> Hook<H> {
    fn new(owner: &str, priority: i32, time_limit: Option<Duration>, run: Arc<H>) -> Self {
        let time_limit = time_limit.unwrap_or(DEFAULT_HOOK_TIME);
        Self {
            owner: owner.into(),
            time_limit: time_limit.clamp(Duration::from_millis(1), MAX_HOOK_TIME),
            run,
            priority,
        }
    }
}

fn with<H: ?Sized>(chain: &[Hook<H>], hook: Hook<H>) -> Chain<H> {
    let at = chain.partition_point(|other| other.priority >= hook.priority);
    let (first, last) = chain.split_at(at);
    first
        .iter()
        .cloned()
        .chain([hook])
        .chain(last.iter().cloned())
        .collect()
}

fn without<H: ?Sized>(chain: &[Hook<H>], owner: &str) -> Chain<H> {
    let kept = chain.iter().filter(|hook| &*hook.owner != owner);
    kept.cloned().collect()
}
