use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use codecell_catalog::Owner;
use codecell_tools::{
    ApprovalAsk, ApprovalNews, ApprovalRequest, Approvals, AskRule, CallContext, CallError, Caller,
    DecideError, Decision, ExecutionPath, HookDecision, Hooks, Origin, PendingApproval, PendingCell,
    Resolution, Restrictions, Severity,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{Before, Echo, asking, context, nested, read, reason, says, text, tool, value};

fn asks(ask: ApprovalAsk) -> Hooks {
    let hooks = Hooks::new();
    hooks.before("shipping", 0, None, says(HookDecision::ask(ask)));
    hooks
}

fn question() -> ApprovalAsk {
    ApprovalAsk::new("Read it?", "It is a file.")
}

fn rule(entry: &str) -> AskRule {
    AskRule {
        selectors: Restrictions::parse(&[entry]).unwrap(),
        timeout: None,
        severity: Severity::Critical,
    }
}

fn asking_path(echo: &Echo, approvals: &Approvals, hooks: Hooks) -> ExecutionPath {
    echo.path().with_hooks(hooks).with_approvals(approvals.clone())
}

fn request(origin: Origin) -> ApprovalRequest {
    ApprovalRequest {
        origin,
        ask: question(),
        tool: "openclaw:core:read".into(),
        arguments: text(json!({})),
        caller: Arc::new(Caller::new("main", "s1", "r1")),
        cell: None,
        number: 1,
        cancel: CancellationToken::new(),
    }
}

fn by_plugin() -> ApprovalRequest {
    request(Origin::Plugin { id: "p".into() })
}

#[tokio::test]
async fn a_person_sees_exactly_what_would_run() {
    let (echo, approvals) = (Echo::default(), Approvals::new());
    let _route = approvals.add_route();
    let path = asking_path(&echo, &approvals, asks(question()));
    let (shown, call) = asking(&approvals, &path, nested()).await;
    let (id, created) = (shown.id.clone(), shown.created_at_ms);
    assert!(id.starts_with("plugin:"), "{id}");
    let expected = PendingApproval {
        id: id.clone(),
        title: "Read it?".into(),
        description: "It is a file.".into(),
        asked_by: "shipping".into(),
        severity: Severity::Warning,
        tool: "openclaw:core:read".into(),
        arguments: text(json!({ "x": 1 })),
        cell: Some(PendingCell {
            id: "cell-1".into(),
            language: "javascript".into(),
            source: "await tools.read({})".into(),
            call: 3,
        }),
        agent: "main".into(),
        session: "s1".into(),
        run: "r1".into(),
        created_at_ms: created,
        expires_at_ms: created + 120_000,
        allowed_decisions: Decision::ALL.to_vec(),
    };
    assert_eq!(shown, expected);
    assert_eq!(approvals.get(&id), Some(expected.clone()));
    assert_eq!(approvals.list(), [expected]);
    let json = serde_json::to_value(&shown).unwrap();
    assert_eq!(
        json["allowedDecisions"],
        json!(["allow-once", "allow-always", "deny"])
    );
    assert_eq!(serde_json::from_value::<PendingApproval>(json).unwrap(), shown);

    assert_eq!(echo.ran().len(), 0, "nothing runs before the answer");
    approvals.decide(&id, Decision::AllowOnce).unwrap();
    assert_eq!(value(call.await.unwrap()), r#"{"x":1}"#);
    assert_eq!((approvals.list().len(), approvals.get(&id)), (0, None));
}

#[tokio::test(start_paused = true)]
async fn every_answer_but_yes_blocks_the_call() {
    type Settle = fn(&Approvals, &str, &CallContext);
    let deny: Settle = |approvals, id, _| approvals.decide(id, Decision::Deny).unwrap();
    let wait: Settle = |_, _, _| {};
    let not_offered: Settle = |approvals, id, _| {
        let error = approvals.decide(id, Decision::AllowAlways).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "approval `{id}` does not offer `allow-always`, so the call was denied; it offers allow-once, deny"
            )
        );
    };
    let end: Settle = |approvals, _, context| {
        approvals.cancel_session("main", "other");
        approvals.cancel_session("other", "s1");
        assert_eq!(approvals.list().len(), 1);
        approvals.cancel_session(&context.caller.agent, &context.caller.session);
    };
    let abort: Settle = |_, _, context| context.cancel.cancel();
    for (settle, told) in [
        (deny, "Denied by user"),
        (wait, "Approval timed out"),
        (not_offered, "Denied by user"),
        (end, "Plugin approval no longer available: the session has ended"),
        (abort, "Approval cancelled (run aborted)"),
    ] {
        let (echo, approvals) = (Echo::default(), Approvals::new());
        let _route = approvals.add_route();
        let ask = ApprovalAsk {
            allowed_decisions: vec![Decision::AllowOnce],
            ..question()
        };
        let path = asking_path(&echo, &approvals, asks(ask));
        let context = context();
        let (shown, call) = asking(&approvals, &path, context.clone()).await;
        settle(&approvals, &shown.id, &context);
        let error = call.await.unwrap().unwrap_err();
        let details = json!({ "status": "blocked", "deniedReason": "plugin-approval", "reason": told });
        assert_eq!(error.details(), Some(text(details)), "{error}");
        assert_eq!((echo.ran().len(), approvals.list().len()), (0, 0), "{told}");
        let late = approvals.decide(&shown.id, Decision::AllowOnce).unwrap_err();
        let expected = format!("approval `{}` is already settled: {told}", shown.id);
        assert_eq!(late.to_string(), expected);
    }
}

#[tokio::test]
async fn without_anybody_to_ask_the_answer_is_no_at_once() {
    let (echo, approvals) = (Echo::default(), Approvals::new());
    let path = asking_path(&echo, &approvals, asks(question()));
    drop(approvals.add_route());
    let told = reason(path.call(&read(), None, context()).await);
    assert_eq!(told, "Plugin approval unavailable (no approval route)");
    let path = echo.path().with_hooks(asks(question()));
    let told = reason(path.call(&read(), None, context()).await);
    assert_eq!(told, "Plugin approval required (gateway unavailable)");
    assert_eq!(echo.ran().len(), 0);
}

#[tokio::test]
async fn a_question_that_is_none_is_rejected() {
    let ask = |title: &str, description: &str, timeout| ApprovalAsk {
        timeout,
        ..ApprovalAsk::new(title, description)
    };
    for (ask, why) in [
        (ask(" ", "", None), "the title is blank"),
        (
            ask(&"é".repeat(81), "", None),
            "the title has 81 characters; the limit is 80",
        ),
        (
            ask("t", &"x".repeat(513), None),
            "the description has 513 characters; the limit is 512",
        ),
        (ask("t", "", Some(Duration::ZERO)), "the timeout is zero"),
    ] {
        let (echo, approvals) = (Echo::default(), Approvals::new());
        let _route = approvals.add_route();
        let path = asking_path(&echo, &approvals, asks(ask));
        let told = reason(path.call(&read(), None, context()).await);
        assert_eq!(told, format!("Plugin approval request rejected: {why}"));
    }
}

#[tokio::test(start_paused = true)]
async fn questions_stay_open_as_long_as_their_kind_may() {
    let rule = |seconds| AskRule {
        timeout: seconds,
        ..rule("read")
    };
    let day = Some(Duration::from_secs(86_400));
    for (hook_time, rule_time, expected) in [
        (Some(None), None, 120),
        (Some(Some(Duration::from_secs(5))), None, 5),
        (Some(day), None, 600),
        (None, None, 120),
        (None, day, 1_800),
    ] {
        let (echo, approvals) = (Echo::default(), Approvals::new());
        let _route = approvals.add_route();
        let mut path = echo
            .path()
            .with_approvals(approvals)
            .with_ask_rules(vec![rule(rule_time)]);
        if let Some(timeout) = hook_time {
            path = path.with_hooks(asks(ApprovalAsk {
                timeout,
                ..question()
            }));
        }
        let began = tokio::time::Instant::now();
        assert_eq!(
            reason(path.call(&read(), None, context()).await),
            "Approval timed out"
        );
        assert_eq!(began.elapsed().as_secs(), expected);
    }
}

#[tokio::test]
async fn the_first_question_freezes_the_argument_and_rewrites_run_only_after_a_yes() {
    let (echo, approvals, hooks) = (Echo::default(), Approvals::new(), Hooks::new());
    let _route = approvals.add_route();
    let rewrite = |value: i32| HookDecision::rewrite(text(json!({ "x": value })));
    hooks.before("a", 3, None, says(rewrite(2)));
    hooks.before(
        "b",
        2,
        None,
        says(HookDecision {
            require_approval: Some(question()),
            ..rewrite(3)
        }),
    );
    hooks.before("c", 1, None, says(rewrite(4)));
    hooks.before(
        "d",
        0,
        None,
        says(HookDecision::ask(ApprovalAsk::new("Another?", ""))),
    );
    let path = asking_path(&echo, &approvals, hooks);
    let (shown, call) = asking(&approvals, &path, context()).await;
    assert_eq!(
        (&*shown.title, shown.arguments.as_str()),
        ("Read it?", r#"{"x":3}"#)
    );
    assert_eq!((echo.ran().len(), approvals.list().len()), (0, 1));
    approvals.decide(&shown.id, Decision::AllowOnce).unwrap();
    assert_eq!(value(call.await.unwrap()), r#"{"x":3}"#);
    assert_eq!(echo.ran(), [r#"{"x":3}"#]);
}

#[tokio::test]
async fn a_later_hook_may_block_what_an_earlier_one_asks_about() {
    let (echo, approvals, hooks) = (Echo::default(), Approvals::new(), asks(question()));
    let _route = approvals.add_route();
    hooks.before("strict", -1, None, says(HookDecision::block("never")));
    let path = asking_path(&echo, &approvals, hooks);
    let mut news = approvals.subscribe();
    assert_eq!(reason(path.call(&read(), None, context()).await), "never");
    assert!(news.try_recv().is_err(), "nobody was asked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_fifty_answers_one_counts() {
    let (echo, approvals) = (Echo::default(), Approvals::new());
    let _route = approvals.add_route();
    let path = asking_path(&echo, &approvals, asks(question()));
    let (shown, call) = asking(&approvals, &path, context()).await;
    let won = Arc::new(AtomicUsize::new(0));
    let answers: Vec<_> = (0..50)
        .map(|number| {
            let (approvals, id, won) = (approvals.clone(), shown.id.clone(), Arc::clone(&won));
            let decision = if number % 2 == 0 {
                Decision::AllowOnce
            } else {
                Decision::AllowAlways
            };
            tokio::spawn(async move {
                match approvals.decide(&id, decision) {
                    Ok(()) => drop(won.fetch_add(1, Ordering::Relaxed)),
                    Err(DecideError::Settled { .. }) => {}
                    Err(other) => panic!("{other}"),
                }
            })
        })
        .collect();
    for answer in answers {
        answer.await.unwrap();
    }
    assert!(call.await.unwrap().is_ok());
    assert_eq!((won.load(Ordering::Relaxed), echo.ran().len()), (1, 1));
}

#[tokio::test]
async fn an_unknown_question_is_told_apart_from_a_settled_one() {
    let approvals = Approvals::new();
    let _route = approvals.add_route();
    let unknown = approvals.decide("plugin:nope", Decision::Deny).unwrap_err();
    assert_eq!(unknown.to_string(), "there is no approval `plugin:nope`");
    let open = approvals.open(by_plugin()).ok().unwrap();
    let id = open.id().to_owned();
    approvals.decide(&id, Decision::Deny).unwrap();
    let twice = approvals.decide(&id, Decision::AllowOnce).unwrap_err();
    assert_eq!(
        twice.to_string(),
        format!("approval `{id}` is already settled: Denied by user")
    );
    assert_eq!(open.answer().await, Resolution::Denied, "the first answer counts");
}

#[tokio::test]
async fn a_dropped_call_takes_its_question_back_and_listeners_hear_it() {
    let approvals = Approvals::new();
    let _route = approvals.add_route();
    let mut news = approvals.subscribe();
    let open = approvals.open(by_plugin()).ok().unwrap();
    let id = open.id().to_owned();
    drop(open);
    assert_eq!(approvals.list(), []);
    assert!(matches!(news.recv().await.unwrap(), ApprovalNews::Opened { approval } if approval.id == id));
    let resolution = Resolution::Cancelled;
    assert_eq!(
        news.recv().await.unwrap(),
        ApprovalNews::Closed { id, resolution }
    );
}

#[tokio::test(start_paused = true)]
async fn a_rule_asks_and_remembers_always_per_agent_tool_and_rule() {
    let (echo, approvals) = (Echo::default(), Approvals::new());
    let route = approvals.add_route();
    let path = echo.path().with_approvals(approvals.clone()).with_ask_rules(vec![
        rule("group:ui"),
        rule("hint:not-read-only"),
        rule("*"),
    ]);
    let (shown, first) = asking(&approvals, &path, context()).await;
    assert!(shown.id.starts_with("policy:"), "{}", shown.id);
    assert_eq!(
        (&*shown.title, &*shown.description, shown.severity),
        (
            "Call read?",
            "The configuration asks before `openclaw:core:read` is called, by `hint:not-read-only`.",
            Severity::Critical
        )
    );
    let (_, second) = asking(&approvals, &path, context()).await;
    approvals.decide(&shown.id, Decision::AllowAlways).unwrap();
    for call in [first, second] {
        assert!(
            call.await.unwrap().is_ok(),
            "the same question that waits is answered too"
        );
    }
    assert!(
        path.call(&read(), None, context()).await.is_ok(),
        "and later ones are not asked"
    );

    drop(route);
    let no_route = "Plugin approval unavailable (no approval route)";
    let other = CallContext {
        caller: Arc::new(Caller::new("other", "s1", "r1")),
        ..context()
    };
    assert_eq!(
        reason(path.call(&read(), None, other).await),
        no_route,
        "another agent"
    );
    let write = Arc::new(codecell_catalog::Tool::alone(tool(Owner::Core, "write")));
    assert_eq!(
        reason(path.call(&write, None, context()).await),
        no_route,
        "another tool"
    );
    let path = path.with_ask_rules(vec![rule("*")]);
    assert_eq!(
        reason(path.call(&read(), None, context()).await),
        no_route,
        "another rule"
    );
}

#[tokio::test]
async fn a_plugins_always_covers_one_call() {
    let (echo, approvals) = (Echo::default(), Approvals::new());
    let _route = approvals.add_route();
    let path = asking_path(&echo, &approvals, asks(question()));
    for _ in 0..2 {
        let (shown, call) = asking(&approvals, &path, context()).await;
        approvals.decide(&shown.id, Decision::AllowAlways).unwrap();
        assert!(call.await.unwrap().is_ok());
    }
}

#[tokio::test]
async fn a_plugin_and_a_rule_that_both_ask_are_one_question() {
    let (echo, approvals) = (Echo::default(), Approvals::new());
    let _route = approvals.add_route();
    let path = asking_path(&echo, &approvals, asks(question())).with_ask_rules(vec![rule("*")]);
    let mut news = approvals.subscribe();
    let (shown, call) = asking(&approvals, &path, context()).await;
    approvals.decide(&shown.id, Decision::AllowOnce).unwrap();
    assert!(call.await.unwrap().is_ok());
    let mut opened = 0;
    while let Ok(item) = news.try_recv() {
        opened += usize::from(matches!(item, ApprovalNews::Opened { .. }));
    }
    assert_eq!(opened, 1);
}

#[tokio::test]
async fn an_abort_beats_a_yes_that_comes_with_it() {
    let (echo, approvals) = (Echo::default(), Approvals::new());
    let _route = approvals.add_route();
    let path = asking_path(&echo, &approvals, asks(question()));
    let context = context();
    let (shown, call) = asking(&approvals, &path, context.clone()).await;
    // Both happen before the call is polled again.
    approvals.decide(&shown.id, Decision::AllowOnce).unwrap();
    context.cancel.cancel();
    assert!(matches!(call.await.unwrap(), Err(CallError::Aborted)));
    assert_eq!(echo.ran().len(), 0);
}

#[tokio::test]
async fn a_rewritten_argument_is_shown_only_if_it_can_be_used() {
    let (echo, approvals, hooks) = (Echo::default(), Approvals::new(), Hooks::new());
    let _route = approvals.add_route();
    hooks.before(
        "p",
        0,
        None,
        Arc::new(Before(|_| {
            Ok(HookDecision {
                params: Some(text(json!([]))),
                require_approval: Some(question()),
                block: None,
            })
        })),
    );
    let path = asking_path(&echo, &approvals, hooks);
    let told = reason(path.call(&read(), None, context()).await);
    assert!(
        told.starts_with("Tool call blocked because before_tool_call hook failed"),
        "{told}"
    );
}

#[tokio::test]
async fn waiting_questions_are_bounded() {
    let approvals = Approvals::new();
    let _route = approvals.add_route();
    let open: Vec<_> = (0..1_024)
        .map(|_| approvals.open(by_plugin()).ok().unwrap())
        .collect();
    assert_eq!(
        approvals.request(by_plugin()).await.to_string(),
        "Plugin approval request rejected: 1024 approvals are already waiting"
    );
    drop(open);
    assert_eq!(approvals.list(), []);
}
