//! The HTTP server that a model sits behind.

use std::{
    collections::VecDeque,
    io::{BufReader, Read, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::{
    Api, Reply, Seen, Turn,
    delivery::{self, begin, whole},
};
use crate::http::Head;

type Step = Box<dyn FnOnce(&Seen) -> Result<Reply> + Send>;
type Habit = Arc<Mutex<dyn FnMut(&Seen) -> Result<Reply> + Send>>;

/// A model on a port of its own. Whatever it is asked beyond its script is an error of the script.
pub(crate) struct Model {
    api: Api,
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    script: VecDeque<Step>,
    habit: Option<Habit>,
    seen: Vec<Seen>,
    /// Requests since the beginning: ids of calls are made of it, and must not come twice.
    requests: usize,
    /// Why the script could not go on.
    faults: Vec<String>,
    /// Clients that went while they were made to wait.
    gone: usize,
    connections: Vec<TcpStream>,
    closed: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }
}

impl Model {
    /// A model of this format that expects no request yet.
    pub(crate) fn start(api: Api) -> Result<Model> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port for a model")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let served = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&served);
                let mut state = served.lock();
                if state.closed {
                    return;
                }
                state.connections.extend(stream.try_clone());
                drop(state);
                // A client that goes in the middle is what some steps are about.
                thread::spawn(move || drop(connection(api, &stream, &shared)));
            }
        });
        Ok(Model { api, address, shared })
    }

    /// Where it listens.
    #[cfg(test)]
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a client is told of where the model is.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}{}", self.address, self.api.base_path())
    }

    /// Answers the next request that nothing is planned for.
    pub(crate) fn then(&self, step: impl FnOnce(&Seen) -> Result<Reply> + Send + 'static) {
        self.shared.change(|state| state.script.push_back(Box::new(step)));
    }

    /// As [`then`](Self::then), with an answer that is known beforehand.
    pub(crate) fn say(&self, reply: Reply) {
        self.then(move |_| Ok(reply));
    }

    /// Answers every request beyond the script.
    pub(crate) fn otherwise(&self, habit: impl FnMut(&Seen) -> Result<Reply> + Send + 'static) {
        self.shared
            .change(|state| state.habit = Some(Arc::new(Mutex::new(habit))));
    }

    /// Forgets what is planned, seen and wrong.
    pub(crate) fn reset(&self) {
        self.shared.change(|state| {
            state.script.clear();
            state.habit = None;
            state.seen.clear();
            state.faults.clear();
            state.gone = 0;
        });
    }

    /// Forgets what it was asked, and goes on as before.
    pub(crate) fn forget_seen(&self) {
        self.shared.change(|state| {
            state.seen.clear();
            state.connections.clear();
        });
    }

    /// What it was asked, oldest first; an error if that is not what the script had planned.
    pub(crate) fn finish(&self) -> Result<Vec<Seen>> {
        let mut state = self.shared.lock();
        ensure!(
            state.faults.is_empty(),
            "the model's script: {}",
            state.faults.join("; ")
        );
        ensure!(
            state.script.is_empty(),
            "the model was asked {} times and had {} more answers",
            state.seen.len(),
            state.script.len()
        );
        state.habit = None;
        Ok(std::mem::take(&mut state.seen))
    }

    /// What went wrong in the script, if anything did.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.shared.lock().faults.clone()
    }

    /// Waits until it has been asked as often.
    pub(crate) fn asked(&self, times: usize, limit: Duration) -> Result<()> {
        self.until(&format!("request {times} to the model"), limit, |state| {
            state.seen.len() >= times
        })
    }

    /// Waits until as many clients have gone that were made to wait.
    pub(crate) fn left(&self, times: usize, limit: Duration) -> Result<()> {
        self.until("the end of a request to the model", limit, |state| {
            state.gone >= times
        })
    }

    fn until(&self, what: &str, limit: Duration, there: impl Fn(&State) -> bool) -> Result<()> {
        let end = Instant::now() + limit;
        let mut state = self.shared.lock();
        while !there(&state) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                bail!("{what} did not come within {limit:?}");
            }
            state = self
                .shared
                .changed
                .wait_timeout(state, left)
                .map_or_else(|poison| poison.into_inner().0, |(state, _)| state);
        }
        Ok(())
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        for connection in state.connections.drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
        drop(state);
        // Wakes the listener, which then sees that it is closed.
        drop(TcpStream::connect(self.address));
    }
}

/// Serves one connection until one side ends it.
fn connection(api: Api, stream: &TcpStream, shared: &Shared) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(head) = Head::read(&mut reader)? {
        let text = head.body(&mut reader)?.text()?;
        let mut words = head.first.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (path, _) = target.split_once('?').unwrap_or((target, ""));
        let mut wire = stream;
        match (method, api.serves(path)) {
            ("POST", true) => {
                let seen = seen(api, &head, target, &text);
                let (reply, number) = reply(&seen, shared);
                if !answer(api, stream, shared, &seen, reply, number)? {
                    stream.shutdown(Shutdown::Both)?;
                    return Ok(());
                }
            }
            // Clients look around before they ask.
            ("POST", false) if path.ends_with("/count_tokens") => {
                whole(&mut wire, 200, &[], &json!({ "input_tokens": 1 }).to_string())?;
            }
            ("GET", _) => whole(
                &mut wire,
                200,
                &[],
                &json!({ "object": "list", "data": [], "models": [] }).to_string(),
            )?,
            ("HEAD", _) => whole(&mut wire, 200, &[], "")?,
            _ => whole(
                &mut wire,
                404,
                &[],
                &api.refusal(404, "there is nothing here").to_string(),
            )?,
        }
    }
    Ok(())
}

fn seen(api: Api, head: &Head, target: &str, text: &str) -> Seen {
    let key = head.header(api.key_header());
    let mut seen = Seen {
        path: target.to_owned(),
        headers: head.headers.clone(),
        key: key.map(|key| key.trim_start_matches("Bearer ").to_owned()),
        body: serde_json::from_str(text).unwrap_or(Value::Null),
        ..Seen::default()
    };
    seen.headers
        .retain(|(name, _)| name != "authorization" && !name.ends_with("api-key"));
    let body = seen.body.clone();
    api.read(&body, &mut seen);
    seen
}

/// What the script says to a request, and the number of that answer.
fn reply(seen: &Seen, shared: &Shared) -> (Reply, usize) {
    let mut state = shared.lock();
    state.seen.push(seen.clone());
    state.requests += 1;
    let number = state.requests;
    let step = state.script.pop_front();
    let habit = state.habit.clone();
    drop(state);
    shared.changed.notify_all();
    // Not under the lock: a step may wait for something that whoever wrote it does meanwhile.
    let said = match (step, habit) {
        (Some(step), _) => step(seen),
        (None, Some(habit)) => habit.lock().unwrap_or_else(PoisonError::into_inner)(seen),
        (None, None) => Err(anyhow::anyhow!("request {number} was not expected")),
    };
    let reply = said.unwrap_or_else(|error| {
        shared.change(|state| state.faults.push(format!("{error:#}")));
        // No client tries this again.
        Reply::refused(400, "the script of the model failed")
    });
    (reply, number)
}

/// Answers; false if nothing more can come over this connection.
fn answer(
    api: Api,
    mut stream: &TcpStream,
    shared: &Shared,
    seen: &Seen,
    reply: Reply,
    number: usize,
) -> Result<bool> {
    let frames = |turn: &Turn| api.stream(turn, seen, number);
    match reply {
        Reply::Turn(turn) | Reply::Awkward(turn) if !seen.streamed => {
            whole(&mut stream, 200, &[], &api.whole(&turn, seen, number).to_string())?;
        }
        Reply::Cut(turn, _) if !seen.streamed => {
            let mut message = Vec::new();
            whole(
                &mut message,
                200,
                &[],
                &api.whole(&turn, seen, number).to_string(),
            )?;
            stream.write_all(message.get(..message.len() - 20).unwrap_or_default())?;
            return Ok(false);
        }
        Reply::Stalled(..) if !seen.streamed => {
            gone(stream, shared);
            return Ok(false);
        }
        Reply::Turn(turn) => delivery::plain_stream(stream, &frames(&turn))?,
        Reply::Awkward(turn) => delivery::awkward_stream(stream, &frames(&turn))?,
        Reply::Cut(turn, after) => {
            begin(stream, &frames(&turn), after)?;
            return Ok(false);
        }
        Reply::Stalled(turn, after) => {
            // A client that has gone already is noticed just below.
            let _ = begin(stream, &frames(&turn), after);
            gone(stream, shared);
            return Ok(false);
        }
        Reply::Refused {
            status,
            retry_after,
            message,
        } => {
            let wait = retry_after.map(|wait| ("retry-after", wait));
            whole(
                &mut stream,
                status,
                wait.as_slice(),
                &api.refusal(status, message).to_string(),
            )?;
        }
        Reply::Garbage => whole(
            &mut stream,
            200,
            &[],
            "<html>502 from a proxy with good manners</html>",
        )?,
        Reply::Hang => {
            gone(stream, shared);
            return Ok(false);
        }
    }
    Ok(true)
}

/// Waits until the client ends the connection.
fn gone(mut stream: &TcpStream, shared: &Shared) {
    let mut one = [0; 1];
    // A client has nothing to say now, so whatever comes is the end.
    let _ = stream.read(&mut one);
    shared.change(|state| state.gone += 1);
}
