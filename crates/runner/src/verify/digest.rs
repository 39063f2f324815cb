//! hash and upload, whose answer is a digest: of a file that is swapped between probes, and of a large body that is sent.

use std::{
    fs, io, mem,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deadheat_model::load::{Body, Bytes, Content, RequestSpec};
use rand::{Rng as _, SeedableRng, rngs::SmallRng};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest as _, Sha256};

use super::{
    Depth, Fault, Verifier,
    greeting::content_type,
    invalid_requests::BAD,
    question::{ExpectedAnswer, ProbeRequest},
};

/// What is not a number of rounds: nothing, zero, negative, a word, and none at all.
/// The last one but one is a number that is too large for JSON's usual readers, which take it for infinity.
const BAD_ROUNDS: [&str; 6] = [
    "rounds=",
    "rounds=0",
    "rounds=-1",
    "rounds=many",
    "rounds=1e400",
    "",
];

impl Verifier<'_> {
    pub(super) fn right_digest(&self) -> Content {
        let rounds = self.point.rounds.unwrap_or(1);
        Content::Exact {
            bytes: self.fixtures.blob.digest(rounds).into_bytes(),
        }
    }

    /// Questions with different numbers of rounds, so that their answers differ.
    pub(super) fn digest_questions(&mut self, count: usize) -> Vec<ProbeRequest> {
        (1..=count as u32)
            .map(|rounds| {
                let path = self.path.replace("{rounds}", &rounds.to_string());
                let bytes = self.fixtures.blob.digest(rounds).into_bytes();
                self.question(RequestSpec::get(path), Content::Exact { bytes })
            })
            .collect()
    }

    pub(super) fn verify_digest(&mut self, depth: Depth) -> Result<(), Fault> {
        self.expect_right()?;
        let kept = self.fixtures.blob.swap();
        let kept = kept.map_err(|error| self.unwritten(&error))?;
        let (request, content) = (self.request(), self.right_digest());
        let rule = "the file is read for each request (it was swapped after the answer before)";
        let shown = self.expect_content(rule, request, content);
        // Restore the file whatever the answer was, because the load of other servers that run at the same time expects
        // it.
        let put = self.fixtures.blob.put(kept);
        put.map_err(|error| self.unwritten(&error))?;
        shown?;
        self.expect_right()?;
        if depth == Depth::Full {
            let path = self
                .workload
                .path
                .split('?')
                .next()
                .unwrap_or_default()
                .to_owned();
            for query in BAD_ROUNDS {
                let bad = ProbeRequest {
                    request: RequestSpec::get(format!("{path}?{query}")),
                    wanted: ExpectedAnswer::Status(BAD),
                };
                self.expect("a bad number of rounds is refused", &bad)?;
            }
            self.expect_right()?;
        }
        Ok(())
    }

    fn unwritten(&self, error: &io::Error) -> Fault {
        Fault::new(
            self.fixtures.blob.path().display().to_string(),
            "the file can be swapped",
            "a file that can be written".to_owned(),
            error.to_string(),
        )
    }
}

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

/// Different bodies under load.
pub(super) const DIFFERENT: usize = 2;
/// The length of a body under load, in bytes.
const UPLOAD_LENGTH: usize = 10 << 20;
/// The length of a body that is sent in many small chunks.
const IN_CHUNKS: usize = 100_000;
/// The most bytes of a body of which many come at once. That of a large one may hold up those behind it.
const SMALL: u32 = 2_000;

const RIGHT: &str = "the answer is the digest of the body";

impl Verifier<'_> {
    pub(super) fn verify_upload(&mut self, depth: Depth) -> Result<(), Fault> {
        let large = self.random_body(UPLOAD_LENGTH);
        self.expect_digest(Body::Sized(large))?;
        if depth == Depth::Full {
            for length in [0, 1, 65_536, 1_000_003] {
                let body = self.random_body(length);
                self.expect_digest(Body::Sized(body))?;
            }
            if self.declared.http.chunked_bodies {
                let body = self.random_body(IN_CHUNKS);
                self.expect_digest(Body::Chunked(body))?;
            }
            let large = self.random_body(UPLOAD_LENGTH);
            self.expect_digest(Body::Sized(large))?;
        }
        Ok(())
    }

    /// Questions whose answers differ from each other.
    pub(super) fn upload_questions(&mut self, count: usize) -> Vec<ProbeRequest> {
        (0..count)
            .map(|_| {
                let length = 1 + self.random.next_u32() % SMALL;
                let body = self.random_body(length as usize);
                let content = digest(&body);
                self.question(self.upload(Body::Sized(body)), content)
            })
            .collect()
    }

    pub(super) fn upload_to_load(&mut self) -> (RequestSpec, Content) {
        let body = self.random_body(UPLOAD_LENGTH);
        let content = digest(&body);
        (self.upload(Body::Sized(body)), content)
    }

    fn expect_digest(&mut self, body: Body) -> Result<(), Fault> {
        let content = match &body {
            Body::Sized(bytes) | Body::Chunked(bytes) => digest(bytes),
            Body::None | Body::Call(_) => digest(&[]),
        };
        self.expect_content(RIGHT, self.upload(body), content)?;
        Ok(())
    }

    fn upload(&self, body: Body) -> RequestSpec {
        RequestSpec {
            headers: vec![content_type("application/octet-stream")],
            body,
            ..self.request()
        }
    }

    /// Random content of this many bytes, from a generator that makes ten megabytes quickly without optimisation, too.
    fn random_body(&mut self, length: usize) -> Bytes {
        let mut bytes = vec![0; length];
        SmallRng::seed_from_u64(self.random.next_u64()).fill_bytes(&mut bytes);
        bytes.into()
    }
}

/// The SHA-256 of a body in base64 (RFC 4648, section 4).
fn digest(body: &[u8]) -> Content {
    Content::Exact {
        bytes: STANDARD.encode(Sha256::digest(body)).into_bytes(),
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
