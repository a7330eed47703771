//! Child processes with a time limit, and a look at which ones are still alive.

use std::{
    collections::VecDeque,
    fs,
    io::{BufRead, BufReader, Read, Write},
    os::unix::process::CommandExt,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

/// Lines of standard error that are kept for a report.
const TAIL_LINES: usize = 40;

/// Pause between two looks at something that sends no event.
const POLL: Duration = Duration::from_millis(10);

/// The last lines of a stream, read in the background.
#[derive(Clone)]
pub(crate) struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Tail {
    /// Starts reading `stream`.
    pub(crate) fn of(stream: impl Read + Send + 'static) -> Tail {
        let tail = Tail(Arc::default());
        let lines = Arc::clone(&tail.0);
        thread::spawn(move || {
            for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
                let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
                if lines.len() == TAIL_LINES {
                    lines.pop_front();
                }
                lines.push_back(String::from_utf8_lossy(&line).into_owned());
            }
        });
        tail
    }

    /// What is kept so far.
    pub(crate) fn text(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(|line| format!("  | {line}\n")).collect()
    }
}

/// What a finished program left behind.
#[derive(Debug)]
pub(crate) struct Finished {
    /// The exit code; `None` after a signal.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

/// Runs `command` in its own process group to its end, with `input` on standard input.
///
/// Past `limit` the group is killed and that is the error.
pub(crate) fn run(command: &mut Command, input: &str, limit: Duration) -> Result<Finished> {
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .with_context(|| format!("starting {command:?}"))?;
    let (sender, receiver) = mpsc::channel();
    let mut stdin = child.stdin.take().context("no standard input")?;
    let input = input.to_owned();
    // A program that does not read its input closes the pipe: that is no error here.
    thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    for (index, stream) in [child.stdout.take().map(boxed), child.stderr.take().map(boxed)]
        .into_iter()
        .enumerate()
    {
        let mut stream = stream.context("no output stream")?;
        let sender = sender.clone();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stream.read_to_end(&mut bytes);
            drop(sender.send((index, read.map(|_| bytes))));
        });
    }
    let end = started + limit;
    let mut outputs = [String::new(), String::new()];
    for _ in 0..2 {
        match receiver.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok((index, bytes)) => {
                if let Some(output) = outputs.get_mut(index) {
                    *output = String::from_utf8_lossy(&bytes?).into_owned();
                }
            }
            Err(_) => {
                end_group(child);
                let [stdout, stderr] = outputs;
                bail!("{command:?} did not end within {limit:?}; it printed:\n{stdout}{stderr}");
            }
        }
    }
    let status = finish(child, end)?;
    let [stdout, stderr] = outputs;
    Ok(Finished {
        code: status.code(),
        stdout,
        stderr,
        took: started.elapsed(),
    })
}

fn boxed(stream: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(stream)
}

/// Waits for the end of a child whose output has ended, and ends what is left of its group.
pub(crate) fn finish(mut child: Child, end: Instant) -> Result<ExitStatus> {
    let id = pid(child.id()).context("a child without a process id")?;
    // The child stays uncollected, because its id is the group's: collected, it could be somebody else's by now.
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    while waitid(WaitId::Pid(id), look)?.is_none() {
        if Instant::now() >= end {
            end_group(child);
            bail!("process {id} closed its output and did not end");
        }
        thread::sleep(POLL);
    }
    // Asks for the whole group: it can outlive its leader.
    let _ = kill_process_group(id, Signal::KILL);
    Ok(child.wait()?)
}

/// Kills a child's process group, and collects the child.
pub(crate) fn end_group(mut child: Child) {
    if let Some(group) = pid(child.id()) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    drop(child.wait());
}

/// Kills one process.
pub(crate) fn kill(id: u32) -> Result<()> {
    let target = pid(id).with_context(|| format!("{id} is no process id"))?;
    kill_process(target, Signal::KILL).with_context(|| format!("killing process {id}"))
}

/// Asks one process to end.
pub(crate) fn terminate(id: u32) -> Result<()> {
    let target = pid(id).with_context(|| format!("{id} is no process id"))?;
    kill_process(target, Signal::TERM).with_context(|| format!("ending process {id}"))
}

fn pid(id: u32) -> Option<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw)
}

/// Processes whose environment holds `marker`, zombies left out.
///
/// Children and grandchildren inherit it, so whoever set it finds everything it started.
pub(crate) fn marked(marker: &str) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let ids = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    // A zombie's environment reads as empty.
    ids.filter(|id| {
        fs::read(format!("/proc/{id}/environ")).is_ok_and(|bytes| {
            bytes
                .split(|byte| *byte == 0)
                .any(|entry| entry == marker.as_bytes())
        })
    })
    .collect()
}

/// Looks again and again until `condition` gives a value.
pub(crate) fn until<T>(limit: Duration, what: &str, mut condition: impl FnMut() -> Option<T>) -> Result<T> {
    let end = Instant::now() + limit;
    loop {
        if let Some(value) = condition() {
            return Ok(value);
        }
        if Instant::now() >= end {
            bail!("{what} did not happen within {limit:?}");
        }
        thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Long enough that no test ever reaches it.
    const AMPLE: Duration = Duration::from_secs(60);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_program_is_fed_and_read_to_its_end() {
        let finished = run(&mut shell("cat; echo aside >&2; exit 3"), "fed", AMPLE).unwrap();
        assert_eq!(
            (finished.code, finished.stdout.as_str(), finished.stderr.as_str()),
            (Some(3), "fed", "aside\n")
        );
    }

    #[test]
    fn a_program_past_its_limit_is_killed_with_its_children() {
        let marker = format!("XTASK_PROCESS_TEST={}", std::process::id());
        let (name, value) = marker.split_once('=').unwrap();
        let mut command = shell("echo begun; sleep 600 & wait");
        let error = run(command.env(name, value), "", Duration::from_millis(200)).unwrap_err();
        assert!(error.to_string().contains("did not end within 200ms"), "{error}");
        until(AMPLE, "the end of the group", || {
            marked(&marker).is_empty().then_some(())
        })
        .unwrap();
    }

    #[test]
    fn a_tail_keeps_the_last_lines() {
        let mut child = shell("seq 1 100 >&2").stderr(Stdio::piped()).spawn().unwrap();
        let tail = Tail::of(child.stderr.take().unwrap());
        until(AMPLE, "the last line", || {
            tail.text().ends_with("  | 100\n").then_some(())
        })
        .unwrap();
        child.wait().unwrap();
        assert!(tail.text().starts_with("  | 61\n"), "{}", tail.text());
    }
}
