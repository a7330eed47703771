//! The folders that may be used, and the places in them.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use codecell_tools::ToolError;
use rustix::fs::{AtFlags, FileType, OFlags, Stat, fstat, statat};
use rustix::io::Errno;

use crate::CoreToolsError;
use crate::beneath::Beneath;
use crate::problem;

/// A folder that the file tools may use, with everything beneath it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootConfig {
    /// The folder. It must exist.
    pub path: PathBuf,
    /// Whether the tools may change what is in it.
    pub writable: bool,
}

/// The folders that may be used.
///
/// Paths are relative to the only root; with several roots the first component is a root's name, which is the last
/// component of its path, numbered (`app-2`) where that is taken.
#[derive(Debug)]
pub(crate) struct Roots {
    roots: Vec<Root>,
    /// Held while a tool changes files, so that two edits of one file follow each other.
    writing: Mutex<()>,
}

/// One folder.
#[derive(Debug)]
pub(crate) struct Root {
    pub(crate) name: OsString,
    /// Where it is, without links, and as it was configured.
    pub(crate) path: PathBuf,
    given: PathBuf,
    writable: bool,
    beneath: Beneath,
}

/// What a path means.
#[derive(Debug)]
pub(crate) enum Spot<'a> {
    /// The list of roots, above all of them; only with several roots.
    Top,
    /// A place in a root.
    In(Place<'a>),
}

/// A place in a root, whether or not there is something.
#[derive(Clone, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) root: &'a Root,
    /// Relative to the root and without `.` and `..`; empty for the root itself.
    pub(crate) rel: PathBuf,
    /// The path as results show it.
    pub(crate) shown: String,
}

impl Roots {
    pub(crate) fn new(configs: Vec<RootConfig>) -> Result<Self, CoreToolsError> {
        let mut roots: Vec<Root> = Vec::new();
        for RootConfig {
            path: given,
            writable,
        } in configs
        {
            let unusable = |source| CoreToolsError::Root {
                path: given.clone(),
                source,
            };
            let path = given.canonicalize().map_err(unusable)?;
            let folder = File::open(&path).map_err(unusable)?;
            if !folder.metadata().map_err(unusable)?.is_dir() {
                return Err(unusable(Errno::NOTDIR.into()));
            }
            let name = unused_name(&path, &roots);
            let beneath = Beneath::new(OwnedFd::from(folder));
            roots.push(Root {
                name,
                path,
                given,
                writable,
                beneath,
            });
        }
        Ok(Self {
            roots,
            writing: Mutex::default(),
        })
    }

    pub(crate) fn any_writable(&self) -> bool {
        self.roots.iter().any(|root| root.writable)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Waits for the turn to change files.
    pub(crate) fn writing(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The root folders themselves.
    pub(crate) fn all(&self) -> impl Iterator<Item = Place<'_>> {
        self.roots.iter().map(|root| self.at(root, PathBuf::new()))
    }

    /// Understands a path. `.` and `..` are taken lexically, as a shell's `cd` takes them. An absolute path is fine
    /// where it spells a root.
    pub(crate) fn find(&self, path: &str) -> Result<Spot<'_>, ToolError> {
        if path.contains('\0') {
            let message = "a path cannot contain a NUL character";
            return Err(ToolError::new("invalid_path", message));
        }
        if path.is_empty() {
            let message = "the path is empty; `.` is the root folder";
            return Err(ToolError::new("invalid_path", message));
        }
        let absolute = path.starts_with('/');
        let clean = normalise(Path::new(path)).ok_or_else(|| problem::outside(path))?;
        if absolute {
            return self.absolute(path, &clean);
        }
        if let [only] = self.roots.as_slice() {
            return Ok(Spot::In(self.at(only, clean)));
        }
        let mut parts = clean.components();
        let Some(name) = parts.next() else {
            return Ok(Spot::Top);
        };
        match self.roots.iter().find(|root| root.name == name.as_os_str()) {
            Some(root) => Ok(Spot::In(self.at(root, parts.as_path().to_owned()))),
            None => {
                let names: Vec<_> = self
                    .roots
                    .iter()
                    .map(|root| root.name.to_string_lossy())
                    .collect();
                let message = format!(
                    "`{}` does not begin with the name of a root folder: {}",
                    problem::shown(path),
                    names.join(", ")
                );
                Err(ToolError::new("not_found", message))
            }
        }
    }

    /// Understands a path that has to lie in a root.
    pub(crate) fn place(&self, path: &str) -> Result<Place<'_>, ToolError> {
        match self.find(path)? {
            Spot::In(place) => Ok(place),
            Spot::Top => Err(problem::is_a_directory(path)),
        }
    }

    fn absolute(&self, path: &str, clean: &Path) -> Result<Spot<'_>, ToolError> {
        let clean = Path::new("/").join(clean);
        let spelt = |root: &Root| {
            let rel = clean
                .strip_prefix(&root.path)
                .or_else(|_| clean.strip_prefix(&root.given));
            rel.ok().map(Path::to_owned)
        };
        // With roots inside each other the inner one decides whether writing is allowed.
        let found = self.roots.iter().filter_map(|root| Some((root, spelt(root)?)));
        let inner = found.min_by_key(|(_, rel)| rel.components().count());
        match inner {
            Some((root, rel)) => Ok(Spot::In(self.at(root, rel))),
            None => Err(problem::outside(path)),
        }
    }

    fn at<'a>(&'a self, root: &'a Root, rel: PathBuf) -> Place<'a> {
        let full = if self.roots.len() > 1 {
            Path::new(&root.name).join(&rel)
        } else {
            rel.clone()
        };
        Place {
            root,
            rel,
            shown: display(&full),
        }
    }
}

impl<'a> Place<'a> {
    pub(crate) fn join(&self, name: &OsStr) -> Self {
        let shown = if self.shown == "." {
            name.to_string_lossy().into_owned()
        } else {
            format!("{}/{}", self.shown, name.to_string_lossy())
        };
        Self {
            root: self.root,
            rel: self.rel.join(name),
            shown,
        }
    }

    /// The folder it is in, and its name there; none for the root itself.
    pub(crate) fn split(&self) -> Option<(Self, &OsStr)> {
        let name = self.rel.file_name()?;
        let rel = self.rel.parent()?.to_owned();
        let shown = match self.shown.rsplit_once('/') {
            Some((folder, _)) => folder.to_owned(),
            None => ".".to_owned(),
        };
        let folder = Self {
            root: self.root,
            rel,
            shown,
        };
        Some((folder, name))
    }

    /// # Errors
    ///
    /// Fails in a root that is only read.
    pub(crate) fn require_writable(&self) -> Result<(), ToolError> {
        if self.root.writable {
            return Ok(());
        }
        let message = format!(
            "`{}` is in a folder that may only be read",
            problem::shown(&self.shown)
        );
        Err(ToolError::new("not_writable", message))
    }

    pub(crate) fn open_folder(&self) -> Result<OwnedFd, ToolError> {
        self.try_open_folder()
            .map_err(|errno| problem::of_errno(&self.shown, "open", errno))
    }

    pub(crate) fn try_open_folder(&self) -> Result<OwnedFd, Errno> {
        self.root.beneath.open_folder(&self.rel)
    }

    /// Opens whatever is there for reading, without waiting.
    pub(crate) fn open(&self) -> Result<(OwnedFd, Stat), ToolError> {
        let opened = self.root.beneath.open(&self.rel, OFlags::RDONLY);
        opened
            .and_then(|file| fstat(&file).map(|stat| (file, stat)))
            .map_err(|errno| problem::of_errno(&self.shown, "open", errno))
    }

    /// Opens a regular file for reading.
    pub(crate) fn open_file(&self) -> Result<(File, Stat), ToolError> {
        let (file, stat) = self.open()?;
        require_regular(&self.shown, &stat)?;
        Ok((File::from(file), stat))
    }

    /// What is there, if anything; a link is not followed.
    pub(crate) fn look(&self) -> Result<Option<Stat>, ToolError> {
        let Some((folder, name)) = self.split() else {
            return Err(problem::is_a_directory(&self.shown));
        };
        let found = folder
            .try_open_folder()
            .and_then(|folder| statat(folder.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW));
        match found {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(problem::of_errno(&self.shown, "look at", errno)),
        }
    }
}

pub(crate) fn require_regular(shown: &str, stat: &Stat) -> Result<(), ToolError> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(problem::is_a_directory(shown)),
        _ => Err(problem::not_a_file(shown)),
    }
}

/// A relative path as results show it: `/` between components, `.` for an empty one.
fn display(path: &Path) -> String {
    if path.as_os_str().is_empty() {
        ".".to_owned()
    } else {
        path.to_string_lossy().trim_end_matches('/').to_owned()
    }
}

/// The path without `.` and `..` and relative; none if it climbs above where it starts.
fn normalise(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    let absolute = path.is_absolute();
    for part in path.components() {
        match part {
            Component::Normal(name) => clean.push(name),
            // `/..` is `/`.
            Component::ParentDir if !clean.pop() && !absolute => return None,
            Component::ParentDir | Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    Some(clean)
}

fn unused_name(path: &Path, roots: &[Root]) -> OsString {
    let base = path.file_name().unwrap_or(OsStr::new("root"));
    let taken = |name: &OsStr| roots.iter().any(|root| root.name == name);
    let numbered = (2_u32..).map(|number| {
        let mut name = base.as_bytes().to_vec();
        name.extend_from_slice(format!("-{number}").as_bytes());
        OsString::from_vec(name)
    });
    std::iter::once(base.to_owned())
        .chain(numbered)
        .find(|name| !taken(name))
        .unwrap_or_else(|| base.to_owned())
}
