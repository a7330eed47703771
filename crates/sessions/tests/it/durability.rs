use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use codecell_sessions::Entry;

use crate::{KEY, at, entries, open, user};

const FOLDER: &str = "CODECELL_SESSIONS_TEST_FOLDER";
const COUNT: &str = "CODECELL_SESSIONS_TEST_COUNT";

/// Starts this test binary again, as a process that appends to the file in `folder`.
fn writer(folder: &Path, count: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "durability::writes_when_told_to", "--nocapture"])
        .env(FOLDER, folder)
        .env(COUNT, count.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Does nothing as a test; as another process it appends and says so each time.
#[tokio::test]
async fn writes_when_told_to() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    let count: u32 = std::env::var(COUNT).unwrap().parse().unwrap();
    let sessions = open(&folder).await;
    for number in 0..count {
        let text = format!("{number} of {}", std::process::id());
        sessions
            .append(KEY, None, vec![user(&text)], at(0))
            .await
            .unwrap();
        let mut out = std::io::stdout();
        writeln!(out, "\nstored {text}").unwrap();
        out.flush().unwrap();
    }
}

fn stored(child: &mut Child) -> impl Iterator<Item = Entry> + use<> {
    BufReader::new(child.stdout.take().unwrap())
        .lines()
        .filter_map(|line| line.unwrap().strip_prefix("stored ").map(user))
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = writer(folder.path(), u32::MAX);
    let mut said = stored(&mut child);
    let mut acknowledged: Vec<_> = said.by_ref().take(25).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    // What it managed to say before it died counts too.
    acknowledged.extend(said);

    let mut kept = entries(&open(folder.path()).await.branch(KEY).await.unwrap());
    assert!(
        kept.len() - acknowledged.len() <= 1,
        "at most one is stored and not yet told"
    );
    kept.truncate(acknowledged.len());
    assert_eq!(kept, acknowledged);
}

#[tokio::test]
async fn two_processes_append_to_one_session_from_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut children = [writer(folder.path(), 40), writer(folder.path(), 40)];
    let said = children.each_mut().map(|child| stored(child).collect::<Vec<_>>());
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }

    let branch = open(folder.path()).await.branch(KEY).await.unwrap();
    assert_eq!(
        branch.iter().map(|one| one.seq).collect::<Vec<_>>(),
        (1..=80).collect::<Vec<_>>()
    );
    let kept = entries(&branch);
    for said in said {
        let of_one: Vec<_> = kept
            .iter()
            .filter(|entry| said.contains(entry))
            .cloned()
            .collect();
        assert_eq!(of_one, said, "each writer's entries are in its order");
    }
}
