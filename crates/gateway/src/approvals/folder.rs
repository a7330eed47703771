//! Where the sockets are.
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What the names of sockets end with.
pub(super) const EXTENSION: &str = "sock";

/// The folder of this user: `CODECELL_RUNTIME_DIR`, or a folder of our own in the user's runtime folder, or in the
/// one for temporary files.
pub(super) fn path() -> PathBuf {
    let variable = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
    };
    if let Some(folder) = variable("CODECELL_RUNTIME_DIR") {
        return folder;
    }
    match variable("XDG_RUNTIME_DIR") {
        Some(folder) => folder.join("codecell"),
        None => std::env::temp_dir().join(format!("codecell-{}", user())),
    }
}

/// Creates the folder if it is not there, and makes sure that nobody else can get into it.
pub(super) fn create(folder: &Path) -> io::Result<()> {
    match std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
    {
        Ok(()) => check(folder),
        Err(error) => Err(error),
    }
}

/// Refuses a folder that somebody else could have put there, or can open: whoever reaches a socket can approve.
pub(super) fn check(folder: &Path) -> io::Result<()> {
    let found = std::fs::symlink_metadata(folder)?;
    let ours = found.is_dir() && found.uid() == user() && found.mode() & 0o077 == 0;
    if ours {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!(
            "`{}` must be a folder of this user that nobody else can open (mode 700)",
            folder.display()
        ),
    ))
}

pub(super) fn user() -> u32 {
    rustix::process::getuid().as_raw()
}
