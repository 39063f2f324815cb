//! What a check finds, and the words that checks share.

use std::collections::BTreeSet;

use deadheat_model::{Warning, figure::capital, warning::Level};
use serde::{Deserialize, Serialize};

/// An id that never changes, what is looked at, and the function that looks at it.
pub(super) type Check<On> = (&'static str, &'static str, fn(&On) -> CheckResult);

/// What a check found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// The check ("congestion-control").
    pub id: String,
    /// What was looked at ("congestion control").
    pub subject: String,
    /// What was found, in a few words ("bbr").
    pub found: String,
    /// What this does to a measurement; [`Level::Routine`] if it cannot be seen on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<Warning>,
}

/// What these checks find, the worst first.
pub(super) fn facts<On>(checks: &[Check<On>], on: &On) -> Vec<Fact> {
    let facts = checks
        .iter()
        .map(|(id, subject, look)| look(on).into_fact(id, subject));
    let mut facts: Vec<Fact> = facts.collect();
    // Stable.
    facts.sort_by_key(|fact| fact.warning.as_ref().map_or(u8::MAX, |one| one.level as u8));
    facts
}

/// What was found. Advice is one command or sentence a line: a command begins with a small letter.
#[derive(Debug)]
pub(super) struct CheckResult {
    pub(super) found: String,
    pub(super) level: Option<Level>,
    pub(super) why: &'static str,
    pub(super) advice: String,
}

impl CheckResult {
    pub(super) fn into_fact(self, id: &str, subject: &str) -> Fact {
        let Self {
            found,
            level,
            why,
            advice,
        } = self;
        let sentence = format!(
            "{}: {}. {why}",
            capital(subject),
            found.trim_end_matches('.')
        );
        let warning = level.map(|level| {
            let warning = Warning::new(level, id, sentence).with("found", found.as_str());
            warning.advice(advice)
        });
        Fact {
            id: id.to_owned(),
            subject: subject.to_owned(),
            found,
            warning,
        }
    }
}

/// Nothing to do.
pub(super) fn fine(found: impl Into<String>) -> CheckResult {
    CheckResult {
        found: found.into(),
        level: None,
        why: "",
        advice: String::new(),
    }
}

/// It cannot be seen; `found` says why.
pub(super) fn unknown(found: impl Into<String>, why: &'static str) -> CheckResult {
    CheckResult {
        level: Some(Level::Routine),
        why,
        ..fine(found)
    }
}

/// Good to know when figures are read.
pub(super) fn note(
    found: impl Into<String>,
    why: &'static str,
    advice: impl Into<String>,
) -> CheckResult {
    CheckResult {
        level: Some(Level::Note),
        advice: advice.into(),
        ..unknown(found, why)
    }
}

/// It will spoil a measurement.
pub(super) fn warning(
    found: impl Into<String>,
    why: &'static str,
    advice: impl Into<String>,
) -> CheckResult {
    CheckResult {
        level: Some(Level::Doubt),
        ..note(found, why, advice)
    }
}

/// CPUs as the kernel and taskset(1) list them: "0-2,5".
pub(super) fn listed(cpus: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    let cpus: BTreeSet<usize> = cpus.iter().copied().collect();
    for cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let texts = ranges.iter().map(|(first, last)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    });
    texts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::parse_list;

    #[test]
    fn lists_are_the_kernels() {
        for text in ["0", "0-2,5", "1,3,5-6", ""] {
            assert_eq!(listed(&parse_list(text)), text);
        }
        assert!(parse_list("(null)").is_empty());
    }
}
