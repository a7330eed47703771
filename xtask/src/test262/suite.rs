//! Where the suite comes from: Debian's source package of SpiderMonkey carries it.
//!
//! It is fetched by its name with the package manager, from wherever this machine gets its Debian packages, and stays
//! in the target folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

/// The source package.
const PACKAGE: &str = "mozjs128";

/// The release of Debian that has it.
const RELEASE: &str = "trixie";

/// Where the suite is in the package's archive, below the one folder at its top.
const INSIDE: &str = "js/src/tests/test262";

/// What of it is used; all of it would be a third more.
const FOLDERS: [&str; 3] = ["shell.js", "built-ins", "language"];

/// The folder of the suite, fetched into `scratch` if it is not there yet.
pub(super) fn fetched(scratch: &Path) -> Result<PathBuf> {
    let folder = scratch.join(format!("{PACKAGE}-{RELEASE}"));
    if folder.is_dir() {
        return Ok(folder);
    }
    println!("fetching the suite: source package {PACKAGE} of Debian {RELEASE}");
    let work = scratch.join("fetch");
    if work.exists() {
        fs::remove_dir_all(&work)?;
    }
    fs::create_dir_all(work.join("lists/partial"))?;
    fs::create_dir_all(work.join("cache/archives/partial"))?;
    download(&work).context(
        "the suite could not be fetched; with `--suite` a folder `js/src/tests/test262` of any SpiderMonkey is used",
    )?;
    unpack(&work)?;
    // Only a complete suite gets the name that is looked for.
    fs::rename(work.join("suite"), &folder)?;
    fs::remove_dir_all(&work)?;
    Ok(folder)
}

/// Fetches the package's files into `work`, with lists of packages of its own: those of the machine stay as they are.
fn download(work: &Path) -> Result<()> {
    let mirror = output(Command::new("apt-get").args([
        "indextargets",
        "--format",
        "$(REPO_URI)",
        "Created-By: Packages",
        "Label: Debian",
    ]))?;
    let mirror = mirror
        .lines()
        .next()
        .context("this machine has no list of Debian packages: `apt-get update`")?;
    let source = format!(
        "Types: deb-src\nURIs: {mirror}\nSuites: {RELEASE}\nComponents: main\n\
         Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
    );
    let list = work.join("source.sources");
    fs::write(&list, source)?;
    let apt = || {
        let mut command = Command::new("apt-get");
        command.current_dir(work).arg("--quiet");
        for option in [
            format!("Dir::Etc::SourceList={}", list.display()),
            "Dir::Etc::SourceParts=-".into(),
            format!("Dir::State::Lists={}", work.join("lists").display()),
            format!("Dir::Cache={}", work.join("cache").display()),
            // Its own user cannot write into a target folder.
            "APT::Sandbox::User=root".into(),
        ] {
            command.args(["--option", &option]);
        }
        command
    };
    output(apt().arg("update"))?;
    output(apt().args(["source", "--download-only", PACKAGE]))?;
    Ok(())
}

fn unpack(work: &Path) -> Result<()> {
    let archive = fs::read_dir(work)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.to_string_lossy().contains(".orig.tar."))
        .context("the package has no archive of its sources")?;
    let into = work.join("suite");
    fs::create_dir(&into)?;
    let mut command = Command::new("tar");
    command
        .arg("--extract")
        .arg("--file")
        .arg(archive)
        .arg("--directory")
        .arg(&into);
    let levels = INSIDE.split('/').count() + 1;
    command
        .arg(format!("--strip-components={levels}"))
        .arg("--wildcards");
    command.args(FOLDERS.map(|folder| format!("*/{INSIDE}/{folder}")));
    output(&mut command)?;
    Ok(())
}

/// Runs a command and gives what it printed.
fn output(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .with_context(|| format!("`{program}` does not start"))?;
    if !output.status.success() {
        bail!(
            "`{program}` failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The JavaScript files below `root`, relative to it, with forward slashes and sorted.
pub(super) fn files(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let at = root.join(&folder);
        for entry in fs::read_dir(&at).with_context(|| at.display().to_string())? {
            let entry = entry?;
            let name = format!("{folder}{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                folders.push(name + "/");
            } else if name.ends_with(".js") {
                found.push(name);
            }
        }
    }
    ensure!(!found.is_empty(), "`{}` holds no suite", root.display());
    found.sort();
    Ok(found)
}
