//! However an answer is cut into segments, it is counted as what it is. The parser by itself is cut at every byte in
//! its own tests; this is the way from the socket on.

use std::time::Duration;

use deadheat_model::Failure;
use deadheat_testkit::{
    Action, OracleServer, Script, Turn,
    faults::{self, Case},
};

use crate::support::{count, exchange_of, run};

/// Cuts of one case; shorter answers are cut at every byte.
const CUTS: usize = 80;

/// A case whose answers are cut in two, each at another place.
struct Cut {
    case: Case,
    /// What it sends, in one piece.
    bytes: Vec<u8>,
    /// What it does then.
    end: Vec<Action>,
}

impl Cut {
    /// The case, if its bytes and nothing else make it what it is.
    fn new(case: Case) -> Option<Self> {
        let (mut bytes, mut end) = (Vec::new(), Vec::new());
        for step in &case.answer {
            match step {
                Action::Send(more) => bytes.extend_from_slice(more),
                Action::Fin | Action::Reset => end.push(step.clone()),
                // Pauses are the pauses between pieces. What never comes would take its time for each cut.
                Action::Pause(_) => {}
                _ => return None,
            }
        }
        // Cut at the answer's end, what follows comes after a right answer.
        let other = matches!(case.outcome, Err(Failure::Timeout | Failure::ExtraBytes));
        (!other && case.greet.is_empty() && bytes.len() >= 2).then_some(Self { case, bytes, end })
    }

    fn cuts(&self) -> usize {
        (self.bytes.len() - 1).min(CUTS)
    }

    /// The cut of a request: from the first byte to the last one.
    fn place(&self, index: u64) -> usize {
        let nth = index as usize % self.cuts();
        1 + nth * (self.bytes.len() - 1) / self.cuts()
    }
}

impl Script for Cut {
    fn answer(&self, turn: &Turn<'_>) -> Vec<Action> {
        let (first, second) = self.bytes.split_at(self.place(turn.index));
        let mut steps = vec![
            Action::Send(first.to_vec()),
            // So that the first piece is read before the second one comes, unless the machine is very busy.
            Action::Pause(Duration::from_micros(200)),
            Action::Send(second.to_vec()),
        ];
        steps.extend(self.end.iter().cloned());
        steps
    }
}

fn check(cut: Cut) {
    let requests = cut.cuts() as u64;
    let (name, outcome) = (cut.case.name, cut.case.outcome);
    let exchange = exchange_of(&cut.case);
    let server = OracleServer::start(cut).unwrap();
    let mut spec = count(server.address(), 1, requests);
    spec.exchanges = vec![exchange];
    // With every body compared, and with none of them looked at.
    for content_sample in [1, 0] {
        let unseen = content_sample == 0 && outcome == Err(Failure::WrongContent);
        spec.content_sample = content_sample;
        let seen = run(&spec);
        let counted = match outcome {
            Err(kind) if !unseen => seen.total.failed[kind],
            _ => seen.total.succeeded,
        };
        assert_eq!(
            (seen.total.issued, counted),
            (requests, requests),
            "{name}, content sample {content_sample}: {:?}",
            seen.examples
        );
    }
    let seen = server.seen_at_rest();
    assert_eq!(seen.requests, 2 * requests, "{name}");
}

#[test]
fn right_answers_are_right_however_they_are_cut() {
    let cases: Vec<Cut> = faults::right().into_iter().filter_map(Cut::new).collect();
    assert!(cases.len() > 10);
    cases.into_iter().for_each(check);
}

#[test]
fn wrong_answers_are_failures_of_their_kind_however_they_are_cut() {
    let cases: Vec<Cut> = faults::wrong().into_iter().filter_map(Cut::new).collect();
    assert!(cases.len() > 20);
    cases.into_iter().for_each(check);
}
