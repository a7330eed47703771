//! Walking through folders by descriptors, so that nobody can swap a folder for a link on the way.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use codecell_tools::ToolError;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{AtFlags, Dir, FileType, OFlags, fstat, statat};
use rustix::io::Errno;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::adapter::check;
use crate::beneath::{folder_flags, open_no_link};
use crate::roots::Place;

/// Most names that one folder is read for; the rest is left out.
const MAX_IN_FOLDER: usize = 100_000;

/// Most names of one walk.
const MAX_VISITED: usize = 500_000;

/// Most levels of one walk. Each holds a descriptor.
const MAX_DEPTH: usize = 64;

/// Longest `.gitignore` that is honoured, in bytes.
const MAX_IGNORE_BYTES: u64 = 256 << 10;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    File,
    Dir,
    Symlink,
    Other,
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Dir,
            FileType::Symlink => Self::Symlink,
            _ => Self::Other,
        }
    }
}

/// A file or link that a walk came by.
pub(crate) struct Found<'a> {
    /// The folder it is in.
    pub(crate) folder: BorrowedFd<'a>,
    pub(crate) name: &'a OsStr,
    pub(crate) kind: Kind,
    /// Its path from where the walk began.
    pub(crate) path: &'a Path,
}

/// The names in a folder, sorted by their bytes, and whether some were left out.
pub(crate) fn entries(folder: BorrowedFd<'_>) -> Result<(Vec<(OsString, Kind)>, bool), Errno> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        if found.len() >= MAX_IN_FOLDER {
            return Ok((sorted(found), true));
        }
        let kind = match entry.file_type() {
            FileType::Unknown => match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                Err(_) => FileType::Unknown,
            },
            known => known,
        };
        found.push((name.to_owned(), Kind::from(kind)));
    }
    Ok((sorted(found), false))
}

fn sorted(mut found: Vec<(OsString, Kind)>) -> Vec<(OsString, Kind)> {
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found
}

/// Comes by everything beneath a folder that is no folder itself, in the order of names.
///
/// What `.gitignore` files between the root and the entry exclude is left out, and so is every `.git`; hidden files
/// are not. Links are not followed, folders that cannot be read are skipped. Returns whether something was left out
/// because there is too much of it.
pub(crate) fn walk(
    start: &Place<'_>,
    cancel: &CancellationToken,
    visit: &mut dyn FnMut(Found<'_>) -> Result<ControlFlow<()>, ToolError>,
) -> Result<bool, ToolError> {
    let mut ignores = Vec::new();
    let mut above = Some(start.clone());
    while let Some((parent, _)) = above.as_ref().and_then(Place::split) {
        if let Ok(folder) = parent.try_open_folder() {
            ignores.extend(Ignores::read(folder.as_fd(), &parent.rel));
        }
        above = Some(parent);
    }
    // The nearest decides, and comes last.
    ignores.reverse();
    let folder = start.open_folder()?;
    let mut walk = Walk {
        start: &start.rel,
        cancel,
        ignores,
        visited: 0,
        left_out: false,
        visit,
    };
    // Whether the visitor stopped is the visitor's own knowledge.
    let _ = walk.folder(&folder, Path::new(""), 0)?;
    Ok(walk.left_out)
}

struct Walk<'a> {
    start: &'a Path,
    cancel: &'a CancellationToken,
    ignores: Vec<Ignores>,
    visited: usize,
    left_out: bool,
    visit: &'a mut dyn FnMut(Found<'_>) -> Result<ControlFlow<()>, ToolError>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &OwnedFd, path: &Path, depth: usize) -> Result<ControlFlow<()>, ToolError> {
        let Ok((names, more)) = entries(folder.as_fd()) else {
            return Ok(ControlFlow::Continue(()));
        };
        self.left_out |= more;
        let known = self.ignores.len();
        self.ignores
            .extend(Ignores::read(folder.as_fd(), &self.start.join(path)));
        for (name, kind) in names {
            check(self.cancel)?;
            self.visited += 1;
            if self.visited > MAX_VISITED {
                self.left_out = true;
                return Ok(ControlFlow::Break(()));
            }
            if self
                .entry(folder, &path.join(&name), &name, kind, depth)?
                .is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
        self.ignores.truncate(known);
        Ok(ControlFlow::Continue(()))
    }

    fn entry(
        &mut self,
        folder: &OwnedFd,
        path: &Path,
        name: &OsStr,
        kind: Kind,
        depth: usize,
    ) -> Result<ControlFlow<()>, ToolError> {
        if name == ".git" || self.is_ignored(path, kind == Kind::Dir) {
            return Ok(ControlFlow::Continue(()));
        }
        if kind != Kind::Dir {
            return (self.visit)(Found {
                folder: folder.as_fd(),
                name,
                kind,
                path,
            });
        }
        if depth >= MAX_DEPTH {
            self.left_out = true;
            return Ok(ControlFlow::Continue(()));
        }
        match open_no_link(folder.as_fd(), name, folder_flags()) {
            Ok(inner) => self.folder(&inner, path, depth + 1),
            Err(_) => Ok(ControlFlow::Continue(())),
        }
    }

    fn is_ignored(&self, path: &Path, is_folder: bool) -> bool {
        let path = self.start.join(path);
        for ignores in self.ignores.iter().rev() {
            let Ok(path) = path.strip_prefix(&ignores.folder) else {
                continue;
            };
            let matched = ignores.rules.matched(path, is_folder);
            if !matched.is_none() {
                return matched.is_ignore();
            }
        }
        false
    }
}

/// The rules of one `.gitignore`.
struct Ignores {
    /// The folder it lies in, relative to the root.
    folder: PathBuf,
    rules: Gitignore,
}

impl Ignores {
    fn read(folder: BorrowedFd<'_>, path: &Path) -> Option<Self> {
        let file = open_no_link(folder, OsStr::new(".gitignore"), OFlags::RDONLY).ok()?;
        let stat = fstat(&file).ok()?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return None;
        }
        let mut builder = GitignoreBuilder::new("");
        for line in BufReader::new(File::from(file).take(MAX_IGNORE_BYTES)).lines() {
            // A line that makes no sense excludes nothing, as in git.
            let _ = builder.add_line(None, &line.ok()?);
        }
        Some(Self {
            folder: path.to_owned(),
            rules: builder.build().ok()?,
        })
    }
}
