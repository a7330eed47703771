//! Ways out of a root, none of which works.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use codecell_core_tools::{CoreToolsConfig, RootConfig, core_tools};
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::{Kit, call};

/// A kit whose folder has every kind of link, and a secret to find outside.
fn trapped() -> (Kit, TempDir) {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    let kit = Kit::with(&[("in/file", "inside"), (".gitignore", "")]);
    symlink(outside.path().join("secret"), kit.path("file-link")).unwrap();
    symlink(outside.path(), kit.path("folder-link")).unwrap();
    symlink("..", kit.path("up")).unwrap();
    symlink("/proc/self/root", kit.path("magic")).unwrap();
    symlink("circle", kit.path("circle")).unwrap();
    symlink("in", kit.path("near")).unwrap();
    (kit, outside)
}

#[tokio::test]
async fn nothing_outside_is_read_or_changed() {
    let (kit, outside) = trapped();
    let folder = outside.path().display();
    let name = kit
        .folder
        .path()
        .file_name()
        .unwrap()
        .to_string_lossy()
        .into_owned();
    let attempts = [
        format!("../{name}/../x"),
        "..".to_owned(),
        "in/../../x".to_owned(),
        "/etc/passwd".to_owned(),
        format!("{folder}/secret"),
        format!("{}/../x", kit.folder.path().display()),
        format!("{}x/secret", kit.folder.path().display()),
        "folder-link/secret".to_owned(),
        "up/x".to_owned(),
        "magic/etc/passwd".to_owned(),
        "circle/x".to_owned(),
    ];
    for path in &attempts {
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch");
        let moved = format!("*** Begin Patch\n*** Update File: in/file\n*** Move to: {path}\n*** End Patch");
        let calls = [
            ("read", json!({ "path": path })),
            ("ls", json!({ "path": path })),
            ("glob", json!({ "pattern": "*", "path": path })),
            ("grep", json!({ "pattern": ".", "path": path })),
            ("write", json!({ "path": path, "text": "x" })),
            ("write", json!({ "path": path, "text": "x", "createDirs": true })),
            (
                "edit",
                json!({ "path": path, "edits": [{ "oldText": "s", "newText": "x" }] }),
            ),
            ("apply_patch", json!({ "patch": patch })),
            ("apply_patch", json!({ "patch": moved })),
        ];
        for (name, arguments) in calls {
            assert_eq!(
                kit.refusal(name, arguments).await,
                "outside_roots",
                "{name} {path}"
            );
        }
    }
    // The final link is refused too: for reading as a way out, for writing as a link.
    assert_eq!(
        kit.refusal("read", json!({ "path": "file-link" })).await,
        "outside_roots"
    );
    let write = json!({ "path": "file-link", "text": "x" });
    assert_eq!(kit.refusal("write", write).await, "symlink");
    let delete = "*** Begin Patch\n*** Delete File: file-link\n*** End Patch";
    assert_eq!(
        kit.refusal("apply_patch", json!({ "patch": delete })).await,
        "symlink"
    );

    let names: Vec<_> = fs::read_dir(outside.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["secret"]);
    assert_eq!(
        fs::read_to_string(outside.path().join("secret")).unwrap(),
        "secret"
    );
    assert_eq!(kit.text("in/file"), "inside");
}

#[tokio::test]
async fn searches_do_not_follow_links_and_listings_show_them() {
    let (kit, _outside) = trapped();
    let found = kit
        .call("grep", json!({ "pattern": "secret|inside" }))
        .await
        .unwrap();
    assert_eq!(
        found["matches"],
        json!([{ "path": "in/file", "line": 1, "text": "inside" }])
    );
    let listed = kit.call("ls", json!({ "depth": 8 })).await.unwrap();
    let link = |name: &str| json!({ "name": name, "kind": "symlink" });
    let expected = json!([
        { "name": ".gitignore", "kind": "file", "bytes": 0 },
        link("circle"),
        link("file-link"),
        link("folder-link"),
        { "name": "in", "kind": "dir" },
        { "name": "in/file", "kind": "file", "bytes": 6 },
        link("magic"),
        link("near"),
        link("up"),
    ]);
    assert_eq!(listed["entries"], expected);
}

#[tokio::test]
async fn what_is_no_file_is_refused_without_waiting() {
    let kit = Kit::with(&[("a", "text")]);
    assert!(
        Command::new("mkfifo")
            .arg(kit.path("pipe"))
            .status()
            .unwrap()
            .success()
    );
    let _listener = UnixListener::bind(kit.path("socket")).unwrap();
    for path in ["pipe", "socket"] {
        assert_eq!(
            kit.refusal("read", json!({ "path": path })).await,
            "not_a_file",
            "{path}"
        );
        let write = json!({ "path": path, "text": "x" });
        assert_eq!(kit.refusal("write", write).await, "not_a_file", "{path}");
        let grep = json!({ "pattern": "x", "path": path });
        assert_eq!(kit.refusal("grep", grep).await, "not_a_file", "{path}");
    }
    let found = kit.call("grep", json!({ "pattern": "t" })).await.unwrap();
    assert_eq!(
        found["matches"],
        json!([{ "path": "a", "line": 1, "text": "text" }])
    );
}

#[tokio::test]
async fn names_that_are_no_text_are_listed_and_reach_nothing() {
    let kit = Kit::with(&[]);
    let name = OsStr::from_bytes(b"caf\xe9");
    if fs::write(kit.folder.path().join(name), "x").is_err() {
        // Some file systems have no such names.
        return;
    }
    let listed = kit.call("ls", json!({})).await.unwrap();
    let expected = json!([{ "name": "caf\u{fffd}", "kind": "file", "bytes": 1 }]);
    assert_eq!(listed["entries"], expected);
    let read = json!({ "path": "caf\u{fffd}" });
    assert_eq!(kit.refusal("read", read).await, "not_found");
}

/// A folder is swapped for a link and back as fast as possible while it is read, listed, searched and written.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_swapped_for_a_link_is_no_way_out() {
    let base = tempfile::tempdir().unwrap();
    let [root, outside] = ["root", "outside"].map(|name| base.path().join(name));
    fs::create_dir_all(root.join("folder/inner")).unwrap();
    fs::create_dir_all(outside.join("inner")).unwrap();
    fs::write(root.join("folder/inner/file"), "inside").unwrap();
    fs::write(outside.join("inner/file"), "secret").unwrap();
    symlink(&outside, root.join("link")).unwrap();
    let tools = core_tools(CoreToolsConfig {
        roots: vec![RootConfig {
            path: root.clone(),
            writable: true,
        }],
        ..CoreToolsConfig::default()
    })
    .unwrap();
    let over = AtomicBool::new(false);
    let ask = |name, arguments| call(&tools, name, arguments, CancellationToken::new());
    let seen = async {
        let mut seen = String::new();
        for _ in 0..300 {
            let calls = [
                ("read", json!({ "path": "folder/inner/file" })),
                ("grep", json!({ "pattern": "secret", "path": "folder" })),
                ("write", json!({ "path": "folder/inner/new", "text": "x" })),
            ];
            for (name, arguments) in calls {
                if let Ok(value) = ask(name, arguments).await {
                    seen.push_str(&value.to_string());
                }
            }
        }
        over.store(true, Ordering::Relaxed);
        seen
    };
    let swap = || {
        while !over.load(Ordering::Relaxed) {
            fs::rename(root.join("folder"), root.join("away")).unwrap();
            fs::rename(root.join("link"), root.join("folder")).unwrap();
            fs::rename(root.join("folder"), root.join("link")).unwrap();
            fs::rename(root.join("away"), root.join("folder")).unwrap();
        }
    };
    let seen = std::thread::scope(|scope| {
        scope.spawn(swap);
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(seen))
    });
    assert!(!seen.contains("secret"), "{seen}");
    assert!(!outside.join("inner/new").exists());
}
