use std::sync::Arc;

use codecell_namespaces::{MAX_SCOPE_BYTES, MAX_SCOPE_NODES, NamespaceTool, Scope, ScopeValue};
use serde_json::{Value, json};

use crate::{issues, opened};

/// What the guest is given for a scope, or why not.
fn tree(scope: Scope) -> Result<String, String> {
    let open = opened([issues(move || Ok(scope.clone()))]);
    open.tree("Issues")
        .map(str::to_owned)
        .map_err(|error| error.to_string())
}

fn refusal(scope: Scope) -> String {
    tree(scope).unwrap_err()
}

/// `levels` arrays in one another.
fn nested(levels: usize) -> Value {
    (1..levels).fold(json!([]), |inner, _| json!([inner]))
}

#[test]
fn nested_objects_and_shared_references_are_written_whole() {
    let labels = Arc::new(ScopeValue::from(
        Scope::new().with("list", NamespaceTool::new("list_issues")).with(
            "known",
            json!(["bug", { "name": "later", "rank": 18_446_744_073_709_551_615_u64 }]),
        ),
    ));
    let scope = Scope::new()
        .with("z", json!(null))
        .with("labels", Arc::clone(&labels))
        .with("again", vec![labels.into(), json!("a \"quote\"").into()])
        .with("empty", Scope::new());
    let labels = r#"{"object":{"list":{"call":true},"known":{"value":["bug",{"name":"later","rank":18446744073709551615}]}}}"#;
    assert_eq!(
        tree(scope).unwrap(),
        format!(
            r#"{{"object":{{"z":{{"value":null}},"labels":{labels},"again":{{"array":[{labels},{{"value":"a \"quote\""}}]}},"empty":{{"object":{{}}}}}}}}"#
        )
    );
}

#[test]
fn names_that_reach_into_the_language_are_refused() {
    for (name, shown) in [
        ("", "(empty)"),
        ("__proto__", "__proto__"),
        ("constructor", "constructor"),
        ("prototype", "prototype"),
        ("a\u{0}b", "a\\0b"),
        ("line\nbreak", "line\\nbreak"),
    ] {
        let invalid = format!("Invalid code mode namespace path segment: {shown}");
        assert_eq!(refusal(Scope::new().with(name, json!(1))), invalid);
        let deeper = vec![ScopeValue::from(
            Scope::new().with(name, NamespaceTool::new("list_issues")),
        )];
        assert_eq!(
            refusal(Scope::new().with("a", deeper)),
            format!("{invalid} (in a.0)")
        );
        let data = json!({ "b": [{ name: 1 }] });
        assert_eq!(
            refusal(Scope::new().with("a", data)),
            format!("{invalid} (in a.b.0)")
        );
    }
    let odd = Scope::new().with("a.b", json!(1)).with("toString", json!(2));
    assert_eq!(
        tree(odd).unwrap(),
        r#"{"object":{"a.b":{"value":1},"toString":{"value":2}}}"#
    );
}

#[test]
fn a_member_that_would_hide_another_is_refused() {
    let inner = Scope::new().with("list", json!(1)).with("list", json!(2));
    assert_eq!(
        refusal(Scope::new().with("labels", inner)),
        "Duplicate code mode namespace member at labels.list."
    );
}

#[test]
fn marks_without_a_name_are_refused() {
    assert_eq!(
        refusal(Scope::new().with("list", NamespaceTool::new("  "))),
        "Code mode namespace toolName must be non-empty."
    );
    for (names, name) in [(["number", ""], ""), (["patch", "patch"], "patch")] {
        let tool = NamespaceTool::new("update_issue").positional(names);
        assert_eq!(
            refusal(Scope::new().with("update", tool)),
            format!(
                "Code mode namespace tool update_issue must give each positional argument a non-empty name of its \
                 own, not \"{name}\"."
            )
        );
    }
}

#[test]
fn depth_is_limited_in_scopes_and_in_data() {
    assert!(tree(Scope::new().with("a", nested(64))).is_ok());
    let path = |first: &str, rest: &str| format!("{first}{}", rest.repeat(64));
    let too_deep =
        |path: &str| format!("Code mode namespace scope at {path} is nested deeper than 64 levels.");
    // A path this long is cut in the message.
    let shown = |path: String| path.chars().take(119).collect::<String>() + "…";
    assert_eq!(
        refusal(Scope::new().with("a", nested(66))),
        too_deep(&shown(path("a", ".0")))
    );
    let scope = (0..64).fold(Scope::new(), |inner, _| Scope::new().with("b", inner));
    assert!(tree(scope.clone()).is_ok());
    assert_eq!(
        refusal(Scope::new().with("a", scope)),
        too_deep(&shown(path("a", ".b")))
    );
}

#[test]
fn sharing_cannot_multiply_a_scope_beyond_its_limit() {
    let doubled = (0..40).fold(Arc::new(ScopeValue::from(json!(1))), |value, _| {
        Arc::new(ScopeValue::Array(vec![Arc::clone(&value).into(), value.into()]))
    });
    let message = refusal(Scope::new().with("a", doubled));
    assert!(
        message.starts_with(
            "Code mode namespace scope has more than 10000 values, shared ones counted each time;"
        ),
        "{message}"
    );

    let chain = (0..100_000).fold(Arc::new(ScopeValue::from(json!(1))), |value, _| {
        Arc::new(ScopeValue::Shared(value))
    });
    let scope = Scope::new().with("a", Arc::clone(&chain));
    assert_eq!(tree(scope).unwrap(), r#"{"object":{"a":{"value":1}}}"#);
    unchain(chain);
}

/// Drops a long chain of references from the outside in: dropping it as a whole would recurse.
fn unchain(mut value: Arc<ScopeValue>) {
    while let Some(ScopeValue::Shared(inner)) = Arc::into_inner(value) {
        value = inner;
    }
}

#[test]
fn the_number_of_values_and_bytes_is_limited() {
    let values = |count: usize| Scope::new().with("a", json!(vec![1; count]));
    // The root and the array are values as well.
    assert!(tree(values(MAX_SCOPE_NODES - 2)).is_ok());
    assert_eq!(
        refusal(values(MAX_SCOPE_NODES - 1)),
        "Code mode namespace scope has more than 10000 values, shared ones counted each time; the first too many is \
         at a.9998."
    );

    let text = |bytes: usize| Scope::new().with("a", json!("x".repeat(bytes)));
    let around = tree(text(0)).unwrap().len();
    assert_eq!(
        tree(text(MAX_SCOPE_BYTES - around)).unwrap().len(),
        MAX_SCOPE_BYTES
    );
    for bytes in [MAX_SCOPE_BYTES - around + 1, 10 * MAX_SCOPE_BYTES] {
        let message = refusal(text(bytes));
        assert!(
            message.starts_with(
                "Code mode namespace scope is larger than 262144 bytes of JSON; the first too many are at"
            ),
            "{message}"
        );
    }
}
