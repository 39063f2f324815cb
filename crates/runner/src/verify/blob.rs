//! The file that the hash workload reads.

use std::{
    fs, io, mem,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

/// The file's length in bytes.
pub const LENGTH: usize = 64 * 1024;

/// The file at `BLOB_PATH`, whose content can be changed.
#[derive(Debug)]
pub struct Blob {
    path: PathBuf,
    bytes: Vec<u8>,
    random: ChaCha8Rng,
}

impl Blob {
    /// Writes a file with random content that follows from `seed`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(path: PathBuf, seed: u64) -> io::Result<Self> {
        let mut blob = Self {
            path,
            bytes: Vec::new(),
            random: ChaCha8Rng::seed_from_u64(seed),
        };
        blob.swap()?;
        Ok(blob)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts another file in its place. The content that was there, for [`Self::put`].
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn swap(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; LENGTH];
        self.random.fill_bytes(&mut bytes);
        self.put(bytes)
    }

    /// Puts a file of this content in its place, at once (rename(2)), so that a server sees the old or the new one whole,
    /// and one that kept the old file open is found out. The content that was there.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&mut self, bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let next = next(&self.path);
        fs::write(&next, &bytes)?;
        fs::rename(&next, &self.path)?;
        Ok(mem::replace(&mut self.bytes, bytes))
    }

    /// SHA-256 of the content, then of the digest, `rounds` times in all, as base64 (RFC 4648, section 4).
    pub fn digest(&self, rounds: u32) -> String {
        let mut digest = Sha256::digest(&self.bytes);
        for _ in 1..rounds {
            digest = Sha256::digest(digest);
        }
        STANDARD.encode(digest)
    }

    /// Deletes what is at `path`, and what was to take its place.
    pub(super) fn remove(path: &Path) {
        for path in [path, &next(path)] {
            let _ = fs::remove_file(path);
        }
    }
}

/// The file that is to take the place of the one at `path`.
fn next(path: &Path) -> PathBuf {
    path.with_extension("next")
}

/// Deletes the file: it is of use to nobody afterwards, and follows from the session's seed.
impl Drop for Blob {
    fn drop(&mut self) {
        Self::remove(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_of_the_digest_and_a_swap_changes_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut blob = Blob::create(folder.path().join("blob"), 1).unwrap();
        let on_disk = fs::read(blob.path()).unwrap();
        assert_eq!(on_disk.len(), LENGTH);
        let once = Sha256::digest(&on_disk);
        assert_eq!(blob.digest(1), STANDARD.encode(once));
        assert_eq!(blob.digest(2), STANDARD.encode(Sha256::digest(once)));
        assert_eq!(blob.digest(1).len(), 44);
        let before = blob.digest(1);
        let content = blob.swap().unwrap();
        assert_ne!(before, blob.digest(1));
        blob.put(content).unwrap();
        assert_eq!(before, blob.digest(1));
        assert_eq!(fs::read(blob.path()).unwrap(), on_disk);
    }
}
