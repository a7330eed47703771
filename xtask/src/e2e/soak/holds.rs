//! What a process holds, and whether that has grown.

use std::{fmt, fs, path::PathBuf};

use anyhow::{Context, Result, ensure};

/// What a process holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holds {
    /// Bytes in memory that no file has: what it allocated and still has.
    pub(super) private: u64,
    /// All bytes in memory.
    pub(super) resident: u64,
    pub(super) handles: usize,
    pub(super) threads: usize,
    /// Its own, those included that have ended and were not collected.
    pub(super) children: usize,
}

impl Holds {
    /// What it holds now.
    pub(super) fn of(id: u32) -> Result<Holds> {
        let folder = PathBuf::from(format!("/proc/{id}"));
        let status = fs::read_to_string(folder.join("status")).context("the gateway is gone")?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok())
                .with_context(|| format!("no `{name}` in its status"))
        };
        Ok(Holds {
            private: (field("RssAnon:")? + field("RssShmem:")?) * 1024,
            resident: field("VmRSS:")? * 1024,
            handles: fs::read_dir(folder.join("fd"))?.count(),
            threads: usize::try_from(field("Threads:")?)?,
            children: children(id)?,
        })
    }

    /// Fails if it holds more of anything that is counted.
    pub(super) fn compare(&self, before: &Holds) -> Result<()> {
        ensure!(
            self.handles <= before.handles
                && self.children <= before.children
                && self.threads <= before.threads,
            "something is left over: {self}, after {before}"
        );
        Ok(())
    }
}

impl fmt::Display for Holds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.1} MiB of its own, {:.1} MiB in memory, {} handles, {} threads, {} children",
            mebibytes(self.private),
            mebibytes(self.resident),
            self.handles,
            self.threads,
            self.children
        )
    }
}

/// Bytes as mebibytes.
pub(super) fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Counts the processes whose parent this is.
fn children(id: u32) -> Result<usize> {
    let parent = id.to_string();
    let entries = fs::read_dir("/proc")?.flatten();
    let is_child = |name: &str| {
        let stat = fs::read_to_string(format!("/proc/{name}/stat")).ok()?;
        // The name in parentheses may hold anything, parentheses included.
        let (_, rest) = stat.rsplit_once(')')?;
        (rest.split_whitespace().nth(1)? == parent).then_some(())
    };
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let processes = names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    Ok(processes.filter_map(|name| is_child(&name)).count())
}

/// Memory at one moment, and what had been asked by then.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) asked: u64,
    pub(super) private: u64,
}

/// After so many requests everything has been asked of every agent, and what is kept for the next time is there.
const FILLED: u64 = 2_000;

/// What may be kept for the next time.
const KEPT: u64 = 48 << 20;

/// What a request may leave behind and not be noticed: far less than a kibibyte.
const PER_REQUEST: u64 = 256;

/// What memory goes up and down by without any reason that is ours: the allocator's. A kibibyte of each request is more
/// than that, and than what is allowed, from 2,000 requests between the halves on.
const NOISE: u64 = 3 << 19;

/// Compares the second half of the marks with the first: what grows without end has grown between them. Marks before
/// everything is filled do not count. Where there are too few others, the run was too short to tell a small leak, and
/// only a large one is an error; then this is false.
pub(super) fn grown(marks: &[Mark]) -> Result<bool> {
    let filled: Vec<Mark> = marks
        .iter()
        .filter(|mark| mark.asked >= FILLED)
        .copied()
        .collect();
    let is_enough = filled.len() >= 4;
    let (before, after, slack) = if is_enough {
        let (first, second) = filled.split_at(filled.len() / 2);
        (middle(first), middle(second), NOISE)
    } else {
        (marks.first().copied(), marks.last().copied(), KEPT)
    };
    let (before, after) = before.zip(after).context("nothing was measured")?;
    let asked = after.asked.saturating_sub(before.asked);
    let allowed = slack + asked * PER_REQUEST;
    let grown = after.private.saturating_sub(before.private);
    ensure!(
        grown <= allowed,
        "memory grows: {:.1} MiB more after {asked} more requests, where {:.1} MiB are allowed",
        mebibytes(grown),
        mebibytes(allowed)
    );
    Ok(is_enough)
}

/// The medians of both figures.
fn middle(marks: &[Mark]) -> Option<Mark> {
    let median = |figure: fn(&Mark) -> u64| {
        let mut all: Vec<u64> = marks.iter().map(figure).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied()
    };
    Some(Mark {
        asked: median(|mark| mark.asked)?,
        private: median(|mark| mark.private)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(handles: usize, threads: usize, children: usize) -> Holds {
        Holds {
            private: 0,
            resident: 0,
            handles,
            threads,
            children,
        }
    }

    #[test]
    fn what_is_left_over_is_named() {
        let before = holds(20, 10, 3);
        for (after, is_fine) in [
            (holds(20, 10, 3), true),
            (holds(18, 9, 3), true),
            (holds(21, 10, 3), false),
            (holds(20, 11, 3), false),
            (holds(20, 10, 4), false),
        ] {
            let compared = after.compare(&before);
            assert_eq!(compared.is_ok(), is_fine, "{after}: {compared:?}");
        }
    }

    #[test]
    fn a_process_is_seen_with_its_children() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let own = Holds::of(std::process::id()).unwrap();
        assert!(own.children >= 1 && own.threads >= 1 && own.handles >= 3, "{own}");
        assert_eq!(Holds::of(child.id()).unwrap().children, 0);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Marks of a process that keeps this much of each request, and breathes.
    fn marks(leak: u64) -> Vec<Mark> {
        let breath = [0, 1 << 20, 1 << 19];
        (0..12)
            .map(|at| {
                let asked = at * 2_000;
                let private = (60 << 20) + asked * leak + breath[usize::try_from(at % 3).unwrap()];
                Mark { asked, private }
            })
            .collect()
    }

    #[test]
    fn a_kibibyte_of_each_request_is_noticed() {
        assert!(grown(&marks(0)).unwrap());
        assert!(grown(&marks(100)).unwrap());
        let error = grown(&marks(1_024)).unwrap_err().to_string();
        assert_eq!(
            error,
            "memory grows: 11.7 MiB more after 12000 more requests, where 4.4 MiB are allowed"
        );
    }

    #[test]
    fn what_fills_up_at_the_beginning_is_no_growth() {
        let mut marks = marks(0);
        marks[0].private -= 30 << 20;
        assert!(grown(&marks).is_ok());
    }

    #[test]
    fn a_short_run_only_tells_what_is_large() {
        assert!(!grown(&marks(1_024)[..3]).unwrap());
        assert!(grown(&marks(16 << 10)[..4]).is_err());
    }
}
