//! Findings, level by level.
//!
//! A remedy is one command or sentence a line. A command begins with a small letter or a sign, so that it can be told
//! from a sentence and is never broken over lines.

use std::collections::BTreeSet;

use deadheat_model::machine::{Finding, Level};

/// Nothing to do.
pub(super) fn fine(check: &str, found: impl Into<String>) -> Finding {
    finding(Level::Fine, check, found.into(), "", String::new())
}

/// It cannot be seen; `found` says why.
pub(super) fn unknown(check: &str, found: impl Into<String>, why: &str) -> Finding {
    finding(Level::Unknown, check, found.into(), why, String::new())
}

/// Good to know when figures are read.
pub(super) fn note(
    check: &str,
    found: impl Into<String>,
    why: &str,
    remedy: impl Into<String>,
) -> Finding {
    finding(Level::Note, check, found.into(), why, remedy.into())
}

/// It will spoil a measurement.
pub(super) fn warning(
    check: &str,
    found: impl Into<String>,
    why: &str,
    remedy: impl Into<String>,
) -> Finding {
    finding(Level::Warning, check, found.into(), why, remedy.into())
}

fn finding(level: Level, check: &str, found: String, why: &str, remedy: String) -> Finding {
    Finding {
        check: check.to_owned(),
        level,
        found,
        why: why.to_owned(),
        remedy,
    }
}

/// A share (0 to 1) for a person: "0.4 %", "14 %".
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        _ if percent >= 9.95 => format!("{percent:.0} %"),
        _ if percent < 0.05 => "0 %".to_owned(),
        _ => format!("{percent:.1} %"),
    }
}

/// A size for a person.
pub(super) fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64)
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

    #[test]
    fn shares_are_short() {
        let shares = [0.0, 0.0004, 0.0123, 0.0996, 0.144].map(percent);
        assert_eq!(shares, ["0 %", "0 %", "1.2 %", "10 %", "14 %"]);
    }
}
