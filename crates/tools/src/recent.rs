use std::collections::{HashMap, VecDeque};

/// What became of the last few things, so that a late answer hears why it is late.
#[derive(Debug)]
pub(crate) struct Recent<T> {
    limit: usize,
    order: VecDeque<String>,
    by_id: HashMap<String, T>,
}

impl<T> Recent<T> {
    /// Remembers the last `limit`.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            order: VecDeque::new(),
            by_id: HashMap::new(),
        }
    }

    pub(crate) fn remember(&mut self, id: String, outcome: T) {
        if self.order.len() >= self.limit
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_id.remove(&oldest);
        }
        self.order.push_back(id.clone());
        self.by_id.insert(id, outcome);
    }

    pub(crate) fn get(&self, id: &str) -> Option<&T> {
        self.by_id.get(id)
    }
}

#[cfg(test)]
mod tests {
    use super::Recent;

    #[test]
    fn only_the_last_ones_are_remembered() {
        let mut recent = Recent::new(2);
        for id in ["a", "b", "c"] {
            recent.remember(id.to_owned(), ());
        }
        assert_eq!(
            ["a", "b", "c"].map(|id| recent.get(id).is_some()),
            [false, true, true]
        );
    }
}
