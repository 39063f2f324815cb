//! json-decode: names that no server can know beforehand.

use deadheat_model::load::{Body, Content, RequestSpec};
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use super::{Depth, Fault, Verifier, question::ProbeRequest};

/// Different names under load: enough that an answer cannot be kept by accident.
pub(super) const DIFFERENT: usize = 1024;
/// All names under load have this length, so that every request has the same weight.
const LOADED_LENGTH: usize = 8;
/// Bodies that are not a person: nothing, cut off, not JSON, a name that is no text or not there. (An array is left out: some
/// decoders take `["John"]` for a person by the order of its fields, and they are not wrong.)
pub(super) const MALFORMED: [&str; 8] = [
    "",
    "{",
    r#"{"name":"John","username":"#,
    "name=John",
    r#"{"name":7,"username":"x"}"#,
    r#"{"username":"x"}"#,
    r#"{"name":"John","username":7}"#,
    r#"{"name":"John"}"#,
];

impl Verifier<'_> {
    pub(super) fn verify_greeting(&mut self, depth: Depth) -> Result<(), Fault> {
        let plain = ascii_name(&mut self.random, 12);
        self.greet(&plain, &body_of(&plain), "a random name comes back")?;
        let other = ascii_name(&mut self.random, 5);
        self.greet(&other, &body_of(&other), "another random name comes back")?;
        if depth == Depth::Brief {
            return Ok(());
        }
        let foreign = format!("Zoë 李 😀 {}", ascii_name(&mut self.random, 4));
        self.greet(
            &foreign,
            &body_of(&foreign),
            "a name outside ASCII comes back",
        )?;
        let quoted = format!("\"{}\\\t/", ascii_name(&mut self.random, 4));
        self.greet(&quoted, &body_of(&quoted), "escapes are undone")?;
        // The same kind of name as JSON's own escapes, surrogate pair included (RFC 8259, section 7).
        let escaped = r#"{"username":"x","name":"Zo\u00eb \u674e \ud83d\ude00"}"#;
        self.greet("Zoë 李 😀", escaped, "\\u escapes are undone")?;
        let content = Content::Exact {
            bytes: format!("Hello, {plain}!").into_bytes(),
        };
        let request = RequestSpec {
            headers: vec![content_type("Application/JSON;charset=utf-8")],
            ..post(&self.path, Body::Sized(body_of(&plain).into()))
        };
        let rule = "a content type may have capitals and parameters (RFC 9110, section 8.3.1)";
        self.expect_content(rule, request, content)?;
        Ok(())
    }

    /// A question whose answer is like no other's.
    pub(super) fn greeting(&mut self) -> ProbeRequest {
        let name = ascii_name(&mut self.random, 12);
        let body = Body::Sized(body_of(&name).into());
        let content = Content::Exact {
            bytes: format!("Hello, {name}!").into_bytes(),
        };
        self.question(post(&self.path, body), content)
    }

    /// Sends a body sized, and in chunks if the stack reads them.
    fn greet(&mut self, name: &str, body: &str, rule: &'static str) -> Result<(), Fault> {
        let content = Content::Exact {
            bytes: format!("Hello, {name}!").into_bytes(),
        };
        let mut bodies = vec![Body::Sized(body.to_owned().into())];
        if self.declared.http.chunked_bodies {
            bodies.push(Body::Chunked(body.to_owned().into()));
        }
        for body in bodies {
            let request = post(&self.path, body);
            self.expect_content(rule, request, content.clone())?;
        }
        Ok(())
    }

    /// A request with its answer, of the same weight as all others under load.
    pub(super) fn greeting_to_load(&mut self) -> (RequestSpec, Content) {
        let name = ascii_name(&mut self.random, LOADED_LENGTH);
        let content = Content::Exact {
            bytes: format!("Hello, {name}!").into_bytes(),
        };
        let body = Body::Sized(body_of(&name).into());
        (post(&self.path, body), content)
    }
}

pub(super) fn post(path: &str, body: Body) -> RequestSpec {
    RequestSpec {
        method: "POST".to_owned(),
        headers: vec![content_type("application/json")],
        body,
        ..RequestSpec::get(path)
    }
}

pub(super) fn content_type(value: &str) -> (String, String) {
    ("Content-Type".to_owned(), value.to_owned())
}

pub(super) fn body_of(name: &str) -> String {
    json!({ "name": name, "username": "deadheat" }).to_string()
}

fn ascii_name(random: &mut ChaCha8Rng, length: usize) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
    let mut letter = || *LETTERS.choose(random).unwrap_or(&b'x') as char;
    let first = letter().to_ascii_uppercase();
    std::iter::once(first)
        .chain((1..length).map(|_| letter()))
        .collect()
}
