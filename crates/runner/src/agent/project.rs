//! The agent's side of a project that came from another host: a folder that stays from session to session, so that what
//! is built in it does.

use std::{
    collections::BTreeSet,
    fs::{self, DirBuilder, File, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use super::{
    arrivals::Arrivals,
    listing::{Listed, What, check, is_inside, sum},
};
use crate::{
    files::{UNFINISHED, has_real_folders, read_text, write_whole},
    xdg,
};

/// The folder of the files.
const FILES: &str = "files";
/// The paths of all files that came, so that those that went can be told from what was built.
const PATHS: &str = "paths.json";
/// The file that is locked while a session uses the folder.
const LOCK: &str = "lock";

/// A project that came from another host. Nobody else uses its folder meanwhile.
pub(super) struct Project {
    place: PathBuf,
    arrivals: Arrivals,
    paths: Vec<String>,
    _lock: File,
}

impl Project {
    /// The project of this name, which is to have these files. What it has besides them and once came is removed. Also
    /// which files it wants, by their places.
    ///
    /// # Errors
    /// When its folder is in use or cannot be written, or a file may not come.
    pub(super) fn open(name: &str, files: Vec<Listed>) -> Result<(Self, Vec<usize>), String> {
        let cache = xdg::folder("XDG_CACHE_HOME", ".cache")
            .ok_or("HOME has no value, so there is no folder for deadheat")?;
        Self::open_in(&cache.join("deadheat/projects"), name, files)
    }

    fn open_in(
        projects: &Path,
        name: &str,
        files: Vec<Listed>,
    ) -> Result<(Self, Vec<usize>), String> {
        check(&files)?;
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(format!("{name:?} is no project's name"));
        }
        let place = projects.join(name);
        let folder = place.join(FILES);
        let failed = |what: &str, path: &Path, error: &dyn std::fmt::Display| {
            format!("{what} {}: {error}", path.display())
        };
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        let made = builder.create(&folder);
        made.map_err(|error| failed("making", &folder, &error))?;
        let lock = lock(&place)?;
        remove_unfinished(&folder);
        let list = place.join(PATHS);
        let before = paths(&list).map_err(|error| failed("reading", &list, &error))?;
        let paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
        // Should this end before all files are there, none is forgotten.
        let all: BTreeSet<&String> = before.iter().chain(&paths).collect();
        note(&list, &all).map_err(|error| failed("writing", &list, &error))?;
        remove_gone(&folder, &before, &paths)?;
        let mut wanted = Vec::new();
        for (nth, file) in files.iter().enumerate() {
            let same = is_same(&folder, file);
            if !same.map_err(|error| failed("reading", &folder.join(&file.path), &error))? {
                wanted.push(nth);
            }
        }
        let due = wanted.iter().map(|nth| files[*nth].clone()).collect();
        let project = Self {
            arrivals: Arrivals::new(&folder, due)?,
            place,
            paths,
            _lock: lock,
        };
        Ok((project, wanted))
    }

    /// Takes the next piece of what it wants.
    pub(super) fn take(&mut self, piece: &[u8]) -> Result<(), String> {
        self.arrivals.take(piece)
    }

    /// Whether all files are there.
    pub(super) fn is_complete(&self) -> bool {
        self.arrivals.are_complete()
    }

    /// Where its files are, and a new folder for the results of a session.
    ///
    /// # Errors
    /// When that cannot be made.
    pub(super) fn ready(&self) -> Result<(PathBuf, PathBuf), String> {
        let list = self.place.join(PATHS);
        let all: BTreeSet<&String> = self.paths.iter().collect();
        note(&list, &all).map_err(|error| format!("writing {}: {error}", list.display()))?;
        let results = tempfile::Builder::new()
            .prefix("results-")
            .tempdir_in(&self.place);
        let results = results.map_err(|error| {
            format!(
                "making a folder for results in {}: {error}",
                self.place.display()
            )
        })?;
        Ok((self.place.join(FILES), results.keep()))
    }
}

fn lock(place: &Path) -> Result<File, String> {
    let path = place.join(LOCK);
    let mut options = File::options();
    let opened = options.write(true).create(true).truncate(false).open(&path);
    let failed = |error: io::Error| format!("locking {}: {error}", path.display());
    let file = opened.map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::Error(error)) => Err(failed(error)),
        Err(TryLockError::WouldBlock) => Err(format!(
            "another session of this project runs there, in {}; wait until it has ended",
            place.display()
        )),
    }
}

fn paths(list: &Path) -> io::Result<Vec<String>> {
    match read_text(list) {
        Ok(text) => Ok(serde_json::from_str(&text)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn note(list: &Path, paths: &BTreeSet<&String>) -> io::Result<()> {
    write_whole(list, &serde_json::to_vec(paths)?)
}

/// Removes what was about to arrive when an agent was killed.
fn remove_unfinished(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Removes files that are no part of the project any more, and with the last file of a folder all that was built in it.
fn remove_gone(folder: &Path, before: &[String], now: &[String]) -> Result<(), String> {
    let parents = |path| Path::new(path).ancestors().skip(1);
    let kept: BTreeSet<&Path> = now.iter().flat_map(parents).collect();
    let now: BTreeSet<&String> = now.iter().collect();
    for gone in before.iter().filter(|path| !now.contains(path)) {
        let path = Path::new(gone);
        if !is_inside(path) || !has_real_folders(folder, path) {
            continue;
        }
        let above = path.ancestors().skip(1);
        let unused = |above: &&Path| *above != Path::new("") && !kept.contains(above);
        let removed = match above.take_while(unused).last() {
            Some(above) => fs::remove_dir_all(folder.join(above)),
            None => fs::remove_file(folder.join(path)),
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(format!("removing {gone}, which is gone: {error}"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a file is there already.
fn is_same(folder: &Path, file: &Listed) -> io::Result<bool> {
    let path = folder.join(&file.path);
    if !has_real_folders(folder, Path::new(&file.path)) {
        return Ok(false);
    }
    let found = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        found => found?,
    };
    Ok(match &file.what {
        What::Link { to } => found.is_symlink() && fs::read_link(&path)? == Path::new(to),
        What::File {
            bytes,
            sha256,
            executable,
        } => {
            found.is_file()
                && found.len() == *bytes
                && (found.permissions().mode() & 0o111 != 0) == *executable
                && sum(&path)? == (*bytes, sha256.clone())
        }
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::agent::listing;

    /// A project there, and the folder that it comes from.
    struct Both {
        here: tempfile::TempDir,
        there: tempfile::TempDir,
    }

    impl Both {
        fn new() -> Self {
            let [here, there] = [(); 2].map(|()| tempfile::tempdir().unwrap());
            Self { here, there }
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.here.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        /// Brings all files; what it did not have of them.
        fn bring(&self) -> Vec<String> {
            let paths = listing::below(self.here.path()).unwrap();
            let files = listing::list(self.here.path(), paths).unwrap();
            let opened = Project::open_in(self.there.path(), "abc", files.clone());
            let (mut project, wanted) = opened.unwrap();
            for nth in &wanted {
                let path = self.here.path().join(&files[*nth].path);
                project.take(&fs::read(path).unwrap()).unwrap();
            }
            assert!(project.is_complete());
            project.ready().unwrap();
            wanted.iter().map(|nth| files[*nth].path.clone()).collect()
        }

        fn at(&self, path: &str) -> PathBuf {
            self.there.path().join("abc").join(FILES).join(path)
        }
    }

    #[test]
    fn only_what_differs_comes_and_what_was_built_stays() {
        let both = Both::new();
        both.write("root/a/main.go", "1");
        both.write("root/a/go.mod", "2");
        assert_eq!(both.bring(), ["root/a/go.mod", "root/a/main.go"]);
        assert_eq!(both.bring(), [""; 0]);
        fs::create_dir(both.at("root/a/out")).unwrap();
        fs::write(both.at("root/a/out/server"), "built").unwrap();
        both.write("root/a/main.go", "3");
        assert_eq!(both.bring(), ["root/a/main.go"]);
        assert_eq!(fs::read_to_string(both.at("root/a/main.go")).unwrap(), "3");
        assert!(both.at("root/a/out/server").exists());
        // Somebody has changed it there.
        fs::write(both.at("root/a/go.mod"), "9").unwrap();
        assert_eq!(both.bring(), ["root/a/go.mod"]);
    }

    #[test]
    fn what_went_is_removed_and_with_a_whole_folder_what_was_built_in_it() {
        let both = Both::new();
        for path in ["root/a/one", "root/a/two", "root/b/src/one"] {
            both.write(path, "text");
        }
        both.bring();
        for built in ["root/a/built", "root/b/built"] {
            fs::write(both.at(built), "").unwrap();
        }
        fs::remove_file(both.here.path().join("root/a/two")).unwrap();
        fs::remove_dir_all(both.here.path().join("root/b")).unwrap();
        assert_eq!(both.bring(), [""; 0]);
        let is_there = |path: &str| both.at(path).exists();
        assert!(is_there("root/a/one") && is_there("root/a/built"));
        assert!(!is_there("root/a/two") && !is_there("root/b"));
    }

    #[test]
    fn nothing_is_removed_through_a_link() {
        let both = Both::new();
        both.write("root/a/keep", "1");
        both.write("root/b/file", "1");
        both.bring();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("file"), "mine").unwrap();
        fs::remove_dir_all(both.at("root/b")).unwrap();
        symlink(outside.path(), both.at("root/b")).unwrap();
        fs::remove_dir_all(both.here.path().join("root/b")).unwrap();
        both.bring();
        assert!(outside.path().join("file").exists());
    }

    #[test]
    fn a_project_is_used_by_one_session_at_a_time_and_has_a_name() {
        let both = Both::new();
        let open = |name: &str| Project::open_in(both.there.path(), name, Vec::new());
        let first = open("abc").unwrap();
        let refused = open("abc").map(drop).unwrap_err();
        assert!(refused.contains("another session"), "{refused}");
        open("def").unwrap();
        drop(first);
        open("abc").unwrap();
        for name in ["", "..", "a/b"] {
            assert!(open(name).is_err(), "{name}");
        }
    }
}
