//! Causes of failure, each once, with whom they met.

use deadheat_model::{
    Observation, SessionRecord,
    session::TargetState,
    trial::{TrialFailure, TrialOutcome},
};
use deadheat_stats::{
    Analysis, CellAnalysis, Group, TrialAnalysis, verdict::FailReason, verdict::TrialVerdict,
};

use super::{Cause, Met};
use crate::{
    figure::{count, counted, list},
    view::{
        clean,
        clean::clean_log,
        losses::{examples, failed, kind_of, kinds},
        words,
    },
};

/// Everything that went wrong, each cause once, in the order in which a session meets it.
pub fn causes(record: &SessionRecord, analysis: &Analysis) -> Vec<Cause> {
    let mut all = Causes::default();
    for target in &record.header.targets {
        let name = clean(&target.target.to_string());
        match &target.state {
            TargetState::Ready { .. } => {}
            TargetState::Unavailable { reason, remedy } => {
                let cause = Cause {
                    remedy: Some(clean(remedy)),
                    ..cause(format!("Unavailable here: {}", clean(reason)))
                };
                all.add(cause, &name, None);
            }
            TargetState::Failed(failure) => all.add(of_failure(failure), &name, None),
        }
        for lost in &target.failed_workloads {
            let place = format!("{}, before its first trial", clean(&lost.workload));
            all.add(of_failure(&lost.failure), &name, Some(place));
        }
    }
    for group in &analysis.groups {
        for cell in group.all_cells() {
            let name = clean(&record.header.plan.controls.shown(&cell.target));
            for (reason, trials) in failures(cell) {
                let place = place(group, cell, &reason, &trials);
                all.add(of_trials(record, &reason, &trials), &name, Some(place));
            }
            if is_missing(cell) {
                let cause = cause("No trial was run: the session ended before".to_owned());
                all.add(cause, &name, Some(words::at(group)));
            }
        }
    }
    let causes = all.0.into_iter();
    causes.map(|(_, cause)| cause.alone()).collect()
}

fn is_missing(cell: &CellAnalysis) -> bool {
    cell.trials.is_empty() && cell.void.is_empty() && cell.left_out.is_empty()
}

/// Causes with what they are known by.
#[derive(Default)]
struct Causes(Vec<((String, Option<String>), Cause)>);

impl Causes {
    fn add(&mut self, cause: Cause, target: &str, place: Option<String>) {
        let key = (alike(&cause.title), cause.remedy.clone());
        let known = self.0.iter_mut().position(|(other, _)| *other == key);
        let index = known.unwrap_or_else(|| {
            let bare = Cause {
                examples: Vec::new(),
                log: Vec::new(),
                ..cause.clone()
            };
            self.0.push((key, bare));
            self.0.len() - 1
        });
        let here = &mut self.0[index].1;
        // The first that has something to show speaks for the others.
        if here.examples.is_empty() && here.log.is_empty() {
            here.examples = cause.examples;
            here.log = cause.log;
            here.of = (!here.examples.is_empty() || !here.log.is_empty()).then(|| match &place {
                Some(place) => format!("{target}, {place}"),
                None => target.to_owned(),
            });
        }
        match here.stacks.iter_mut().find(|met| met.target == target) {
            Some(met) => met.places.extend(place),
            None => here.stacks.push(Met {
                target: target.to_owned(),
                places: place.into_iter().collect(),
            }),
        }
    }
}

impl Cause {
    /// Of one that met nobody else it need not be said whose the log is.
    fn alone(self) -> Self {
        let places = self.stacks.iter().map(|met| met.places.len().max(1));
        let is_alone = places.sum::<usize>() == 1;
        Self {
            of: self.of.filter(|_| !is_alone),
            ..self
        }
    }
}

/// A reason without what differs from one trial to the next though the cause is the same: lengths of time, and ports of
/// the loopback interface.
fn alike(reason: &str) -> String {
    const UNITS: [&str; 5] = ["s", "ms", "µs", "seconds", "second"];
    let bare = |word: &str| {
        word.trim_matches(|end: char| end.is_ascii_punctuation())
            .to_owned()
    };
    let words: Vec<&str> = reason.split(' ').collect();
    let next = words.iter().skip(1).map(Some).chain([None]);
    let alike = words.iter().zip(next).map(|(word, next)| {
        let is_number = bare(word).parse::<f64>().is_ok();
        let is_time = is_number && next.is_some_and(|next| UNITS.contains(&bare(next).as_str()));
        let port = word.split_once("127.0.0.1:");
        match (is_time, port) {
            (true, _) => "…".to_owned(),
            (_, Some((before, after))) => {
                let after = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
                format!("{before}127.0.0.1:…{after}")
            }
            (false, None) => (*word).to_owned(),
        }
    });
    alike.collect::<Vec<_>>().join(" ")
}

fn cause(title: String) -> Cause {
    Cause {
        title,
        stacks: Vec::new(),
        remedy: None,
        of: None,
        examples: Vec::new(),
        log: Vec::new(),
    }
}

fn of_failure(failure: &TrialFailure) -> Cause {
    let title = format!("{}: {}", failed(failure.phase), clean(&failure.reason));
    let load = failure.load.as_deref();
    with(title, load, &failure.log_tail)
}

fn with(title: String, load: Option<&Observation>, log: &[String]) -> Cause {
    Cause {
        examples: load.map(examples).unwrap_or_default(),
        log: clean_log(log),
        ..cause(capitalised(&title))
    }
}

fn capitalised(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().into_iter().flat_map(char::to_uppercase);
    first.chain(rest.clone()).collect()
}

/// A cell's failed trials by their reason, also those that another trial stands for.
fn failures(cell: &CellAnalysis) -> Vec<(String, Vec<&TrialAnalysis>)> {
    let mut all: Vec<(String, Vec<&TrialAnalysis>)> = Vec::new();
    for trial in cell.trials.iter().chain(&cell.left_out) {
        let TrialVerdict::Failed { reason } = &trial.verdict else {
            continue;
        };
        let kind = kind_of(reason);
        let mut known = all.iter_mut();
        match known.find(|(other, _)| alike(other) == alike(&kind)) {
            Some((_, trials)) => trials.push(trial),
            None => all.push((kind, vec![trial])),
        }
    }
    all
}

fn of_trials(record: &SessionRecord, reason: &str, trials: &[&TrialAnalysis]) -> Cause {
    let mut shown = trials
        .iter()
        .filter_map(|trial| record.trials.get(trial.record));
    let title = match reason.starts_with("failed ") {
        true => reason.to_owned(),
        false => format!("failed: {reason}"),
    };
    match shown.next().map(|trial| &trial.outcome) {
        Some(TrialOutcome::Failed(failure)) => {
            with(title, failure.load.as_deref(), &failure.log_tail)
        }
        Some(TrialOutcome::Measured(measured)) => with(title, Some(&measured.load), &[]),
        None => with(title, None, &[]),
    }
}

/// "json, 50 connections: 2 of 7 trials, in blocks 6 and 7".
fn place(group: &Group, cell: &CellAnalysis, reason: &str, trials: &[&TrialAnalysis]) -> String {
    let mut blocks: Vec<u32> = trials.iter().map(|trial| trial.block + 1).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let noun = if blocks.len() == 1 { "block" } else { "blocks" };
    let numbers: Vec<String> = blocks.iter().map(|block| count((*block).into())).collect();
    let of = cell.trials.len() + cell.left_out.len();
    // Where the load went on, how many requests failed says how bad it was.
    let is_of_requests = trials.iter().any(|trial| {
        let TrialVerdict::Failed { reason } = &trial.verdict else {
            return false;
        };
        !matches!(reason, FailReason::Outcome { .. })
    });
    let requests = kinds(&cell.failures).filter(|_| is_of_requests && !reason.is_empty());
    let requests = requests.map(|kinds| {
        let ended = counted(cell.requests_ended as usize, "request");
        format!("; of {ended} with warm-up, {kinds}")
    });
    format!(
        "{}: {} of {}, in {noun} {}{}",
        words::at(group),
        trials.len(),
        counted(of, "trial"),
        list(&numbers),
        requests.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::alike;

    #[test]
    fn reasons_that_differ_in_times_and_ports_only_are_alike() {
        let (one, other) = (
            "the server exited with signal 11 after 3.2 s",
            "the server exited with signal 11 after 17.9 s",
        );
        assert_eq!(alike(one), alike(other));
        assert_eq!(
            alike("connecting to 127.0.0.1:20011: refused"),
            alike("connecting to 127.0.0.1:31999: refused")
        );
        let signal = "the server exited with signal 9 after 3.2 s";
        assert_ne!(alike(one), alike(signal), "another signal is another cause");
        assert_ne!(alike("status 404"), alike("status 500"));
        assert_eq!(alike("not within 30 s, stopped"), "not within … s, stopped");
    }
}
