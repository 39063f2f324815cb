//! hash: the digest chain of a file that is swapped between probes.

use deadheat_model::load::{Content, RequestSpec};

use super::{Depth, Fault, Verifier};

/// What is not a number of rounds: nothing, zero, negative, a word, and none at all.
const BAD: [&str; 5] = ["rounds=", "rounds=0", "rounds=-1", "rounds=many", ""];

impl Verifier<'_> {
    pub(super) fn right_digest(&self) -> Content {
        let rounds = self.point.rounds.unwrap_or(1);
        Content::Exact {
            bytes: self.fixtures.blob.digest(rounds).into_bytes(),
        }
    }

    pub(super) fn verify_digest(&mut self, depth: Depth) -> Result<(), Fault> {
        let request = self.request();
        self.expect_right(&request)?;
        self.fixtures.blob.swap().map_err(|error| {
            Fault::new(
                self.fixtures.blob.path().display().to_string(),
                "the file can be swapped",
                "a file that can be written".to_owned(),
                error.to_string(),
            )
        })?;
        let content = self.right_digest();
        let rule = "the file is read for each request (it was swapped after the answer before)";
        self.expect_content(rule, &request, &content)?;
        if depth == Depth::Full {
            let path = self
                .workload
                .path
                .split('?')
                .next()
                .unwrap_or_default()
                .to_owned();
            for query in BAD {
                let bad = RequestSpec::get(format!("{path}?{query}"));
                self.expect_status("a bad number of rounds is refused", &bad, 400)?;
            }
            self.expect_right(&request)?;
        }
        Ok(())
    }
}
