//! The ways an attack is played, and what must hold after each.

use codecell::{Codecell, EngineOptions};
use serde_json::{Value, json};

use crate::attack::Attack;
use crate::tools::Bench;

/// Fewer than the plays of one folder: VMs that are not given back would be missed.
const MAX_VMS: u32 = 4;

/// Uses what attacks go for: calls, searches, output, built-ins.
const QUIET: &str = r"
const seen = [];
for (let i = 0; i < 3; i++) seen.push(await tools.echo({ x: { i, list: [i, 'a'] } }));
const [{ id }] = await tools.search('echo', { limit: 1 });
text([...new Map(Object.entries({ a: 1 }))].flat().join('-'));
return { seen, id, sorted: [3, 1, 2].sort(), text: 'x.y'.replace(/\./g, '+'), clean: Object.keys({}).length === 0
  && typeof left === 'undefined' && typeof Object.prototype.left === 'undefined' };
";

fn quiet_answer() -> Value {
    let seen: Vec<Value> = (0..3).map(|i| json!({ "i": i, "list": [i, "a"] })).collect();
    let value = json!({
        "seen": seen, "id": "openclaw:core:echo", "sorted": [1, 2, 3], "text": "x+y", "clean": true,
    });
    json!(["completed", value, [{ "type": "text", "text": "a-1" }], null])
}

/// Plays every program of a folder in every way.
pub(crate) async fn all_of(folder: &str) {
    let engine = Codecell::new(EngineOptions {
        max_instances: MAX_VMS,
        ..EngineOptions::default()
    })
    .unwrap();
    let stage = Stage {
        neighbour: on(&engine, Bench::new(), "neighbour"),
        engine,
    };
    let mut wrong = Vec::new();
    for attack in Attack::all(folder) {
        let mut found = stage.alone(&attack, &attack.source).await;
        if found.is_empty() {
            found.extend(
                stage
                    .alone(&attack, &attack.parked())
                    .await
                    .into_iter()
                    .map(|line| format!("resumed: {line}")),
            );
            found.extend(
                stage
                    .beside(&attack)
                    .await
                    .into_iter()
                    .map(|line| format!("beside: {line}")),
            );
        }
        if !found.is_empty() {
            wrong.push(format!("{}\n{}", attack.name, found.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn on(engine: &Codecell, mut bench: Bench, session: &str) -> Bench {
    bench.codecell = engine.clone();
    session.clone_into(&mut bench.context.caller.session);
    bench
}

struct Stage {
    engine: Codecell,
    neighbour: Bench,
}

impl Stage {
    fn bench(&self, attack: &Attack) -> Bench {
        on(&self.engine, Bench::with(attack.settings()), "attacker")
    }

    /// Plays one version of an attack with nothing beside it.
    async fn alone(&self, attack: &Attack, source: &str) -> Vec<String> {
        let bench = self.bench(attack);
        let result = to_the_end(&bench, source, attack.ends_waiting()).await;
        let wrong = attack.judge(&result, started(&bench));
        self.nothing_is_left(attack, &bench).await;
        wrong
    }

    /// Plays an attack while the neighbour goes about its business.
    async fn beside(&self, attack: &Attack) -> Vec<String> {
        if attack.ends_by_time() {
            return self.outlasted(attack).await;
        }
        let bench = self.bench(attack);
        let (result, ()) = tokio::join!(
            to_the_end(&bench, &attack.source, attack.ends_waiting()),
            self.quiet(attack)
        );
        let wrong = attack.judge(&result, started(&bench));
        self.nothing_is_left(attack, &bench).await;
        wrong
    }

    /// The neighbour is done before an attack that has all the time there is. No clock is asked: the attack is still
    /// running then.
    async fn outlasted(&self, attack: &Attack) -> Vec<String> {
        let mut bench = self.bench(attack);
        bench.context.settings.timeout = std::time::Duration::from_secs(60);
        let (codecell, context) = (bench.codecell.clone(), bench.context.clone());
        let cell = json!({ "code": attack.source });
        let attacking = tokio::spawn(async move { codecell.exec(&cell, context).await });
        while self.engine.live_vms() == 0 {
            tokio::task::yield_now().await;
        }
        self.quiet(attack).await;
        let mut wrong = Vec::new();
        if attacking.is_finished() {
            wrong.push("the neighbour waited for it to end".to_owned());
        }
        bench.context.cancel.cancel();
        let result = serde_json::to_value(attacking.await.unwrap()).unwrap();
        if result["code"] != "aborted" {
            wrong.push(format!("cancelled, it ended as {result:#}"));
        }
        self.nothing_is_left(attack, &bench).await;
        wrong
    }

    async fn quiet(&self, attack: &Attack) {
        let result = self.neighbour.exec(QUIET).await;
        let found = json!([
            result["status"],
            result["value"],
            result["output"],
            result["warnings"]
        ]);
        assert_eq!(
            found,
            quiet_answer(),
            "the neighbour of {}\n{result:#}",
            attack.name
        );
    }

    async fn nothing_is_left(&self, attack: &Attack, bench: &Bench) {
        self.engine.abort_session(&bench.context.caller.session);
        assert_eq!(
            (self.engine.live_vms(), self.engine.suspended_runs()),
            (0, 0),
            "VMs and suspended runs after {}",
            attack.name
        );
        self.quiet(attack).await;
        assert_eq!(
            self.neighbour.value("return 1").await,
            json!(1),
            "after {}",
            attack.name
        );
    }
}

/// Waits for one program at most: on a busy machine a short budget may end before the attack has begun.
const MAX_WAITS: usize = 100;

/// Plays a program until it has ended or, if that is its end, waits for what never comes; what it printed on the way is
/// together.
async fn to_the_end(bench: &Bench, source: &str, ends_waiting: bool) -> Value {
    let mut result = bench.exec(source).await;
    let mut output = Vec::new();
    for _ in 0..MAX_WAITS {
        output.extend(result["output"].as_array().unwrap().iter().cloned());
        let is_over = result["status"] != "waiting" || (ends_waiting && result["reason"] == "pending_tools");
        if is_over {
            break;
        }
        result = bench.wait(&result["runId"]).await;
    }
    result["output"] = Value::Array(output);
    result
}

/// How many calls reached a tool.
fn started(bench: &Bench) -> u32 {
    let names = ["bump", "deep", "echo", "fail", "lie", "mixed", "never", "slow"];
    names
        .map(|name| bench.counters.get(&format!("start {name}")))
        .iter()
        .sum()
}
