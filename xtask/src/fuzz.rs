//! Builds the fuzz targets with libFuzzer's instrumentation and runs them, on the stable toolchain.
//!
//! The same targets are a `cargo fuzz` project (`cargo fuzz run --sanitizer none NAME`); nothing has to be installed
//! for this way.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::process::{self, Finished};
use crate::workspace::{cargo, metadata, root, target_dir};

/// Counters at every edge and at every comparison, as `cargo fuzz` asks for them. No sanitizer: they need a nightly
/// compiler, and what is fuzzed is safe Rust.
const INSTRUMENTATION: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// Time for each target of a smoke run.
const SMOKE: Duration = Duration::from_secs(10);

/// Longest that one input may take. They are small; this leaves room for a machine that is busy with other things.
const INPUT_SECONDS: u32 = 30;

/// Most memory that a target may take in all, in MiB.
const MEMORY_MIB: u32 = 2048;

/// What a target may take beyond its time, to read its inputs and to finish the last one.
const GRACE: Duration = Duration::from_secs(300);

/// Lines at the end of libFuzzer's report that are shown when a target fails.
const SHOWN_LINES: usize = 40;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// A file in `fuzz/fuzz_targets`, without its ending. Without it all that build quickly: `resume`, which runs
    /// guests, has to be named.
    target: Option<String>,
    /// Ten seconds for each target, always with the same seed: shows that all of them build, that the kept inputs pass,
    /// and that nothing is easily found.
    #[arg(long, conflicts_with = "minutes")]
    smoke: bool,
    /// Minutes for each target.
    #[arg(long, default_value_t = 5)]
    minutes: u64,
}

/// Replays the kept inputs of the chosen targets, then looks for new ones that fail.
pub(crate) fn run(options: &Options) -> Result<()> {
    let fuzzer = Fuzzer::build(options.target.as_deref())?;
    let time = if options.smoke {
        SMOKE
    } else {
        Duration::from_secs(options.minutes * 60)
    };
    for target in &fuzzer.targets {
        let replayed = fuzzer.replay(target)?;
        let found = fuzzer.search(target, time, options.smoke)?;
        println!(
            "{target}: {replayed} kept inputs pass, and so do {} others in {} s",
            statistic(&found, "number_of_executed_units"),
            time.as_secs(),
        );
    }
    Ok(())
}

/// The built targets.
struct Fuzzer {
    targets: Vec<String>,
    binaries: PathBuf,
    /// Where inputs go that were found: outside the repository.
    scratch: PathBuf,
}

impl Fuzzer {
    fn build(only: Option<&str>) -> Result<Self> {
        let manifest = root().join("fuzz/Cargo.toml");
        let known = targets(&manifest)?;
        let chosen: Vec<&Target> = match only {
            Some(only) => known.iter().filter(|target| target.name == only).collect(),
            None => known.iter().filter(|target| target.features.is_empty()).collect(),
        };
        ensure!(
            !chosen.is_empty(),
            "there is no such fuzz target, only {}",
            known
                .iter()
                .map(|target| target.name.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        );
        let scratch = target_dir()?.join("fuzz");
        let host = host()?;
        let mut build = cargo();
        // Naming the target keeps the instrumentation away from build scripts and macros.
        build
            .args([
                "build",
                "--release",
                "--locked",
                "--target",
                &host,
                "--manifest-path",
            ])
            .arg(&manifest)
            .arg("--target-dir")
            .arg(&scratch)
            .env("CARGO_ENCODED_RUSTFLAGS", INSTRUMENTATION.join("\x1f"));
        for target in &chosen {
            build.args(["--bin", &target.name, "--features", &target.features.join(",")]);
        }
        let status = build.status().context("starting cargo")?;
        ensure!(
            status.success(),
            "the fuzz targets do not build ({status}); if only `fuzz/Cargo.lock` is behind, run `cargo update --workspace \
             --manifest-path fuzz/Cargo.toml`"
        );
        Ok(Self {
            targets: chosen.iter().map(|target| target.name.clone()).collect(),
            binaries: scratch.join(host).join("release"),
            scratch,
        })
    }

    /// Runs every kept input once and says how many there are.
    fn replay(&self, target: &str) -> Result<usize> {
        let kept = kept_inputs(target);
        let files = fs::read_dir(&kept).with_context(|| format!("reading {}", kept.display()))?;
        let count = files.count();
        let mut command = self.command(target)?;
        command.arg("-runs=0").arg(&kept);
        self.judge(target, process::run(&mut command, "", GRACE)?)?;
        Ok(count)
    }

    /// Looks for inputs that fail, starting from the kept ones. `repeatable` gives every run the same random numbers
    /// and leaves what earlier runs found alone.
    fn search(&self, target: &str, time: Duration, repeatable: bool) -> Result<Finished> {
        let mut command = self.command(target)?;
        command.arg(format!("-max_total_time={}", time.as_secs()));
        let fresh = tempfile::tempdir()?;
        let found = if repeatable {
            command.arg("-seed=1");
            fresh.path().to_owned()
        } else {
            self.folder("corpus", target)?
        };
        command.arg(found).arg(kept_inputs(target));
        self.judge(target, process::run(&mut command, "", time + GRACE)?)
    }

    fn command(&self, target: &str) -> Result<Command> {
        let mut command = Command::new(self.binaries.join(target));
        command
            .arg(format!("-timeout={INPUT_SECONDS}"))
            .arg(format!("-rss_limit_mb={MEMORY_MIB}"))
            .arg("-print_final_stats=1")
            // What failed stands before libFuzzer's own report; a backtrace of it would be all that is shown.
            .env("RUST_BACKTRACE", "0")
            // A prefix and no folder: the slash at the end counts.
            .arg(format!(
                "-artifact_prefix={}/",
                self.folder("artifacts", target)?.display()
            ));
        Ok(command)
    }

    fn folder(&self, kind: &str, target: &str) -> Result<PathBuf> {
        let folder = self.scratch.join(kind).join(target);
        fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
        Ok(folder)
    }

    /// Passes on what a run that found nothing said; otherwise tells what was found and how to see it again.
    fn judge(&self, target: &str, finished: Finished) -> Result<Finished> {
        if finished.code == Some(0) {
            return Ok(finished);
        }
        let lines: Vec<&str> = finished.stderr.lines().collect();
        let tail = lines
            .get(lines.len().saturating_sub(SHOWN_LINES)..)
            .unwrap_or_default();
        println!("{}", tail.join("\n"));
        let input = finished.stderr.lines().find_map(|line| {
            line.split_once("Test unit written to ")
                .map(|(_, path)| path.trim())
        });
        let Some(input) = input else {
            bail!("`{target}` ended without naming an input that fails");
        };
        bail!(
            "`{target}` fails with {input}\n  to see it again: {} {input}\n  once it is mended, keep the input: cp {input} \
             fuzz/corpus/{target}/",
            self.binaries.join(target).display(),
        );
    }
}

/// The inputs that are kept in the repository.
fn kept_inputs(target: &str) -> PathBuf {
    root().join("fuzz/corpus").join(target)
}

/// A binary of the package of fuzz targets, and what has to be switched on for it.
struct Target {
    name: String,
    features: Vec<String>,
}

fn targets(manifest: &Path) -> Result<Vec<Target>> {
    let metadata = metadata(manifest)?;
    let targets = metadata["packages"][0]["targets"]
        .as_array()
        .context("`cargo metadata` names no targets")?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Ok(targets
        .iter()
        .filter(|target| target["kind"][0] == "bin")
        .filter_map(|target| {
            let features = target["required-features"].as_array();
            Some(Target {
                name: text(&target["name"])?,
                features: features.into_iter().flatten().filter_map(text).collect(),
            })
        })
        .collect())
}

/// The platform that the compiler runs on.
fn host() -> Result<String> {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler)
        .arg("-vV")
        .output()
        .context("starting rustc")?;
    let text = String::from_utf8(output.stdout).context("`rustc -vV` is no text")?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("`rustc -vV` names no host")
}

/// A number from libFuzzer's report.
fn statistic(finished: &Finished, name: &str) -> u64 {
    let prefix = format!("stat::{name}:");
    finished
        .stderr
        .lines()
        .find_map(|line| line.strip_prefix(&prefix)?.trim().parse().ok())
        .unwrap_or_default()
}
