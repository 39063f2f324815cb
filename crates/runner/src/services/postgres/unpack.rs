//! Unpacks the archive of Maven Central: a zip that holds one tar, packed with xz.

use std::{
    borrow::Cow,
    fs::File,
    io::Read,
    path::{Component, Path, PathBuf},
};

use liblzma::read::XzDecoder;
use tar::{Archive, Entry, EntryType};

const INNER_ENDING: &str = ".txz";

/// Unpacks the tar inside the zip `archive` into the folder `into`. Refuses entries that lead out of it.
pub(super) fn unpack(archive: File, into: &Path) -> Result<(), String> {
    let mut zip = zip::ZipArchive::new(archive).map_err(|error| format!("not a zip: {error}"))?;
    let inner: Vec<String> = zip
        .file_names()
        .filter_map(Result::ok)
        .map(Cow::into_owned)
        .filter(|name| name.ends_with(INNER_ENDING))
        .collect();
    let [inner] = &inner[..] else {
        return Err(format!(
            "contains {} files *{INNER_ENDING} instead of one",
            inner.len()
        ));
    };
    let packed = zip
        .by_name(inner)
        .map_err(|error| format!("{inner}: {error}"))?;
    unpack_tar(XzDecoder::new(packed), into).map_err(|error| format!("{inner}: {error}"))
}

fn unpack_tar(tar: impl Read, into: &Path) -> Result<(), String> {
    let mut tar = Archive::new(tar);
    for entry in tar.entries().map_err(|error| error.to_string())? {
        let mut entry = entry.map_err(|error| error.to_string())?;
        let path = entry
            .path()
            .map_err(|error| error.to_string())?
            .into_owned();
        let fail = |reason: String| format!("{}: {reason}", path.display());
        check(&entry, &path).map_err(fail)?;
        match entry.unpack_in(into) {
            Ok(true) => {}
            Ok(false) => return Err(fail("leads out of the folder".to_owned())),
            Err(error) => return Err(fail(error.to_string())),
        }
    }
    Ok(())
}

/// Whether an entry is of a kind that the archive has, and stays inside with its path and where it links to.
fn check(entry: &Entry<'_, impl Read>, path: &Path) -> Result<(), String> {
    if !stays_inside(path) {
        return Err("leads out of the folder".to_owned());
    }
    match entry.header().entry_type() {
        EntryType::Regular | EntryType::Directory => Ok(()),
        EntryType::Symlink => {
            let target = entry.link_name().map_err(|error| error.to_string())?;
            let target = target.ok_or("links to nothing")?;
            let from = path.parent().unwrap_or(Path::new(""));
            // Joining an absolute target forgets the folder, and is refused by that.
            let resolved: PathBuf = from.join(&target);
            if stays_inside(&resolved) {
                Ok(())
            } else {
                Err(format!("links to {}, out of the folder", target.display()))
            }
        }
        kind => Err(format!(
            "is of the kind {kind:?}, which does not belong here"
        )),
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

    fn unpacked(items: &[Item]) -> (tempfile::TempDir, Result<(), String>) {
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
        assert_eq!(result, Ok(()));
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
            let reason = result.unwrap_err();
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
                .starts_with("not a zip")
        );
        let zip = ZipWriter::new(File::create(&path).unwrap());
        zip.finish().unwrap();
        let reason = unpack(File::open(&path).unwrap(), folder.path()).unwrap_err();
        assert_eq!(reason, "contains 0 files *.txz instead of one");
    }
}
