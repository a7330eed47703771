//! What goes wrong with files, in words that say what to do.

use codecell_tools::ToolError;
use rustix::io::Errno;

/// Longest path that is repeated in a message, in characters.
const MAX_SHOWN: usize = 200;

/// A path as messages show it.
pub(crate) fn shown(path: &str) -> String {
    if path.chars().count() <= MAX_SHOWN {
        path.to_owned()
    } else {
        let head: String = path.chars().take(MAX_SHOWN).collect();
        format!("{head}…")
    }
}

pub(crate) fn outside(path: &str) -> ToolError {
    let path = shown(path);
    ToolError::new(
        "outside_roots",
        format!("`{path}` leads outside the folders that may be used, directly or through a symbolic link"),
    )
}

pub(crate) fn is_a_directory(path: &str) -> ToolError {
    let path = shown(path);
    ToolError::new(
        "is_a_directory",
        format!("`{path}` is a folder, not a file; `ls` shows what is in it"),
    )
}

pub(crate) fn not_a_file(path: &str) -> ToolError {
    let path = shown(path);
    ToolError::new(
        "not_a_file",
        format!("`{path}` is no regular file but a pipe, a socket or a device; those are never opened"),
    )
}

pub(crate) fn changed_meanwhile(path: &str) -> ToolError {
    let path = shown(path);
    ToolError::new(
        "conflict",
        format!("`{path}` was changed by somebody else in the meantime; nothing was written. Read it again"),
    )
}

pub(crate) fn cancelled() -> ToolError {
    ToolError::new("cancelled", "the call was cancelled")
}

/// The answer to a system call that failed while `doing` something to `path`.
pub(crate) fn of_errno(path: &str, doing: &str, errno: Errno) -> ToolError {
    let name = shown(path);
    match errno {
        Errno::NOENT => ToolError::new(
            "not_found",
            format!("`{name}` does not exist; `ls` and `glob` show what does"),
        ),
        Errno::XDEV | Errno::LOOP => outside(path),
        Errno::NOTDIR => ToolError::new(
            "not_a_directory",
            format!("`{name}`, or a part of it, is no folder"),
        ),
        Errno::ISDIR => is_a_directory(path),
        Errno::NXIO => not_a_file(path),
        Errno::ACCESS | Errno::PERM | Errno::ROFS => ToolError::new(
            "not_permitted",
            format!("the system does not permit to {doing} `{name}`"),
        ),
        Errno::NAMETOOLONG | Errno::INVAL | Errno::ILSEQ => {
            ToolError::new("invalid_path", format!("`{name}` is no usable path: {errno}"))
        }
        _ => ToolError::new("io_error", format!("cannot {doing} `{name}`: {errno}")),
    }
}

/// The same for the errors of the standard library.
pub(crate) fn of_io(path: &str, doing: &str, error: &std::io::Error) -> ToolError {
    match Errno::from_io_error(error) {
        Some(errno) => of_errno(path, doing, errno),
        None => ToolError::new("io_error", format!("cannot {doing} `{}`: {error}", shown(path))),
    }
}
