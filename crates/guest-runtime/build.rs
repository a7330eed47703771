//! Hands the guest's bytes to the compiler, with their hash: it names this build of the guest in images and caches.
//!
//! `CODECELL_GUEST_WASM` names other bytes to embed; `cargo xtask guest --check` tests a rebuilt guest that way.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a build script fails by panicking"
)]

use std::path::PathBuf;
use std::{env, fs};

use sha2::{Digest, Sha256};

fn main() {
    let committed = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets this"))
        .join("artefact/guest.wasm");
    let source = env::var_os("CODECELL_GUEST_WASM").map_or(committed, PathBuf::from);
    println!("cargo:rerun-if-env-changed=CODECELL_GUEST_WASM");
    println!("cargo:rerun-if-changed={}", source.display());
    let wasm = fs::read(&source).unwrap_or_else(|error| panic!("cannot read {}: {error}", source.display()));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets this"));
    fs::write(out.join("guest.wasm"), &wasm).expect("the output folder is writable");
    fs::write(out.join("guest.hash"), Sha256::digest(&wasm)).expect("the output folder is writable");
}
