//! `--think`: "1s", "500ms..2s", "exp:1s".

use std::time::Duration;

use deadheat_model::load::Think;

use super::values::{length, time_or_none};

/// How long to wait between an answer and the next request.
pub(crate) fn think(text: &str) -> Result<Think, String> {
    let bad = |error| {
        format!(
            "{error}; a think time is one like 1s, 500ms..2s (any time between) or exp:1s (on average)"
        )
    };
    if let Some(mean) = text.strip_prefix("exp:") {
        let mean = length(mean).map_err(bad)?;
        return Ok(Think::Exponential { mean });
    }
    let (from, to) = match text.split_once("..") {
        None => {
            let always = length(text).map_err(bad)?;
            (always, always)
        }
        Some((from, to)) => {
            let from = time_or_none(from.trim()).map_err(bad)?;
            (from, length(to.trim()).map_err(bad)?)
        }
    };
    if from > to {
        return Err(bad(format!("{} is longer than {}", shown(from), shown(to))));
    }
    Ok(Think::Uniform { from, to })
}

/// The time for a person: "1s", "500ms to 2s at random", "1s on average (exponential)".
pub(super) fn described(think: &Think) -> String {
    match think {
        Think::Uniform { from, to } if from == to => shown(*from),
        Think::Uniform { from, to } => format!("{} to {} at random", shown(*from), shown(*to)),
        Think::Exponential { mean } => format!("{} on average (exponential)", shown(*mean)),
    }
}

fn shown(time: Duration) -> String {
    humantime::format_duration(time).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_kinds_are_read_and_told() {
        for (text, expected) in [
            ("1s", "1s"),
            ("2", "2s"),
            ("500ms..2s", "500ms to 2s at random"),
            ("0s .. 2s", "0s to 2s at random"),
            ("exp:1s", "1s on average (exponential)"),
        ] {
            assert_eq!(described(&think(text).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn what_is_none_is_refused_with_what_to_write() {
        for text in [
            "",
            "0s",
            "x",
            "2s..1s",
            "1s..",
            "0s..0s",
            "exp:",
            "exp:0s",
            "-1s",
            "1s..2s..3s",
        ] {
            let error = think(text).unwrap_err();
            assert!(error.contains("exp:1s"), "{text:?}: {error}");
        }
    }
}
