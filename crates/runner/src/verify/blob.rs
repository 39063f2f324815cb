//! The file that the hash workload reads.

use std::{
    fs, io,
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
            bytes: vec![0; LENGTH],
            random: ChaCha8Rng::seed_from_u64(seed),
        };
        blob.swap()?;
        Ok(blob)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts another file in its place, at once (rename(2)), so that a server sees the old or the new one whole, and
    /// one that kept the old file open is found out.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn swap(&mut self) -> io::Result<()> {
        self.random.fill_bytes(&mut self.bytes);
        let next = self.path.with_extension("next");
        fs::write(&next, &self.bytes)?;
        fs::rename(&next, &self.path)
    }

    /// SHA-256 of the content, then of the digest, `rounds` times in all, as base64 (RFC 4648, section 4).
    pub fn digest(&self, rounds: u32) -> String {
        let mut digest = Sha256::digest(&self.bytes);
        for _ in 1..rounds {
            digest = Sha256::digest(digest);
        }
        STANDARD.encode(digest)
    }
}

/// Deletes the file: it is of use to nobody afterwards, and follows from the session's seed.
impl Drop for Blob {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
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
        blob.swap().unwrap();
        assert_ne!(before, blob.digest(1));
    }
}
