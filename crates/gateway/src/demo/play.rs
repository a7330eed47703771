//! Plays three cells against the bundled shop and shows what happens.
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, bail};
use codecell::{
    BoxFuture, CallEnd, ExecutionPath, Json, McpRequest, NestedCall, Observer, RunContext, Surface, ToolCall,
    ToolError, ToolExecutor, ToolResult,
};
use codecell_plugins::PluginHost;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::render::{self, Call, Leg, Play, Tally};
use super::scenes::{SCENES, Scene};
use crate::cli::output::{Paint, print};
use crate::config::{Config, DEFAULT_AGENT, DirectOnly, Globs, Secret, ServerConfig, Transport};
use crate::tokens;
use crate::upstream::{State, UpstreamOptions};
use crate::wiring::{App, Channel, Setting, Shared, UpstreamTools};

/// The tool whose result, a picture, cannot cross the JSON wall.
const PHOTO_TOOL: &str = "product_photo";
/// Longest play of one scene: the slow report takes some seconds, a broken wait loop would take for ever.
const MAX_LEGS: usize = 20;

/// Runs the demonstration; 0 only if every cell ended as its scene says.
pub(crate) async fn run() -> anyhow::Result<ExitCode> {
    let paint = Paint::of_stdout();
    let config = shop_config()?;
    let agent = config
        .agents
        .agent(DEFAULT_AGENT, &config.code_mode, &config.tools.sandbox)?;
    let setting = Setting {
        plugins: Arc::new(PluginHost::new()),
        options: UpstreamOptions {
            cache: None,
            ..UpstreamOptions::default()
        },
        trajectory: None,
    };
    let app = App::new(Shared::start(&config, setting)?, agent, Channel::Cli)?;
    let outcome = play(&app, paint).await;
    app.shared.shutdown().await;
    Ok(if outcome? {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The shop as any user would configure it: a command and its arguments.
fn shop_config() -> anyhow::Result<Config> {
    let program = std::env::current_exe().context("cannot find the path of this program")?;
    let program = program
        .to_str()
        .context("the path of this program is not UTF-8")?;
    let transport = Transport::Stdio {
        command: program.into(),
        args: vec![Secret::new("demo-server")],
        env: BTreeMap::new(),
        cwd: None,
    };
    let mut shop = ServerConfig::new("shop", transport);
    shop.direct_only = DirectOnly::Matching(Globs::new(vec![PHOTO_TOOL.into()]));
    Ok(Config {
        servers: vec![shop],
        ..Config::default()
    })
}

async fn play(app: &App, paint: Paint) -> anyhow::Result<bool> {
    app.shared.await_all_servers().await;
    let view = app.view();
    let Some(shop) = view.snapshot.server("shop") else {
        bail!("the demo's server is not configured")
    };
    if shop.state != State::Ready {
        bail!("the demo's server did not start: {}", shop.state);
    }
    let lists = Tally {
        direct: shop
            .tools
            .iter()
            .map(|tool| tokens::count_listing(&tool.raw))
            .sum(),
        codecell: view
            .visible
            .iter()
            .map(|tool| tokens::count_listing(&tool.listing))
            .sum(),
    };
    print(&render::opening(shop.tools.len(), lists, paint))?;

    let meter = Arc::new(Meter {
        inner: app.shared.servers(),
        texts: Arc::default(),
    });
    let path = ExecutionPath::bare(Arc::<Meter>::clone(&meter));
    let surface = app.build(Arc::clone(&view.snapshot), path).surface;
    let mut all_as_expected = true;
    let mut task = Tally {
        direct: 0,
        codecell: 0,
    };
    for (number, scene) in (1..).zip(&SCENES) {
        print(&render::announcement(number, SCENES.len(), scene, paint))?;
        let played = play_scene(app, scene, &surface, &meter).await;
        let as_expected = (scene.expectation)(&played.legs);
        all_as_expected &= as_expected;
        task.direct += played.tally.direct;
        task.codecell += played.tally.codecell;
        print(&render::scene(&played, as_expected, paint))?;
    }
    print(&render::closing(lists, task, all_as_expected, paint))?;
    Ok(all_as_expected)
}

async fn play_scene(app: &App, scene: &Scene, surface: &Arc<Surface>, meter: &Meter) -> Play {
    let log = Arc::new(CallLog::default());
    let mut settings = app.settings;
    settings.timeout = scene.timeout;
    let run = || RunContext {
        caller: app.caller(),
        surface: Arc::clone(surface),
        settings,
        cancel: CancellationToken::new(),
        observer: Arc::<CallLog>::clone(&log),
    };
    let first = run();
    let caller = first.caller.clone();
    let arguments = json!({ "code": scene.program, "language": scene.language });
    let started = Instant::now();
    let mut result = app.shared.exec(&arguments, first).await;
    let mut codecell = tokens::count_json(&arguments);
    let mut legs = Vec::new();
    loop {
        codecell += tokens::count(&result.to_json_text());
        let run_id = result.run_id().map(str::to_owned);
        legs.push(Leg {
            result,
            calls: log.take(),
            ended: started.elapsed(),
        });
        let Some(run_id) = run_id.filter(|_| legs.len() < MAX_LEGS) else {
            break;
        };
        let arguments = json!({ "runId": run_id });
        codecell += tokens::count_json(&arguments);
        result = app
            .shared
            .wait(
                &arguments,
                RunContext {
                    caller: caller.clone(),
                    ..run()
                },
            )
            .await;
    }
    Play {
        legs,
        tally: Tally {
            direct: meter.take(),
            codecell,
        },
    }
}

/// Notes what a model would have written and read if it had made the calls itself.
struct Meter {
    inner: UpstreamTools,
    texts: Arc<Mutex<Vec<String>>>,
}

impl Meter {
    /// The tokens since this was last asked. Counted here and not during the calls, which have their time taken.
    fn take(&self) -> usize {
        let texts = std::mem::take(&mut *self.texts.lock().unwrap_or_else(PoisonError::into_inner));
        texts.iter().map(|text| tokens::count(text)).sum()
    }
}

impl ToolExecutor for Meter {
    fn execute(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
        let texts = Arc::clone(&self.texts);
        let written = format!("{} {}", call.name(), call.arguments);
        let answer = self.inner.execute(call);
        Box::pin(async move {
            let answer = answer.await;
            let read = match &answer {
                // Hosts give a model the structured value or the content, not both.
                Ok(result) => result.value.as_ref().unwrap_or(&result.result).to_string(),
                Err(error) => error.message.clone(),
            };
            texts
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend([written, read]);
            answer
        })
    }

    fn mcp_request(&self, request: McpRequest) -> BoxFuture<Result<Json, ToolError>> {
        self.inner.mcp_request(request)
    }
}

/// Notes every nested call with its duration.
#[derive(Default)]
struct CallLog(Mutex<Vec<Call>>);

impl CallLog {
    /// The calls that ended since this was last asked.
    fn take(&self) -> Vec<Call> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Observer for CallLog {
    fn call_finished(&self, call: &NestedCall, end: &CallEnd<'_>) {
        let call = Call {
            tool: call.tool.clone(),
            took: end.took,
            outcome: end.outcome,
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }
}
