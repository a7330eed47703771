//! The demonstration as text of about eighty columns.
use std::time::Duration;

use codecell::{CallOutcome, CellResult, Output};
use serde_json::Value;

use super::scenes::Scene;
use crate::cli::output::{Paint, one_line, thousands};

/// Columns that a line takes at most, wherever the text is ours.
const WIDTH: usize = 80;
/// Lines of a result that are shown; the demo's own results are shorter.
const MAX_RESULT_LINES: usize = 30;
/// Calls of one leg that are shown one by one.
const MAX_CALL_LINES: usize = 14;

/// A nested call that has ended.
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) took: Duration,
    pub(super) outcome: CallOutcome,
}

/// One `exec` or `wait`.
pub(super) struct Leg {
    pub(super) result: CellResult,
    pub(super) calls: Vec<Call>,
    /// When it ended, counted from the start of the scene.
    pub(super) ended: Duration,
}

/// One scene, played.
pub(super) struct Play {
    pub(super) legs: Vec<Leg>,
    pub(super) tally: Tally,
}

/// Tokens without and with code mode.
#[derive(Clone, Copy)]
pub(super) struct Tally {
    pub(super) direct: usize,
    pub(super) codecell: usize,
}

pub(super) fn opening(tools: usize, lists: Tally, paint: Paint) -> String {
    let text = format!(
        "A small shop runs as an MCP server beside this program, with {tools} tools. A model without code mode gets \
         all of them in every request: {} tokens. Behind Codecell it gets exec, wait and the one tool that \
         returns a picture: {} tokens, and hardly more for a hundred servers. Three programs show what it does with them.",
        thousands(lists.direct),
        thousands(lists.codecell)
    );
    format!("\n{}\n\n{}", paint.bold("codecell demo"), wrap(&text, WIDTH))
}

pub(super) fn announcement(number: usize, of: usize, scene: &Scene, paint: Paint) -> String {
    let title = format!("{number} of {of} · {} ", scene.title);
    let rule = "─".repeat(WIDTH.saturating_sub(title.chars().count() + 3));
    let language = if scene.language == "typescript" {
        "TypeScript"
    } else {
        "JavaScript"
    };
    let program: String = scene
        .program
        .lines()
        .map(|line| format!("  {} {line}\n", paint.dim("│")))
        .collect();
    format!(
        "\n{} {}{}\n\n{}\n\n{} {}\n{}",
        paint.dim("──"),
        paint.bold(&title),
        paint.dim(&rule),
        wrap(scene.introduction, WIDTH),
        paint.cyan("exec"),
        paint.dim(&format!("({language})")),
        program.trim_end()
    )
}

pub(super) fn scene(play: &Play, as_expected: bool, paint: Paint) -> String {
    let mut out = String::new();
    for (index, leg) in play.legs.iter().enumerate() {
        if index > 0 {
            out.push_str(&format!("\n{}\n", paint.cyan("wait")));
        }
        out.push_str(&leg_text(leg, paint));
    }
    let Tally { direct, codecell } = play.tally;
    let comparison = if direct == 0 {
        format!("tokens written and read by the model: {}", thousands(codecell))
    } else {
        format!(
            "tokens written and read by the model: {} (calling the tools itself: {})",
            thousands(codecell),
            thousands(direct)
        )
    };
    out.push_str(&format!("\n  {}", paint.dim(&comparison)));
    if !as_expected {
        out.push_str(&format!(
            "\n  {}",
            paint.red("This is not what should have happened.")
        ));
    }
    out
}

fn leg_text(leg: &Leg, paint: Paint) -> String {
    let mut out = String::new();
    for call in leg.calls.iter().take(MAX_CALL_LINES) {
        let outcome = match call.outcome {
            CallOutcome::Ok => paint.green("ok"),
            CallOutcome::ToolError => paint.yellow("the tool reports an error"),
            CallOutcome::Failed => paint.red("failed"),
        };
        out.push_str(&format!(
            "  {} {:<34} {:>7}  {outcome}\n",
            paint.dim("→"),
            call.tool,
            milliseconds(call.took)
        ));
    }
    if let Some(more) = leg
        .calls
        .len()
        .checked_sub(MAX_CALL_LINES)
        .filter(|more| *more > 0)
    {
        out.push_str(&format!("  {} {more} more calls\n", paint.dim("→")));
    }
    let at = paint.dim(&format!("after {}", milliseconds(leg.ended)));
    match &leg.result {
        CellResult::Completed {
            value,
            output,
            warnings,
            ..
        } => {
            out.push_str(&printed(output, paint));
            for warning in warnings {
                out.push_str(&format!(
                    "  {} {}\n",
                    paint.yellow("warning"),
                    one_line(&warning.message, WIDTH - 10)
                ));
            }
            out.push_str(&format!(
                "  {} {at}\n{}",
                paint.green("completed"),
                indented(&pretty(value.as_str()))
            ));
        }
        CellResult::Waiting {
            run_id,
            pending_tool_calls,
            output,
            ..
        } => {
            out.push_str(&printed(output, paint));
            let pending: Vec<&str> = pending_tool_calls
                .iter()
                .map(|call| call.tool.as_deref().unwrap_or(call.method))
                .collect();
            out.push_str(&format!(
                "  {} {at}, runId {}\n    suspended, waiting for {}\n",
                paint.yellow("waiting"),
                one_line(run_id, 24),
                pending.join(", ")
            ));
        }
        CellResult::Failed { error, output, .. } => {
            out.push_str(&printed(output, paint));
            out.push_str(&format!("  {} {at}\n{}", paint.red("failed"), indented(error)));
        }
    }
    out
}

fn printed(output: &[Output], paint: Paint) -> String {
    let mut out = String::new();
    for entry in output {
        let text = match entry {
            Output::Text { text } => text.clone(),
            Output::Json { value } => value.to_string(),
        };
        if text.contains('\n') {
            out.push_str(&format!("  {}\n{}", paint.dim("printed"), indented(&text)));
        } else {
            out.push_str(&format!(
                "  {} {}\n",
                paint.dim("printed"),
                one_line(&text, WIDTH - 10)
            ));
        }
    }
    out
}

pub(super) fn closing(lists: Tally, task: Tally, all_as_expected: bool, paint: Paint) -> String {
    let row = |what: &str, tally: Tally| {
        format!(
            "  {what:<34} {:>14} {:>14}\n",
            thousands(tally.direct),
            thousands(tally.codecell)
        )
    };
    let verdict = if all_as_expected {
        format!(
            "{}\n{}",
            paint.green("Every program ended as it should."),
            wrap(
                "Next: `codecell doctor` counts your own servers, and the README says how to put `codecell mcp` into your host.",
                WIDTH
            )
        )
    } else {
        paint.red("A program did not end as it should, see above.")
    };
    let title = "What it cost ";
    format!(
        "\n{} {}{}\n\n  {:<34} {:>14} {:>14}\n{}{}{}\n{verdict}\n",
        paint.dim("──"),
        paint.bold(title),
        paint.dim(&"─".repeat(WIDTH - title.len() - 3)),
        "tokens (o200k)",
        "one by one",
        "with Codecell",
        row("tool list, in every request", lists),
        row("the three tasks, written and read", task),
        paint.dim("  Each call and result is counted once; one by one, every turn reads them again.\n"),
    )
}

/// A duration as a person reads it.
fn milliseconds(duration: Duration) -> String {
    match duration.as_millis() {
        0 => "<1 ms".into(),
        ms @ 1..10_000 => format!("{ms} ms"),
        _ => format!("{:.1} s", duration.as_secs_f64()),
    }
}

fn pretty(json: &str) -> String {
    serde_json::from_str::<Value>(json)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| json.to_owned())
}

/// At most [`MAX_RESULT_LINES`] lines, each four columns in.
fn indented(text: &str) -> String {
    let mut out: String = text
        .lines()
        .take(MAX_RESULT_LINES)
        .map(|line| format!("    {line}\n"))
        .collect();
    if let Some(more) = text
        .lines()
        .count()
        .checked_sub(MAX_RESULT_LINES)
        .filter(|more| *more > 0)
    {
        out.push_str(&format!("    … {more} more lines\n"));
    }
    out
}

/// Breaks `text` at spaces so that no line is longer than `width`.
fn wrap(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{indented, milliseconds, wrap};

    #[test]
    fn text_is_wrapped_at_spaces() {
        for (text, wrapped) in [
            ("", ""),
            ("one two three", "one two\nthree"),
            ("unbreakably long", "unbreakably\nlong"),
            ("  many   spaces ", "many\nspaces"),
        ] {
            assert_eq!(wrap(text, 8), wrapped, "{text:?}");
        }
    }

    #[test]
    fn durations_are_written_for_people() {
        for (ms, text) in [
            (0, "<1 ms"),
            (12, "12 ms"),
            (2_512, "2512 ms"),
            (12_345, "12.3 s"),
        ] {
            assert_eq!(milliseconds(Duration::from_millis(ms)), text);
        }
    }

    #[test]
    fn long_results_say_how_much_is_left_out() {
        let text = "line\n".repeat(33);
        assert!(indented(&text).ends_with("    … 3 more lines\n"));
        assert_eq!(indented("one"), "    one\n");
    }
}
