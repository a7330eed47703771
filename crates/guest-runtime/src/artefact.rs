//! The guest as it was built: its bytes and the hash that names this build.

/// The pre-initialised module.
pub(crate) const WASM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest.wasm"));

/// SHA-256 of [`WASM`].
pub(crate) const HASH: &[u8; 32] = include_bytes!(concat!(env!("OUT_DIR"), "/guest.hash"));

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use sha2::{Digest, Sha256};

    /// Hashes names and contents of everything the artefact is made from, as `cargo xtask guest` does.
    fn fingerprint(guest: &Path) -> String {
        let mut files = Vec::new();
        let mut folders = vec![guest.join("src")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path)
                } else {
                    files.push(path)
                }
            }
        }
        files.push(guest.join("Cargo.toml"));
        files.push(guest.join("Cargo.lock"));
        let mut named: Vec<(String, Vec<u8>)> = files
            .into_iter()
            .map(|path| {
                let name = path
                    .strip_prefix(guest)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .replace('\\', "/");
                (name, fs::read(&path).unwrap())
            })
            .collect();
        named.sort();
        let mut hash = Sha256::new();
        for (name, content) in named {
            hash.update(name.as_bytes());
            hash.update([0]);
            hash.update(u64::try_from(content.len()).unwrap().to_le_bytes());
            hash.update(content);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_committed_artefact_was_built_from_these_sources() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let recorded = fs::read_to_string(crates.join("guest-runtime/artefact/guest.fingerprint")).unwrap();
        assert_eq!(
            recorded.trim(),
            fingerprint(&crates.join("guest")),
            "the guest's sources moved: run `cargo xtask guest`"
        );
    }
}
