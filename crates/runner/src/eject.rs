//! Copies of stacks, for users to change.

use std::{fs, io, path::Path};

use crate::{files::UNFINISHED, manifest::Stack, project_files};

/// Copies the sources of `stack` into a new folder in `place`, whose name is `id`: complete, or not at all. The copy has
/// this id in its manifest. How many files there are.
///
/// # Errors
/// When something is there already (`AlreadyExists`), or a file cannot be read or written.
pub fn eject(stack: &Stack, place: &Path, id: &str) -> io::Result<usize> {
    let folder = place.join(id);
    if folder.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::create_dir_all(place)?;
    let temporary = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempdir_in(place)?;
    let copy = temporary.path().join(id);
    let mut count = 0;
    for path in project_files::list(&stack.dir)? {
        let (from, to) = (stack.dir.join(&path), copy.join(&path));
        if from.is_file() {
            fs::create_dir_all(to.parent().unwrap_or(&copy))?;
            // With its permissions: it may be a program.
            fs::copy(from, to)?;
            count += 1;
        }
    }
    if stack.manifest.id != id {
        rename(&copy.join(project_files::MANIFEST), &stack.manifest.id, id)?;
    }
    fs::rename(copy, folder)?;
    Ok(count)
}

/// Gives the manifest another id. It has that of the stack before those of variants: these are in tables.
fn rename(manifest: &Path, from: &str, to: &str) -> io::Result<()> {
    let text = fs::read_to_string(manifest)?;
    let line = format!("id = \"{from}\"");
    if !text.contains(&line) {
        let what = format!("{} has no line `{line}`", manifest.display());
        return Err(io::Error::other(what));
    }
    fs::write(manifest, text.replacen(&line, &format!("id = \"{to}\""), 1))
}

#[cfg(test)]
mod tests {
    use std::{fs::Permissions, os::unix::fs::PermissionsExt as _};

    use super::*;

    fn stack(dir: &Path) -> Stack {
        let manifest = "id = \"go-a\"\nlanguage = \"Go\"\nframework = \"a\"\nclass = \"platform\"\nruntime = \"native\"\n\n\
                        [run]\ncommand = [\"run\"]\n\n[[variant]]\nid = \"one\"\ndescription = \"d\"\n";
        for (name, text) in [
            ("stack.toml", manifest),
            ("src/run", "#!/bin/sh\n"),
            ("out/server", "built"),
        ] {
            let path = dir.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::set_permissions(dir.join("src/run"), Permissions::from_mode(0o755)).unwrap();
        Stack {
            dir: dir.to_owned(),
            manifest: toml::from_str(manifest).unwrap(),
            added: None,
        }
    }

    #[test]
    fn sources_are_copied_as_they_are_and_nothing_that_was_built() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let stack = stack(from.path());
        assert_eq!(eject(&stack, to.path(), "go-a").unwrap(), 2);
        let copy = to.path().join("go-a");
        let mode = fs::metadata(copy.join("src/run")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o111, 0o111);
        assert!(!copy.join("out").exists());
        let again = eject(&stack, to.path(), "go-a").unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        // Nothing else is left there.
        assert_eq!(fs::read_dir(to.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_copy_under_another_name_has_that_in_its_manifest() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let stack = stack(from.path());
        eject(&stack, to.path(), "go-b").unwrap();
        let text = fs::read_to_string(to.path().join("go-b/stack.toml")).unwrap();
        assert!(text.starts_with("id = \"go-b\"\n") && text.contains("id = \"one\""));
        assert!(!text.contains("go-a"), "{text}");
    }
}
