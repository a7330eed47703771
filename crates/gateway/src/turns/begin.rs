//! From what is asked to a turn that runs.
use std::sync::Arc;
use std::time::Instant;

use codecell::Caller;
use codecell::tools::ClientTools;
use codecell_agent::{Limits, Turn, TurnEnd};
use codecell_llm::Request;
use tokio::sync::mpsc;

use super::ask::{Ask, BeginProblem};
use super::context::Past;
use super::counted::Counted;
use super::journal::TurnJournal;
use super::live::{Seat, Turns};
use super::running::{Ear, Running};
use super::scribe::Scribe;
use super::surface::{Parts, TurnTools};
use super::trajectory;
use super::watch::NestedNews;
use crate::wiring::View;

/// Events that may wait for a listener before the turn is slowed down.
const EVENT_BUFFER: usize = 64;

/// News of nested calls that may wait for a listener before some are dropped.
const NEWS_BUFFER: usize = 256;

/// The application's name in the ids of its tools.
const CLIENT_OWNER: &str = "app";

impl Turns {
    /// Begins a turn. A turn of the same session that waits for its application is given up for it.
    ///
    /// # Errors
    ///
    /// Fails when the session has a turn that runs, when a tool of the application cannot be used, or when the
    /// transcript cannot be written.
    pub(crate) async fn begin(&self, mut ask: Ask) -> Result<Running, BeginProblem> {
        let (clients, refused) = ClientTools::new(CLIENT_OWNER, ask.client_tools.clone());
        if let Some(refused) = refused.into_iter().next() {
            return Err(BeginProblem::Tool(refused));
        }
        let clients = (!ask.client_tools.is_empty()).then_some(clients);
        let seat = self.take_seat(&ask, clients.clone()).await?;
        let app = Arc::clone(&ask.target.app);
        app.shared.await_unknown_servers().await;
        let view = match &clients {
            Some(clients) => Arc::new(app.view_with(clients).await.ok_or(BeginProblem::Closed)?),
            None => app.view(),
        };
        let (events, ear_events) = mpsc::channel(EVENT_BUFFER);
        let (news, nested) = mpsc::channel(NEWS_BUFFER);
        let scribe = Scribe::start(self.inner.sessions.clone(), ask.session.clone(), seat.id.clone());
        let past = Past::read(&self.inner.sessions, &ask.session, &ask.history).await?;
        let (messages, new) = past.with(std::mem::take(&mut ask.messages), &view);
        ask.messages = messages;
        scribe.keep(new).await?;
        let ear = Ear {
            events: ear_events,
            nested,
            scribe: scribe.clone(),
            cancel: seat.cancel.clone(),
            over: seat.over.clone(),
        };
        let watched = ask.watched.then_some(news);
        let (id, session, tally) = (seat.id.clone(), ask.session.clone(), Arc::clone(&seat.tally));
        let turn = self.turn(ask, &seat, view, clients, scribe.clone(), watched);
        let began = Instant::now();
        let (turns, run, session_of_run) = (self.clone(), id.clone(), session.clone());
        tokio::spawn(async move {
            // On the heap: it is large, and lives long.
            let end: TurnEnd = Box::pin(turn.run(events)).await;
            turns.inner.counters.turn(&end.stop, began.elapsed());
            if let Some(codecell) = app.shared.loaded_engine() {
                // Nobody can resume what it left behind.
                codecell.abort_run(&session_of_run, &run);
            }
            // The next turn of the session reads the transcript. A disk that fails has failed this turn by now.
            let _ = scribe.close().await;
            if let Some(file) = &turns.inner.trajectory {
                trajectory::add(&turns.inner.sessions, &run, file).await;
            }
            drop(seat);
        });
        Ok(Running {
            turns: self.clone(),
            id,
            session,
            tally,
            ear: Some(ear),
        })
    }

    fn turn(
        &self,
        ask: Ask,
        seat: &Seat,
        view: Arc<View>,
        clients: Option<ClientTools>,
        scribe: Scribe,
        news: Option<mpsc::Sender<NestedNews>>,
    ) -> Turn {
        let app = ask.target.app;
        let settings = &app.agent().turn;
        let caller = Caller {
            run: seat.id.clone(),
            session: ask.session.clone(),
            ..app.caller()
        };
        let instructions = [settings.system_prompt.clone(), ask.instructions];
        let system: Vec<String> = instructions.into_iter().flatten().collect();
        let request = Request {
            model: ask.target.model,
            system: (!system.is_empty()).then(|| system.join("\n\n")),
            messages: ask.messages,
            max_output_tokens: ask
                .max_output_tokens
                .or(settings.max_tokens)
                .or(ask.target.max_tokens),
            temperature: ask.temperature.or(settings.temperature),
            session: Some(ask.session),
            ..Request::default()
        };
        let limits = Limits {
            rounds: u32::try_from(settings.max_rounds).unwrap_or(u32::MAX),
            tokens: settings.max_turn_tokens,
            time: settings.timeout,
            ..Limits::default()
        };
        let journal = TurnJournal {
            scribe: scribe.clone(),
            view: Arc::clone(&view),
        };
        let surface = TurnTools::new(Parts {
            app,
            view,
            clients,
            caller,
            scribe,
            give_up: seat.cancel.clone(),
            news,
        });
        Turn {
            model: Arc::new(Counted {
                client: ask.target.client,
                counters: Arc::clone(&self.inner.counters),
                tally: Arc::clone(&seat.tally),
            }),
            surface: Arc::new(surface),
            journal: Arc::new(journal),
            request,
            limits,
            cancel: seat.cancel.clone(),
        }
    }
}
