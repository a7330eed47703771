//! The turns that are going on: those that run, and those that wait for their application.
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use codecell::Json;
use codecell::tools::{AnswerError, ClientTools};
use codecell_agent::ClientCall;
use codecell_sessions::Sessions;
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use super::agents::Agents;
use super::ask::{AnswerProblem, Ask, BeginProblem};
use super::counted::Tally;
use super::counters::Counters;
use super::running::{Ear, Running};

/// Turns that may be going on at once, waiting ones included.
pub(super) const MAX_TURNS: usize = 1_024;

/// Answered calls that are remembered, so that a second answer hears that it is one.
const MAX_ANSWERED: usize = 4_096;

/// How long a turn that was replaced or aborted is given to write its end.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Begins turns and keeps track of them. Clones share everything.
#[derive(Clone)]
pub(crate) struct Turns {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    agents: Agents,
    pub(super) sessions: Sessions,
    pub(super) counters: Arc<Counters>,
    pub(super) trajectory: Option<PathBuf>,
    live: Mutex<Live>,
}

#[derive(Default)]
struct Live {
    turns: BTreeMap<String, LiveTurn>,
    /// The turn of each session.
    lanes: HashMap<String, String>,
    /// Sessions in which no turn may begin for now.
    held: HashSet<String>,
    /// The turn that waits for each call.
    calls: HashMap<String, String>,
    answered: VecDeque<String>,
    closed: bool,
}

struct LiveTurn {
    agent: String,
    session: String,
    model: String,
    started_at: SystemTime,
    /// How often its model was asked.
    tally: Arc<Tally>,
    cancel: CancellationToken,
    over: CancellationToken,
    clients: Option<ClientTools>,
    /// How long it may wait for its application.
    patience: Duration,
    state: State,
}

enum State {
    Running,
    Waiting {
        calls: Vec<ClientCall>,
        ear: Ear,
        /// Stops the clock when it waits no more.
        _clock: DropGuard,
    },
}

/// A turn as people see it.
#[derive(Clone, Debug)]
pub(crate) struct RunInfo {
    pub(crate) id: String,
    pub(crate) agent: String,
    pub(crate) session: String,
    pub(crate) model: String,
    pub(crate) started_at: SystemTime,
    /// How often its model was asked.
    pub(crate) rounds: u32,
    pub(crate) state: RunState,
}

/// What a turn does right now.
#[derive(Clone, Debug)]
pub(crate) enum RunState {
    Running,
    /// It waits for its application to answer these calls.
    Waiting(Vec<ClientCall>),
}

impl Turns {
    /// Turns of these agents, kept in these sessions and, if there is one, added to a trajectory.
    pub(crate) fn new(agents: Agents, sessions: Sessions, trajectory: Option<&Path>) -> Self {
        Self {
            inner: Arc::new(Inner {
                agents,
                sessions,
                counters: Arc::default(),
                trajectory: trajectory.map(Path::to_owned),
                live: Mutex::default(),
            }),
        }
    }

    pub(crate) fn agents(&self) -> &Agents {
        &self.inner.agents
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.inner.sessions
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.inner.counters
    }

    /// Reserves the session for a turn.
    pub(super) async fn take_seat(
        &self,
        ask: &Ask,
        clients: Option<ClientTools>,
    ) -> Result<Seat, BeginProblem> {
        let seat = Seat {
            turns: self.clone(),
            id: format!("turn_{}", Uuid::new_v4().simple()),
            tally: Arc::default(),
            cancel: CancellationToken::new(),
            over: CancellationToken::new(),
        };
        self.when_free(&ask.session, |live| {
            if live.turns.len() >= MAX_TURNS {
                return Err(BeginProblem::TooMany);
            }
            let turn = LiveTurn {
                agent: ask.target.app.agent().id.clone(),
                session: ask.session.clone(),
                model: ask.target.model_ref.clone(),
                started_at: SystemTime::now(),
                tally: Arc::clone(&seat.tally),
                cancel: seat.cancel.clone(),
                over: seat.over.clone(),
                clients: clients.clone(),
                patience: ask.target.app.settings.snapshot_ttl,
                state: State::Running,
            };
            live.lanes.insert(ask.session.clone(), seat.id.clone());
            live.turns.insert(seat.id.clone(), turn);
            Ok(())
        })
        .await?;
        Ok(seat)
    }

    /// Keeps turns from beginning in a session as long as the guard lives, so that it can be changed. A turn that
    /// waits for its application is given up for it.
    ///
    /// # Errors
    ///
    /// Fails when the session has a turn that runs.
    pub(crate) async fn hold(&self, session: &str) -> Result<Hold, BeginProblem> {
        self.when_free(session, |live| {
            live.held.insert(session.to_owned());
            Ok(())
        })
        .await?;
        Ok(Hold {
            turns: self.clone(),
            session: session.to_owned(),
        })
    }

    /// Does something while the session has no turn. One that waits for its application is given up for it.
    async fn when_free(
        &self,
        session: &str,
        mut act: impl FnMut(&mut Live) -> Result<(), BeginProblem>,
    ) -> Result<(), BeginProblem> {
        let busy = || BeginProblem::Busy(session.to_owned());
        loop {
            let replaced = {
                let mut live = self.live();
                if live.closed {
                    return Err(BeginProblem::Closed);
                }
                if live.held.contains(session) {
                    return Err(busy());
                }
                let holder = live.lanes.get(session).cloned();
                match holder.and_then(|id| live.give_up(&id)) {
                    Some(GivenUp::Runs) => return Err(busy()),
                    Some(GivenUp::Ends(over)) => over,
                    None => return act(&mut live),
                }
            };
            let ended = tokio::time::timeout(LAST_WORDS, replaced.cancelled()).await;
            ended.map_err(|_| busy())?;
        }
    }

    /// Answers the calls that a turn waits for, all of them, and goes on listening to it.
    ///
    /// # Errors
    ///
    /// Fails, and changes nothing, when a call is unknown or answered, or one that the turn waits for is missing.
    pub(crate) fn answer(
        &self,
        answers: Vec<(String, Result<Json, String>)>,
    ) -> Result<Running, AnswerProblem> {
        let mut live = self.live();
        let mut turn_id: Option<String> = None;
        for (call, _) in &answers {
            match (live.calls.get(call), &turn_id) {
                (Some(turn), None) => turn_id = Some(turn.clone()),
                (Some(turn), Some(first)) if turn == first => {}
                (None, _) if live.answered.contains(call) => {
                    return Err(AnswerProblem::Answered(call.clone()));
                }
                _ => return Err(AnswerProblem::Unknown(call.clone())),
            }
        }
        let unknown =
            || AnswerProblem::Unknown(answers.first().map(|(id, _)| id.clone()).unwrap_or_default());
        let turn_id = turn_id.ok_or_else(unknown)?;
        let turn = live.turns.get_mut(&turn_id).ok_or_else(unknown)?;
        let State::Waiting { calls, .. } = &turn.state else {
            return Err(unknown());
        };
        if turn.cancel.is_cancelled() {
            // It waited too long, or gave way to another: what is left of it does not go on.
            return Err(unknown());
        }
        let given = |call: &&ClientCall| answers.iter().any(|(id, _)| *id == call.id);
        let missing: Vec<String> = calls
            .iter()
            .filter(|call| !given(call))
            .map(|call| call.id.clone())
            .collect();
        if !missing.is_empty() {
            return Err(AnswerProblem::Missing(missing));
        }
        if let Some(clients) = &turn.clients {
            clients.answer_all(answers.clone()).map_err(|error| match error {
                AnswerError::Answered { id } => AnswerProblem::Answered(id),
                AnswerError::Unknown { id } => AnswerProblem::Unknown(id),
                other => AnswerProblem::Unknown(other.to_string()),
            })?;
        }
        let (session, tally) = (turn.session.clone(), Arc::clone(&turn.tally));
        let State::Waiting { calls, ear, .. } = std::mem::replace(&mut turn.state, State::Running) else {
            return Err(unknown());
        };
        for call in calls {
            live.calls.remove(&call.id);
            if live.answered.len() >= MAX_ANSWERED {
                live.answered.pop_front();
            }
            live.answered.push_back(call.id);
        }
        Ok(Running {
            turns: self.clone(),
            id: turn_id,
            session,
            tally,
            ear: Some(ear),
        })
    }

    /// Keeps the listening end of a turn until its application answers, or does not for too long.
    pub(super) fn park(&self, id: &str, calls: Vec<ClientCall>, ear: Ear) {
        let mut live = self.live();
        let closed = live.closed;
        let Some(turn) = live.turns.get_mut(id) else {
            return;
        };
        if closed {
            // Nobody could answer it any more.
            turn.cancel.cancel();
        }
        let (patience, clock) = (turn.patience, CancellationToken::new());
        let first = calls.first().map(|call| call.id.clone()).unwrap_or_default();
        let ids: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
        turn.state = State::Waiting {
            calls,
            ear,
            _clock: clock.clone().drop_guard(),
        };
        live.calls
            .extend(ids.into_iter().map(|call| (call, id.to_owned())));
        drop(live);
        let turns = self.clone();
        tokio::spawn(async move {
            let time = tokio::time::sleep(patience);
            if clock.run_until_cancelled(time).await.is_some() {
                turns.lose_patience(&first);
            }
        });
    }

    /// Aborts the turn that waits for this call, if one still does.
    fn lose_patience(&self, call: &str) {
        let live = self.live();
        // Under the lock, so that an answer is either taken or refused: one that was taken is not aborted after all.
        if let Some(turn) = live.calls.get(call).and_then(|id| live.turns.get(id)) {
            tracing::info!("a turn has waited too long for its application");
            turn.cancel.cancel();
        }
    }

    /// Ends a turn; false if there is none of this id.
    pub(crate) async fn abort(&self, id: &str) -> bool {
        let found = self
            .live()
            .turns
            .get(id)
            .map(|turn| (turn.cancel.clone(), turn.over.clone()));
        let Some((cancel, over)) = found else {
            return false;
        };
        cancel.cancel();
        let _late = tokio::time::timeout(LAST_WORDS, over.cancelled()).await;
        true
    }

    /// The turns that are going on, oldest first.
    pub(crate) fn list(&self) -> Vec<RunInfo> {
        let live = self.live();
        let mut runs: Vec<RunInfo> = live
            .turns
            .iter()
            .map(|(id, turn)| RunInfo {
                id: id.clone(),
                agent: turn.agent.clone(),
                session: turn.session.clone(),
                model: turn.model.clone(),
                started_at: turn.started_at,
                rounds: turn.tally.rounds(),
                state: match &turn.state {
                    State::Running => RunState::Running,
                    State::Waiting { calls, .. } => RunState::Waiting(calls.clone()),
                },
            })
            .collect();
        runs.sort_by_key(|run| run.started_at);
        runs
    }

    /// Takes no new turns, lets those that run end for at most `grace`, and aborts the rest. Those that wait for
    /// their application are aborted at once: nobody could answer them any more.
    pub(crate) async fn close(&self, grace: impl Future<Output = ()>) {
        let (waiting, running) = {
            let mut live = self.live();
            live.closed = true;
            let ends = |waits: bool| {
                let turns = live.turns.values();
                turns
                    .filter(|turn| matches!(turn.state, State::Waiting { .. }) == waits)
                    .map(|turn| (turn.cancel.clone(), turn.over.clone()))
                    .collect::<Vec<_>>()
            };
            (ends(true), ends(false))
        };
        for (cancel, _) in &waiting {
            cancel.cancel();
        }
        let all_over = async {
            for (_, over) in &running {
                over.cancelled().await;
            }
        };
        tokio::select! {
            () = all_over => {}
            () = grace => {}
        }
        let left: Vec<_> = self
            .live()
            .turns
            .values()
            .map(|turn| (turn.cancel.clone(), turn.over.clone()))
            .collect();
        for (cancel, _) in &left {
            cancel.cancel();
        }
        let all_over = async {
            for (_, over) in &left {
                over.cancelled().await;
            }
        };
        let _late = tokio::time::timeout(LAST_WORDS, all_over).await;
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        // Nothing in there is ever half written.
        self.inner.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum GivenUp {
    Runs,
    Ends(CancellationToken),
}

impl Live {
    /// Aborts a turn that waits for its application.
    fn give_up(&mut self, id: &str) -> Option<GivenUp> {
        let turn = self.turns.get(id)?;
        if matches!(turn.state, State::Running) && !turn.cancel.is_cancelled() {
            return Some(GivenUp::Runs);
        }
        turn.cancel.cancel();
        Some(GivenUp::Ends(turn.over.clone()))
    }

    fn remove(&mut self, id: &str) {
        let Some(turn) = self.turns.remove(id) else {
            return;
        };
        if self.lanes.get(&turn.session).is_some_and(|holder| holder == id) {
            self.lanes.remove(&turn.session);
        }
        self.calls.retain(|_, turn| turn != id);
        if let Some(clients) = turn.clients {
            clients.close();
        }
    }
}

/// The place of a turn among those that are going on, given back however it ends.
pub(super) struct Seat {
    turns: Turns,
    pub(super) id: String,
    pub(super) tally: Arc<Tally>,
    pub(super) cancel: CancellationToken,
    pub(super) over: CancellationToken,
}

/// As long as it lives, no turn begins in its session.
pub(crate) struct Hold {
    turns: Turns,
    session: String,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.turns.live().held.remove(&self.session);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.turns.live().remove(&self.id);
        self.over.cancel();
    }
}
