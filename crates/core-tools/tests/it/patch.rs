//! `apply_patch`: all of it or nothing.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::Kit;

fn kit() -> Kit {
    let kit = Kit::with(&[
        ("a.txt", "one\ntwo\nthree\n"),
        ("b.sh", "echo 1\n"),
        ("gone.txt", "x\ny"),
        ("locked", "kept\n"),
    ]);
    fs::set_permissions(kit.path("b.sh"), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(kit.path("locked"), Permissions::from_mode(0o444)).unwrap();
    kit
}

#[tokio::test]
async fn files_are_added_updated_moved_and_deleted_at_once() {
    let kit = kit();
    let patch = "\
*** Begin Patch
*** Add File: new/deep.txt
+hello
+world
*** Update File: a.txt
@@
 one
-two
+2
+zwei
 three
*** Update File: b.sh
*** Move to: bin/b.sh
@@
-echo 1
+echo 2
*** Delete File: gone.txt
*** End Patch";
    let expected = json!({ "files": [
        { "path": "new/deep.txt", "action": "add", "addedLines": 2, "removedLines": 0 },
        { "path": "a.txt", "action": "update", "addedLines": 2, "removedLines": 1 },
        { "path": "bin/b.sh", "action": "move", "from": "b.sh", "addedLines": 1, "removedLines": 1 },
        { "path": "gone.txt", "action": "delete", "addedLines": 0, "removedLines": 2 },
    ] });
    assert_eq!(
        kit.call("apply_patch", json!({ "patch": patch })).await,
        Ok(expected)
    );
    assert_eq!(
        [kit.text("new/deep.txt"), kit.text("a.txt"), kit.text("bin/b.sh")],
        ["hello\nworld\n", "one\n2\nzwei\nthree\n", "echo 2\n"]
    );
    let mode = fs::metadata(kit.path("bin/b.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    assert_eq!(kit.names(), ["a.txt", "bin", "locked", "new"]);
}

#[tokio::test]
async fn a_unified_diff_is_applied_too() {
    let kit = kit();
    let patch = "\
diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -2,2 +2,2 @@
 two
-three
+3
\\ No newline at end of file
--- gone.txt.orig\t2024-01-01 00:00:00
+++ gone.txt\t2024-01-02 00:00:00
@@ -1,2 +1,2 @@
-x
+X
 y
\\ No newline at end of file
";
    let expected = json!({ "files": [
        { "path": "a.txt", "action": "update", "addedLines": 1, "removedLines": 1 },
        { "path": "gone.txt", "action": "update", "addedLines": 1, "removedLines": 1 },
    ] });
    assert_eq!(
        kit.call("apply_patch", json!({ "patch": patch })).await,
        Ok(expected)
    );
    assert_eq!([kit.text("a.txt"), kit.text("gone.txt")], ["one\ntwo\n3", "X\ny"]);
}

#[tokio::test]
async fn a_patch_that_does_not_fit_changes_nothing() {
    let cases = [
        (
            "*** Update File: a.txt\n@@\n-one\n+1\n@@\n-twoo\n+2",
            "no_match",
            "hunk 2 of `a.txt` does not fit: its kept and removed lines do not occur in the file from line 2 on; the \
             nearest is line 2: `two`",
        ),
        (
            "*** Update File: none.txt\n@@\n-a\n+b",
            "not_found",
            "`none.txt` does not exist; `ls` and `glob` show what does",
        ),
        (
            "*** Delete File: none.txt",
            "not_found",
            "`none.txt` does not exist; `ls` and `glob` show what does",
        ),
        (
            "*** Add File: a.txt\n+x",
            "conflict",
            "`a.txt` exists already; change it with `*** Update File:`",
        ),
        (
            "*** Update File: a.txt\n*** Move to: b.sh",
            "conflict",
            "`b.sh` exists already; change it with `*** Update File:`",
        ),
        (
            "*** Update File: a.txt\n@@\n-one\n*** Delete File: ./a.txt",
            "invalid_patch",
            "`a.txt` is named twice; put all its hunks into one section",
        ),
        (
            "*** Update File: locked\n@@\n-kept\n+changed",
            "not_writable",
            "`locked` is marked read-only by its permissions",
        ),
        (
            "*** Add File: a.txt/x\n+x",
            "not_a_directory",
            "`a.txt/x`, or a part of it, is no folder",
        ),
        (
            "*** Add File: first\n+x\n*** Add File: first/second\n+x",
            "invalid_patch",
            "`first/second` and another file of the patch lie one in the other",
        ),
    ];
    for (sections, code, message) in cases {
        let kit = kit();
        let patch = format!(
            "*** Begin Patch\n*** Add File: new.txt\n+new\n*** Delete File: gone.txt\n{sections}\n*** End Patch\n"
        );
        let refused = kit.call("apply_patch", json!({ "patch": patch })).await;
        assert_eq!(refused, Err((code, message.to_owned())), "{sections}");
        assert_eq!(kit.names(), ["a.txt", "b.sh", "gone.txt", "locked"]);
        assert_eq!(
            [kit.text("a.txt"), kit.text("gone.txt")],
            ["one\ntwo\nthree\n", "x\ny"]
        );
    }
}

#[tokio::test]
async fn a_file_that_only_moves_may_be_anything() {
    let kit = Kit::with(&[]);
    fs::write(kit.path("picture"), b"\x89PNG\r\n\0").unwrap();
    let patch = "*** Begin Patch\n*** Update File: picture\n*** Move to: image\n*** End Patch";
    let expected = json!({ "files": [
        { "path": "image", "action": "move", "from": "picture", "addedLines": 0, "removedLines": 0 },
    ] });
    assert_eq!(
        kit.call("apply_patch", json!({ "patch": patch })).await,
        Ok(expected)
    );
    assert_eq!(fs::read(kit.path("image")).unwrap(), b"\x89PNG\r\n\0");
    assert_eq!(kit.names(), ["image"]);
}
