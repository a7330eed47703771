//! Builds the guest: from its Rust and JavaScript sources to the bytes that `codecell-guest-runtime` embeds.
//!
//! link for wasm32 → boot it and keep its memory (`preinit`) → `wasm-opt` → artefact and fingerprint.

mod toolchain;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};

use self::toolchain::Toolchain;
use crate::workspace::{cargo, root, target_dir};

/// Stack inside the guest's memory. QuickJS allows itself three quarters of it (`MAX_STACK_BYTES` in `vm.rs`).
const SHADOW_STACK_BYTES: usize = 1024 * 1024;
/// Every engine since 2022 has these, and QuickJS gains from each.
const FEATURES: &[&str] = &["simd128", "bulk-memory", "sign-ext", "nontrapping-fptoint"];

/// Where everything lies.
struct Places {
    guest: PathBuf,
    artefact: PathBuf,
    fingerprint: PathBuf,
    scratch: PathBuf,
}

impl Places {
    fn new() -> Result<Self> {
        let root = root();
        Ok(Self {
            guest: root.join("crates/guest"),
            artefact: root.join("crates/guest-runtime/artefact/guest.wasm"),
            fingerprint: root.join("crates/guest-runtime/artefact/guest.fingerprint"),
            scratch: target_dir()?.join("guest"),
        })
    }
}

/// Rebuilds the artefact and its fingerprint.
pub(crate) fn build() -> Result<()> {
    let places = Places::new()?;
    let built = build_into_scratch(&places)?;
    fs::write(&places.artefact, fs::read(&built)?).context("the artefact cannot be written")?;
    fs::write(&places.fingerprint, fingerprint(&places.guest)? + "\n")
        .context("the fingerprint cannot be written")?;
    println!(
        "{}: {} bytes",
        places.artefact.display(),
        fs::metadata(&places.artefact)?.len()
    );
    Ok(())
}

/// Proves that the committed artefact belongs to its sources, and that a rebuilt one passes the guest's tests.
pub(crate) fn check() -> Result<()> {
    let places = Places::new()?;
    let recorded = fs::read_to_string(&places.fingerprint).context("the fingerprint cannot be read")?;
    ensure!(
        recorded.trim() == fingerprint(&places.guest)?,
        "the guest's sources moved and the artefact did not: run `cargo xtask guest` and commit the result"
    );
    println!("the artefact belongs to its sources");
    let built = build_into_scratch(&places)?;
    let same = fs::read(&built)? == fs::read(&places.artefact)?;
    println!(
        "rebuilt: {}",
        if same {
            "the same bytes"
        } else {
            "other bytes, as another toolchain makes them"
        }
    );
    let mut tests = cargo();
    tests
        .args(["test", "--quiet", "--workspace", "--test", "guest"])
        .env("CODECELL_GUEST_WASM", &built);
    run(&mut tests, "the guest's tests with the rebuilt guest")
}

/// Builds the guest and returns where its bytes are.
fn build_into_scratch(places: &Places) -> Result<PathBuf> {
    let toolchain = Toolchain::find()?;
    fs::create_dir_all(&places.scratch)?;
    let mut build = toolchain.cargo_build(&places.guest, &places.scratch);
    build
        .env("CARGO_ENCODED_RUSTFLAGS", rust_flags(&toolchain)?)
        .env("CFLAGS_wasm32_unknown_unknown", c_flags()?);
    run(&mut build, "linking the guest")?;

    let linked = places
        .scratch
        .join("wasm32-unknown-unknown/release/codecell_guest.wasm");
    let booted = places.scratch.join("booted.wasm");
    // The features of the whole workspace, here and for the tests: with those of one package alone everything heavy
    // would be compiled a second time.
    let mut build = cargo();
    build.args(["build", "--quiet", "--workspace", "--example", "preinit"]);
    if !places.artefact.exists() {
        // The example's own crate embeds a guest; any will do.
        build.env("CODECELL_GUEST_WASM", &linked);
    }
    run(&mut build, "building what boots the guest")?;
    let mut boot = Command::new(target_dir()?.join("debug/examples/preinit"));
    boot.args([&linked, &booted]);
    run(&mut boot, "booting the guest")?;

    let optimised = places.scratch.join("guest.wasm");
    let mut optimise = Command::new("wasm-opt");
    optimise.args([
        "-O3",
        "--strip-debug",
        "--strip-producers",
        "--enable-mutable-globals",
    ]);
    for feature in [
        "simd",
        "bulk-memory",
        "sign-ext",
        "nontrapping-float-to-int",
        "multivalue",
        "reference-types",
    ] {
        optimise.arg(format!("--enable-{feature}"));
    }
    optimise.arg(&booted).arg("-o").arg(&optimised);
    run(
        &mut optimise,
        "optimising the guest (`wasm-opt` is in the package binaryen)",
    )?;
    forbid_paths(&optimised)?;
    Ok(optimised)
}

fn run(command: &mut Command, what: &str) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("{what}: {:?} does not start", command.get_program()))?;
    ensure!(status.success(), "{what} failed ({status})");
    Ok(())
}

fn cargo_home() -> Result<PathBuf> {
    let set = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    set.or(home).context("neither CARGO_HOME nor HOME is set")
}

/// Flags for Rust. Paths of this machine have no place in an artefact.
fn rust_flags(toolchain: &Toolchain) -> Result<String> {
    let features: Vec<String> = FEATURES.iter().map(|feature| format!("+{feature}")).collect();
    let flags = [
        format!("-Clink-arg=-zstack-size={SHADOW_STACK_BYTES}"),
        "-Clink-arg=--export=__stack_pointer".into(),
        format!("-Ctarget-feature={}", features.join(",")),
        format!("--remap-path-prefix={}=cargo", cargo_home()?.display()),
        format!("--remap-path-prefix={}=rust", toolchain.sysroot().display()),
    ];
    // Cargo splits this variable at this character alone, so a path may hold spaces.
    Ok(flags.join("\u{1f}"))
}

/// Flags for QuickJS.
fn c_flags() -> Result<String> {
    let mut flags = vec!["-O3".to_owned(), "-DNDEBUG".into()];
    flags.extend(FEATURES.iter().map(|feature| format!("-m{feature}")));
    flags.push(format!("-ffile-prefix-map={}=cargo", cargo_home()?.display()));
    Ok(flags.join(" "))
}

/// Refuses an artefact that names folders of the machine it was built on.
fn forbid_paths(wasm: &Path) -> Result<()> {
    let bytes = fs::read(wasm)?;
    for folder in [cargo_home()?, root()] {
        let name = folder.display().to_string();
        if bytes.windows(name.len()).any(|window| window == name.as_bytes()) {
            bail!("{} contains the path `{name}`", wasm.display());
        }
    }
    Ok(())
}

/// The hash of everything the artefact is made from. A test of `codecell-guest-runtime` computes the same.
fn fingerprint(guest: &Path) -> Result<String> {
    let mut files = vec![guest.join("Cargo.toml"), guest.join("Cargo.lock")];
    let mut folders = vec![guest.join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path)
            } else {
                files.push(path)
            }
        }
    }
    let mut named = Vec::new();
    for path in files {
        let name = path.strip_prefix(guest)?.to_string_lossy().replace('\\', "/");
        named.push((name, fs::read(&path).with_context(|| path.display().to_string())?));
    }
    named.sort();
    let mut hash = Sha256::new();
    for (name, content) in named {
        hash.update(name.as_bytes());
        hash.update([0]);
        hash.update((content.len() as u64).to_le_bytes());
        hash.update(content);
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
