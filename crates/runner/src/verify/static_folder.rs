//! The folder of the workload static, with one file in it.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rand::{Rng as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The file's name.
pub(super) const FILE: &str = "style.css";
/// Its length in bytes, …
const LENGTH: usize = 16 * 1024;
/// … and how much longer that of another content is, at most. A server may take a file for unchanged by its length and its
/// time.
const LONGER: u32 = 1_000;
/// How long ago the file was modified when it is made. Those that come in its place were modified later, and not in the same
/// second.
const AGE: Duration = Duration::from_secs(100_000);
/// The content of the file beside the folder that no request may reach.
const BESIDE: &str = "beside the folder";
/// The endings of files beside the folder: of that one, …
const OUTSIDE: &str = "txt";
/// … of the one that is to take the file's place, …
const NEXT: &str = "next";
/// … and of the file while another one is in its place.
const KEPT: &str = "kept";

/// The folder at `STATIC_DIR`, whose file can be changed.
#[derive(Debug)]
pub struct StaticFolder {
    path: PathBuf,
    bytes: Vec<u8>,
    modified: SystemTime,
    random: ChaCha8Rng,
}

/// A file that another one has taken the place of.
#[derive(Debug)]
pub(super) struct Replaced {
    bytes: Vec<u8>,
}

impl StaticFolder {
    /// Makes the folder, and a file in it whose content follows from `seed`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(path: PathBuf, seed: u64) -> io::Result<Self> {
        fs::create_dir(&path)?;
        let mut folder = Self {
            path,
            bytes: Vec::new(),
            modified: SystemTime::now() - AGE,
            random: ChaCha8Rng::seed_from_u64(seed),
        };
        fs::write(folder.beside(OUTSIDE), BESIDE)?;
        folder.bytes = folder.content(LENGTH);
        folder.write(&folder.file())?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file's content.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Puts another file in the place of this one, at once (rename(2)), with another length and a later time.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn replace(&mut self) -> io::Result<Replaced> {
        let longer = 1 + self.random.next_u32() % LONGER;
        let content = self.content(LENGTH + longer as usize);
        let bytes = std::mem::replace(&mut self.bytes, content);
        self.modified += Duration::from_secs(60);
        let next = self.beside(NEXT);
        self.write(&next)?;
        fs::hard_link(self.file(), self.beside(KEPT))?;
        fs::rename(next, self.file())?;
        Ok(Replaced { bytes })
    }

    /// Puts the very file back that was there, with its time: what was made of it, such as an ETag, holds again.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub(super) fn put_back(&mut self, replaced: Replaced) -> io::Result<()> {
        fs::rename(self.beside(KEPT), self.file())?;
        self.bytes = replaced.bytes;
        Ok(())
    }

    /// The name of what is beside the folder, seen from it, and its content.
    pub(super) fn outside(&self) -> (String, &'static str) {
        let name = self.beside(OUTSIDE);
        let name = name.file_name().unwrap_or_default();
        (format!("../{}", name.to_string_lossy()), BESIDE)
    }

    fn file(&self) -> PathBuf {
        self.path.join(FILE)
    }

    fn beside(&self, ending: &str) -> PathBuf {
        beside(&self.path, ending)
    }

    /// Deletes the folder at `path`, and what is beside it.
    pub(super) fn remove(path: &Path) {
        let _ = fs::remove_dir_all(path);
        for ending in [OUTSIDE, NEXT, KEPT] {
            let _ = fs::remove_file(beside(path, ending));
        }
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        let mut file = File::create(path)?;
        file.write_all(&self.bytes)?;
        file.set_modified(self.modified)
    }

    /// Rules of CSS at random, so many bytes.
    fn content(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let (name, colour) = (self.random.next_u32(), self.random.next_u32() >> 8);
            bytes.extend(format!(".c{name:08x} {{ color: #{colour:06x} }}\n").bytes());
        }
        bytes.truncate(length);
        bytes
    }
}

/// A path beside the one of the folder: the same with this ending.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut path = OsString::from(path);
    path.push(".");
    path.push(ending);
    path.into()
}

/// Deletes it: it is of use to nobody afterwards, and follows from the session's seed.
impl Drop for StaticFolder {
    fn drop(&mut self) {
        Self::remove(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_by_another_one_and_comes_back_as_it_was() {
        let parent = tempfile::tempdir().unwrap();
        let mut folder = StaticFolder::create(parent.path().join("static"), 1).unwrap();
        let seen = |folder: &StaticFolder| {
            let modified = fs::metadata(folder.file()).unwrap().modified().unwrap();
            (fs::read(folder.file()).unwrap(), modified)
        };
        let (first, modified) = seen(&folder);
        assert_eq!(first, folder.bytes());
        assert_eq!(first.len(), LENGTH);
        for _ in 0..2 {
            let replaced = folder.replace().unwrap();
            let (other, later) = seen(&folder);
            assert_eq!(other, folder.bytes());
            assert_ne!(other.len(), first.len());
            assert!(later >= modified + Duration::from_secs(1));
            folder.put_back(replaced).unwrap();
            assert_eq!(seen(&folder), (first.clone(), modified));
            assert_eq!(first, folder.bytes());
        }
        let (name, content) = folder.outside();
        let outside = folder.path().join(name);
        assert_eq!(fs::read_to_string(outside).unwrap(), content);
        drop(folder);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
