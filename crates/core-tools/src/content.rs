//! What is in a file: its bytes within a bound, and whether they are text.

use std::fs::File;
use std::io::Read;

use codecell_tools::ToolError;
use rustix::fs::Stat;

use crate::problem;

/// Largest file that is read as a whole. Its text is kept in memory at least once.
pub(crate) const MAX_FILE_BYTES: u64 = 32 << 20;

/// How much of a file decides whether it is binary; a NUL byte further on is left to the reader.
const SNIFFED: usize = 8 << 10;

/// Reads a whole file, at most [`MAX_FILE_BYTES`].
pub(crate) fn read_all(shown: &str, file: File, stat: &Stat) -> Result<Vec<u8>, ToolError> {
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    let mut bytes = Vec::new();
    if size <= MAX_FILE_BYTES {
        // A file may grow while it is read.
        file.take(MAX_FILE_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| problem::of_io(shown, "read", &error))?;
    }
    let size = size.max(bytes.len() as u64);
    if size > MAX_FILE_BYTES {
        let message = format!(
            "`{}` is {size} bytes; the limit is {MAX_FILE_BYTES}. `grep` finds lines in larger files",
            problem::shown(shown)
        );
        return Err(ToolError::new("too_large", message));
    }
    Ok(bytes)
}

/// Text for reading. Bytes that are no UTF-8 become U+FFFD, as long as the file as a whole looks like text.
pub(crate) fn readable(shown: &str, bytes: &[u8]) -> Result<String, ToolError> {
    match binary_kind(bytes) {
        Some(kind) => Err(not_text(shown, bytes.len(), kind)),
        None => Ok(String::from_utf8_lossy(bytes).into_owned()),
    }
}

/// Text for changing: exact UTF-8 or nothing, because a replaced byte would be written back.
pub(crate) fn exact(shown: &str, bytes: Vec<u8>) -> Result<String, ToolError> {
    if let Some(kind) = binary_kind(&bytes) {
        return Err(not_text(shown, bytes.len(), kind));
    }
    let size = bytes.len();
    String::from_utf8(bytes).map_err(|_| not_text(shown, size, "text in another encoding than UTF-8"))
}

fn not_text(shown: &str, size: usize, kind: &str) -> ToolError {
    let message = format!(
        "`{}` is {kind} ({size} bytes), not text in UTF-8",
        problem::shown(shown)
    );
    ToolError::new("not_text", message)
}

/// What kind of binary this is; none for text.
pub(crate) fn binary_kind(bytes: &[u8]) -> Option<&'static str> {
    const MAGIC: [(&[u8], &str); 13] = [
        (b"\x89PNG\r\n", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"%PDF-", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive"),
        (b"\x1f\x8b", "gzip data"),
        (b"\x28\xb5\x2f\xfd", "Zstandard data"),
        (b"\x7fELF", "an ELF binary"),
        (b"\0asm", "a WebAssembly module"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\xff\xfe", "text in UTF-16"),
        (b"\xfe\xff", "text in UTF-16"),
        (b"\xfd7zXZ", "XZ data"),
    ];
    let known = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic));
    if let Some((_, kind)) = known {
        return Some(kind);
    }
    let head = bytes.get(..SNIFFED).unwrap_or(bytes);
    head.contains(&0).then_some("binary data")
}
