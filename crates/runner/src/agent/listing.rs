//! Files that go from one host to another: which ones there are, what each is like, and which are refused.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::{Component, Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::hex::hex;

/// The most files that go at once.
const MOST_FILES: usize = 50_000;
/// The most bytes that they have together.
const MOST_BYTES: u64 = 4 << 30;
/// The most bytes of a file that are sent in one message: a slow link needs a moment for each, in which nothing else is
/// heard.
const PIECE: usize = 64 << 10;

/// A file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Listed {
    /// Below the folder that it goes to.
    pub(super) path: String,
    pub(super) what: What,
}

/// What a file is like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub(super) enum What {
    File {
        bytes: u64,
        sha256: String,
        executable: bool,
    },
    /// A symbolic link.
    Link { to: String },
}

/// Lists `paths` below `folder`. What is neither a file nor a link is left out, and so is what is gone.
///
/// # Errors
/// When one cannot be read.
pub(super) fn list(
    folder: &Path,
    paths: impl IntoIterator<Item = PathBuf>,
) -> Result<Vec<Listed>, String> {
    let mut files = Vec::new();
    for path in paths {
        let whole = folder.join(&path);
        let failed = |error: io::Error| format!("reading {}: {error}", whole.display());
        let strange = || format!("{}: its name is no UTF-8", whole.display());
        let found = match whole.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            found => found.map_err(failed)?,
        };
        let what = if found.is_symlink() {
            let to = fs::read_link(&whole).map_err(failed)?;
            let to = to.into_os_string().into_string();
            What::Link {
                to: to.map_err(|_| strange())?,
            }
        } else if found.is_file() {
            let (bytes, sha256) = sum(&whole).map_err(failed)?;
            What::File {
                bytes,
                sha256,
                executable: found.permissions().mode() & 0o111 != 0,
            }
        } else {
            continue;
        };
        let path = path.into_os_string().into_string().map_err(|_| strange())?;
        files.push(Listed { path, what });
    }
    Ok(files)
}

/// The paths of all files below `folder`, links left out.
///
/// # Errors
/// When a folder cannot be read.
pub(super) fn below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut open = vec![PathBuf::new()];
    let mut files = Vec::new();
    while let Some(inner) = open.pop() {
        for entry in fs::read_dir(folder.join(&inner))? {
            let entry = entry?;
            let path = inner.join(entry.file_name());
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Refuses files that would lead out of their folder, that are in each other's way, or that are too many.
pub(super) fn check(files: &[Listed]) -> Result<(), String> {
    let mut bytes = 0_u64;
    let mut paths = BTreeSet::new();
    for file in files {
        let path = Path::new(&file.path);
        if !is_inside(path) {
            return Err(format!("{:?} is no path below a folder", file.path));
        }
        match &file.what {
            What::File { bytes: more, .. } => bytes = bytes.saturating_add(*more),
            What::Link { to } if leads_inside(path, Path::new(to)) => {}
            What::Link { to } => {
                return Err(format!(
                    "{}: this link leads out of the folder, to {to}; put a file in its place",
                    file.path
                ));
            }
        }
        if !paths.insert(path) {
            return Err(format!("{} is there twice", file.path));
        }
    }
    let within = |path: &&&Path| path.ancestors().skip(1).any(|above| paths.contains(above));
    if let Some(path) = paths.iter().find(within) {
        return Err(format!("{} lies within another file", path.display()));
    }
    if files.len() > MOST_FILES || bytes > MOST_BYTES {
        return Err(format!(
            "{} files with {} MiB are too many: at most {MOST_FILES} files with {} MiB go to another host",
            files.len(),
            bytes >> 20,
            MOST_BYTES >> 20
        ));
    }
    Ok(())
}

/// Whether the path can only lead below the folder that it counts from.
pub(super) fn is_inside(path: &Path) -> bool {
    let is_name = |part: Component<'_>| matches!(part, Component::Normal(_));
    path.components().next().is_some()
        && path.components().all(is_name)
        && !path.as_os_str().as_encoded_bytes().contains(&0)
}

/// Whether the link at `path` stays within the first folder of that path. It goes up before it goes down, so that no
/// other link is on its way up.
fn leads_inside(path: &Path, to: &Path) -> bool {
    let depth = path.components().count() - 1;
    let up = |part: &Component<'_>| matches!(part, Component::ParentDir | Component::CurDir);
    let upwards = to.components().take_while(up);
    let ups = upwards.filter(|part| *part == Component::ParentDir).count();
    let mut rest = to.components().skip_while(up);
    ups < depth.max(1) && rest.all(|part| matches!(part, Component::Normal(_)))
}

/// The length of a file and its SHA-256, read piece by piece.
pub(super) fn sum(path: &Path) -> io::Result<(u64, String)> {
    let mut sum = Sha256::new();
    let mut bytes = 0;
    let mut file = File::open(path)?;
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok((bytes, hex(sum.finalize()))),
            length => {
                bytes += length as u64;
                sum.update(&piece[..length]);
            }
        }
    }
}

/// Reads a file of `bytes` piece by piece, and passes each on.
///
/// # Errors
/// When it is shorter by now, cannot be read, or a piece cannot be passed on.
pub(super) fn pieces(
    path: &Path,
    bytes: u64,
    pass_on: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = File::open(path)?.take(bytes);
    let mut left = bytes;
    let mut piece = vec![0; PIECE];
    while left > 0 {
        let length = file.read(&mut piece)?;
        if length == 0 {
            return Err(io::Error::other("it became shorter while it was sent"));
        }
        pass_on(&piece[..length])?;
        left -= length as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn file(path: &str) -> Listed {
        let what = What::File {
            bytes: 1,
            sha256: String::new(),
            executable: false,
        };
        Listed {
            path: path.to_owned(),
            what,
        }
    }

    fn link(path: &str, to: &str) -> Listed {
        Listed {
            path: path.to_owned(),
            what: What::Link { to: to.to_owned() },
        }
    }

    #[test]
    fn what_could_lead_out_of_the_folder_is_refused() {
        check(&[file("a/b"), file("a/c"), link("a/d/e", "../x/./y")]).unwrap();
        let refused = [
            vec![file("")],
            vec![file("/etc/passwd")],
            vec![file("a/../../b")],
            vec![file("./a")],
            vec![file("a\0b")],
            vec![file("a"), file("a")],
            vec![file("a"), file("a/b")],
            vec![link("a", "b"), file("a/b")],
            vec![link("a/b", "/etc/passwd")],
            vec![link("a/b", "..")],
            vec![link("a", "..")],
            vec![link("a/b/c", "../../x")],
            // Where the first part leads is not known.
            vec![link("a/b/c", "d/../../../x")],
        ];
        for files in refused {
            assert!(check(&files).is_err(), "{files:?}");
        }
        let mut large = file("large");
        if let What::File { bytes, .. } = &mut large.what {
            *bytes = MOST_BYTES + 1;
        }
        assert!(check(&[large]).is_err());
        let many: Vec<Listed> = (0..=MOST_FILES).map(|nth| file(&nth.to_string())).collect();
        assert!(check(&many).is_err());
    }

    #[test]
    fn files_are_listed_with_what_they_hold() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("a")).unwrap();
        fs::write(path("a/run"), "text").unwrap();
        fs::set_permissions(path("a/run"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("run", path("a/link")).unwrap();
        let names = ["a/run", "a/link", "a/gone"].map(PathBuf::from);
        let files = list(folder.path(), names).unwrap();
        assert_eq!(files.len(), 2);
        assert_eq!(files[1], link("a/link", "run"));
        let What::File {
            bytes: 4,
            sha256,
            executable: true,
        } = &files[0].what
        else {
            panic!("{files:?}");
        };
        let mut seen = Sha256::new();
        pieces(&path("a/run"), 4, &mut |piece| {
            seen.update(piece);
            Ok(())
        })
        .unwrap();
        assert_eq!(*sha256, hex(seen.finalize()));
        assert!(pieces(&path("a/run"), 5, &mut |_| Ok(())).is_err());
        assert_eq!(below(folder.path()).unwrap(), [PathBuf::from("a/run")]);
    }
}
