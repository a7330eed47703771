use codecell_catalog::{Catalog, Reach};

use crate::{client, core, mcp, plugin};

fn check(asked: &str, reach: Reach, expected: &str) {
    let catalog = Catalog::build(vec![
        core("read"),
        core("web_search"),
        core("web_fetch"),
        plugin("files", "copy"),
        client("app", "copy"),
        client("app", "select_file"),
        mcp("github", "create_issue"),
        mcp("gitlab", "create_issue"),
        mcp("github", "list_pull_requests"),
    ]);
    let found = match catalog.lookup(asked, reach) {
        Ok(tool) => tool.id().to_string(),
        Err(error) => error.to_string(),
    };
    assert_eq!(found, expected, "{asked:?} {reach:?}");
}

#[test]
fn an_exact_id_or_a_unique_name_is_found() {
    check("openclaw:core:read", Reach::Guest, "openclaw:core:read");
    check("select_file", Reach::Guest, "client:app:select_file");
    check("  read ", Reach::Guest, "openclaw:core:read");
    check("mcp:github:create_issue", Reach::All, "mcp:github:create_issue");
    check("list_pull_requests", Reach::Mcp, "mcp:github:list_pull_requests");
}

#[test]
fn a_shared_name_is_ambiguous_and_says_between_what() {
    check(
        "copy",
        Reach::Guest,
        "ambiguous tool name `copy`; use an exact tool id: `openclaw:files:copy`, `client:app:copy`",
    );
    check(
        "create_issue",
        Reach::All,
        "ambiguous tool name `create_issue`; use an exact tool id: `mcp:github:create_issue`, `mcp:gitlab:create_issue`",
    );
}

#[test]
fn a_mistyped_id_or_name_suggests_the_nearest() {
    check(
        "webSearch",
        Reach::Guest,
        "unknown tool id `webSearch`; did you mean `openclaw:core:web_search`?",
    );
    check(
        "openclaw:core:raed",
        Reach::Guest,
        "unknown tool id `openclaw:core:raed`; did you mean `openclaw:core:read`?",
    );
    check(
        "Read",
        Reach::Guest,
        "unknown tool id `Read`; did you mean `openclaw:core:read`?",
    );
    check(
        "createIssue",
        Reach::All,
        "unknown tool id `createIssue`; did you mean `mcp:github:create_issue`, `mcp:gitlab:create_issue`?",
    );
    check("zzz", Reach::All, "unknown tool id `zzz`");
    check("", Reach::All, "unknown tool id ``");
    check("x; touch y", Reach::Guest, "unknown tool id `x; touch y`");
}

#[test]
fn an_mcp_tool_asked_for_through_tools_is_pointed_to_mcp() {
    let hint = |id| {
        format!("`{id}` is an MCP tool; it is called through `MCP`, where `MCP.$search(query)` finds it")
    };
    check(
        "mcp:github:create_issue",
        Reach::Guest,
        &hint("mcp:github:create_issue"),
    );
    check(
        "list_pull_requests",
        Reach::Guest,
        &hint("mcp:github:list_pull_requests"),
    );
    check("create_issue", Reach::Guest, "unknown tool id `create_issue`");
}

#[test]
fn a_huge_question_gives_a_small_answer() {
    let catalog = Catalog::build(vec![core("read")]);
    let message = catalog
        .lookup(&"read ".repeat(100_000), Reach::Guest)
        .unwrap_err()
        .to_string();
    assert!(message.chars().count() < 260, "{message}");
}
