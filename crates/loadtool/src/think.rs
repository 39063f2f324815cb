//! `--think`: "1s", "500ms..2s", "exp:1s".

use deadheat_model::{figure, load::Think};
use deadheat_shell::values::{length, time_or_none};

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
        return Err(bad(format!(
            "{} is longer than {}",
            figure::time(from),
            figure::time(to)
        )));
    }
    Ok(Think::Uniform { from, to })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_kinds_are_read() {
        for (text, expected) in [
            ("1s", "1 s"),
            ("2", "2 s"),
            ("500ms..2s", "500 ms to 2 s at random"),
            ("0s .. 2s", "0 s to 2 s at random"),
            ("exp:1s", "1 s on average (exponential)"),
        ] {
            let told = deadheat_model::load::words::think(&think(text).unwrap());
            assert_eq!(told, expected, "{text}");
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
