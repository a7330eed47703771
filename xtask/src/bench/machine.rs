//! What the numbers were measured on.

use std::{fs, process::Command, thread};

use serde_json::Value;

use super::peers;
use crate::workspace::{cargo, root};

/// The machine, as names and values; what the system does not say is left out.
pub(super) fn machine() -> Vec<(&'static str, String)> {
    let cores = thread::available_parallelism().map(|cores| cores.to_string());
    let facts = [
        ("CPU", field("/proc/cpuinfo", "model name")),
        ("cores", cores.ok()),
        (
            "memory",
            field("/proc/meminfo", "MemTotal").and_then(|kib| gib(&kib)),
        ),
        ("system", kernel()),
    ];
    known(facts)
}

/// The versions of everything that was measured, and of what it runs on.
pub(super) fn versions(with_peers: bool) -> Vec<(&'static str, String)> {
    let ours = [
        ("codecell", Some(env!("CARGO_PKG_VERSION").to_owned())),
        ("wasmtime", locked("Cargo.lock", "wasmtime")),
        (
            "rquickjs, in the guest",
            locked("crates/guest/Cargo.lock", "rquickjs"),
        ),
        ("QuickJS, in the guest", guest_engine()),
        ("rustc", says("rustc", &["--version"], 1)),
    ];
    let mut facts = known(ours);
    if with_peers {
        let [quickjs, monty] = peers::pinned();
        let theirs = [
            (quickjs.0, Some(quickjs.1)),
            ("node", says("node", &["--version"], 0)),
            (monty.0, Some(monty.1)),
            ("python", says("python3", &["--version"], 1)),
        ];
        facts.extend(known(theirs));
    }
    facts
}

fn known<const N: usize>(facts: [(&'static str, Option<String>); N]) -> Vec<(&'static str, String)> {
    let known = facts.into_iter().filter_map(|(name, value)| Some((name, value?)));
    known.collect()
}

/// The first value of this name in a file of lines such as `name : value`.
fn field(file: &str, name: &str) -> Option<String> {
    value_of(&fs::read_to_string(file).ok()?, name)
}

fn value_of(text: &str, name: &str) -> Option<String> {
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = fields.find(|(field, _)| field.trim() == name)?;
    Some(value.trim().to_owned())
}

fn gib(kib: &str) -> Option<String> {
    let kib: f64 = kib.strip_suffix(" kB")?.parse().ok()?;
    Some(format!("{:.0} GiB", kib / (1024.0 * 1024.0)))
}

fn kernel() -> Option<String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    Some(format!("Linux {}", release.trim()))
}

/// A word of what a program prints.
fn says(program: &str, arguments: &[&str], word: usize) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let said = text.split_whitespace().nth(word)?;
    Some(said.trim_start_matches('v').to_owned())
}

/// The version of a package in a lock file of the tree.
fn locked(lock: &str, package: &str) -> Option<String> {
    version_in(&fs::read_to_string(root().join(lock)).ok()?, package)
}

fn version_in(lock: &str, package: &str) -> Option<String> {
    let (_, rest) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    Some(rest.split('"').next()?.to_owned())
}

/// The version of QuickJS itself, from the header that the guest is compiled with.
fn guest_engine() -> Option<String> {
    let manifest = root().join("crates/guest/Cargo.toml");
    let output = cargo()
        .args(["metadata", "--offline", "--format-version=1", "--manifest-path"])
        .arg(manifest)
        .output()
        .ok()?;
    let metadata: Value = serde_json::from_slice(&output.stdout).ok()?;
    let mut packages = metadata["packages"].as_array()?.iter();
    let package = packages.find(|package| package["name"] == "rquickjs-sys")?;
    let manifest = std::path::Path::new(package["manifest_path"].as_str()?);
    engine_in(&fs::read_to_string(manifest.with_file_name("quickjs").join("quickjs.h")).ok()?)
}

fn engine_in(header: &str) -> Option<String> {
    let part = |name: &str| {
        let (_, rest) = header.split_once(&format!("#define QJS_VERSION_{name} "))?;
        rest.split_whitespace().next()
    };
    Some(format!(
        "{}.{}.{}",
        part("MAJOR")?,
        part("MINOR")?,
        part("PATCH")?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_found_where_systems_keep_them() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            value_of("cpu : 1\nmodel name\t: A 2.80GHz: x\nmodel name: B", "model name"),
            some("A 2.80GHz: x")
        );
        assert_eq!(value_of("model: 1", "model name"), None);
        assert_eq!(gib("24684272 kB"), some("24 GiB"));
        let lock = "[[package]]\nname = \"wasmtime-x\"\nversion = \"1.0\"\n\n[[package]]\nname = \"wasmtime\"\nversion = \"2.0\"\n";
        assert_eq!(version_in(lock, "wasmtime"), some("2.0"));
        assert_eq!(version_in(lock, "wasm"), None);
        let header =
            "#define QJS_VERSION_MAJOR 0\n#define QJS_VERSION_MINOR 16\n#define QJS_VERSION_PATCH 2\n";
        assert_eq!(engine_in(header), some("0.16.2"));
        assert_eq!(engine_in("#define QJS_VERSION_MAJOR 0\n"), None);
    }
}
