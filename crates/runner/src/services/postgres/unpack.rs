//! Unpacks the archive of Maven Central: a zip that holds one tar, packed with xz.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, Read},
    path::{Component, Path, PathBuf},
};

use liblzma::read::XzDecoder;
use tar::{Archive, Entry, EntryType};
use zip::result::ZipError;

const INNER_ENDING: &str = ".txz";

/// Why an archive was not downloaded or unpacked.
#[derive(Debug, thiserror::Error)]
pub(super) enum ArchiveError {
    #[error(transparent)]
    Request(#[from] ureq::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("it broke off")]
    BrokeOff,
    #[error("it was interrupted")]
    Interrupted,
    #[error("not a zip: {0}")]
    NotAZip(#[source] ZipError),
    #[error("contains {0} files *{INNER_ENDING} instead of one")]
    Inner(usize),
    #[error(transparent)]
    Zip(#[from] ZipError),
    #[error("leads out of the folder")]
    LeadsOut,
    #[error("links to nothing")]
    LinksToNothing,
    #[error("links to {}, out of the folder", .0.display())]
    LinksOut(PathBuf),
    #[error("is of the kind {0:?}, which does not belong here")]
    Kind(EntryType),
    /// In a file of the archive.
    #[error("{0}: {1}")]
    In(String, #[source] Box<Self>),
}

/// Unpacks the tar inside the zip `archive` into the folder `into`. Refuses entries that lead out of it.
pub(super) fn unpack(archive: File, into: &Path) -> Result<(), ArchiveError> {
    let mut zip = zip::ZipArchive::new(archive).map_err(ArchiveError::NotAZip)?;
    let inner: Vec<String> = zip
        .file_names()
        .filter_map(Result::ok)
        .map(Cow::into_owned)
        .filter(|name| name.ends_with(INNER_ENDING))
        .collect();
    let [inner] = &inner[..] else {
        return Err(ArchiveError::Inner(inner.len()));
    };
    let packed = zip.by_name(inner).map_err(ArchiveError::Zip);
    let unpacked = packed.and_then(|packed| unpack_tar(XzDecoder::new(packed), into));
    unpacked.map_err(|error| ArchiveError::In(inner.clone(), error.into()))
}

fn unpack_tar(tar: impl Read, into: &Path) -> Result<(), ArchiveError> {
    let mut tar = Archive::new(tar);
    for entry in tar.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        let unpacked = check(&entry, &path).and_then(|()| {
            let stays = entry.unpack_in(into)?;
            stays.then_some(()).ok_or(ArchiveError::LeadsOut)
        });
        unpacked.map_err(|error| ArchiveError::In(path.display().to_string(), error.into()))?;
    }
    Ok(())
}

/// Whether an entry is of a kind that the archive has, and stays inside with its path and where it links to.
fn check(entry: &Entry<'_, impl Read>, path: &Path) -> Result<(), ArchiveError> {
    if !stays_inside(path) {
        return Err(ArchiveError::LeadsOut);
    }
    match entry.header().entry_type() {
        EntryType::Regular | EntryType::Directory => Ok(()),
        EntryType::Symlink => {
            let target = entry.link_name()?.ok_or(ArchiveError::LinksToNothing)?;
            let from = path.parent().unwrap_or(Path::new(""));
            // Joining an absolute target forgets the folder, and is refused by that.
            let resolved: PathBuf = from.join(&target);
            if stays_inside(&resolved) {
                Ok(())
            } else {
                Err(ArchiveError::LinksOut(target.into_owned()))
            }
        }
        kind => Err(ArchiveError::Kind(kind)),
    }
}

/// Whether a path, taken from a folder, never leaves it on its way.
fn stays_inside(path: &Path) -> bool {
    let mut depth = 0i32;
    for component in path.components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir => depth -= 1,
            Component::RootDir | Component::Prefix(_) => return false,
        }
        if depth < 0 {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write, os::unix::fs::PermissionsExt};

    use liblzma::write::XzEncoder;
    use tar::{Builder, Header};
    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::*;

    enum Item {
        File(&'static str, &'static str, u32),
        Link(&'static str, &'static str),
        Hard(&'static str, &'static str),
    }

    /// Writes the path into the header itself, because the library refuses to make what is tested here.
    fn header(path: &str, kind: EntryType, size: u64, mode: u32) -> Header {
        let mut header = Header::new_gnu();
        header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_mode(mode);
        header
    }

    fn archive(folder: &Path, items: &[Item]) -> PathBuf {
        let mut tar = Builder::new(XzEncoder::new(Vec::new(), 1));
        for item in items {
            let (mut header, content) = match item {
                Item::File(path, content, mode) => (
                    header(path, EntryType::Regular, content.len() as u64, *mode),
                    *content,
                ),
                Item::Link(path, target) => {
                    let mut header = header(path, EntryType::Symlink, 0, 0o777);
                    header.as_gnu_mut().unwrap().linkname[..target.len()]
                        .copy_from_slice(target.as_bytes());
                    (header, "")
                }
                Item::Hard(path, target) => {
                    let mut header = header(path, EntryType::Link, 0, 0o644);
                    header.set_link_name(target).unwrap();
                    (header, "")
                }
            };
            header.set_cksum();
            tar.append(&header, content.as_bytes()).unwrap();
        }
        let packed = tar.into_inner().unwrap().finish().unwrap();
        let path = folder.join("archive.jar");
        let mut zip = ZipWriter::new(File::create(&path).unwrap());
        let options = SimpleFileOptions::default();
        zip.start_file("META-INF/MANIFEST.MF", options).unwrap();
        zip.start_file("postgres.txz", options).unwrap();
        zip.write_all(&packed).unwrap();
        zip.finish().unwrap();
        path
    }

    fn unpacked(items: &[Item]) -> (tempfile::TempDir, Result<(), ArchiveError>) {
        let folder = tempfile::tempdir().unwrap();
        let path = archive(folder.path(), items);
        let into = folder.path().join("in");
        fs::create_dir(&into).unwrap();
        let result = unpack(File::open(path).unwrap(), &into);
        (folder, result)
    }

    #[test]
    fn files_links_and_modes_come_out() {
        let (folder, result) = unpacked(&[
            Item::File("bin/postgres", "program", 0o755),
            Item::File("lib/libpq.so.5.18", "library", 0o644),
            Item::Link("lib/libpq.so", "libpq.so.5.18"),
            Item::Link("bin/back", "../lib/libpq.so"),
        ]);
        result.unwrap();
        let into = folder.path().join("in");
        let mode = fs::metadata(into.join("bin/postgres"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o755);
        assert_eq!(
            fs::read_to_string(into.join("bin/back")).unwrap(),
            "library"
        );
    }

    #[test]
    fn what_leads_out_is_refused() {
        let cases = [
            (
                Item::File("../evil", "x", 0o644),
                "../evil: leads out of the folder",
            ),
            (
                Item::File("a/../../evil", "x", 0o644),
                "leads out of the folder",
            ),
            (
                Item::File("/tmp/evil", "x", 0o644),
                "leads out of the folder",
            ),
            (Item::Link("a", "/etc/passwd"), "links to /etc/passwd"),
            (Item::Link("a/b", "../../evil"), "links to ../../evil"),
            (Item::Hard("a", "b"), "is of the kind Link"),
        ];
        for (item, expected) in cases {
            let (folder, result) = unpacked(&[item]);
            let reason = result.unwrap_err().to_string();
            assert!(reason.contains(expected), "{reason}");
            assert!(!folder.path().join("evil").exists());
        }
    }

    #[test]
    fn what_is_no_such_archive_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jar");
        fs::write(&path, "an error page").unwrap();
        assert!(
            unpack(File::open(&path).unwrap(), folder.path())
                .unwrap_err()
                .to_string()
                .starts_with("not a zip")
        );
        let zip = ZipWriter::new(File::create(&path).unwrap());
        zip.finish().unwrap();
        let reason = unpack(File::open(&path).unwrap(), folder.path()).unwrap_err();
        assert_eq!(reason.to_string(), "contains 0 files *.txz instead of one");
    }
}
