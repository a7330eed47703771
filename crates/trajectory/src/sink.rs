use std::{
    collections::VecDeque,
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use crate::event::TrajectoryEvent;

/// Where events go. The recorder calls it for one event at a time, in the order of `seq`.
pub trait Sink: Send {
    /// Takes an event and its line of JSON, which has no line break in it or after it.
    ///
    /// # Errors
    ///
    /// After an error the recorder writes nothing more: a torn line is not followed by another.
    fn write(&mut self, event: &TrajectoryEvent, line: &str) -> io::Result<()>;
}

/// Writes JSON Lines, each in one piece and flushed.
#[derive(Debug)]
pub struct JsonLines<W>(W);

impl<W: Write> JsonLines<W> {
    /// Writes to `writer`, such as a file that was opened to append.
    pub fn new(writer: W) -> Self {
        Self(writer)
    }
}

impl<W: Write + Send> Sink for JsonLines<W> {
    fn write(&mut self, _event: &TrajectoryEvent, line: &str) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        self.0.write_all(&bytes)?;
        self.0.flush()
    }
}

/// Keeps the newest events in memory. Clones share them.
#[derive(Debug, Clone)]
pub struct MemorySink {
    ring: Arc<Mutex<VecDeque<TrajectoryEvent>>>,
    capacity: usize,
}

impl MemorySink {
    /// Keeps at most `capacity` events; the oldest go first.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            ring: Arc::default(),
            capacity,
        }
    }

    /// What is kept now, oldest first. A first `seq` above 1 says that older ones are gone.
    #[must_use]
    pub fn events(&self) -> Vec<TrajectoryEvent> {
        let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        ring.iter().cloned().collect()
    }
}

impl Sink for MemorySink {
    fn write(&mut self, event: &TrajectoryEvent, _line: &str) -> io::Result<()> {
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        ring.push_back(event.clone());
        while ring.len() > self.capacity {
            ring.pop_front();
        }
        Ok(())
    }
}
