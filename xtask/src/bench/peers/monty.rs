//! `pydantic-monty`: an interpreter of Python for programs of models, in warm processes.

use std::{path::Path, process::Command};

use anyhow::Result;

use super::{MONTY, Peer, once, write};

/// The pinned version: of the package and of the two that it is made of.
pub(super) const VERSION: &str = "1.4.0";

const REQUIREMENTS: &str = include_str!("monty/requirements.txt");

const FILES: &[(&str, &str)] = &[
    ("requirements.txt", REQUIREMENTS),
    ("peer.py", include_str!("monty/peer.py")),
    ("programs/fib.py", include_str!("monty/programs/fib.py")),
    ("programs/loops.py", include_str!("monty/programs/loops.py")),
    ("programs/json.py", include_str!("monty/programs/json.py")),
    ("programs/sort.py", include_str!("monty/programs/sort.py")),
    ("programs/strings.py", include_str!("monty/programs/strings.py")),
    ("programs/regex.py", include_str!("monty/programs/regex.py")),
    ("programs/map.py", include_str!("monty/programs/map.py")),
];

pub(super) fn install(folder: &Path) -> Result<Vec<Peer>> {
    write(folder, FILES)?;
    let python = folder.join("venv/bin/python");
    let mut venv = Command::new("python3");
    venv.current_dir(folder).args(["-m", "venv", "--clear", "venv"]);
    let mut pip = Command::new(&python);
    pip.current_dir(folder)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(["--requirement", "requirements.txt"]);
    once(folder, REQUIREMENTS, &mut [venv, pip])?;
    Ok(vec![Peer {
        name: MONTY,
        groups: &["cells", "cpu", "images"],
        program: python.into(),
        arguments: (
            vec![folder.join("peer.py").into()],
            vec![folder.join("programs").into()],
        ),
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_one_that_is_installed() {
        let pins: Vec<_> = REQUIREMENTS.lines().map(|line| line.split_once("==")).collect();
        let pin = |name| Some((name, VERSION));
        assert_eq!(
            pins,
            [
                pin("pydantic-monty"),
                pin("pydantic-monty-client"),
                pin("pydantic-monty-runtime")
            ]
        );
    }
}
