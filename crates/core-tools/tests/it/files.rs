//! `read`, `write` and `edit`.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use codecell_core_tools::{CoreToolsConfig, RootConfig, core_tools};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{Kit, call};

#[tokio::test]
async fn read_gives_lines_as_they_are() {
    let kit = Kit::with(&[
        ("a.txt", "one\r\ntwo\r\nthree\n\nfive"),
        ("empty", ""),
        ("sub/b", "x\n"),
    ]);
    fs::write(kit.path("latin"), b"caf\xe9\n").unwrap();
    let answer = |path: &str, text: &str, start: u64, lines: u64, total: u64, truncated: bool| {
        json!({
            "path": path, "text": text, "startLine": start, "lines": lines, "totalLines": total, "truncated": truncated,
        })
    };
    let cases = [
        (
            json!({ "path": "a.txt" }),
            answer("a.txt", "one\r\ntwo\r\nthree\n\nfive", 1, 5, 5, false),
        ),
        (
            json!({ "path": "a.txt", "offset": 2, "limit": 2 }),
            answer("a.txt", "two\r\nthree\n", 2, 2, 5, true),
        ),
        (
            json!({ "path": "a.txt", "offset": 5 }),
            answer("a.txt", "five", 5, 1, 5, false),
        ),
        (json!({ "path": "empty" }), answer("empty", "", 1, 0, 0, false)),
        (
            json!({ "path": "./sub/../sub//b" }),
            answer("sub/b", "x\n", 1, 1, 1, false),
        ),
        (
            json!({ "path": kit.path("sub/b") }),
            answer("sub/b", "x\n", 1, 1, 1, false),
        ),
        (
            json!({ "path": "latin" }),
            answer("latin", "caf\u{fffd}\n", 1, 1, 1, false),
        ),
    ];
    for (arguments, expected) in cases {
        assert_eq!(kit.call("read", arguments).await, Ok(expected));
    }
}

#[tokio::test]
async fn read_cuts_what_is_too_long() {
    let long = "é".repeat(200_000);
    let kit = Kit::with(&[
        ("line", &long),
        ("many", &"0123456789abcdef\n".repeat(20_000)),
        ("lines", &"x\n".repeat(3000)),
    ]);
    let cases = [
        ("line", 262_144, 1, 1),
        ("many", 262_140, 15_420, 20_000),
        ("lines", 4000, 2000, 3000),
    ];
    for (path, bytes, lines, total) in cases {
        let answer = kit.call(
            "read",
            json!({ "path": path, "limit": if path == "many" { 20_000 } else { 2000 } }),
        );
        let answer = answer.await.unwrap();
        let seen = (
            answer["text"].as_str().unwrap().len(),
            answer["lines"].as_u64().unwrap(),
            answer["totalLines"].as_u64().unwrap(),
            answer["truncated"].as_bool().unwrap(),
        );
        assert_eq!(seen, (bytes, lines, total, true), "{path}");
    }
}

#[tokio::test]
async fn read_refuses_what_is_no_text_in_words() {
    let kit = Kit::with(&[("a.txt", "one\n")]);
    fs::write(kit.path("picture"), b"\x89PNG\r\n\x1a\n....").unwrap();
    fs::write(kit.path("data"), b"abc\0def").unwrap();
    let huge = fs::File::create(kit.path("huge")).unwrap();
    huge.set_len(40 << 20).unwrap();
    fs::create_dir(kit.path("folder")).unwrap();
    let long = "n".repeat(5000);
    let cases = [
        (
            "picture",
            "not_text",
            "`picture` is a PNG image (12 bytes), not text in UTF-8",
        ),
        (
            "data",
            "not_text",
            "`data` is binary data (7 bytes), not text in UTF-8",
        ),
        (
            "huge",
            "too_large",
            "`huge` is 41943040 bytes; the limit is 33554432. `grep` finds lines in larger files",
        ),
        (
            "folder",
            "is_a_directory",
            "`folder` is a folder, not a file; `ls` shows what is in it",
        ),
        (
            "none",
            "not_found",
            "`none` does not exist; `ls` and `glob` show what does",
        ),
        (
            "a.txt/x",
            "not_a_directory",
            "`a.txt/x`, or a part of it, is no folder",
        ),
        ("", "invalid_path", "the path is empty; `.` is the root folder"),
        ("a\0b", "invalid_path", "a path cannot contain a NUL character"),
    ];
    for (path, code, message) in cases {
        let refused = kit.call("read", json!({ "path": path })).await;
        assert_eq!(refused, Err((code, message.to_owned())));
    }
    assert_eq!(kit.refusal("read", json!({ "path": long })).await, "invalid_path");
    let past = kit.call("read", json!({ "path": "a.txt", "offset": 2 })).await;
    let message = "`a.txt` has 1 lines; line 2 is past its end".to_owned();
    assert_eq!(past, Err(("invalid_offset", message)));
}

#[tokio::test]
async fn write_makes_and_replaces_files() {
    let kit = Kit::with(&[("old.sh", "old")]);
    fs::set_permissions(kit.path("old.sh"), Permissions::from_mode(0o750)).unwrap();
    let cases = [
        (
            json!({ "path": "new", "text": "äb\r\n" }),
            json!({ "path": "new", "bytes": 5, "created": true }),
        ),
        (
            json!({ "path": "old.sh", "text": "new" }),
            json!({ "path": "old.sh", "bytes": 3, "created": false }),
        ),
        (
            json!({ "path": "p/q/r", "text": "", "createDirs": true }),
            json!({ "path": "p/q/r", "bytes": 0, "created": true }),
        ),
    ];
    for (arguments, expected) in cases {
        assert_eq!(kit.call("write", arguments).await, Ok(expected));
    }
    assert_eq!(
        [kit.text("new"), kit.text("old.sh"), kit.text("p/q/r")],
        ["äb\r\n", "new", ""]
    );
    let mode = fs::metadata(kit.path("old.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o750);
    assert_eq!(kit.names(), ["new", "old.sh", "p"]);
}

#[tokio::test]
async fn write_refuses_and_leaves_nothing_behind() {
    let kit = Kit::with(&[("file", "kept"), ("locked", "kept"), ("folder/x", "")]);
    fs::set_permissions(kit.path("locked"), Permissions::from_mode(0o444)).unwrap();
    symlink("file", kit.path("link")).unwrap();
    let cases = [
        ("none/x", false, "not_found"),
        ("folder", false, "is_a_directory"),
        (".", false, "is_a_directory"),
        ("link", false, "symlink"),
        ("locked", false, "not_writable"),
        ("file/x", true, "not_a_directory"),
        ("../x", true, "outside_roots"),
    ];
    for (path, dirs, code) in cases {
        let arguments = json!({ "path": path, "text": "changed", "createDirs": dirs });
        assert_eq!(kit.refusal("write", arguments).await, code, "{path}");
    }
    assert_eq!([kit.text("file"), kit.text("locked")], ["kept", "kept"]);
    assert_eq!(kit.names(), ["file", "folder", "link", "locked"]);
}

#[tokio::test]
async fn edit_makes_all_edits() {
    let cases = [
        ("a b c", json!([{ "oldText": "b", "newText": "B" }]), 1, "a B c"),
        (
            "x x x",
            json!([{ "oldText": "x", "newText": "xx", "all": true }]),
            3,
            "xx xx xx",
        ),
        (
            "one two",
            json!([{ "oldText": "two", "newText": "one" }, { "oldText": "one", "newText": "two" }]),
            2,
            "two one",
        ),
        (
            "a\r\nb\r\n",
            json!([{ "oldText": "a\nb", "newText": "c\nd" }]),
            1,
            "c\r\nd\r\n",
        ),
        ("aé", json!([{ "oldText": "é", "newText": "" }]), 1, "a"),
    ];
    for (text, edits, replacements, expected) in cases {
        let kit = Kit::with(&[("f", text)]);
        let done = kit.call("edit", json!({ "path": "f", "edits": edits })).await;
        assert_eq!(done, Ok(json!({ "path": "f", "replacements": replacements })));
        assert_eq!(kit.text("f"), expected);
    }
}

#[tokio::test]
async fn edit_makes_none_if_one_does_not_fit() {
    let text = "fn alpha() {}\nlet x = 1;\nlet x = 1;\n";
    let good = json!({ "oldText": "alpha", "newText": "beta" });
    let cases = [
        (
            json!({ "oldText": "let y = 1;", "newText": "" }),
            "no_match",
            "the `oldText` of edit 2 does not occur in `f`; the nearest is line 2: `let x = 1;`",
        ),
        (
            json!({ "oldText": "0xdeadbeef", "newText": "" }),
            "no_match",
            "the `oldText` of edit 2 does not occur in `f`",
        ),
        (
            json!({ "oldText": "x = 1", "newText": "" }),
            "ambiguous",
            "the `oldText` of edit 2 occurs 2 times in `f`, in lines 2, 3; give more of the text around it, or `all: true`",
        ),
        (
            json!({ "oldText": "fn al", "newText": "" }),
            "overlap",
            "edits 2 and 1 overlap at line 1 of `f`; make them one edit",
        ),
        (
            json!({ "oldText": "", "newText": "" }),
            "invalid_arguments",
            "edit 2 has an empty `oldText`; `write` writes whole files",
        ),
    ];
    for (bad, code, message) in cases {
        let kit = Kit::with(&[("f", text)]);
        let refused = kit
            .call("edit", json!({ "path": "f", "edits": [good, bad] }))
            .await;
        assert_eq!(refused, Err((code, message.to_owned())));
        assert_eq!(kit.text("f"), text);
        assert_eq!(kit.names(), ["f"]);
    }
    let kit = Kit::with(&[]);
    fs::write(kit.path("latin"), b"caf\xe9").unwrap();
    let edit = json!({ "path": "latin", "edits": [{ "oldText": "caf", "newText": "x" }] });
    assert_eq!(kit.refusal("edit", edit).await, "not_text");
}

#[tokio::test]
async fn edits_of_one_file_at_the_same_time_all_count() {
    let text: String = (0..40).map(|number| format!("<{number}>\n")).collect();
    let kit = Kit::with(&[("f", &text)]);
    let kit = std::sync::Arc::new(kit);
    let edits: Vec<_> = (0..40)
        .map(|number| {
            let kit = std::sync::Arc::clone(&kit);
            let edit = json!({ "oldText": format!("<{number}>"), "newText": format!("[{number}]") });
            tokio::spawn(async move { kit.call("edit", json!({ "path": "f", "edits": [edit] })).await })
        })
        .collect();
    for edit in edits {
        edit.await.unwrap().unwrap();
    }
    assert_eq!(kit.text("f"), text.replace('<', "[").replace('>', "]"));
}

#[tokio::test]
async fn arguments_that_do_not_fit_and_cancelled_calls_do_nothing() {
    let kit = Kit::with(&[("f", "kept")]);
    let odd = json!({ "path": "f", "text": "changed", "mode": 1 });
    assert_eq!(kit.refusal("write", odd).await, "invalid_arguments");
    let cancel = CancellationToken::new();
    cancel.cancel();
    let arguments = [
        ("read", json!({ "path": "f" })),
        ("write", json!({ "path": "f", "text": "changed" })),
        ("ls", json!({})),
        ("glob", json!({ "pattern": "*" })),
        ("grep", json!({ "pattern": "k" })),
    ];
    for (name, arguments) in arguments {
        let refused = call(&kit.tools, name, arguments, cancel.clone()).await;
        assert_eq!(refused, Err(("cancelled", "the call was cancelled".to_owned())));
    }
    assert_eq!(kit.text("f"), "kept");
}

#[tokio::test]
async fn with_several_roots_paths_begin_with_a_name() {
    let base = tempfile::tempdir().unwrap();
    for path in ["one/app/a", "two/app/b", "docs/c"] {
        let path = base.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "text").unwrap();
    }
    let root = |path: &str, writable| RootConfig {
        path: base.path().join(path),
        writable,
    };
    let tools = core_tools(CoreToolsConfig {
        roots: vec![root("one/app", true), root("two/app", false), root("docs", false)],
        ..CoreToolsConfig::default()
    })
    .unwrap();
    let ask = |name, arguments| call(&tools, name, arguments, CancellationToken::new());
    let paths = |answer: Value| answer["paths"].clone();

    let all = json!(["app/a", "app-2/b", "docs/c"]);
    assert_eq!(paths(ask("glob", json!({ "pattern": "**" })).await.unwrap()), all);
    let some = ask("glob", json!({ "pattern": "app*/*" })).await.unwrap();
    assert_eq!(paths(some), json!(["app/a", "app-2/b"]));
    let within = ask("glob", json!({ "pattern": "*", "path": "app-2" }))
        .await
        .unwrap();
    assert_eq!(paths(within), json!(["app-2/b"]));

    let listed = ask("ls", json!({})).await.unwrap();
    let dir = |name: &str| json!({ "name": name, "kind": "dir" });
    assert_eq!(listed["entries"], json!([dir("app"), dir("app-2"), dir("docs")]));
    let found = ask("grep", json!({ "pattern": "tex", "path": "docs" }))
        .await
        .unwrap();
    assert_eq!(
        found["matches"],
        json!([{ "path": "docs/c", "line": 1, "text": "text" }])
    );

    let read = ask("read", json!({ "path": base.path().join("two/app/b") }))
        .await
        .unwrap();
    assert_eq!(read["path"], "app-2/b");
    let refusals = [
        ("read", json!({ "path": "." }), "is_a_directory"),
        ("read", json!({ "path": "app/../../docs/c" }), "outside_roots"),
        ("read", json!({ "path": "c" }), "not_found"),
        ("write", json!({ "path": "app-2/b", "text": "" }), "not_writable"),
        ("write", json!({ "path": "new", "text": "" }), "not_found"),
    ];
    for (name, arguments, code) in refusals {
        assert_eq!(ask(name, arguments).await.unwrap_err().0, code);
    }
    ask("write", json!({ "path": "app/../app/new", "text": "" }))
        .await
        .unwrap();
}
