//! hash: the digest chain of a file that is swapped between probes.

use std::io;

use deadheat_model::load::{Content, RequestSpec};

use super::{
    Depth, Fault, Verifier,
    invalid_requests::BAD,
    question::{ExpectedAnswer, Question},
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
    pub(super) fn digest_questions(&mut self, count: usize) -> Vec<Question> {
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
        // Put back whatever the answer was: the load of servers that are alive beside this one expects what was there.
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
                let bad = Question {
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
