//! The rules that TechEmpower's Framework Benchmarks have for every answer
//! (<https://github.com/TechEmpower/FrameworkBenchmarks/blob/master/toolset/test_types/verifications.py>, `verify_headers`). A
//! stack that was made for that suite need not keep the rest of the contract.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{Depth, Fault, Verifier, wire::WholeAnswer};

/// How long a Date header may stay the same, which counts in seconds.
const SAME_DATE: Duration = Duration::from_secs(3);
const POLL: Duration = Duration::from_millis(250);

const HEADERS: &str = "every answer has the headers that the suite asks for";

impl Verifier<'_> {
    pub(super) fn verify_suite(&mut self, depth: Depth) -> Result<(), Fault> {
        for question in self.questions(1)? {
            let answer = self.expect("the answer is right", &question)?;
            expect_headers(&question.name(), &answer)?;
        }
        if depth == Depth::Full {
            self.verify_date()?;
            self.verify_crowd()?;
        }
        Ok(())
    }

    /// Asks until the Date header changes.
    fn verify_date(&mut self) -> Result<(), Fault> {
        let question = self.questions(1)?.remove(0);
        let date = |answer: &WholeAnswer| answer.header("date").map(str::to_owned);
        let first = date(&self.client.send(&question.request)?);
        let until = Instant::now() + SAME_DATE;
        while Instant::now() < until {
            thread::sleep(POLL);
            if date(&self.client.send(&question.request)?) != first {
                self.passed += 1;
                return Ok(());
            }
        }
        Err(Fault::new(
            question.name(),
            "the Date header is of the answer's own time",
            format!("another one after {} s", SAME_DATE.as_secs()),
            format!("`{}` in both answers", first.unwrap_or_default()),
        ))
    }
}

fn expect_headers(asked: &str, answer: &WholeAnswer) -> Result<(), Fault> {
    let fault = |expected: &str, got: &str| {
        let (expected, got) = (expected.to_owned(), got.to_owned());
        Err(Fault::new(asked.to_owned(), HEADERS, expected, got))
    };
    if answer.header("server").is_none() {
        return fault("a Server header", "none");
    }
    let has_size = ["content-length", "transfer-encoding"]
        .iter()
        .any(|name| answer.header(name).is_some());
    if !has_size {
        return fault("Content-Length or Transfer-Encoding", "neither");
    }
    Ok(())
}
