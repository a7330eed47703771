//! `ls`: what is in a folder.

use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use codecell_tools::ToolError;
use rustix::fs::{AtFlags, statat};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::adapter::{Effect, FileTool, check, closed, define};
use crate::beneath::{folder_flags, open_no_link};
use crate::problem;
use crate::roots::{Place, Roots, Spot};
use crate::walk::{Kind, entries};

/// Most entries of one answer.
const MAX_ENTRIES: usize = 1000;

/// Most levels of one answer.
const MAX_DEPTH: usize = 8;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: Option<String>,
    depth: Option<usize>,
}

#[derive(Serialize)]
pub(crate) struct Answer {
    path: String,
    entries: Vec<Entry>,
    truncated: bool,
}

#[derive(Serialize)]
struct Entry {
    name: String,
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

pub(crate) fn tool(roots: &Arc<Roots>) -> FileTool<Arguments, Answer> {
    let entry = closed(
        json!({
            "name": { "type": "string" },
            "kind": { "type": "string", "enum": ["file", "dir", "symlink", "other"] },
            "bytes": { "type": "integer" },
        }),
        &["name", "kind"],
    );
    let definition = define(
        "ls",
        "List a folder",
        "List a folder (default: the root) in the order of names, hidden and ignored files too. With `depth` (default 1, at \
         most 8) folders in it are listed as well, and names are paths relative to `path`. Links are not followed.",
        [
            closed(
                json!({
                    "path": { "type": "string" },
                    "depth": { "type": "integer", "minimum": 1, "maximum": MAX_DEPTH },
                }),
                &[],
            ),
            closed(
                json!({
                    "path": { "type": "string" },
                    "entries": { "type": "array", "items": entry },
                    "truncated": { "type": "boolean" },
                }),
                &["path", "entries", "truncated"],
            ),
        ],
        Effect::Reads,
    );
    FileTool {
        definition,
        roots: Arc::clone(roots),
        work: ls,
    }
}

fn ls(roots: &Roots, arguments: Arguments, cancel: &CancellationToken) -> Result<Answer, ToolError> {
    let depth = arguments.depth.unwrap_or(1).clamp(1, MAX_DEPTH);
    let mut listing = Listing {
        found: Vec::new(),
        truncated: false,
        cancel,
    };
    match roots.find(arguments.path.as_deref().unwrap_or("."))? {
        Spot::In(place) => {
            listing.place(&place, Path::new(""), depth)?;
            Ok(listing.answer(place.shown))
        }
        Spot::Top => {
            let mut all: Vec<Place<'_>> = roots.all().collect();
            all.sort_by(|a, b| a.root.name.cmp(&b.root.name));
            for place in all {
                let name = Path::new(&place.root.name);
                listing.push(name, Kind::Dir, None);
                if depth > 1 {
                    listing.place(&place, name, depth - 1)?;
                }
            }
            Ok(listing.answer(".".to_owned()))
        }
    }
}

struct Listing<'a> {
    found: Vec<Entry>,
    truncated: bool,
    cancel: &'a CancellationToken,
}

impl Listing<'_> {
    fn place(&mut self, place: &Place<'_>, prefix: &Path, depth: usize) -> Result<(), ToolError> {
        let folder = place.open_folder()?;
        self.folder(folder.as_fd(), &place.shown, prefix, depth)
    }

    fn folder(
        &mut self,
        folder: BorrowedFd<'_>,
        shown: &str,
        prefix: &Path,
        depth: usize,
    ) -> Result<(), ToolError> {
        let (names, more) = entries(folder).map_err(|errno| problem::of_errno(shown, "list", errno))?;
        self.truncated |= more;
        for (name, kind) in names {
            check(self.cancel)?;
            if self.truncated && self.found.len() >= MAX_ENTRIES {
                return Ok(());
            }
            self.entry(folder, name, kind, prefix, depth)?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        folder: BorrowedFd<'_>,
        name: OsString,
        kind: Kind,
        prefix: &Path,
        depth: usize,
    ) -> Result<(), ToolError> {
        let path: PathBuf = prefix.join(&name);
        let bytes = match kind {
            Kind::File => statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW)
                .ok()
                .and_then(|stat| u64::try_from(stat.st_size).ok()),
            Kind::Dir | Kind::Symlink | Kind::Other => None,
        };
        self.push(&path, kind, bytes);
        if kind == Kind::Dir && depth > 1 {
            // A folder that cannot be opened, or is no longer one, is listed without what is in it.
            if let Ok(inner) = open_no_link(folder, &name, folder_flags()) {
                self.folder(inner.as_fd(), &path.to_string_lossy(), &path, depth - 1)?;
            }
        }
        Ok(())
    }

    fn push(&mut self, path: &Path, kind: Kind, bytes: Option<u64>) {
        if self.found.len() >= MAX_ENTRIES {
            self.truncated = true;
            return;
        }
        let name = path.to_string_lossy().into_owned();
        self.found.push(Entry { name, kind, bytes });
    }

    fn answer(self, path: String) -> Answer {
        Answer {
            path,
            entries: self.found,
            truncated: self.truncated,
        }
    }
}
