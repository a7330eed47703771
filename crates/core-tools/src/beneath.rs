//! Opening what lies beneath a folder, and nothing else.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

/// How often a resolution is repeated that a concurrent rename disturbed.
#[cfg(target_os = "linux")]
const ATTEMPTS: usize = 16;

/// A folder that paths cannot leave: neither by `..`, nor by an absolute path, nor by a symbolic link, whoever swaps
/// whatever while the path is looked up.
///
/// Where the kernel has `openat2`, links that stay beneath the folder are followed; elsewhere no link is.
#[derive(Debug)]
pub(crate) struct Beneath {
    folder: OwnedFd,
    by_kernel: bool,
}

impl Beneath {
    pub(crate) fn new(folder: OwnedFd) -> Self {
        let by_kernel = resolve_by_kernel(folder.as_fd(), Path::new("."), folder_flags()).is_ok();
        Self { folder, by_kernel }
    }

    /// Opens `path`, relative and without `..`; empty is the folder itself. Never waits for a pipe's other end.
    pub(crate) fn open(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let path = if path.as_os_str().is_empty() {
            Path::new(".")
        } else {
            path
        };
        let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        if self.by_kernel {
            resolve_by_kernel(self.folder.as_fd(), path, flags)
        } else {
            resolve_by_steps(self.folder.as_fd(), path, flags)
        }
    }

    /// Opens a folder to look things up in it.
    pub(crate) fn open_folder(&self, path: &Path) -> Result<OwnedFd, Errno> {
        self.open(path, folder_flags())
    }
}

pub(crate) fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC
}

#[cfg(target_os = "linux")]
fn resolve_by_kernel(folder: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};

    let within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let mut answer = Err(Errno::AGAIN);
    for _ in 0..ATTEMPTS {
        answer = openat2(folder, path, flags, Mode::empty(), within);
        if !matches!(answer, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
    }
    answer
}

#[cfg(not(target_os = "linux"))]
fn resolve_by_kernel(_: BorrowedFd<'_>, _: &Path, _: OFlags) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

/// One component after the other, following no link at all.
fn resolve_by_steps(folder: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut parts = path.components().peekable();
    let mut reached: Option<OwnedFd> = None;
    while let Some(part) = parts.next() {
        let name = match part {
            Component::Normal(name) => name,
            Component::CurDir => OsStr::new("."),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(Errno::XDEV),
        };
        let flags = if parts.peek().is_some() {
            folder_flags()
        } else {
            flags
        };
        let from = reached.as_ref().map_or(folder, AsFd::as_fd);
        reached = Some(open_no_link(from, name, flags)?);
    }
    reached.ok_or(Errno::NOENT)
}

/// Opens a name in a folder. A link there is `LOOP`, whatever the system would call it.
pub(crate) fn open_no_link(folder: BorrowedFd<'_>, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    openat(folder, name, flags, Mode::empty()).map_err(|errno| {
        let is_link = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
        if is_link { Errno::LOOP } else { errno }
    })
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    /// `in/`, and beside it a secret; links of every kind inside `in/`.
    fn fixture() -> tempfile::TempDir {
        let base = tempfile::tempdir().unwrap();
        let inside = base.path().join("in");
        fs::create_dir_all(inside.join("a/b")).unwrap();
        fs::write(inside.join("a/b/file"), "inside").unwrap();
        fs::write(base.path().join("secret"), "secret").unwrap();
        symlink("a/b", inside.join("near")).unwrap();
        symlink("..", inside.join("up")).unwrap();
        symlink("../secret", inside.join("far")).unwrap();
        symlink(base.path().join("secret"), inside.join("absolute")).unwrap();
        symlink("/proc/self/root", inside.join("magic")).unwrap();
        symlink("circle", inside.join("circle")).unwrap();
        base
    }

    fn read(beneath: &Beneath, path: &str) -> Result<String, Errno> {
        let mut text = String::new();
        let file = beneath.open(Path::new(path), OFlags::RDONLY)?;
        File::from(file).read_to_string(&mut text).unwrap();
        Ok(text)
    }

    #[test]
    fn without_the_kernels_help_no_link_is_followed() {
        let base = fixture();
        let folder = File::open(base.path().join("in")).unwrap().into();
        let beneath = Beneath {
            folder,
            by_kernel: false,
        };
        let cases = [
            ("a/b/file", Ok("inside".to_owned())),
            ("./a/./b/file", Ok("inside".to_owned())),
            ("near/file", Err(Errno::LOOP)),
            ("up/secret", Err(Errno::LOOP)),
            ("far", Err(Errno::LOOP)),
            ("absolute", Err(Errno::LOOP)),
            ("magic/etc/passwd", Err(Errno::LOOP)),
            ("circle", Err(Errno::LOOP)),
            ("../secret", Err(Errno::XDEV)),
            ("/etc/passwd", Err(Errno::XDEV)),
            ("a/b/file/x", Err(Errno::NOTDIR)),
            ("none", Err(Errno::NOENT)),
        ];
        for (path, expected) in cases {
            assert_eq!(read(&beneath, path), expected, "{path}");
        }
    }

    #[test]
    fn with_the_kernels_help_links_that_stay_inside_are_followed() {
        let base = fixture();
        let beneath = Beneath::new(File::open(base.path().join("in")).unwrap().into());
        if !beneath.by_kernel {
            return;
        }
        let cases = [
            ("a/b/file", Ok("inside".to_owned())),
            ("near/file", Ok("inside".to_owned())),
            ("up/secret", Err(Errno::XDEV)),
            ("far", Err(Errno::XDEV)),
            ("absolute", Err(Errno::XDEV)),
            ("magic/etc/passwd", Err(Errno::XDEV)),
            ("circle", Err(Errno::LOOP)),
            ("../secret", Err(Errno::XDEV)),
            ("/etc/passwd", Err(Errno::XDEV)),
        ];
        for (path, expected) in cases {
            assert_eq!(read(&beneath, path), expected, "{path}");
        }
    }
}
