//! A disk that takes nothing, or gives back something else.
use std::{fs, path::Path};

use codecell_gateway::upstream::{State, UpstreamOptions, Upstreams};
use serde_json::{Value, json};

use crate::{
    place::Place,
    scripted::{Scripted, call, told},
    support::{eventually, options, settled, tool_names, until, view},
};

fn cached(folder: &Path) -> UpstreamOptions {
    UpstreamOptions {
        cache: Some(folder.to_owned()),
        ..options()
    }
}

#[tokio::test]
async fn a_cache_that_cannot_be_written_costs_nothing_but_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "mine").unwrap();
    for cache in [
        "file",
        "file/below",
        "/dev/full",
        "/dev/full/below",
        "/proc/no/such/folder",
    ] {
        let server = Scripted::new("");
        let upstreams = settled(vec![server.config("fake")], cached(&folder.path().join(cache))).await;
        let seen = view(&upstreams, "fake");
        assert_eq!(
            (seen.state.clone(), tool_names(&seen)),
            (State::Ready, vec!["echo".to_owned()]),
            "{cache}"
        );
        assert_eq!(
            told(call(&upstreams, "fake").await),
            r#"{"content":[]}"#,
            "{cache}"
        );
        upstreams.shutdown().await;
    }
    assert_eq!(fs::read_to_string(folder.path().join("file")).unwrap(), "mine");
}

#[tokio::test]
async fn what_is_found_in_place_of_a_cached_list_is_a_note_and_is_replaced() {
    type Damage = (&'static str, fn(&Path), &'static str);
    let damages: &[Damage] = &[
        (
            "nothing",
            |file| fs::write(file, "").unwrap(),
            "not readable: EOF while parsing a value at line 1 column 0",
        ),
        (
            "half of it",
            |file| {
                let text = fs::read(file).unwrap();
                fs::write(file, &text[..text.len() / 2]).unwrap();
            },
            "not readable: ",
        ),
        (
            "bytes",
            |file| fs::write(file, [0xff; 100]).unwrap(),
            "stream did not contain valid UTF-8",
        ),
        (
            "a nest of brackets",
            |file| fs::write(file, "[".repeat(1_000_000)).unwrap(),
            "not readable: ",
        ),
        (
            "65 MiB",
            |file| fs::File::create(file).unwrap().set_len(65 << 20).unwrap(),
            "68157440 bytes, at most 67108864 are read",
        ),
        (
            "another server's list",
            |file| {
                let text = fs::read_to_string(file).unwrap();
                let at = text.find(r#""key":""#).unwrap() + 7;
                fs::write(file, [&text[..at], &"0".repeat(64), &text[at + 64..]].concat()).unwrap();
            },
            "written by another version",
        ),
        (
            "a newer list",
            |file| {
                let text = fs::read_to_string(file).unwrap();
                fs::write(file, text.replace(r#""format":1"#, r#""format":2"#)).unwrap();
            },
            "written by another version",
        ),
    ];
    for (name, damage, reason) in damages {
        let folder = tempfile::tempdir().unwrap();
        let server = Scripted::new("");
        let start = || settled(vec![server.config("fake")], cached(folder.path()));
        let file = || {
            fs::read_dir(folder.path()).unwrap().find_map(|entry| {
                let path = entry.unwrap().path();
                path.extension()
                    .is_some_and(|extension| extension == "json")
                    .then_some(path)
            })
        };
        start().await.shutdown().await;
        eventually("the cache", || file().is_some()).await;
        let file = file().unwrap();
        let sound = fs::read(&file).unwrap();
        damage(&file);
        let upstreams = Upstreams::start(vec![server.config("fake")], cached(folder.path()));
        let at_once = view(&upstreams, "fake");
        let note = format!("the cached tools in {} are ignored: {reason}", file.display());
        assert!(at_once.tools.is_empty(), "{name}");
        assert!(
            at_once.notes.len() == 1 && at_once.notes[0].starts_with(&note),
            "{name}: {:?}",
            at_once.notes
        );
        let ready = until(&upstreams, "fake", |server| {
            server.state == State::Ready && !server.listing
        })
        .await;
        assert_eq!(
            (tool_names(&ready), ready.notes.len()),
            (vec!["echo".to_owned()], 0),
            "{name}"
        );
        eventually("the cache", || fs::read(&file).is_ok_and(|text| text == sound)).await;
        upstreams.shutdown().await;
    }
}

#[test]
fn programs_run_where_nothing_can_be_cached() {
    let place = Place::new(&json!({}));
    place.write("file", "mine");
    for cache in ["file", "/dev/full", "/proc/no/such/folder"] {
        let mut command = place.command(&["exec", "--code", "return 6 * 7"]);
        let output = command
            .env("CODECELL_CACHE_DIR", place.path(cache))
            .output()
            .unwrap();
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (&result["status"], &result["value"]),
            (&json!("completed"), &json!(42)),
            "{cache}"
        );
    }
    assert_eq!(place.read("file"), "mine");
}

#[test]
fn a_place_for_sessions_that_cannot_be_used_is_told_and_left_as_it_is() {
    type Trouble = (&'static str, fn(&Path), &'static str);
    let troubles: &[Trouble] = &[
        (
            "a file in the place of the folder",
            |state| fs::write(state, "mine").unwrap(),
            "cannot make the folder `state`: File exists (os error 17)",
        ),
        (
            "somebody else's file",
            |state| {
                fs::create_dir(state).unwrap();
                fs::write(state.join("sessions.sqlite"), "no database".repeat(1000)).unwrap();
            },
            "`state/sessions.sqlite` is not a session file; move it away or name another file",
        ),
        (
            "a folder in the place of the file",
            |state| fs::create_dir_all(state.join("sessions.sqlite")).unwrap(),
            "cannot open `state/sessions.sqlite`: Is a directory (os error 21)",
        ),
        (
            "a folder below a file",
            |state| std::os::unix::fs::symlink("/dev/full/below", state).unwrap(),
            "cannot make the folder `state`: File exists (os error 17)",
        ),
    ];
    for (name, make, message) in troubles {
        let place = Place::new(&json!({}));
        let state = place.path("state");
        make(&state);
        let ended = place.run(&["serve", "--listen", "127.0.0.1:0", "--state", "state"]);
        let expected = (1, String::new(), format!("error: {message}\n"));
        assert_eq!((ended.code, ended.stdout, ended.stderr), expected, "{name}");
        let file = state.join("sessions.sqlite");
        if file.is_file() {
            assert_eq!(
                fs::read_to_string(file).unwrap(),
                "no database".repeat(1000),
                "{name}"
            );
        }
    }
}
