//! Compiled modules on disk, so that a process does not compile the guest each time it starts.

use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use wasmtime::{Engine, Module};

use crate::error::EngineError;
use crate::{artefact, checksum};

/// Modules of other builds that are left in the folder. Versions installed side by side do not displace each other,
/// and upgrades do not fill the disk.
const MAX_KEPT: usize = 4;

/// The folder of this user for compiled guests: `codecell` in the XDG cache folder. None without a home.
#[must_use]
pub fn default_cache_folder() -> Option<PathBuf> {
    let set = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let base = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("codecell"))
}

/// The guest's module: from `folder` if a usable copy lies there, compiled otherwise.
#[expect(
    unsafe_code,
    reason = "a compiled module is machine code, and only its origin vouches for it"
)]
pub(crate) fn load(engine: &Engine, folder: Option<&Path>) -> Result<Module, EngineError> {
    let Some(folder) = folder else {
        return compile(engine);
    };
    let file = folder.join(name(engine));
    match read(&file) {
        Ok(bytes) => {
            // SAFETY: the file was written by this user for this build of engine and guest, nobody else may write
            // it, and its checksum holds; the bytes are in our memory, so they no longer change.
            match unsafe { Module::deserialize(engine, &bytes) } {
                Ok(module) => return Ok(module),
                Err(error) => tracing::debug!(%error, "a compiled guest was refused"),
            }
        }
        Err(error) => tracing::debug!(%error, file = %file.display(), "no compiled guest"),
    }
    let module = compile(engine)?;
    if let Err(error) = module
        .serialize()
        .map_err(io::Error::other)
        .and_then(|bytes| write(&file, bytes))
    {
        tracing::debug!(%error, file = %file.display(), "the compiled guest was not kept");
    }
    Ok(module)
}

fn compile(engine: &Engine) -> Result<Module, EngineError> {
    Module::new(engine, artefact::WASM).map_err(|error| EngineError::Wasm(format!("{error:#}")))
}

/// A name that no other build of guest, engine or settings shares.
fn name(engine: &Engine) -> String {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    artefact::HASH.hash(&mut hasher);
    format!("guest-{:016x}.module", hasher.finish())
}

/// Reads a module that this user wrote, without its checksum.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    trusted(&file, path)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let body = bytes.len().saturating_sub(8);
    let sum = bytes.split_off(body);
    if sum != checksum::of(&bytes).to_le_bytes() {
        return Err(io::Error::other("the checksum does not fit"));
    }
    Ok(bytes)
}

/// Tells the drafts of one process apart.
static DRAFTS: AtomicU32 = AtomicU32::new(0);

/// Writes beside the place and renames, so that other processes see a whole file or none.
fn write(path: &Path, mut bytes: Vec<u8>) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::NotFound)?;
    create_private(folder)?;
    let sum = checksum::of(&bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
    let draft = path.with_extension(format!("{}-{number}.part", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&draft).and_then(|mut file| file.write_all(&bytes));
    written.and_then(|()| fs::rename(&draft, path)).inspect_err(|_| {
        // A draft that could not be finished is of no use to anybody.
        let _ = fs::remove_file(&draft);
    })?;
    prune(folder)
}

/// Removes the oldest modules beyond [`MAX_KEPT`]. What another process removes first is gone as well.
fn prune(folder: &Path) -> io::Result<()> {
    let mut modules = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry
            .path()
            .extension()
            .is_some_and(|extension| extension == "module")
        {
            modules.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    modules.sort();
    let surplus = modules.len().saturating_sub(MAX_KEPT);
    for (_, path) in modules.into_iter().take(surplus) {
        fs::remove_file(path)?;
    }
    Ok(())
}

#[cfg(unix)]
fn create_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create_private(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// Refuses what somebody else could have written: machine code is about to be run out of it.
#[cfg(unix)]
fn trusted(file: &File, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let folder = path.parent().ok_or(io::ErrorKind::NotFound)?;
    let us = user(folder)?;
    for meta in [file.metadata()?, fs::metadata(folder)?] {
        if meta.uid() != us || meta.mode() & 0o022 != 0 {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "others may write the compiled guest",
            ));
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn trusted(_file: &File, _path: &Path) -> io::Result<()> {
    Ok(())
}

/// The user this process acts for, as the file system sees it.
#[cfg(unix)]
fn user(folder: &Path) -> io::Result<u32> {
    use std::os::unix::fs::MetadataExt;
    if let Ok(meta) = fs::metadata("/proc/self") {
        return Ok(meta.uid());
    }
    // Without /proc the owner of a file we create tells.
    let probe = folder.join(format!("owner-{}.part", std::process::id()));
    let uid = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&probe)?
        .metadata()?
        .uid();
    fs::remove_file(&probe)?;
    Ok(uid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_module_is_read_back_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/guest.module");
        write(&path, b"code".to_vec()).unwrap();
        assert_eq!(read(&path).unwrap(), b"code");
        write(&path, b"newer".to_vec()).unwrap();
        assert_eq!(read(&path).unwrap(), b"newer");
        assert_eq!(
            fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1,
            "no draft stays behind"
        );
    }

    #[test]
    fn old_modules_make_room_for_new_ones() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..MAX_KEPT + 3 {
            write(
                &folder.path().join(format!("guest-{number}.module")),
                b"code".to_vec(),
            )
            .unwrap();
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), MAX_KEPT);
    }

    #[test]
    fn a_damaged_module_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/guest.module");
        write(&path, b"code".to_vec()).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        bytes[0] ^= 1;
        fs::write(&path, bytes).unwrap();
        assert_eq!(read(&path).unwrap_err().to_string(), "the checksum does not fit");
    }

    #[cfg(unix)]
    #[test]
    fn a_module_that_others_may_write_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/guest.module");
        write(&path, b"code".to_vec()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(read(&path).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }
}
