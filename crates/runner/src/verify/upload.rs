//! upload: a large body, of which the answer is the digest.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deadheat_model::load::{Body, Content, RequestSpec};
use rand::Rng as _;
use sha2::{Digest as _, Sha256};

use super::{Depth, Fault, Verifier, greeting::content_type, question::Question};

/// Different bodies under load.
pub(super) const DIFFERENT: usize = 2;
/// The length of a body under load, in bytes.
const LENGTH: usize = 10 << 20;
/// The length of a body that is sent in many small chunks.
const IN_CHUNKS: usize = 100_000;
/// The most bytes of a body of which many come at once. That of a large one may hold up those behind it.
const SMALL: u32 = 2_000;

const RIGHT: &str = "the answer is the digest of the body";

impl Verifier<'_> {
    pub(super) fn verify_upload(&mut self, depth: Depth) -> Result<(), Fault> {
        let large = self.random_body(LENGTH);
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
            let large = self.random_body(LENGTH);
            self.expect_digest(Body::Sized(large))?;
        }
        Ok(())
    }

    /// Questions whose answers differ from each other.
    pub(super) fn upload_questions(&mut self, count: usize) -> Vec<Question> {
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
        let body = self.random_body(LENGTH);
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

    fn random_body(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.random.fill_bytes(&mut bytes);
        bytes
    }
}

/// The SHA-256 of a body in base64 (RFC 4648, section 4).
fn digest(body: &[u8]) -> Content {
    Content::Exact {
        bytes: STANDARD.encode(Sha256::digest(body)).into_bytes(),
    }
}
