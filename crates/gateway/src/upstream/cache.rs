//! The last known tools of each server, on disk, so that a start need not wait for anyone.
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::state::Era;
use crate::config::{ServerConfig, Transport};

/// Changes when the layout does: older files are then ignored.
const FORMAT: u32 = 1;

/// Largest cache file that is read: twenty times the largest real catalog.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// What is remembered of a server.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Remembered {
    format: u32,
    key: String,
    pub(super) modern: bool,
    pub(super) version: String,
    pub(super) instructions: Option<String>,
    pub(super) has_resources: bool,
    pub(super) has_prompts: bool,
    pub(super) tools: Vec<Box<RawValue>>,
}

impl Remembered {
    pub(super) fn era(&self) -> Era {
        if self.modern { Era::Modern } else { Era::Legacy }
    }
}

/// The facts of a connection that are remembered beside its tools.
pub(super) struct Facts {
    pub(super) era: Era,
    pub(super) version: String,
    pub(super) instructions: Option<String>,
    pub(super) has_resources: bool,
    pub(super) has_prompts: bool,
}

/// One server's file.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    file: PathBuf,
    key: String,
    turns: Arc<AtomicU64>,
    /// The turn that was written last.
    written: Arc<Mutex<u64>>,
}

/// Makes the names of half-written files different.
static HALVES: AtomicU64 = AtomicU64::new(0);

impl Cache {
    pub(super) fn new(folder: &Path, config: &ServerConfig) -> Self {
        let key = key(config);
        let slug: String = config
            .name
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') {
                    c
                } else {
                    '_'
                }
            })
            .take(40)
            .collect();
        let short = key.get(..16).unwrap_or(&key);
        Self {
            file: folder.join(format!("{slug}-{short}.json")),
            key,
            turns: Arc::default(),
            written: Arc::default(),
        }
    }

    /// A place in the order of writing, so that an older list never replaces a newer one.
    pub(super) fn turn(&self) -> u64 {
        self.turns.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// What was remembered, or why it cannot be used. No file is no problem.
    pub(super) fn load(&self) -> Result<Option<Remembered>, String> {
        let ignored = |why: String| format!("the cached tools in {} are ignored: {why}", self.file.display());
        let size = match fs::metadata(&self.file) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(ignored(error.to_string())),
        };
        if size > MAX_FILE_BYTES {
            return Err(ignored(format!(
                "{size} bytes, at most {MAX_FILE_BYTES} are read"
            )));
        }
        let text = fs::read_to_string(&self.file).map_err(|error| ignored(error.to_string()))?;
        let remembered: Remembered =
            serde_json::from_str(&text).map_err(|error| ignored(format!("not readable: {error}")))?;
        if remembered.format != FORMAT || remembered.key != self.key {
            return Err(ignored("written by another version".to_owned()));
        }
        Ok(Some(remembered))
    }

    /// Writes beside the file and renames, so that a reader or a crash never sees half of it.
    pub(super) fn store(&self, turn: u64, facts: Facts, tools: Vec<Box<RawValue>>) -> io::Result<()> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if turn <= *written {
            return Ok(());
        }
        *written = turn;
        let remembered = Remembered {
            format: FORMAT,
            key: self.key.clone(),
            modern: facts.era == Era::Modern,
            version: facts.version,
            instructions: facts.instructions,
            has_resources: facts.has_resources,
            has_prompts: facts.has_prompts,
            tools,
        };
        let text = serde_json::to_vec(&remembered)?;
        let folder = self.file.parent().unwrap_or(Path::new("."));
        create_private(folder)?;
        let number = HALVES.fetch_add(1, Ordering::Relaxed);
        let half = self
            .file
            .with_extension(format!("{}-{number}.tmp", std::process::id()));
        fs::write(&half, text)
            .and_then(|()| fs::rename(&half, &self.file))
            .inspect_err(|_| {
                // The half-written file is of no use to anyone.
                let _ = fs::remove_file(&half);
            })
    }
}

/// Tool lists may tell about the systems behind them: nobody else's business.
fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A digest of the name and of everything that decides what answers under it. Secrets go in as part of the
/// digest only.
fn key(config: &ServerConfig) -> String {
    let mut digest = Sha256::new();
    let mut add = |part: &str| {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    };
    add(&config.name);
    match &config.transport {
        Transport::Stdio {
            command,
            args,
            env,
            cwd,
        } => {
            add("stdio");
            add(command);
            add(&args.len().to_string());
            args.iter().for_each(|arg| add(arg.expose()));
            for (name, value) in env {
                add(name);
                add(value.expose());
            }
            add(&cwd
                .as_ref()
                .map(|cwd| cwd.to_string_lossy().into_owned())
                .unwrap_or_default());
        }
        Transport::Http { url, headers } => {
            add("http");
            add(url.expose());
            for (name, value) in headers {
                add(name);
                add(value.expose());
            }
        }
    }
    digest
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Where caches live: `CODECELL_CACHE_DIR`, or `codecell` in the user's cache folder.
pub(super) fn default_folder() -> Option<PathBuf> {
    let set = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    set("CODECELL_CACHE_DIR")
        .or_else(|| {
            set("XDG_CACHE_HOME")
                .filter(|path| path.is_absolute())
                .map(|path| path.join("codecell"))
        })
        .or_else(|| {
            set("LOCALAPPDATA")
                .filter(|_| cfg!(windows))
                .map(|path| path.join("codecell"))
        })
        .or_else(|| set("HOME").map(|home| home.join(".cache").join("codecell")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Secret;

    fn config(name: &str, token: &str) -> ServerConfig {
        let headers = [("authorization".to_owned(), Secret::new(token))].into();
        ServerConfig::new(
            name,
            Transport::Http {
                url: Secret::new("https://mcp.test/"),
                headers,
            },
        )
    }

    fn facts() -> Facts {
        Facts {
            era: Era::Modern,
            version: "2026-07-28".into(),
            instructions: None,
            has_resources: true,
            has_prompts: false,
        }
    }

    #[test]
    fn what_is_stored_is_found_again_and_holds_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(&folder.path().join("deep"), &config("a/../b", "hunter2"));
        assert!(cache.load().unwrap().is_none());
        let tool = r#"{"name":"x","n":123456789012345678901234567890}"#;
        cache
            .store(1, facts(), vec![RawValue::from_string(tool.to_owned()).unwrap()])
            .unwrap();
        let found = cache.load().unwrap().unwrap();
        assert_eq!(
            (found.era(), found.tools[0].get(), found.has_resources),
            (Era::Modern, tool, true)
        );
        let files: Vec<_> = fs::read_dir(folder.path().join("deep"))
            .unwrap()
            .map(|f| f.unwrap().path())
            .collect();
        assert_eq!(files.len(), 1, "no half-written file is left");
        assert!(!fs::read_to_string(&files[0]).unwrap().contains("hunter2"));
        assert!(
            files[0]
                .file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with("a____b-")
        );
    }

    #[test]
    fn an_older_list_never_replaces_a_newer_one() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path(), &config("a", "1"));
        let [older, newer] = [cache.turn(), cache.turn()];
        for (turn, name) in [(newer, "newer"), (older, "older")] {
            let tool = RawValue::from_string(format!("{name:?}")).unwrap();
            cache.store(turn, facts(), vec![tool]).unwrap();
        }
        let found = cache.load().unwrap().unwrap();
        assert_eq!(found.tools[0].get(), r#""newer""#);
    }

    #[test]
    fn another_configuration_is_another_server() {
        let folder = Path::new("f");
        let file = |name: &str, token: &str| Cache::new(folder, &config(name, token)).file;
        assert_ne!(file("a", "1"), file("a", "2"));
        assert_ne!(file("a", "1"), file("b", "1"));
        assert_eq!(file("a", "1"), file("a", "1"));
    }

    #[test]
    fn a_damaged_file_is_ignored_with_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path(), &config("a", "1"));
        cache.store(1, facts(), vec![]).unwrap();
        fs::write(&cache.file, "{\"format\":1").unwrap();
        let message = cache.load().unwrap_err();
        assert!(message.contains("are ignored: not readable"), "{message}");
        fs::write(&cache.file, r#"{"format":99,"key":"","modern":true,"version":"","instructions":null,"has_resources":true,"has_prompts":true,"tools":[]}"#).unwrap();
        assert!(
            cache
                .load()
                .unwrap_err()
                .ends_with("are ignored: written by another version")
        );
    }
}
