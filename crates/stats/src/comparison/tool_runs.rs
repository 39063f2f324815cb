//! Runs of other load generators against each other: one side's runs are of one server.

use deadheat_model::{
    figure::{self, count},
    imported::{Run, RunFigures},
    load::words,
    warning::{Warning, doubt},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Bounds, Metric, Ratio, RatioVerdict, sessions::of_runs};

/// B's runs against A's.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunsComparison {
    /// The rates, judged by Welch's test on their logarithms; without a verdict if a side has fewer than three runs, or
    /// for the reason in `no_verdict`.
    pub throughput: Ratio,
    /// Why these rates can have no verdict, however many runs there are; `None` if they can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_verdict: Option<String>,
    /// Times: too coarse for a verdict, because tools round them.
    pub times: Vec<TimesComparison>,
    /// What differs between the sides and must not.
    pub warnings: Vec<Warning>,
}

/// A time of both sides: the geometric means over the runs, in ms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TimesComparison {
    /// Which: `mean`, `p50` or `p99`.
    pub name: &'static str,
    /// A's, in milliseconds.
    pub a_ms: f64,
    /// B's, in milliseconds.
    pub b_ms: f64,
}

/// A time: its name, and its value in figures.
type Time = (&'static str, fn(&RunFigures) -> Option<f64>);

/// Why runs cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunsError {
    /// One has nothing to compare.
    #[error("{file}:{line}: {why}, so there is nothing to compare")]
    Invalid {
        /// The file that it was read from.
        file: String,
        /// Its line there.
        line: usize,
        /// What is wrong with it, in words.
        why: String,
    },
    /// A side has none.
    #[error("a side has no run with a rate")]
    None,
}

/// Compares the runs of two servers. `has_many_errors` says whether a run's rate is not one of right answers.
///
/// # Errors
/// When a run has no valid rate, or a side no run.
pub fn compare(
    a: &[Run],
    b: &[Run],
    bounds: &Bounds,
    has_many_errors: impl Fn(&Run) -> bool,
) -> Result<RunsComparison, RunsError> {
    let bounds = &bounds.of_runs();
    let (of_a, of_b) = (rates(a)?, rates(b)?);
    let throughput = of_runs(Metric::Throughput, &of_a, &of_b, bounds);
    let mut throughput = throughput.ok_or(RunsError::None)?;
    let no_verdict = no_verdict(a, b, has_many_errors);
    if no_verdict.is_some() {
        throughput = Ratio {
            error: None,
            freedom: None,
            interval: None,
            p: None,
            p_adjusted: None,
            verdict: RatioVerdict::NotEnoughData,
            ..throughput
        };
    }
    let times: [Time; 3] = [
        ("mean", |figures| figures.mean_ms),
        ("p50", |figures| figures.p50_ms),
        ("p99", |figures| figures.p99_ms),
    ];
    let times = times.into_iter().filter_map(|(name, of)| {
        let (a_ms, b_ms) = (mean(a, of)?, mean(b, of)?);
        Some(TimesComparison { name, a_ms, b_ms })
    });
    let mut warnings = differences(a, b);
    if throughput.interval.is_some() {
        // Records of loads without alternating runs have no verdict; here nobody knows.
        warnings.push(doubt(
            "not-in-turn",
            "Reports do not say when they were made: unless runs of A and B alternated, the ratio includes any change \
             of the machine in between.",
        ));
    }
    Ok(RunsComparison {
        throughput,
        no_verdict,
        times: times.collect(),
        warnings,
    })
}

/// Why the ratio of the rates says nothing about the servers, if so. The reason is a clause.
fn no_verdict(a: &[Run], b: &[Run], has_many_errors: impl Fn(&Run) -> bool) -> Option<String> {
    let sides = [("A", a), ("B", b)].into_iter();
    let with_errors = sides.filter(|(_, runs)| runs.iter().any(&has_many_errors));
    let with_errors: Vec<&str> = with_errors.map(|(side, _)| side).collect();
    if !with_errors.is_empty() {
        let sides = with_errors.join(" and ");
        return Some(format!("runs of {sides} had 1 % errors or more"));
    }
    let is_at_rate = |run: &Run| run.load.is_open || run.load.rate.is_some();
    let mut of_both = a.iter().chain(b);
    of_both.any(is_at_rate).then(|| {
        "at a fixed rate, throughput is what was asked for, unless a server does not keep up"
            .to_owned()
    })
}

fn rates(runs: &[Run]) -> Result<Vec<f64>, RunsError> {
    let rate = |run: &Run| {
        run.valid_rate().ok_or_else(|| RunsError::Invalid {
            file: run.place.file.clone(),
            line: run.place.line,
            why: run.invalid().unwrap_or("it has no rate").to_owned(),
        })
    };
    runs.iter().map(rate).collect()
}

/// The geometric mean of a time that all runs have.
fn mean(runs: &[Run], of: fn(&RunFigures) -> Option<f64>) -> Option<f64> {
    let times: Option<Vec<f64>> = runs.iter().map(|run| of(&run.figures)).collect();
    let times = times.filter(|times| !times.is_empty() && times.iter().all(|time| *time > 0.0))?;
    let sum: f64 = times.iter().map(|time| time.ln()).sum();
    Some((sum / times.len() as f64).exp())
}

/// What differs in how the sides were loaded.
fn differences(a: &[Run], b: &[Run]) -> Vec<Warning> {
    let mut found = Vec::new();
    let mut unless_same = |what: &str, of: &dyn Fn(&Run) -> String| {
        let values = |runs: &[Run]| {
            let mut values: Vec<String> = runs.iter().map(of).collect();
            values.sort();
            values.dedup();
            values.join(", ")
        };
        let (of_a, of_b) = (values(a), values(b));
        if of_a != of_b {
            let sentence = format!("The {what} differ: {of_a} in A, {of_b} in B.");
            found.push(doubt("other-load", sentence));
        }
    };
    let number = |number: Option<u64>| number.map_or_else(|| "unknown".to_owned(), count);
    unless_same("tools", &|run| run.tool.name().to_owned());
    unless_same("connections", &|run| {
        number(run.load.connections.map(u64::from))
    });
    unless_same("requests asked for", &|run| number(run.load.requests));
    unless_same("rates asked for", &|run| {
        run.load
            .rate
            .map_or_else(|| "none".to_owned(), figure::rate)
    });
    unless_same("ways of sending", &|run| {
        let kind = if run.load.is_open {
            "an open loop"
        } else {
            "a closed loop"
        };
        let reuse = run.load.reuse.map(words::reuse);
        [Some(kind), reuse]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" with ")
    });
    found
}

#[cfg(test)]
mod tests {
    use deadheat_model::{
        imported::{Load, SourceLine, Tool},
        load::Reuse,
    };

    use super::*;

    fn runs(rates: &[f64], tool: Tool) -> Vec<Run> {
        let run = |rate: &f64| Run {
            tool,
            place: SourceLine {
                file: "file".to_owned(),
                line: 1,
            },
            label: None,
            section: None,
            command: None,
            target: None,
            load: Load::default(),
            figures: RunFigures {
                requests_per_second: Some(*rate),
                p50_ms: Some(1e3 / rate),
                ..RunFigures::default()
            },
            warnings: Vec::new(),
        };
        rates.iter().map(run).collect()
    }

    fn no_errors(_: &Run) -> bool {
        false
    }

    #[test]
    fn three_runs_of_each_have_a_verdict_and_two_have_none() {
        let a = runs(&[1000.0, 1010.0, 990.0], Tool::Wrk);
        let b = runs(&[1500.0, 1510.0, 1490.0], Tool::Wrk);
        let compared = compare(&a, &b, &Bounds::default(), no_errors).unwrap();
        assert_eq!(compared.throughput.verdict, RatioVerdict::Better);
        assert_eq!(compared.no_verdict, None);
        assert!(compared.warnings[0].sentence.contains("alternated"));
        assert!((compared.throughput.ratio - 1.5).abs() < 0.01);
        assert!(
            (compared.times[0].a_ms - 1.0).abs() < 0.01,
            "{:?}",
            compared.times
        );
        let few = compare(&a[..2], &b, &Bounds::default(), no_errors).unwrap();
        assert_eq!(few.throughput.verdict, RatioVerdict::NotEnoughData);
        assert_eq!(few.throughput.interval, None);
    }

    #[test]
    fn rates_with_errors_and_rates_that_were_asked_for_have_no_verdict() {
        let a = runs(&[1000.0, 1010.0, 990.0], Tool::Wrk2);
        let mut b = runs(&[1500.0, 1510.0, 1490.0], Tool::Wrk2);
        let fails_often = |run: &Run| run.figures.requests_per_second > Some(1505.0);
        let compared = compare(&a, &b, &Bounds::default(), fails_often).unwrap();
        assert_eq!(compared.throughput.verdict, RatioVerdict::NotEnoughData);
        assert_eq!(compared.throughput.interval, None);
        let why = compared.no_verdict.unwrap();
        assert_eq!(why, "runs of B had 1 % errors or more");
        b[1].load.rate = Some(1500.0);
        let compared = compare(&a, &b, &Bounds::default(), no_errors).unwrap();
        assert_eq!(compared.throughput.verdict, RatioVerdict::NotEnoughData);
        assert!(compared.no_verdict.unwrap().contains("at a fixed rate"));
        assert_eq!(
            compared.warnings[0].sentence,
            "The rates asked for differ: none in A, 1,500/s, none in B."
        );
    }

    #[test]
    fn runs_of_errors_are_refused_and_other_loads_named() {
        let a = runs(&[1000.0], Tool::Wrk);
        let mut b = runs(&[1500.0], Tool::Ab);
        b[0].load.reuse = Some(Reuse::PerRequest);
        let compared = compare(&a, &b, &Bounds::default(), no_errors).unwrap();
        let warnings: Vec<_> = compared.warnings.iter().map(|one| &one.sentence).collect();
        assert_eq!(
            warnings,
            [
                "The tools differ: wrk in A, ab in B.",
                "The ways of sending differ: a closed loop in A, a closed loop with a new connection for each request in B.",
            ]
        );
        b[0].figures.complete = Some(10);
        b[0].figures.non_2xx = Some(10);
        let error = compare(&a, &b, &Bounds::default(), no_errors).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("every answer was an error"), "{error}");
    }
}
