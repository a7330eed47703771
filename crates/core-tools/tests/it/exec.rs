//! `exec`: what a command gives, and that nothing of it stays.
//!
//! Whether processes are gone is told by a named pipe that all of them hold open for writing: it is read to its end
//! only when the last one is.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::Command;
use std::time::Duration;

use codecell_core_tools::{CoreToolsConfig, ExecConfig};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{Kit, call};

fn kit() -> Kit {
    Kit::of(&[("sub/file", "text\n")], |roots| CoreToolsConfig {
        roots,
        exec: Some(ExecConfig {
            max_output_bytes: 1000,
            max_limit: Duration::from_secs(300),
            env: vec!["CARGO_PKG_NAME".into()],
            ..ExecConfig::default()
        }),
        ..CoreToolsConfig::default()
    })
}

fn done(code: i32, stdout: &str, stderr: &str) -> Value {
    json!({ "exitCode": code, "stdout": stdout, "stderr": stderr, "truncated": false, "timedOut": false })
}

#[tokio::test]
async fn commands_give_their_output_and_how_they_ended() {
    let kit = kit();
    let killed = json!({
        "exitCode": null, "signal": "SIGKILL", "stdout": "", "stderr": "", "truncated": false, "timedOut": false,
    });
    let cases = [
        (
            json!({ "command": "echo out; echo err >&2; exit 3" }),
            done(3, "out\n", "err\n"),
        ),
        (
            json!({ "command": "cat sub/file | tr a-z A-Z" }),
            done(0, "TEXT\n", ""),
        ),
        (
            json!({ "command": "cat file", "cwd": "sub" }),
            done(0, "text\n", ""),
        ),
        (json!({ "command": "cat" }), done(0, "", "")),
        (
            json!({ "command": "echo $A-$CARGO_PKG_NAME-$CARGO_MANIFEST_DIR", "env": { "A": "b c" } }),
            done(0, "b c-codecell-core-tools-\n", ""),
        ),
        (json!({ "command": "kill -KILL $$" }), killed),
        (
            json!({ "command": "printf 'a\\377b'" }),
            done(0, "a\u{fffd}b", ""),
        ),
    ];
    for (arguments, expected) in cases {
        assert_eq!(
            kit.call("exec", arguments.clone()).await,
            Ok(expected),
            "{arguments}"
        );
    }
}

#[tokio::test]
async fn the_middle_of_long_output_is_left_out() {
    let kit = kit();
    let long = json!({ "command": "printf begin; head -c 1000000 /dev/zero | tr '\\0' x; printf end; printf short >&2" });
    let answer = kit.call("exec", long).await.unwrap();
    let expected = json!({
        "exitCode": 0,
        "stdout": format!("begin{}\n[… 999008 bytes left out …]\n{}end", "x".repeat(495), "x".repeat(497)),
        "stderr": "short",
        "truncated": true,
        "timedOut": false,
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn what_cannot_be_run_is_refused() {
    let kit = kit();
    let cases = [
        (json!({ "command": "pwd", "cwd": ".." }), "outside_roots"),
        (json!({ "command": "pwd", "cwd": "/etc" }), "outside_roots"),
        (json!({ "command": "pwd", "cwd": "none" }), "not_found"),
        (json!({ "command": "pwd", "cwd": "sub/file" }), "not_a_directory"),
        (json!({ "command": "a\0b" }), "invalid_arguments"),
        (
            json!({ "command": "pwd", "env": { "A=B": "" } }),
            "invalid_arguments",
        ),
        (
            json!({ "command": "pwd", "env": { "A": "\0" } }),
            "invalid_arguments",
        ),
    ];
    for (arguments, code) in cases {
        assert_eq!(kit.refusal("exec", arguments).await, code);
    }
}

/// A pipe called `alive`, and its first line and its end once they are there.
fn alive(kit: &Kit) -> (oneshot::Receiver<String>, JoinHandle<()>) {
    let path = kit.path("alive");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let (first, started) = oneshot::channel();
    let ended = tokio::task::spawn_blocking(move || {
        let mut pipe = BufReader::new(File::open(path).unwrap());
        let mut line = String::new();
        pipe.read_line(&mut line).unwrap();
        first.send(line).unwrap();
        pipe.read_to_end(&mut Vec::new()).unwrap();
    });
    (started, ended)
}

/// A shell with children of its own that hold everything open and do not want to leave.
const STUBBORN: &str = "exec 3>alive; (trap '' TERM HUP INT; while :; do sleep 1000; done) & \
                        (sleep 1000 & sleep 1000) & echo started >&3; echo said; wait";

#[tokio::test]
async fn time_that_is_up_ends_the_whole_group() {
    let kit = kit();
    let (started, ended) = alive(&kit);
    let answer = kit
        .call("exec", json!({ "command": STUBBORN, "timeoutMs": 1000 }))
        .await
        .unwrap();
    let expected = json!({
        "exitCode": null, "signal": "SIGTERM", "stdout": "said\n", "stderr": "", "truncated": false, "timedOut": true,
    });
    assert_eq!(answer, expected);
    assert_eq!(started.await.unwrap(), "started\n");
    ended.await.unwrap();
}

#[tokio::test]
async fn a_command_may_tidy_up_when_its_time_is_up() {
    let kit = kit();
    let command = "trap 'echo bye; exit 7' TERM; echo on; sleep 1000 & wait";
    let answer = kit
        .call("exec", json!({ "command": command, "timeoutMs": 1000 }))
        .await
        .unwrap();
    let expected = json!({
        "exitCode": 7, "stdout": "on\nbye\n", "stderr": "", "truncated": false, "timedOut": true,
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn cancelling_ends_the_whole_group() {
    let kit = kit();
    let (started, ended) = alive(&kit);
    let cancel = CancellationToken::new();
    let calling = call(&kit.tools, "exec", json!({ "command": STUBBORN }), cancel.clone());
    let cancelling = async {
        assert_eq!(started.await.unwrap(), "started\n");
        cancel.cancel();
    };
    let (answer, ()) = tokio::join!(calling, cancelling);
    assert_eq!(answer, Err(("cancelled", "the call was cancelled".to_owned())));
    ended.await.unwrap();
}

#[tokio::test]
async fn a_call_that_is_dropped_ends_the_whole_group() {
    let kit = kit();
    let (started, ended) = alive(&kit);
    tokio::select! {
        answer = kit.call("exec", json!({ "command": STUBBORN })) => panic!("{answer:?}"),
        started = started => assert_eq!(started.unwrap(), "started\n"),
    }
    ended.await.unwrap();
}

#[tokio::test]
async fn what_is_left_in_the_background_holds_nothing_up() {
    let kit = kit();
    let (started, ended) = alive(&kit);
    let command = "exec 3>alive; echo started >&3; sleep 1000 & echo done";
    let answer = kit.call("exec", json!({ "command": command })).await;
    assert_eq!(answer, Ok(done(0, "done\n", "")));
    assert_eq!(started.await.unwrap(), "started\n");
    ended.await.unwrap();
}
