//! What is seen of a turn: the model's text on standard output, the rest on standard error.
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use codecell::CallOutcome;
use codecell::tools::PendingApproval;
use codecell_agent::{Event, TurnEnd};
use serde_json::Value;

use crate::cli::args::AgentArgs;
use crate::cli::output::{Paint, complain, one_line, thousands, visible};
use crate::turns::{Happening, NestedNews};

/// Columns of a line of the live view.
const WIDTH: usize = 100;

/// Both streams. Lines of the one never break lines of the other.
pub(super) struct Screen {
    shows_text: bool,
    shows_events: bool,
    /// A person reads the text: it must not move the cursor about.
    text_is_seen: bool,
    paint: Paint,
    model: String,
    /// Whether text was written after the last line break.
    in_line: Mutex<bool>,
}

impl Screen {
    pub(super) fn new(args: &AgentArgs, model: &str) -> Self {
        Self {
            shows_text: !args.json,
            shows_events: !args.quiet,
            text_is_seen: io::stdout().is_terminal(),
            paint: Paint::of_stderr(),
            model: model.to_owned(),
            in_line: Mutex::new(false),
        }
    }

    /// Shows what happens.
    ///
    /// # Errors
    ///
    /// Fails when nobody reads standard output any more.
    pub(super) fn show(&self, happening: &Happening) -> io::Result<()> {
        match happening {
            Happening::Turn(Event::Text(text)) => self.text(text)?,
            Happening::Turn(Event::RoundStarted { round }) => {
                self.end_line(&mut self.in_line())?;
                let round = self.paint.bold(&format!("round {round}"));
                self.line(&format!("{round}  {}", one_line(&visible(&self.model), WIDTH)));
            }
            Happening::Turn(Event::CallEnded { name, answer, .. }) => {
                if answer.is_error {
                    let why = one_line(&visible(&reason(&answer.text)), WIDTH);
                    self.call(1, name, &self.paint.red("failed"), &why);
                } else {
                    self.call(1, name, &self.paint.green("ok"), "");
                }
            }
            Happening::Nested(NestedNews::Progress { tool, message, .. }) if self.paint == Paint::Colour => {
                let message = one_line(&visible(&format!("{tool}: {message}")), WIDTH);
                self.line(&format!("    {}", self.paint.dim(&message)));
            }
            Happening::Nested(NestedNews::Ended {
                tool, outcome, took, ..
            }) => {
                let outcome = match outcome {
                    CallOutcome::Ok => self.paint.green("ok"),
                    CallOutcome::ToolError => self.paint.red("error"),
                    CallOutcome::Failed => self.paint.red("failed"),
                };
                self.call(2, tool, &outcome, &format!("{} ms", took.as_millis()));
            }
            Happening::Turn(_) | Happening::Nested(_) => {}
        }
        Ok(())
    }

    /// Says that a call waits for a person.
    pub(super) fn ask(&self, approval: &PendingApproval) {
        let what = one_line(&visible(&format!("{}: {}", approval.tool, approval.title)), WIDTH);
        self.line(&format!("    {}  {what}", self.paint.yellow("waits for you")));
        self.line(&format!("      codecell approvals show {}", approval.id));
    }

    /// What is to be said at the end.
    ///
    /// # Errors
    ///
    /// Fails when nobody reads standard output any more.
    pub(super) fn end(&self, session: &str, end: &TurnEnd) -> io::Result<()> {
        self.end_line(&mut self.in_line())?;
        let tokens = usize::try_from(end.usage.total()).unwrap_or(usize::MAX);
        let figures = format!(
            "{}  rounds {}, tokens {}, session {}",
            end.stop.name(),
            end.rounds,
            thousands(tokens),
            visible(session),
        );
        self.line(&self.paint.dim(&figures));
        Ok(())
    }

    fn text(&self, text: &str) -> io::Result<()> {
        if !self.shows_text || text.is_empty() {
            return Ok(());
        }
        let mut in_line = self.in_line();
        let mut out = io::stdout().lock();
        if self.text_is_seen {
            out.write_all(visible(text).as_bytes())?;
        } else {
            out.write_all(text.as_bytes())?;
        }
        out.flush()?;
        *in_line = !text.ends_with('\n');
        Ok(())
    }

    /// One line for a call.
    fn call(&self, depth: usize, tool: &str, outcome: &str, more: &str) {
        let indent = "  ".repeat(depth);
        let tool = one_line(&visible(tool), WIDTH);
        let line = format!("{indent}{tool}  {outcome}  {}", self.paint.dim(more));
        self.line(line.trim_end());
    }

    /// Writes a line of the live view.
    fn line(&self, line: &str) {
        if !self.shows_events {
            return;
        }
        let mut in_line = self.in_line();
        // Whoever reads the text notices by itself that it cannot be written.
        let _ = self.end_line(&mut in_line);
        complain(line);
    }

    /// Ends the line of the text, so that what follows stands on its own.
    fn end_line(&self, in_line: &mut bool) -> io::Result<()> {
        if std::mem::take(in_line) {
            let mut out = io::stdout().lock();
            out.write_all(b"\n")?;
            out.flush()?;
        }
        Ok(())
    }

    fn in_line(&self) -> MutexGuard<'_, bool> {
        self.in_line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a call failed, without what is around it: cells answer with an object.
fn reason(text: &str) -> String {
    let parsed: Value = serde_json::from_str(text).unwrap_or_default();
    let error = parsed.get("error").and_then(Value::as_str);
    error.unwrap_or(text).to_owned()
}
