//! `codecell agent`: one agent turn at a terminal.
mod screen;

use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::CommandFactory;
use clap::error::ErrorKind;
use codecell::tools::ApprovalNews;
use codecell_agent::{Event, Stop, TurnEnd};
use codecell_llm::{Message, Usage};
use codecell_plugins::Plugin;
use codecell_sessions::Sessions;
use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use self::screen::Screen;
use super::args::{AgentArgs, Cli};
use super::output;
use super::setup::{Setup, costs_all_models, open_sessions, stop_signals};
use crate::turns::{Agents, Ask, Happening, History, Turns};
use crate::wiring::{Channel, Shared};

/// Longest prompt, in bytes: models that take more of it are not known yet.
const MAX_PROMPT_BYTES: u64 = 4 << 20;

/// Longest key of a session, in characters.
const MAX_KEY_CHARS: usize = 200;

/// What shells say of a command that Ctrl-C ended.
const EXIT_INTERRUPTED: u8 = 130;

/// Runs the command.
pub(super) async fn run(args: AgentArgs, plugins: &[Arc<dyn Plugin>]) -> anyhow::Result<ExitCode> {
    let (stop, hurry) = stop_signals();
    let prompt = match read_prompt(&args) {
        Ok(prompt) => prompt,
        Err(message) => {
            return Ok(super::usage(
                &Cli::command().error(ErrorKind::InvalidValue, message),
            ));
        }
    };
    // Whoever presses it twice does not wait for a farewell.
    let ended = hurry
        .run_until_cancelled(turn(&args, prompt, plugins, &stop))
        .await;
    let outcome = match ended {
        None => return Ok(ExitCode::from(EXIT_INTERRUPTED)),
        Some(Err(error)) if args.json => {
            output::print(&no_turn(&format!("{error:#}")).to_string())?;
            return Ok(ExitCode::FAILURE);
        }
        Some(outcome) => outcome?,
    };
    if args.json {
        output::print(&outcome.json().to_string())?;
    } else if let Some(problem) = problem(&outcome.end.stop) {
        output::complain(&format!("error: {}", output::visible(&problem)));
    }
    Ok(match outcome.end.stop {
        Stop::Done => ExitCode::SUCCESS,
        Stop::Aborted => ExitCode::from(EXIT_INTERRUPTED),
        _ => ExitCode::FAILURE,
    })
}

/// The prompt, or what is wrong with how the command was called.
fn read_prompt(args: &AgentArgs) -> Result<String, String> {
    if let Some(key) = &args.session
        && (key.is_empty() || key.chars().count() > MAX_KEY_CHARS || key.chars().any(char::is_control))
    {
        return Err(format!(
            "a session has 1 to {MAX_KEY_CHARS} characters, none of them a control character"
        ));
    }
    let prompt = if args.prompt == "-" {
        let mut text = String::new();
        std::io::stdin()
            .lock()
            .take(MAX_PROMPT_BYTES + 1)
            .read_to_string(&mut text)
            .map_err(|error| format!("cannot read the prompt from standard input: {error}"))?;
        text
    } else {
        args.prompt.clone()
    };
    if prompt.len() as u64 > MAX_PROMPT_BYTES {
        return Err(format!(
            "the prompt is longer than {MAX_PROMPT_BYTES} bytes: shorten it"
        ));
    }
    if prompt.trim().is_empty() {
        return Err("the prompt is empty".into());
    }
    Ok(prompt)
}

/// A turn that is over.
struct Outcome {
    agent: String,
    model: String,
    session: String,
    run: String,
    end: TurnEnd,
}

/// Starts everything, runs the turn and ends everything.
async fn turn(
    args: &AgentArgs,
    prompt: String,
    plugins: &[Arc<dyn Plugin>],
    stop: &CancellationToken,
) -> anyhow::Result<Outcome> {
    let setup = Setup::read(&args.config);
    setup.complain();
    if let Some(problem) = setup.fatal(costs_all_models) {
        anyhow::bail!("the configuration cannot be used: {problem}");
    }
    let sessions = open_sessions(args.state.state.as_deref()).await?;
    let shared = setup.shared(&args.config, plugins)?;
    let _desk = shared.open_desk();
    let agents = Agents::new(Arc::clone(&shared), &setup.loaded.config, Channel::Terminal);
    let outcome = run_turn(args, prompt, &shared, agents, sessions, stop).await;
    shared.shutdown().await;
    outcome
}

async fn run_turn(
    args: &AgentArgs,
    prompt: String,
    shared: &Arc<Shared>,
    agents: Agents,
    sessions: Sessions,
    stop: &CancellationToken,
) -> anyhow::Result<Outcome> {
    let target = agents.of(&args.config.agent, args.model.as_deref())?;
    let turns = Turns::new(agents, sessions, shared.trajectory()?);
    let agent = args.config.agent.clone();
    let named = args.session.clone();
    let session = named.unwrap_or_else(|| format!("agent:{agent}:cli:{}", Uuid::new_v4()));
    let model = target.model_ref.clone();
    let screen = Arc::new(Screen::new(args, &model));
    // The tools of a server that is not there yet would be missing for the whole turn.
    let ready = shared.await_all_servers();
    if target.app.has_code_mode() {
        let shared = Arc::clone(shared);
        // The first cell waits for it, and says why if it cannot be had.
        tokio::spawn(async move { shared.engine().await.is_ok() });
    }
    let aborted = |run: String| Outcome {
        agent: agent.clone(),
        model: model.clone(),
        session: session.clone(),
        run,
        end: TurnEnd {
            stop: Stop::Aborted,
            text: String::new(),
            messages: Vec::new(),
            usage: Usage::default(),
            rounds: 0,
        },
    };
    if stop.run_until_cancelled(ready).await.is_none() {
        return Ok(aborted(String::new()));
    }
    let ask = Ask {
        target,
        session: session.clone(),
        instructions: None,
        history: History::Session,
        messages: vec![Message::user(prompt)],
        client_tools: Vec::new(),
        max_output_tokens: None,
        temperature: None,
        watched: !args.quiet,
    };
    let questions = tokio::spawn(questions(
        shared.approvals.subscribe(),
        session.clone(),
        Arc::clone(&screen),
    ));
    let mut running = turns.begin(ask).await?;
    let run = running.id().to_owned();
    let stopping = tokio::spawn({
        let (turns, run, stop) = (turns.clone(), run.clone(), stop.clone());
        async move {
            stop.cancelled().await;
            turns.abort(&run).await;
        }
    });
    let mut outcome = aborted(run);
    let mut told = Ok(());
    while let Some(happening) = running.next().await {
        if let Happening::Turn(Event::Ended(end)) = &happening {
            outcome.end = TurnEnd::clone(end);
        }
        told = screen.show(&happening);
        if told.is_err() {
            // Nobody reads on.
            turns.abort(&outcome.run).await;
            break;
        }
    }
    stopping.abort();
    questions.abort();
    told.context("cannot print the answer")?;
    screen.end(&outcome.session, &outcome.end)?;
    Ok(outcome)
}

/// Says what waits for a person, because the turn waits with it.
async fn questions(mut news: Receiver<ApprovalNews>, session: String, screen: Arc<Screen>) {
    loop {
        match news.recv().await {
            Ok(ApprovalNews::Opened { approval }) if approval.session == session => screen.ask(&approval),
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

impl Outcome {
    fn json(&self) -> Value {
        let usage = self.end.usage;
        json!({
            "ok": matches!(self.end.stop, Stop::Done),
            "stop": self.end.stop.name(),
            "text": self.end.text,
            "agent": self.agent,
            "model": self.model,
            "session": self.session,
            "run": self.run,
            "rounds": self.end.rounds,
            "usage": {
                "inputTokens": usage.input,
                "outputTokens": usage.output,
                "cacheReadTokens": usage.cache_read,
                "cacheWriteTokens": usage.cache_write,
            },
            "error": problem(&self.end.stop).map(|message| json!({ "message": message })),
        })
    }
}

/// The line of a turn that never began.
fn no_turn(message: &str) -> Value {
    json!({ "ok": false, "stop": "failed", "error": { "message": message } })
}

/// Why a turn is not done, if it is not.
fn problem(stop: &Stop) -> Option<String> {
    match stop {
        Stop::Done => None,
        Stop::Length => {
            Some("the answer reached the limit of tokens: raise `maxTokens` to allow more".into())
        }
        Stop::Refused(reason) => Some(format!("the model refused to go on: {reason}")),
        Stop::Aborted => Some("interrupted".into()),
        Stop::Limit(limit) => Some(limit.clone()),
        Stop::Failed(error) => Some(error.to_string()),
    }
}
