//! Changing a file in one step: whoever looks sees the old content or the new one, never half of it.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};

use codecell_tools::ToolError;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, Stat, fchmod, fstat, mkdirat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use uuid::Uuid;

use crate::beneath::open_no_link;
use crate::content;
use crate::problem;
use crate::roots::{Place, require_regular};

/// Where a file is to be written, and what was there when it was looked at.
pub(crate) struct Target {
    folder: OwnedFd,
    name: OsString,
    shown: String,
    before: Option<Stat>,
}

/// New content that lies beside its target under a name of its own. Dropping it removes it again.
pub(crate) struct Staged {
    target: Target,
    temporary: String,
    committed: bool,
}

/// Whether folders on the way are made where they are missing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Folders {
    MustExist,
    Create,
}

impl Target {
    /// Looks at the place and refuses what cannot be written: a root that is only read, a folder, a device, a file
    /// whose permissions deny it, and a symbolic link, which would be replaced instead of what it points to.
    pub(crate) fn find(place: &Place<'_>, folders: Folders) -> Result<Self, ToolError> {
        place.require_writable()?;
        let Some((parent, name)) = place.split() else {
            return Err(problem::is_a_directory(&place.shown));
        };
        let opened = match folders {
            Folders::MustExist => parent.try_open_folder(),
            Folders::Create => make(&parent),
        };
        let folder = match opened {
            Ok(folder) => folder,
            Err(Errno::NOENT) => {
                let message = format!(
                    "the folder `{}` does not exist; `write` makes it with `createDirs: true`",
                    problem::shown(&parent.shown)
                );
                return Err(ToolError::new("not_found", message));
            }
            Err(errno) => return Err(problem::of_errno(&parent.shown, "open", errno)),
        };
        let before = match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(problem::of_errno(&place.shown, "look at", errno)),
        };
        let target = Self {
            folder,
            name: name.to_owned(),
            shown: place.shown.clone(),
            before,
        };
        if let Some(stat) = &target.before {
            require_changeable(&target.shown, stat)?;
        }
        Ok(target)
    }

    pub(crate) fn exists(&self) -> bool {
        self.before.is_some()
    }

    /// Reads what is there. From now on the target is known by what was read.
    pub(crate) fn read(&mut self) -> Result<Vec<u8>, ToolError> {
        let (file, stat) = open_no_link(self.folder.as_fd(), &self.name, OFlags::RDONLY)
            .and_then(|file| fstat(&file).map(|stat| (file, stat)))
            .map_err(|errno| problem::of_errno(&self.shown, "open", errno))?;
        require_changeable(&self.shown, &stat)?;
        let bytes = content::read_all(&self.shown, File::from(file), &stat)?;
        self.before = Some(stat);
        Ok(bytes)
    }

    /// The permissions of what is there.
    pub(crate) fn permissions(&self) -> Option<Mode> {
        let stat = self.before.as_ref()?;
        // Whoever changes a program does not mean to keep its special bits; the system drops them too.
        Some(Mode::from_raw_mode(stat.st_mode) & (Mode::RWXU | Mode::RWXG | Mode::RWXO))
    }

    /// Writes new content beside the target, with these permissions or those of any new file.
    pub(crate) fn stage(self, content: &[u8], permissions: Option<Mode>) -> Result<Staged, ToolError> {
        let temporary = temporary_name();
        let mode = match permissions {
            Some(_) => Mode::RUSR | Mode::WUSR,
            None => Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH,
        };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.folder, temporary.as_str(), flags, mode)
            .map_err(|errno| problem::of_errno(&self.shown, "write beside", errno))?;
        let staged = Staged {
            target: self,
            temporary,
            committed: false,
        };
        let shown = &staged.target.shown;
        if let Some(permissions) = permissions {
            fchmod(&file, permissions)
                .map_err(|errno| problem::of_errno(shown, "set the permissions of", errno))?;
        }
        let mut file = File::from(file);
        file.write_all(content)
            .and_then(|()| file.sync_all())
            .map_err(|error| problem::of_io(shown, "write", &error))?;
        Ok(staged)
    }

    /// Takes the file away, out of sight but not yet gone.
    pub(crate) fn hide(&self) -> Result<String, ToolError> {
        self.require_unchanged()?;
        let temporary = temporary_name();
        renameat(&self.folder, &self.name, &self.folder, temporary.as_str())
            .map_err(|errno| problem::of_errno(&self.shown, "remove", errno))?;
        Ok(temporary)
    }

    /// Brings a hidden file back. Best effort: it undoes something that has failed already.
    pub(crate) fn unhide(&self, temporary: &str) {
        let _ = renameat(&self.folder, temporary, &self.folder, &self.name);
    }

    /// Removes a name in the target's folder: the target's own without one. Best effort.
    pub(crate) fn forget(&self, temporary: Option<&str>) {
        let _ = match temporary {
            Some(name) => unlinkat(&self.folder, name, AtFlags::empty()),
            None => unlinkat(&self.folder, &self.name, AtFlags::empty()),
        };
    }

    fn require_unchanged(&self) -> Result<(), ToolError> {
        let now = statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let same = match (&self.before, &now) {
            (None, None) => true,
            (Some(before), Some(now)) => identity(before) == identity(now),
            _ => false,
        };
        if same {
            Ok(())
        } else {
            Err(problem::changed_meanwhile(&self.shown))
        }
    }
}

impl Staged {
    /// Puts the new content in place, unless somebody changed the file since it was looked at. Returns the target as
    /// it is now.
    pub(crate) fn commit(mut self) -> Result<Committed, ToolError> {
        let target = &self.target;
        target.require_unchanged()?;
        renameat(
            &target.folder,
            self.temporary.as_str(),
            &target.folder,
            &target.name,
        )
        .map_err(|errno| problem::of_errno(&target.shown, "write", errno))?;
        self.committed = true;
        Ok(Committed(self))
    }
}

/// A change that has been made and can still be taken back.
pub(crate) struct Committed(Staged);

impl Committed {
    /// Puts `old` content back, or removes the file if there was none. Best effort.
    pub(crate) fn undo(self, old: Option<&[u8]>) {
        let target = &self.0.target;
        let Some(old) = old else {
            target.forget(None);
            return;
        };
        let Ok(folder) = target.folder.try_clone() else {
            return;
        };
        let again = Target {
            before: statat(&folder, &target.name, AtFlags::SYMLINK_NOFOLLOW).ok(),
            folder,
            name: target.name.clone(),
            shown: target.shown.clone(),
        };
        let permissions = target.permissions();
        let _ = again.stage(old, permissions).and_then(Staged::commit);
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.committed {
            self.target.forget(Some(&self.temporary));
        }
    }
}

/// Opens a folder and makes what is missing on the way to it.
fn make(place: &Place<'_>) -> Result<OwnedFd, Errno> {
    match place.try_open_folder() {
        Err(Errno::NOENT) => {}
        done => return done,
    }
    let (parent, name) = place.split().ok_or(Errno::NOENT)?;
    let folder = make(&parent)?;
    match mkdirat(&folder, name, Mode::RWXU | Mode::RWXG | Mode::RWXO) {
        Ok(()) | Err(Errno::EXIST) => place.try_open_folder(),
        Err(errno) => Err(errno),
    }
}

fn require_changeable(shown: &str, stat: &Stat) -> Result<(), ToolError> {
    if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
        let message = format!(
            "`{}` is a symbolic link; change the file it points to",
            problem::shown(shown)
        );
        return Err(ToolError::new("symlink", message));
    }
    require_regular(shown, stat)?;
    // Replacing a file needs no permission on the file, so that the wish to keep it is honoured here.
    let writable = Mode::WUSR | Mode::WGRP | Mode::WOTH;
    if !Mode::from_raw_mode(stat.st_mode).intersects(writable) {
        let message = format!(
            "`{}` is marked read-only by its permissions",
            problem::shown(shown)
        );
        return Err(ToolError::new("not_writable", message));
    }
    Ok(())
}

/// What tells one state of a file from the next.
fn identity(stat: &Stat) -> impl PartialEq + use<> {
    (
        (stat.st_dev, stat.st_ino, stat.st_size),
        (stat.st_mtime, stat.st_mtime_nsec),
        (stat.st_ctime, stat.st_ctime_nsec),
    )
}

fn temporary_name() -> String {
    format!(".codecell-{}.tmp", Uuid::new_v4().simple())
}
