//! How an agent takes a turn: what it is told, and what ends it.
use std::time::Duration;

use super::block::{Block, Wrong, complain};

/// Rounds of a turn unless the configuration says otherwise.
const DEFAULT_ROUNDS: u64 = 50;

/// Seconds of a turn unless the configuration says otherwise: two days.
const DEFAULT_SECONDS: u64 = 172_800;

/// Largest token count: clamping to it keeps every number exact, and no model comes near it.
pub(super) const MAX_TOKENS: u64 = 1_000_000_000;

/// Longest turn in seconds, a year.
const MAX_SECONDS: u64 = 31_536_000;

/// How an agent takes a turn, defaults filled in and numbers in their ranges.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnSettings {
    /// `systemPrompt`: what stands above the conversation.
    pub system_prompt: Option<String>,
    /// `temperature`, 0 to 2. Without one the provider decides.
    pub temperature: Option<f64>,
    /// `maxTokens`: most tokens of one answer. Without it the model's own limit counts, then the provider's.
    pub max_tokens: Option<u64>,
    /// `maxRounds`, 1 to 1000: how often the model is asked in one turn.
    pub max_rounds: u64,
    /// `maxTurnTokens`: most tokens of all rounds of a turn together; `None` is no limit.
    pub max_turn_tokens: Option<u64>,
    /// `timeoutSeconds`: longest time of a turn; `None` is no limit.
    pub timeout: Option<Duration>,
}

impl Default for TurnSettings {
    fn default() -> Self {
        PartialTurn::default().over(&PartialTurn::default())
    }
}

/// What is written down of it in one place.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct PartialTurn {
    system_prompt: Option<String>,
    temperature: Option<f64>,
    max_tokens: Option<u64>,
    max_rounds: Option<u64>,
    /// 0 is no limit, so that an agent can lift that of the defaults.
    max_turn_tokens: Option<u64>,
    /// 0 is no limit.
    timeout_seconds: Option<u64>,
}

impl PartialTurn {
    pub(super) fn read(block: &mut Block<'_, '_, '_>) -> Self {
        Self {
            system_prompt: block.text("systemPrompt", Wrong::Ignored),
            temperature: temperature(block),
            max_tokens: block.number("maxTokens", 1, MAX_TOKENS),
            max_rounds: block.number("maxRounds", 1, 1000),
            // Without the limit a turn costs what it likes.
            max_turn_tokens: limit(block, "maxTurnTokens", MAX_TOKENS, Wrong::Fatal),
            timeout_seconds: limit(block, "timeoutSeconds", MAX_SECONDS, Wrong::Ignored),
        }
    }

    /// Fills in what is not said here.
    pub(super) fn over(&self, defaults: &Self) -> TurnSettings {
        let seconds = self.timeout_seconds.or(defaults.timeout_seconds);
        let limited = |number: &u64| *number > 0;
        TurnSettings {
            system_prompt: self
                .system_prompt
                .clone()
                .or_else(|| defaults.system_prompt.clone()),
            temperature: self.temperature.or(defaults.temperature),
            max_tokens: self.max_tokens.or(defaults.max_tokens),
            max_rounds: self.max_rounds.or(defaults.max_rounds).unwrap_or(DEFAULT_ROUNDS),
            max_turn_tokens: self.max_turn_tokens.or(defaults.max_turn_tokens).filter(limited),
            timeout: Some(seconds.unwrap_or(DEFAULT_SECONDS))
                .filter(limited)
                .map(Duration::from_secs),
        }
    }
}

fn temperature(block: &mut Block<'_, '_, '_>) -> Option<f64> {
    let (path, value) = block.get("temperature")?;
    let Some(number) = value.as_f64() else {
        complain(
            Wrong::Ignored,
            &path,
            "a number from 0 to 2",
            value,
            block.report(),
        );
        return None;
    };
    let inside = number.clamp(0.0, 2.0);
    if !(0.0..=2.0).contains(&number) {
        let message = format!("{number} is outside 0 to 2, so {inside} is used");
        block.report().note(&path, message);
    }
    Some(inside)
}

/// A number of which 0 means that there is no limit. What would only round to 0 is no number here: clamping it would
/// lift the limit that somebody meant to set.
fn limit(block: &mut Block<'_, '_, '_>, key: &'static str, most: u64, wrong: Wrong) -> Option<u64> {
    let lifts = |number: f64| number < 0.0 || (number > 0.0 && number < 1.0);
    let (path, value) = block.get(key)?;
    if value.as_f64().is_none_or(lifts) {
        let expected = format!("0 for no limit, or a number from 1 to {most}");
        complain(wrong, &path, &expected, value, block.report());
        return None;
    }
    if value.as_f64() == Some(0.0) {
        return Some(0);
    }
    block.number(key, 1, most)
}
