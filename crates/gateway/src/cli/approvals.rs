//! `codecell approvals`: what waits for a person, and the person's answer.
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use codecell::tools::{Decision, PendingApproval, Severity};
use serde_json::Value;

use super::args::{ApprovalsArgs, ApprovalsCommand};
use super::output::{Paint, one_line, print, visible};
use crate::approvals::{decide, find, list};

/// Columns of a terminal that a listing may take.
const WIDTH: usize = 100;

/// Runs the command.
pub(super) async fn run(args: ApprovalsArgs) -> anyhow::Result<ExitCode> {
    let paint = Paint::of_stdout();
    match args.command {
        None => {
            let waiting = list().await.context("cannot look for approvals")?;
            let approvals: Vec<&PendingApproval> = waiting.iter().map(|waiting| &waiting.approval).collect();
            if args.json {
                print(&serde_json::to_string(&approvals)?)?;
            } else {
                print(listing(&approvals, paint).trim_end())?;
            }
        }
        Some(ApprovalsCommand::Show { id }) => {
            let waiting = find(&id).await?;
            if args.json {
                print(&serde_json::to_string(&waiting.approval)?)?;
            } else {
                print(page(&waiting.approval, paint).trim_end())?;
            }
        }
        Some(ApprovalsCommand::Allow { id, always }) => {
            let decision = if always {
                Decision::AllowAlways
            } else {
                Decision::AllowOnce
            };
            settle(&id, decision).await?;
        }
        Some(ApprovalsCommand::Deny { id }) => settle(&id, Decision::Deny).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn settle(id: &str, decision: Decision) -> anyhow::Result<()> {
    let waiting = find(id).await?;
    let approval = &waiting.approval;
    if !approval.allowed_decisions.contains(&decision) {
        let offered: Vec<&str> = approval
            .allowed_decisions
            .iter()
            .map(|one| one.as_str())
            .collect();
        anyhow::bail!(
            "`{}` can be answered with {}; nothing was decided",
            approval.id,
            offered.join(", ")
        );
    }
    decide(&waiting, decision).await?;
    print(&format!(
        "{}: {decision} ({})",
        approval.id,
        visible(&approval.tool)
    ))?;
    Ok(())
}

fn listing(approvals: &[&PendingApproval], paint: Paint) -> String {
    if approvals.is_empty() {
        return "Nothing waits for an approval.\n".into();
    }
    let mut out = String::new();
    for approval in approvals {
        out.push_str(&format!(
            "{}  {}  {}\n",
            paint.bold(&approval.id),
            visible(&approval.tool),
            severity(approval.severity, paint),
        ));
        out.push_str(&format!("  {}\n", one_line(&visible(&approval.title), WIDTH)));
        out.push_str(&format!(
            "  {}\n",
            paint.dim(&one_line(&visible(approval.arguments.as_str()), WIDTH))
        ));
    }
    out.push_str(
        "\n`codecell approvals show ID`, then `allow ID` or `deny ID`; the beginning of an id will do.\n",
    );
    out
}

/// Everything one has to know to answer.
fn page(approval: &PendingApproval, paint: Paint) -> String {
    let mut out = format!("{}\n{}\n", paint.bold(&approval.id), visible(&approval.title));
    if !approval.description.is_empty() {
        out.push_str(&format!("{}\n", visible(&approval.description)));
    }
    out.push_str(&format!(
        "\ntool      {}\nasked by  {}\nagent     {} (session {})\nseverity  {}\nexpires   in {} s\nanswers   {}\n",
        visible(&approval.tool),
        visible(&approval.asked_by),
        visible(&approval.agent),
        visible(&approval.session),
        severity(approval.severity, paint),
        approval.expires_at_ms.saturating_sub(now_ms()) / 1000,
        approval
            .allowed_decisions
            .iter()
            .map(|decision| decision.as_str())
            .collect::<Vec<_>>()
            .join(", "),
    ));
    let arguments = approval
        .arguments
        .read::<Value>()
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| approval.arguments.to_string());
    out.push_str(&format!(
        "\n{}\n{}\n",
        paint.dim("arguments"),
        visible(&arguments)
    ));
    if let Some(cell) = &approval.cell {
        out.push_str(&format!(
            "\n{}\n{}\n",
            paint.dim(&format!("the program ({})", cell.language)),
            visible(&cell.source)
        ));
    }
    out
}

fn severity(severity: Severity, paint: Paint) -> String {
    match severity {
        Severity::Info => paint.dim("info"),
        Severity::Warning => paint.yellow("warning"),
        Severity::Critical => paint.red("critical"),
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
