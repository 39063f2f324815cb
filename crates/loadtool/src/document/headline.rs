//! The verdict on a load in a line.

use deadheat_document::view::clean;
use deadheat_model::{
    Failure, LoadRecord, Observation, Warning,
    figure::{capital, counted, per_second, seconds, share},
    observation::FailureGroup,
};

use super::plan;
use crate::analysis::{LoadAnalysis, Validity};

/// "66.7 % of 6,300 requests failed (mostly: …). ", or nothing if none failed.
fn failed(record: &LoadRecord, analysis: &LoadAnalysis) -> String {
    let measured = &record.observation.measured;
    let Some(part) = analysis.figures.failed_share.filter(|share| *share > 0.0) else {
        return String::new();
    };
    let why = most_frequent_failure(&record.observation);
    let why = why.map_or(String::new(), |why| format!(" (mostly: {why})"));
    format!(
        "{} of {} failed{why}. ",
        share(part),
        counted(measured.ended(), "request")
    )
}

/// The verdict in a line. It says first of all whether the load was interrupted, and how many requests failed.
pub(crate) fn headline(record: &LoadRecord, analysis: &LoadAnalysis) -> String {
    let verdict = &analysis.verdict;
    let measured = &record.observation.measured;
    let main = verdict.main_warning().map(Warning::in_full);
    let found = format!(
        "{} in {} ({})",
        counted(analysis.figures.answers, "valid answer"),
        seconds(analysis.figures.answer_seconds),
        per_second(analysis.figures.throughput_per_second),
    );
    let text = match verdict.validity {
        Validity::GeneratorLimited => {
            let failed = failed(record, analysis);
            let why = main.unwrap_or_default();
            format!("{failed}The generator was the limit. {why}")
        }
        Validity::Failed => {
            let requests = measured.ended();
            let all = match requests {
                0 => record
                    .observation
                    .unsent()
                    .unwrap_or_else(|| "no request ended in the measurement".to_owned()),
                1 => "the only request was not answered validly".to_owned(),
                _ => format!(
                    "none of {} was answered validly",
                    counted(requests, "request")
                ),
            };
            let why = most_frequent_failure(&record.observation);
            let why = why.map_or(String::new(), |why| match requests {
                1 => format!(": {why}"),
                _ => format!("; most often {why}"),
            });
            format!("nothing was measured: {all}{why}.")
        }
        Validity::Doubtful | Validity::MostlyFailed => {
            let failed = failed(record, analysis);
            match main {
                Some(why) => format!("{failed}{found}. Warning: {why}"),
                None => format!("{failed}{found}."),
            }
        }
        Validity::Sound => match failed(record, analysis).as_str() {
            "" => format!("{found}. No problems found."),
            failed => format!("{failed}{found}."),
        },
    };
    match plan::interrupted(record) {
        Some(when) => format!("Interrupted {when}: {text}"),
        None => capital(&text),
    }
}

/// The kind of failure that came most often, and the largest group of it: in the measurement, or in the whole load if
/// nothing failed there.
pub fn most_frequent(observation: &Observation) -> Option<(Failure, Option<&FailureGroup>)> {
    let in_measurement = observation.measured.failed.total() > 0;
    let failed = if in_measurement {
        &observation.measured.failed
    } else {
        &observation.total.failed
    };
    let (kind, _) = failed.iter().max_by_key(|(_, count)| *count)?;
    let of_kind = observation.failures.iter().filter(|one| one.kind == kind);
    let many = |group: &&FailureGroup| {
        if in_measurement {
            group.measured
        } else {
            group.total
        }
    };
    Some((kind, of_kind.max_by_key(many)))
}

/// What failed most often, in words ("the connection was refused"), with the cause where the kind alone says too little to go
/// on with.
pub fn most_frequent_failure(observation: &Observation) -> Option<String> {
    let (kind, cause) = most_frequent(observation)?;
    let telling = matches!(
        kind,
        Failure::WrongStatus
            | Failure::Tls
            | Failure::ConnectOther
            | Failure::BadHead
            | Failure::BadFraming
            | Failure::TruncatedBody
            | Failure::Http2
            | Failure::Grpc
    );
    let ended = matches!(kind, Failure::Reset | Failure::ClosedEarly);
    let says_why = |group: &&FailureGroup| {
        ended
            && ["had been idle", "TLS alert"]
                .iter()
                .any(|why| group.cause.contains(why))
    };
    Some(match cause.filter(|group| telling || says_why(group)) {
        Some(group) => format!("{} ({})", kind.describe(), clean(&group.cause)),
        None => kind.describe().to_owned(),
    })
}
