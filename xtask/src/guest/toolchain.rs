use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

const TARGET: &str = "wasm32-unknown-unknown";

/// What turns Rust and C into WebAssembly on this machine.
pub(super) struct Toolchain {
    rust: Rust,
    sysroot: PathBuf,
    clang: String,
    ar: String,
    linker: String,
}

enum Rust {
    /// The toolchain in use has the target.
    Target,
    /// This compiler comes with the standard library's sources; the library is built along.
    Sources { rustc: PathBuf },
}

impl Toolchain {
    /// The first that works; the error names what is missing and how to get it.
    pub(super) fn find() -> Result<Self> {
        let rust = find_rust();
        let clang = numbered("clang", |name| {
            answer(name, &["--print-targets"]).is_some_and(|t| t.contains("wasm32"))
        });
        let ar = numbered("llvm-ar", |name| answer(name, &["--version"]).is_some());
        let linker = numbered("wasm-ld", |name| answer(name, &["--version"]).is_some());
        let optimiser = answer("wasm-opt", &["--version"]);
        let missing: Vec<&str> = [
            (rust.is_none(), "a Rust compiler for wasm32-unknown-unknown (`rustup target add`, or rustc-web and rust-web-src)"),
            (clang.is_none(), "clang with the wasm32 target (clang-19 and libclang-rt-19-dev-wasm32)"),
            (ar.is_none(), "llvm-ar (llvm-19)"),
            (linker.is_none(), "wasm-ld (lld-19)"),
            (optimiser.is_none(), "wasm-opt (binaryen)"),
        ]
        .into_iter()
        .filter_map(|(is_missing, what)| is_missing.then_some(what))
        .collect();
        match (rust, clang, ar, linker) {
            (Some((rust, sysroot)), Some(clang), Some(ar), Some(linker)) if missing.is_empty() => Ok(Self {
                rust,
                sysroot,
                clang,
                ar,
                linker,
            }),
            _ => bail!(
                "the guest cannot be built here; missing:\n  {}\non Debian: apt-get install rustc-web rust-web-src \
                 clang-19 lld-19 llvm-19 libclang-rt-19-dev-wasm32 binaryen",
                missing.join("\n  ")
            ),
        }
    }

    /// Where the compiler's own sources are.
    pub(super) fn sysroot(&self) -> &Path {
        &self.sysroot
    }

    /// The command that links the guest into `scratch`.
    pub(super) fn cargo_build(&self, guest: &Path, scratch: &Path) -> Command {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo
            .current_dir(guest)
            .args(["build", "--release", "--locked", "--target", TARGET]);
        cargo
            .env("CARGO_TARGET_DIR", scratch)
            .env("CC_wasm32_unknown_unknown", &self.clang)
            .env("AR_wasm32_unknown_unknown", &self.ar)
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", &self.linker);
        if let Rust::Sources { rustc } = &self.rust {
            // Building the standard library is an unstable feature; this compiler is the one it came with.
            cargo
                .arg("-Zbuild-std=std,panic_abort")
                .env("RUSTC", rustc)
                .env("RUSTC_BOOTSTRAP", "1");
        }
        cargo
    }
}

fn find_rust() -> Option<(Rust, PathBuf)> {
    let own = answer("rustc", &["--print", "sysroot"]).map(PathBuf::from);
    if let Some(sysroot) = own
        .clone()
        .filter(|sysroot| sysroot.join("lib/rustlib").join(TARGET).exists())
    {
        return Some((Rust::Target, sysroot));
    }
    for rustc in ["/usr/bin/rustc", "rustc"] {
        let Some(sysroot) = answer(rustc, &["--print", "sysroot"]).map(PathBuf::from) else {
            continue;
        };
        if sysroot.join("lib/rustlib/src/rust/library/std").exists() {
            return Some((Rust::Sources { rustc: rustc.into() }, sysroot));
        }
    }
    None
}

/// The plain name or the newest numbered one that `works`.
fn numbered(name: &str, works: impl Fn(&str) -> bool) -> Option<String> {
    let numbered = (15..=22).rev().map(|version| format!("{name}-{version}"));
    std::iter::once(name.to_owned())
        .chain(numbered)
        .find(|candidate| works(candidate))
}

/// What a program prints, if it runs and succeeds.
fn answer(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(args)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
