//! The report as text for a person.
use std::path::PathBuf;

use super::report::{Engine, Report, ServerReport};
use super::turns::TurnsReport;
use crate::cli::output::{Paint, one_line, thousands};

/// Columns of a line of the report.
const WIDTH: usize = 100;

pub(super) fn text(report: &Report, default_places: &[PathBuf], paint: Paint) -> String {
    let mut out = String::new();
    configuration(&mut out, report, default_places, paint);
    out.push_str(&heading("Engine", paint));
    out.push_str(&match &report.engine {
        Engine::Ready => format!("  {}  a cell runs\n", paint.green("ready")),
        Engine::Off => format!(
            "  {}  code mode is switched off in the configuration\n",
            paint.dim("off")
        ),
        Engine::Failed { error } => format!("  {}  {error}\n", paint.red("failed")),
    });
    out.push_str(&heading("Servers", paint));
    if report.servers.is_empty() {
        out.push_str("  none configured\n");
    }
    for server in &report.servers {
        out.push_str(&server_block(server, paint));
    }
    if let Some(turns) = &report.turns {
        agent_turns(&mut out, turns, paint);
    }
    out.push_str(&heading("Tokens in every model request (o200k)", paint));
    let direct = report.tokens.direct;
    let codecell = report.tokens.codecell;
    let figures = [
        ("all tools, listed one by one", direct),
        ("through Codecell", codecell),
    ];
    for (what, count) in figures {
        out.push_str(&format!("  {what:<30} {:>12}\n", thousands(count)));
    }
    out.push_str(&format!("  {}\n\n", verdict(direct, codecell)));
    out.push_str(&if report.ok {
        paint.green("All is well.")
    } else {
        paint.red("Something is wrong, see above.")
    });
    out.push('\n');
    out
}

fn heading(text: &str, paint: Paint) -> String {
    format!("\n{}\n", paint.bold(text))
}

fn configuration(out: &mut String, report: &Report, default_places: &[PathBuf], paint: Paint) {
    out.push_str(&paint.bold("Configuration"));
    out.push('\n');
    for file in &report.files {
        out.push_str(&format!("  {}\n", file.display()));
    }
    if report.files.is_empty() {
        let places: Vec<String> = default_places
            .iter()
            .map(|place| place.display().to_string())
            .collect();
        out.push_str(&format!(
            "  no file: none named, none at {}\n",
            places.join(" or ")
        ));
    }
    for problem in &report.problems {
        let severity = match problem.severity.as_str() {
            "error" => paint.red("error"),
            "warning" => paint.yellow("warning"),
            other => paint.dim(other),
        };
        let file = problem.file.display();
        let path = if problem.path.is_empty() {
            String::new()
        } else {
            format!(" {}", problem.path)
        };
        out.push_str(&format!("  {severity}  {file}{path}: {}\n", problem.message));
    }
    for advice in &report.advice {
        let label = paint.yellow("advice");
        out.push_str(&format!("  {label}  {}: {}\n", advice.path, advice.message));
    }
    for removed in &report.removed {
        let tools = one_line(&removed.tools.join(", "), WIDTH);
        let count = removed.tools.len();
        let label = paint.dim("policy");
        out.push_str(&format!(
            "  {label}  {} takes away {count}: {tools}\n",
            removed.config_key
        ));
    }
}

/// What agent turns need. What is wrong here stops nothing else.
fn agent_turns(out: &mut String, turns: &TurnsReport, paint: Paint) {
    out.push_str(&heading("Model providers", paint));
    if turns.providers.is_empty() {
        out.push_str("  none configured\n");
    }
    let usable = |reason: Option<&String>| match reason {
        None => paint.green("usable"),
        Some(_) => paint.red("unusable"),
    };
    for provider in &turns.providers {
        let facts = match (&provider.reason, provider.api) {
            (Some(reason), _) => reason.clone(),
            (None, api) if provider.models.is_empty() => format!("{}, any model", api.unwrap_or_default()),
            (None, api) => format!("{}, {}", api.unwrap_or_default(), provider.models.join(", ")),
        };
        out.push_str(&format!(
            "  {}  {}  {}\n",
            paint.bold(&one_line(&provider.id, WIDTH)),
            usable(provider.reason.as_ref()),
            one_line(&facts, 2 * WIDTH)
        ));
    }
    out.push_str(&heading("Agents", paint));
    for agent in &turns.agents {
        let facts = match (&agent.reason, &agent.model) {
            (Some(reason), _) => reason.clone(),
            (None, model) => {
                let how = if agent.code_mode {
                    ""
                } else {
                    ", without code mode"
                };
                format!("{}{how}", model.as_deref().unwrap_or_default())
            }
        };
        out.push_str(&format!(
            "  {}  {}  {}\n",
            paint.bold(&one_line(&agent.id, WIDTH)),
            usable(agent.reason.as_ref()),
            one_line(&facts, 2 * WIDTH)
        ));
    }
    out.push_str(&heading("Serve", paint));
    let serve = &turns.serve;
    let token = match serve.token {
        Some(place) => format!("token from {place}"),
        None => "no token".into(),
    };
    out.push_str(&format!("  {}  {token}\n", serve.listen));
    if let Some(reason) = &serve.reason {
        out.push_str(&format!("      {reason}\n"));
    }
}

fn server_block(server: &ServerReport, paint: Paint) -> String {
    let state = match server.state {
        "ready" => paint.green(server.state),
        "disabled" => paint.dim(server.state),
        "connecting" | "restarting" => paint.yellow(server.state),
        _ => paint.red(server.state),
    };
    let mut facts = Vec::new();
    if server.state != "disabled" {
        let seen = if server.stale { " as last seen" } else { "" };
        facts.push(format!("{} tools{seen}", server.tools));
        facts.push(format!("{} tokens", thousands(server.tokens)));
    }
    if server.direct_only > 0 {
        facts.push(format!("{} direct-only", server.direct_only));
    }
    if let Some(protocol) = &server.protocol {
        facts.push(format!("protocol {protocol}"));
    }
    let mut out = format!("  {}  {state}  {}\n", paint.bold(&server.name), facts.join(", "));
    if let Some(reason) = &server.reason {
        out.push_str(&format!("      {reason}\n"));
    }
    for tool in &server.left_out {
        out.push_str(&format!(
            "      left out: {} ({})\n",
            one_line(&tool.name, 64),
            one_line(&tool.reason, WIDTH)
        ));
    }
    for note in &server.notes {
        out.push_str(&format!("      note: {}\n", one_line(note, WIDTH)));
    }
    if let Some(stderr) = &server.stderr {
        out.push_str("      the end of its standard error:\n");
        for line in stderr.lines() {
            out.push_str(&format!("        {}\n", paint.dim(&one_line(line, WIDTH))));
        }
    }
    out
}

/// One honest sentence: with few tools, code mode costs more than it saves.
fn verdict(direct: usize, codecell: usize) -> String {
    match direct.checked_sub(codecell) {
        Some(saved) if direct > 0 => {
            format!("saved: {} tokens ({} %)", thousands(saved), saved * 100 / direct)
        }
        _ => format!(
            "costs {} tokens more: with so few tools the list is the smaller part",
            thousands(codecell - direct)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{text, verdict};
    use crate::cli::doctor::report::{
        AdviceReport, Engine, LeftOut, ProblemReport, RemovedReport, Report, ServerReport, TokenReport,
    };
    use crate::cli::doctor::turns::{AgentReport, ProviderReport, ServeReport, TurnsReport};
    use crate::cli::output::Paint;

    #[test]
    fn the_verdict_is_honest_in_both_directions() {
        assert_eq!(verdict(100_000, 1_500), "saved: 98,500 tokens (98 %)");
        assert_eq!(verdict(1_500, 1_500), "saved: 0 tokens (0 %)");
        assert_eq!(
            verdict(500, 1_500),
            "costs 1,000 tokens more: with so few tools the list is the smaller part"
        );
        assert_eq!(
            verdict(0, 0),
            "costs 0 tokens more: with so few tools the list is the smaller part"
        );
    }

    #[test]
    fn a_failed_server_is_shown_with_its_reason_and_its_last_words() {
        let report = Report {
            ok: false,
            files: vec!["codecell.json5".into()],
            problems: vec![ProblemReport {
                file: "codecell.json5".into(),
                path: "mcp.servers.git.comand".into(),
                severity: "warning".into(),
                message: "unknown key".into(),
            }],
            advice: vec![AdviceReport {
                path: "tools.allow".into(),
                message: "no tool matches `reed`".into(),
            }],
            removed: vec![RemovedReport {
                config_key: "tools.deny".into(),
                tools: vec!["openclaw:core:exec".into(), "mcp:git:push".into()],
            }],
            engine: Engine::Ready,
            servers: vec![ServerReport {
                name: "git".into(),
                state: "failed",
                reason: Some("exited with status 3".into()),
                protocol: None,
                stale: true,
                tools: 2,
                direct_only: 0,
                tokens: 1_234,
                left_out: vec![LeftOut {
                    name: "bad".into(),
                    reason: "its name is a number".into(),
                }],
                notes: Vec::new(),
                stderr: Some("Traceback\nno module".into()),
            }],
            turns: Some(TurnsReport {
                providers: vec![
                    ProviderReport {
                        id: "openai".into(),
                        api: Some("openai-responses"),
                        models: vec!["small".into(), "big".into()],
                        reason: None,
                    },
                    ProviderReport {
                        id: "other".into(),
                        api: None,
                        models: Vec::new(),
                        reason: Some("`baseUrl` is missing".into()),
                    },
                ],
                agents: vec![
                    AgentReport {
                        id: "main".into(),
                        model: Some("openai/small".into()),
                        code_mode: false,
                        reason: None,
                    },
                    AgentReport {
                        id: "reviewer".into(),
                        model: Some("other/x".into()),
                        code_mode: false,
                        reason: Some("provider `other` cannot be used".into()),
                    },
                ],
                serve: ServeReport {
                    listen: "0.0.0.0:4860".into(),
                    token: None,
                    reason: Some("a token is needed".into()),
                },
            }),
            tokens: TokenReport {
                tokenizer: "o200k_base",
                direct: 1_234,
                codecell: 1_000,
            },
        };
        assert_eq!(
            text(&report, &[], Paint::Plain),
            "Configuration\n  codecell.json5\n  warning  codecell.json5 mcp.servers.git.comand: unknown key\n  advice  tools.allow: no tool \
             matches `reed`\n  policy  tools.deny takes away 2: openclaw:core:exec, mcp:git:push\n\n\
             Engine\n  ready  a cell runs\n\n\
             Servers\n  git  failed  2 tools as last seen, 1,234 tokens\n      exited with status 3\n      \
             left out: bad (its name is a number)\n      the end of its standard error:\n        Traceback\n        no module\n\n\
             Model providers\n  openai  usable  openai-responses, small, big\n  \
             other  unusable  `baseUrl` is missing\n\n\
             Agents\n  main  usable  openai/small, without code mode\n  \
             reviewer  unusable  provider `other` cannot be used\n\n\
             Serve\n  0.0.0.0:4860  no token\n      a token is needed\n\n\
             Tokens in every model request (o200k)\n  \
             all tools, listed one by one          1,234\n  \
             through Codecell                      1,000\n  \
             saved: 234 tokens (18 %)\n\nSomething is wrong, see above.\n"
        );
    }
}
