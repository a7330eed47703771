use codecell_namespaces::{NamespaceError, NamespaceTool, OpenNamespaces, Scope, ScopeValue};
use serde_json::{Value, json};

use crate::{issues, opened};

/// `Issues` with one member of every kind.
fn namespace() -> OpenNamespaces {
    opened([issues(|| {
        let list = || NamespaceTool::new(" list_issues ");
        Ok(Scope::new()
            .with("repository", json!({ "owner": "octo", "pages": [1] }))
            .with("list", list())
            .with(
                "update",
                NamespaceTool::new("update_issue").positional(["number", "patch"]),
            )
            .with("close", NamespaceTool::new("update_issue").map_input(close))
            .with("labels", Scope::new().with("list", list()))
            .with(
                "several",
                vec![
                    json!(1).into(),
                    ScopeValue::from(Scope::new().with("list", list())),
                ],
            )
            .with("remove", NamespaceTool::new("delete_issue"))
            .with("broken", list().map_input(|_| panic!("a defect of the plugin")))
            .with("wrong", list().map_input(|_| Ok(json!([1])))))
    })])
}

fn close(args: Vec<Value>) -> Result<Value, String> {
    let number = args.first().ok_or("close(number) needs the number of an issue")?;
    Ok(json!({ "number": number, "state": "closed" }))
}

/// The tool and the argument that a call becomes, or what the guest is told.
fn call(path: &[&str], args: &[&str]) -> Result<String, String> {
    match namespace().resolve(path, args) {
        Ok((tool, argument)) => Ok(format!("{tool} {argument}")),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn a_call_becomes_an_exact_tool_and_one_argument_object() {
    let cases: [(&[&str], &[&str], &str); 11] = [
        (&["Issues", "list"], &[], "openclaw:github:list_issues {}"),
        (&["Issues", "list"], &["null"], "openclaw:github:list_issues {}"),
        (
            &["Issues", "list"],
            &[r#" {"state": "open"} "#, "5"],
            r#"openclaw:github:list_issues {"state": "open"}"#,
        ),
        (
            &["Issues", "labels", "list"],
            &[],
            "openclaw:github:list_issues {}",
        ),
        (
            &["Issues", "several", "1", "list"],
            &[],
            "openclaw:github:list_issues {}",
        ),
        (&["Issues", "update"], &[], "openclaw:github:update_issue {}"),
        (
            &["Issues", "update"],
            &["7"],
            r#"openclaw:github:update_issue {"number":7}"#,
        ),
        (
            &["Issues", "update"],
            &["null", r#"{"title":"t"}"#],
            r#"openclaw:github:update_issue {"number":null,"patch":{"title":"t"}}"#,
        ),
        (
            &["Issues", "update"],
            &["123456789012345678901234567890"],
            r#"openclaw:github:update_issue {"number":123456789012345678901234567890}"#,
        ),
        (
            &["Issues", "close"],
            &["18446744073709551615"],
            r#"openclaw:github:update_issue {"number":18446744073709551615,"state":"closed"}"#,
        ),
        (
            &["Issues", "close"],
            &[r#""seven""#],
            r#"openclaw:github:update_issue {"number":"seven","state":"closed"}"#,
        ),
    ];
    for (path, args, expected) in cases {
        assert_eq!(call(path, args).as_deref(), Ok(expected), "{path:?} {args:?}");
    }
}

#[test]
fn forged_globals_and_paths_are_refused() {
    for (path, message) in [
        (&["Forged", "list"][..], "Unknown code mode namespace: Forged"),
        (&["issues", "list"], "Unknown code mode namespace: issues"),
        (&["__proto__"], "Unknown code mode namespace: __proto__"),
        (&[], "Unknown code mode namespace: "),
        (&["Issues"], "Code mode namespace path is not callable: Issues"),
        (
            &["Issues", "forged"],
            "Code mode namespace path is not callable: Issues.forged",
        ),
        (
            &["Issues", "labels"],
            "Code mode namespace path is not callable: Issues.labels",
        ),
        (
            &["Issues", "labels.list"],
            "Code mode namespace path is not callable: Issues.labels.list",
        ),
        (
            &["Issues", "list", "call"],
            "Code mode namespace path is not callable: Issues.list.call",
        ),
        (
            &["Issues", "repository", "owner"],
            "Code mode namespace path is not callable: Issues.repository.owner",
        ),
        (
            &["Issues", "repository", "pages", "0"],
            "Code mode namespace path is not callable: Issues.repository.pages.0",
        ),
        (
            &["Issues", "several", "01", "list"],
            "Code mode namespace path is not callable: Issues.several.01.list",
        ),
        (
            &["Issues", "several", "2", "list"],
            "Code mode namespace path is not callable: Issues.several.2.list",
        ),
        (
            &["Issues", "constructor"],
            "Code mode namespace path is not callable: Issues.constructor",
        ),
    ] {
        assert_eq!(call(path, &[]), Err(message.to_owned()));
    }
    let unknown = namespace().tree(&"x".repeat(1_000_000)).unwrap_err().to_string();
    assert!(unknown.len() < 200, "{} bytes", unknown.len());
}

#[test]
fn a_path_cannot_reach_a_tool_that_is_not_required() {
    assert_eq!(
        call(&["Issues", "remove"], &[]),
        Err("Code mode namespace path targets undeclared tool: delete_issue".into())
    );
}

#[test]
fn arguments_that_make_no_object_are_refused_with_a_reason() {
    let cases: [(&str, &[&str], &str); 9] = [
        ("list", &["5"], "the argument must be an object, got a number"),
        ("list", &["\"a\""], "the argument must be an object, got a string"),
        ("list", &["[{}]"], "the argument must be an object, got an array"),
        ("list", &["true"], "the argument must be an object, got a boolean"),
        (
            "list",
            &[r#"{},"extra":{"#],
            "an argument cannot be read: trailing characters at line 1 column 3",
        ),
        (
            "update",
            &["1", "{}", "2"],
            "there are 3 arguments; it takes at most 2 (number, patch)",
        ),
        ("close", &[], "close(number) needs the number of an issue"),
        ("broken", &[], "the input mapper panicked"),
        (
            "wrong",
            &[],
            "the input mapper must return an object, got an array",
        ),
    ];
    for (member, args, reason) in cases {
        assert_eq!(
            call(&["Issues", member], args),
            Err(format!(
                "Code mode namespace call Issues.{member} was refused: {reason}"
            ))
        );
    }
    let injected = call(&["Issues", "update"], &[r#"1,"patch":2"#]);
    assert!(injected.is_err(), "{injected:?}");
}

/// Every place in a tree, and whether it is a function there.
fn places(node: &Value, path: &[String], found: &mut Vec<(Vec<String>, bool)>) {
    found.push((path.to_vec(), node.get("call").is_some()));
    let inside: Vec<(String, &Value)> = match (node.get("object"), node.get("array")) {
        (Some(Value::Object(members)), _) => members
            .iter()
            .map(|(name, member)| (name.clone(), member))
            .collect(),
        (_, Some(Value::Array(members))) => members
            .iter()
            .enumerate()
            .map(|(at, member)| (at.to_string(), member))
            .collect(),
        _ => Vec::new(),
    };
    for (name, member) in inside {
        places(member, &[path, &[name]].concat(), found);
    }
}

#[test]
fn what_the_guest_is_shown_as_a_function_is_exactly_what_can_be_called() {
    let open = namespace();
    let tree: Value = serde_json::from_str(open.tree("Issues").unwrap()).unwrap();
    let mut found = Vec::new();
    places(&tree, &["Issues".to_owned()], &mut found);
    assert_eq!(found.iter().filter(|(_, callable)| *callable).count(), 8);
    for (path, callable) in found {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let refused = matches!(
            open.resolve(&path, &[]),
            Err(NamespaceError::NotCallable { .. } | NamespaceError::Unknown { .. })
        );
        assert_eq!(!refused, callable, "{path:?}");
    }
}
