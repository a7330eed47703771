//! How long things took, sorted into steps as Prometheus wants them.
use std::time::Duration;

/// How long things took.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    /// The steps' upper ends in seconds, growing.
    bounds: &'static [f64],
    /// How many fell into each step and into none of those before it.
    counts: Vec<u64>,
    count: u64,
    sum: Duration,
}

impl Histogram {
    /// Nothing has happened yet.
    pub(crate) fn new(bounds: &'static [f64]) -> Self {
        Self {
            bounds,
            counts: vec![0; bounds.len()],
            count: 0,
            sum: Duration::ZERO,
        }
    }

    /// Something took so long.
    pub(crate) fn record(&mut self, took: Duration) {
        let step = self.bounds.iter().position(|bound| took.as_secs_f64() <= *bound);
        if let Some(count) = step.and_then(|step| self.counts.get_mut(step)) {
            *count += 1;
        }
        self.count += 1;
        self.sum = self.sum.saturating_add(took);
    }

    /// For each step how many took no longer than its end.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (f64, u64)> {
        let counts = self.counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        self.bounds.iter().copied().zip(counts)
    }

    /// How many there were.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// How long all took together.
    pub(crate) fn sum(&self) -> Duration {
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Histogram;

    #[test]
    fn each_step_counts_what_took_no_longer() {
        let mut histogram = Histogram::new(&[0.1, 1.0, 10.0]);
        for millis in [0, 100, 101, 10_001] {
            histogram.record(Duration::from_millis(millis));
        }
        let steps: Vec<_> = histogram.steps().collect();
        assert_eq!(steps, [(0.1, 2), (1.0, 3), (10.0, 3)]);
        assert_eq!(
            (histogram.count(), histogram.sum()),
            (4, Duration::from_millis(10_202))
        );
    }
}
