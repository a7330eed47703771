//! Making the changes of a patch: all of them are checked, then written beside their files, and only then put in place.

use std::collections::BTreeSet;
use std::path::PathBuf;

use codecell_tools::ToolError;

use super::fit::{Fitted, fit};
use super::{Action, Changed, FileChange, Hunk};
use crate::content;
use crate::problem;
use crate::roots::{Place, Roots};
use crate::stage::{Committed, Folders, Staged, Target};

/// A change that is known to fit.
pub(super) struct Planned {
    changed: Changed,
    /// The existing file, if one goes away or gets new content.
    old: Option<Old>,
    new: Option<New>,
}

struct Old {
    target: Target,
    content: Vec<u8>,
}

enum New {
    /// New content for the old file.
    Same(Vec<u8>),
    /// New content for a file that does not exist yet, at this path.
    Other(String, Vec<u8>),
}

/// A change whose content is on the disk, but not yet in place.
pub(super) struct Prepared {
    changed: Changed,
    replace: Option<(Staged, Option<Vec<u8>>)>,
    remove: Option<Target>,
}

/// Checks every change against the files as they are. Writes nothing.
pub(super) fn plan(roots: &Roots, changes: Vec<FileChange>) -> Result<Vec<Planned>, ToolError> {
    let mut named: BTreeSet<(PathBuf, PathBuf)> = BTreeSet::new();
    let mut planned = Vec::new();
    for change in changes {
        let place = roots.place(&change.path)?;
        once(&mut named, &place)?;
        planned.push(match change.action {
            Action::Add { content } => add(&place, content)?,
            Action::Delete => delete(&place)?,
            Action::Update { move_to, hunks } => {
                let to = move_to.map(|path| roots.place(&path)).transpose()?;
                if let Some(to) = &to {
                    once(&mut named, to)?;
                    require_absent(to)?;
                }
                update(&place, to.as_ref(), &hunks)?
            }
        });
    }
    Ok(planned)
}

/// Two changes of one file would have to know of each other.
fn once(named: &mut BTreeSet<(PathBuf, PathBuf)>, place: &Place<'_>) -> Result<(), ToolError> {
    let shown = problem::shown(&place.shown);
    let nested = |(root, rel): &(PathBuf, PathBuf)| {
        *root == place.root.path
            && *rel != place.rel
            && (rel.starts_with(&place.rel) || place.rel.starts_with(rel))
    };
    if named.iter().any(nested) {
        return Err(super::invalid(format!(
            "`{shown}` and another file of the patch lie one in the other"
        )));
    }
    if named.insert((place.root.path.clone(), place.rel.clone())) {
        return Ok(());
    }
    Err(super::invalid(format!(
        "`{shown}` is named twice; put all its hunks into one section"
    )))
}

fn require_absent(place: &Place<'_>) -> Result<(), ToolError> {
    place.require_writable()?;
    if place.look()?.is_none() {
        return Ok(());
    }
    let shown = problem::shown(&place.shown);
    Err(ToolError::new(
        "conflict",
        format!("`{shown}` exists already; change it with `*** Update File:`"),
    ))
}

fn add(place: &Place<'_>, content: String) -> Result<Planned, ToolError> {
    require_absent(place)?;
    let changed = Changed {
        path: place.shown.clone(),
        action: "add",
        from: None,
        added: content.lines().count(),
        removed: 0,
    };
    Ok(Planned {
        changed,
        old: None,
        new: Some(New::Other(place.shown.clone(), content.into_bytes())),
    })
}

fn delete(place: &Place<'_>) -> Result<Planned, ToolError> {
    let (target, content) = existing(place)?;
    let lines = content.split_inclusive(|byte| *byte == b'\n').count();
    let changed = Changed {
        path: place.shown.clone(),
        action: "delete",
        from: None,
        added: 0,
        removed: lines,
    };
    Ok(Planned {
        changed,
        old: Some(Old { target, content }),
        new: None,
    })
}

fn update(place: &Place<'_>, to: Option<&Place<'_>>, hunks: &[Hunk]) -> Result<Planned, ToolError> {
    let (target, content) = existing(place)?;
    // A file that only gets another name may be anything.
    let fitted = if hunks.is_empty() {
        None
    } else {
        let text = content::exact(&place.shown, content.clone())?;
        Some(fit(&text, hunks).map_err(|misfit| {
            let shown = problem::shown(&place.shown);
            let message = format!("hunk {} of `{shown}` {}", misfit.hunk, misfit.reason);
            ToolError::new("no_match", message)
        })?)
    };
    let (bytes, added, removed) = match fitted {
        Some(Fitted { text, added, removed }) => (text.into_bytes(), added, removed),
        None => (content.clone(), 0, 0),
    };
    let (changed_path, action, from, new) = match to {
        Some(to) => (
            to.shown.clone(),
            "move",
            Some(place.shown.clone()),
            New::Other(to.shown.clone(), bytes),
        ),
        None => (place.shown.clone(), "update", None, New::Same(bytes)),
    };
    let changed = Changed {
        path: changed_path,
        action,
        from,
        added,
        removed,
    };
    Ok(Planned {
        changed,
        old: Some(Old { target, content }),
        new: Some(new),
    })
}

fn existing(place: &Place<'_>) -> Result<(Target, Vec<u8>), ToolError> {
    let mut target = Target::find(place, Folders::MustExist)?;
    let content = target.read()?;
    Ok((target, content))
}

/// Writes all new content beside where it goes. If that fails nothing stays but folders that were made for it.
pub(super) fn stage(roots: &Roots, planned: Vec<Planned>) -> Result<Vec<Prepared>, ToolError> {
    let mut prepared = Vec::new();
    for Planned { changed, old, new } in planned {
        let permissions = old.as_ref().and_then(|old| old.target.permissions());
        prepared.push(match (old, new) {
            (Some(old), Some(New::Same(bytes))) => Prepared {
                changed,
                replace: Some((old.target.stage(&bytes, permissions)?, Some(old.content))),
                remove: None,
            },
            (old, Some(New::Other(path, bytes))) => {
                let target = Target::find(&roots.place(&path)?, Folders::Create)?;
                if target.exists() {
                    return Err(problem::changed_meanwhile(&path));
                }
                Prepared {
                    changed,
                    replace: Some((target.stage(&bytes, permissions)?, None)),
                    remove: old.map(|old| old.target),
                }
            }
            (old, None | Some(New::Same(_))) => Prepared {
                changed,
                replace: None,
                remove: old.map(|old| old.target),
            },
        });
    }
    Ok(prepared)
}

/// What has been done, in case it has to be undone.
enum Done {
    Replaced(Committed, Option<Vec<u8>>),
    Hidden(Target, String),
}

/// Puts everything in place. If something fails half way, what was done is undone as far as the system allows.
pub(super) fn commit(prepared: Vec<Prepared>) -> Result<Vec<Changed>, ToolError> {
    let mut done = Vec::new();
    let mut files = Vec::new();
    for Prepared {
        changed,
        replace,
        remove,
    } in prepared
    {
        if let Err(error) = step(replace, remove, &mut done) {
            for step in done.into_iter().rev() {
                undo(step);
            }
            return Err(error);
        }
        files.push(changed);
    }
    for step in done {
        if let Done::Hidden(target, name) = step {
            target.forget(Some(&name));
        }
    }
    Ok(files)
}

fn step(
    replace: Option<(Staged, Option<Vec<u8>>)>,
    remove: Option<Target>,
    done: &mut Vec<Done>,
) -> Result<(), ToolError> {
    if let Some((staged, old)) = replace {
        done.push(Done::Replaced(staged.commit()?, old));
    }
    if let Some(target) = remove {
        let name = target.hide()?;
        done.push(Done::Hidden(target, name));
    }
    Ok(())
}

fn undo(step: Done) {
    match step {
        Done::Replaced(committed, old) => committed.undo(old.as_deref()),
        Done::Hidden(target, name) => target.unhide(&name),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::RootConfig;
    use crate::patch::parse::parse;

    #[test]
    fn what_was_done_is_undone_when_a_later_change_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["changed", "deleted", "moved", "last"] {
            fs::write(path(name), format!("{name}\n")).unwrap();
        }
        let roots = Roots::new(vec![RootConfig {
            path: folder.path().to_owned(),
            writable: true,
        }])
        .unwrap();
        let patch = "\
*** Begin Patch
*** Update File: changed
-changed
+new
*** Add File: added
+new
*** Delete File: deleted
*** Update File: moved
*** Move to: elsewhere
*** Update File: last
-last
+new
*** End Patch";
        let staged = stage(&roots, plan(&roots, parse(patch).unwrap()).unwrap()).unwrap();
        fs::write(path("last"), "somebody else was here\n").unwrap();
        let error = commit(staged).unwrap_err();
        let message =
            "`last` was changed by somebody else in the meantime; nothing was written. Read it again";
        assert_eq!((error.code, error.message.as_str()), ("conflict", message));

        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                (name, fs::read_to_string(path).unwrap())
            })
            .collect();
        left.sort();
        let expected = [
            ("changed", "changed\n"),
            ("deleted", "deleted\n"),
            ("last", "somebody else was here\n"),
            ("moved", "moved\n"),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(left, expected);
    }
}
