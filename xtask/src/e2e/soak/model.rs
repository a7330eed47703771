//! The model of the long load: its prompt is a plan that says what to run, and what goes wrong.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::model::{Call, Reply, Seen, Turn};

/// What goes wrong with the model's answers in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    None,
    /// Frames that are right and awkward.
    Awkward,
    /// 429, once.
    BusyOnce,
    /// 500, once.
    DownOnce,
    /// 429, always.
    Busy,
    /// 500, always.
    Down,
    /// The connection ends in the middle of an answer.
    Cut,
    /// The answer is none.
    Garbage,
    /// There is no answer.
    Hang,
    /// The answer stops in the middle.
    Stall,
}

impl Trouble {
    pub(super) const ALL: [Trouble; 10] = [
        Trouble::None,
        Trouble::Awkward,
        Trouble::BusyOnce,
        Trouble::DownOnce,
        Trouble::Busy,
        Trouble::Down,
        Trouble::Cut,
        Trouble::Garbage,
        Trouble::Hang,
        Trouble::Stall,
    ];

    /// Those after which a turn cannot go on.
    pub(super) const FATAL: [Trouble; 6] = [
        Trouble::Busy,
        Trouble::Down,
        Trouble::Cut,
        Trouble::Garbage,
        Trouble::Hang,
        Trouble::Stall,
    ];

    /// Those of which nobody notices anything.
    pub(super) const PASSING: [Trouble; 3] = [Trouble::Awkward, Trouble::BusyOnce, Trouble::DownOnce];

    fn name(self) -> String {
        format!("{self:?}")
    }

    /// The status and the code of the error that a turn ends with.
    pub(super) fn error(self) -> Option<(u16, &'static str)> {
        match self {
            Trouble::None | Trouble::Awkward | Trouble::BusyOnce | Trouble::DownOnce => None,
            Trouble::Busy => Some((429, "rate_limit_exceeded")),
            Trouble::Down | Trouble::Cut | Trouble::Garbage => Some((502, "provider_error")),
            Trouble::Hang | Trouble::Stall => Some((504, "provider_timeout")),
        }
    }

    /// Whether the turn lasts as long as the gateway has patience with its model.
    pub(super) fn is_silence(self) -> bool {
        matches!(self, Trouble::Hang | Trouble::Stall)
    }
}

/// What a turn is about.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// Tells it from all others.
    pub(super) number: u64,
    /// The arguments of `exec`.
    pub(super) program: Value,
    pub(super) trouble: Trouble,
    /// Whether the trouble comes once the cell has run, and not before.
    pub(super) late: bool,
    /// Whether a cell that is suspended is left alone.
    pub(super) leaves: bool,
}

impl Plan {
    /// The prompt.
    pub(super) fn prompt(&self) -> String {
        json!({
            "number": self.number, "program": self.program, "trouble": self.trouble.name(), "late": self.late,
            "leaves": self.leaves
        })
        .to_string()
    }

    fn read(seen: &Seen) -> Result<Plan> {
        let prompt = seen
            .messages
            .iter()
            .rfind(|said| said.role == "user" && said.text.starts_with('{'));
        let plan: Value =
            serde_json::from_str(&prompt.context("no prompt")?.text).context("an odd prompt")?;
        let name = plan["trouble"].as_str().unwrap_or_default();
        let trouble = Trouble::ALL.into_iter().find(|trouble| trouble.name() == name);
        Ok(Plan {
            number: plan["number"].as_u64().context("a plan without a number")?,
            program: plan["program"].clone(),
            trouble: trouble.context("an unknown trouble")?,
            late: plan["late"] == true,
            leaves: plan["leaves"] == true,
        })
    }
}

/// What a model remembers of its turns.
#[derive(Default)]
pub(super) struct Memory {
    /// Turns whose passing trouble is over.
    troubled: Mutex<HashSet<u64>>,
}

impl Memory {
    /// The answer to a request.
    pub(super) fn reply(&self, seen: &Seen) -> Result<Reply> {
        let plan = Plan::read(seen)?;
        let result = seen.results.last().map(|_| seen.last()?.json()).transpose()?;
        let due = plan.late == result.is_some();
        let turn = match &result {
            None => Turn::calls([Call::new("exec", plan.program.clone())]),
            Some(result) if result["status"] == "waiting" && !plan.leaves => {
                Turn::calls([Call::new("wait", json!({ "runId": result["runId"] }))])
            }
            Some(result) => Turn::text(told(result).to_string()),
        };
        // A model that says something lasting before it breaks off.
        let long =
            || Turn::text("It would have been a long story, had somebody been there to hear the end of it.");
        let refused = |status| Reply::Refused {
            status,
            retry_after: Some("0"),
            message: "not now",
        };
        Ok(match plan.trouble {
            Trouble::Awkward => Reply::Awkward(turn),
            Trouble::BusyOnce if due && self.is_first(&plan) => refused(429),
            Trouble::DownOnce if due && self.is_first(&plan) => refused(500),
            Trouble::Busy if due => refused(429),
            Trouble::Down if due => refused(500),
            Trouble::Cut if due => Reply::Cut(long(), 5),
            Trouble::Garbage if due => Reply::Garbage,
            Trouble::Hang if due => Reply::Hang,
            Trouble::Stall if due => Reply::Stalled(long(), 5),
            _ => Reply::Turn(turn),
        })
    }

    fn is_first(&self, plan: &Plan) -> bool {
        let mut troubled = self.troubled.lock().unwrap_or_else(PoisonError::into_inner);
        // Each comes twice: the second time it is over.
        !troubled.remove(&plan.number) && troubled.insert(plan.number)
    }
}

/// What a model says of a result: everything that does not depend on the time it took.
pub(super) fn told(result: &Value) -> Value {
    let mut told = result.clone();
    if let Some(fields) = told.as_object_mut() {
        fields.remove("telemetry");
    }
    told
}
