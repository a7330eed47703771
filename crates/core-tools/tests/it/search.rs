//! `ls`, `glob` and `grep`.

use std::fs;

use serde_json::{Value, json};

use crate::Kit;

#[tokio::test]
async fn ls_lists_in_the_order_of_names() {
    let kit = Kit::with(&[("b/c/d", "12345"), ("b/a", ""), (".hidden", "1"), ("z", "22")]);
    let file = |name: &str, bytes: u64| json!({ "name": name, "kind": "file", "bytes": bytes });
    let dir = |name: &str| json!({ "name": name, "kind": "dir" });
    let cases = [
        (
            json!({}),
            ".",
            json!([file(".hidden", 1), dir("b"), file("z", 2)]),
        ),
        (json!({ "path": "b" }), "b", json!([file("a", 0), dir("c")])),
        (
            json!({ "path": "./b/", "depth": 2 }),
            "b",
            json!([file("a", 0), dir("c"), file("c/d", 5)]),
        ),
        (
            json!({ "path": ".", "depth": 2 }),
            ".",
            json!([
                file(".hidden", 1),
                dir("b"),
                file("b/a", 0),
                dir("b/c"),
                file("z", 2)
            ]),
        ),
    ];
    for (arguments, path, entries) in cases {
        let expected = json!({ "path": path, "entries": entries, "truncated": false });
        assert_eq!(kit.call("ls", arguments).await, Ok(expected));
    }
    assert_eq!(kit.refusal("ls", json!({ "path": "z" })).await, "not_a_directory");
    assert_eq!(kit.refusal("ls", json!({ "path": "none" })).await, "not_found");
}

#[tokio::test]
async fn ls_says_when_there_is_more() {
    let kit = Kit::with(&[]);
    for number in 0..1001 {
        fs::write(kit.path(&format!("{number:04}")), "").unwrap();
    }
    let listed = kit.call("ls", json!({})).await.unwrap();
    let entries = listed["entries"].as_array().unwrap();
    assert_eq!((entries.len(), &listed["truncated"]), (1000, &json!(true)));
    assert_eq!(entries[999]["name"], "0999");
}

fn project() -> Kit {
    Kit::with(&[
        (".gitignore", "/target\n*.log\n!keep.log\n*.tmp\n"),
        (".git/config", "needle"),
        (".hidden/x.rs", ""),
        ("src/.gitignore", "generated/\n!kept.tmp\n"),
        ("src/a.rs", "fn needle() {}\n"),
        ("src/deep/b.rs", "one\ntwo Needle\nthree\nfour\n"),
        ("src/generated/c.rs", "needle"),
        ("src/x.log", "needle"),
        ("src/deep/kept.tmp", ""),
        ("src/deep/other.tmp", ""),
        ("keep.log", "needle\r\nother\r\n"),
        ("target/d.rs", "needle"),
        ("top.ts", ""),
    ])
}

#[tokio::test]
async fn glob_finds_files_and_honours_gitignore() {
    let kit = project();
    let cases = [
        (
            json!({ "pattern": "**/*.rs" }),
            json!([".hidden/x.rs", "src/a.rs", "src/deep/b.rs"]),
        ),
        (
            json!({ "pattern": "*" }),
            json!([".gitignore", "keep.log", "top.ts"]),
        ),
        (json!({ "pattern": "./*.{ts,js}" }), json!(["top.ts"])),
        (json!({ "pattern": "**/*.log" }), json!(["keep.log"])),
        (
            json!({ "pattern": "**/*.rs", "path": "src" }),
            json!(["src/a.rs", "src/deep/b.rs"]),
        ),
        (json!({ "pattern": "*.log", "path": "src" }), json!([])),
        // The nearest rule decides, also where the walk begins below it.
        (
            json!({ "pattern": "*.tmp", "path": "src/deep" }),
            json!(["src/deep/kept.tmp"]),
        ),
        // Whoever names an ignored folder means it.
        (
            json!({ "pattern": "*", "path": "target" }),
            json!(["target/d.rs"]),
        ),
    ];
    for (arguments, paths) in cases {
        let expected = json!({ "paths": paths, "truncated": false });
        assert_eq!(kit.call("glob", arguments).await, Ok(expected));
    }
    let limited = kit
        .call("glob", json!({ "pattern": "**/*.rs", "limit": 2 }))
        .await;
    let expected = json!({ "paths": [".hidden/x.rs", "src/a.rs"], "truncated": true });
    assert_eq!(limited, Ok(expected));
    let exact = kit
        .call("glob", json!({ "pattern": "src/**/*.rs", "limit": 2 }))
        .await;
    let expected = json!({ "paths": ["src/a.rs", "src/deep/b.rs"], "truncated": false });
    assert_eq!(exact, Ok(expected));

    let refused = kit.call("glob", json!({ "pattern": "a{b" })).await;
    let message = "`a{b` is no glob: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)";
    assert_eq!(refused, Err(("invalid_pattern", message.to_owned())));
    let folder = json!({ "pattern": "*", "path": "top.ts" });
    assert_eq!(kit.refusal("glob", folder).await, "not_a_directory");
}

#[tokio::test]
async fn grep_finds_lines() {
    let kit = project();
    let hit = |path: &str, line: u64, text: &str| json!({ "path": path, "line": line, "text": text });
    let keep = hit("keep.log", 1, "needle");
    let a = hit("src/a.rs", 1, "fn needle() {}");
    let b = hit("src/deep/b.rs", 2, "two Needle");
    let mut around = b.clone();
    around["before"] = json!(["one"]);
    around["after"] = json!(["three"]);
    let cases = [
        (json!({ "pattern": "needle" }), json!([keep, a])),
        (
            json!({ "pattern": "needle", "ignoreCase": true }),
            json!([keep, a, b]),
        ),
        (json!({ "pattern": "needle$" }), json!([keep])),
        (json!({ "pattern": "needle", "glob": "*.rs" }), json!([a])),
        (json!({ "pattern": "Needle", "glob": "src/**/b.*" }), json!([b])),
        (
            json!({ "pattern": "needle", "glob": "src/*", "path": "." }),
            json!([a]),
        ),
        (
            json!({ "pattern": "Needle", "context": 1, "path": "src/deep" }),
            json!([around]),
        ),
        (
            json!({ "pattern": "needle", "path": "target/d.rs" }),
            json!([hit("target/d.rs", 1, "needle")]),
        ),
        (json!({ "pattern": "nothing" }), json!([])),
        (
            json!({ "pattern": "r$", "path": "keep.log" }),
            json!([hit("keep.log", 2, "other")]),
        ),
    ];
    for (arguments, matches) in cases {
        let expected = json!({ "matches": matches, "truncated": false });
        assert_eq!(
            kit.call("grep", arguments.clone()).await,
            Ok(expected),
            "{arguments}"
        );
    }
    let limited = kit.call("grep", json!({ "pattern": "needle", "limit": 1 })).await;
    assert_eq!(limited, Ok(json!({ "matches": [keep], "truncated": true })));
}

#[tokio::test]
async fn grep_is_bounded() {
    let long = format!("{}needle{}", "é".repeat(2000), "x".repeat(2000));
    let kit = Kit::with(&[("long", &long), ("many", &"a needle\n".repeat(10_000))]);
    fs::write(kit.path("binary"), b"needle\0").unwrap();
    let found = kit
        .call("grep", json!({ "pattern": "needle", "path": "long" }))
        .await
        .unwrap();
    let text = found["matches"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("…é") && text.contains("éneedlexx") && text.ends_with("x…"),
        "{text}"
    );
    assert!(text.len() <= 510, "{}", text.len());

    let count = |found: &Value| {
        (
            found["matches"].as_array().unwrap().len(),
            found["truncated"].clone(),
        )
    };
    let many = kit
        .call("grep", json!({ "pattern": "needle", "path": "many" }))
        .await
        .unwrap();
    assert_eq!(count(&many), (200, json!(true)));
    let most = json!({ "pattern": "needle", "path": "many", "limit": 2000, "context": 10 });
    let most = kit.call("grep", most).await.unwrap();
    assert_eq!(count(&most), (1526, json!(true)));
    let binary = kit
        .call("grep", json!({ "pattern": "needle", "glob": "binary" }))
        .await
        .unwrap();
    assert_eq!(count(&binary), (0, json!(false)));
}

#[tokio::test]
async fn grep_refuses_what_it_cannot_search_for() {
    let kit = Kit::with(&[("a", "")]);
    let cases = [
        (json!({ "pattern": "(" }), "invalid_pattern"),
        (json!({ "pattern": "(?=a)" }), "invalid_pattern"),
        (json!({ "pattern": "\\w{1000}{1000}" }), "invalid_pattern"),
        (json!({ "pattern": "a", "glob": "[" }), "invalid_pattern"),
        (json!({ "pattern": "a", "path": "none" }), "not_found"),
    ];
    for (arguments, code) in cases {
        assert_eq!(kit.refusal("grep", arguments).await, code);
    }
}
