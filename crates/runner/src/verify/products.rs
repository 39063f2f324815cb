//! json-gzip: products that are computed from the number in the request, as JSON that is compressed.

use deadheat_model::{
    heat::Compression,
    load::{Content, RequestSpec, gunzip},
};
use rand::Rng as _;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::{Depth, Fault, Verifier, question::ProbeRequest, wire::WholeAnswer};

/// Different requests under load.
pub(super) const DIFFERENT: usize = 64;
/// Products in an answer.
const COUNT: u32 = 100;
/// The largest number that a client may begin with.
const MAX: u32 = 1_000_000;
/// What the products are of.
const CATEGORIES: [&str; 5] = ["books", "garden", "kitchen", "music", "tools"];
/// How much shorter an answer must become.
const MIN_RATIO: f64 = 2.0;
/// For a number that makes no sense.
const BAD: &[u16] = &[400, 422];
/// What is no number to begin with.
const BAD_FROM: [&str; 6] = [
    "",
    "?from=",
    "?from=many",
    "?from=0",
    "?from=-1",
    "?from=1000001",
];

const RIGHT: &str = "the answer is right";
const COMPRESSED: &str =
    "an answer to a client that accepts gzip is compressed (RFC 9110, section 8.4)";
const PLAIN: &str = "an answer to a client that accepts no coding is not compressed";
const VARIES: &str =
    "an answer shows that it depends on Accept-Encoding (RFC 9110, section 12.5.5)";

impl Verifier<'_> {
    pub(super) fn verify_products(&mut self, depth: Depth) -> Result<(), Fault> {
        for _ in 0..2 {
            self.expect_compressed()?;
        }
        if depth == Depth::Full {
            let question = self.plain_products_question();
            let asked = format!("{} without Accept-Encoding", question.name());
            let answer = self.expect(PLAIN, &question)?;
            expect_coding(&asked, PLAIN, &answer, None)?;
            for query in BAD_FROM {
                let bad = RequestSpec::get(format!("{}{query}", self.path));
                self.expect_status("a number that makes no sense is refused", bad, BAD)?;
            }
            for from in [1, MAX] {
                self.expect(RIGHT, &self.products_question(from))?;
            }
            self.expect_compressed()?;
        }
        Ok(())
    }

    /// Questions that differ from each other.
    pub(super) fn products_questions(&mut self, count: usize) -> Vec<ProbeRequest> {
        (0..count)
            .map(|_| {
                let from = random_from(&mut self.random);
                self.products_question(from)
            })
            .collect()
    }

    /// A request with its answer, of about the same weight as all others under load.
    pub(super) fn products_to_load(&mut self) -> (RequestSpec, Content) {
        let from = random_from(&mut self.random);
        (self.compressed_from(from), compressed(from))
    }

    fn products_question(&self, from: u32) -> ProbeRequest {
        self.question(self.compressed_from(from), compressed(from))
    }

    /// A question by a client that accepts no compression.
    pub(super) fn plain_products_question(&mut self) -> ProbeRequest {
        let from = random_from(&mut self.random);
        self.question(RequestSpec::get(self.from(from)), products(from))
    }

    fn compressed_from(&self, from: u32) -> RequestSpec {
        RequestSpec {
            headers: vec![("Accept-Encoding".to_owned(), "gzip".to_owned())],
            ..RequestSpec::get(self.from(from))
        }
    }

    fn from(&self, from: u32) -> String {
        format!("{}?from={from}", self.path)
    }

    /// Asks for products at random; how much shorter compression made them.
    pub(super) fn expect_compressed(&mut self) -> Result<Compression, Fault> {
        let from = random_from(&mut self.random);
        let question = self.products_question(from);
        let asked = question.name();
        let answer = self.client.send(&question.request)?;
        // Before the content, which says less of what is wrong.
        expect_coding(&asked, COMPRESSED, &answer, Some("gzip"))?;
        question.judge_of_stack(&asked, RIGHT, &answer, self.late)?;
        self.passed += 1;
        let found = Compression {
            bytes: answer.body.len() as u64,
            decompressed_bytes: gunzip(&answer.body).map_or(0, |text| text.len() as u64),
        };
        if found.ratio() >= MIN_RATIO {
            return Ok(found);
        }
        Err(Fault::new(
            asked,
            "a compressed answer is shorter",
            format!(
                "at most 1 / {MIN_RATIO} of {} bytes",
                found.decompressed_bytes
            ),
            format!("{} bytes", found.bytes),
        ))
    }
}

/// Whether an answer says that it has this coding, and that it depends on what the client accepts.
fn expect_coding(
    asked: &str,
    rule: &'static str,
    answer: &WholeAnswer,
    coding: Option<&str>,
) -> Result<(), Fault> {
    let own = answer.header("content-encoding");
    let own = own.filter(|own| !own.eq_ignore_ascii_case("identity"));
    if own.map(str::to_ascii_lowercase).as_deref() != coding {
        let told = |coding: Option<&str>| match coding {
            Some(coding) => format!("Content-Encoding: {coding}"),
            None => "no Content-Encoding".to_owned(),
        };
        return Err(Fault::new(asked.to_owned(), rule, told(coding), told(own)));
    }
    let fields = answer.headers.iter().filter(|(name, _)| name == "vary");
    let mut names = fields.flat_map(|(_, value)| value.split(','));
    if names.any(|name| {
        matches!(
            name.trim().to_ascii_lowercase().as_str(),
            "accept-encoding" | "*"
        )
    }) {
        return Ok(());
    }
    Err(Fault::new(
        asked.to_owned(),
        VARIES,
        "Vary: Accept-Encoding".to_owned(),
        match answer.header("vary") {
            Some(vary) => format!("Vary: {vary}"),
            None => "no Vary".to_owned(),
        },
    ))
}

/// A number to begin with; all of them have six digits.
fn random_from(random: &mut ChaCha8Rng) -> u32 {
    100_000 + random.next_u32() % 800_000
}

fn compressed(from: u32) -> Content {
    Content::Gzip {
        content: Box::new(products(from)),
    }
}

/// The products from this number on.
fn products(from: u32) -> Content {
    Content::Json {
        value: (from..from + COUNT).map(product).collect(),
    }
}

fn product(id: u32) -> Value {
    json!({
        "id": id,
        "name": format!("Product {id}"),
        "category": CATEGORIES[id as usize % CATEGORIES.len()],
        "price": id * 37 % 10_007,
        "stock": id * 31 % 101,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_follow_from_their_numbers_and_fill_eight_kibibytes() {
        assert_eq!(
            product(7),
            json!({ "id": 7, "name": "Product 7", "category": "kitchen", "price": 259, "stock": 15 })
        );
        let Content::Json { value } = products(500_000) else {
            unreachable!();
        };
        assert_eq!(value.as_array().unwrap().len(), 100);
        let length = value.to_string().len();
        assert!((7_500..9_000).contains(&length), "{length}");
        assert!(MAX as u64 * 37 < u64::from(u32::MAX));
    }
}
