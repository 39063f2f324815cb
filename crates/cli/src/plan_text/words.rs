//! Times and words.

use std::time::Duration;

/// A duration for a person: seconds below two minutes, minutes below two hours, else hours and minutes.
pub(crate) fn about(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 10.0 {
        format!("{seconds:.1} s")
    } else if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else if seconds < 7200.0 {
        format!("{:.0} min", seconds / 60.0)
    } else {
        let minutes = (seconds / 60.0).round() as u64;
        format!("{} h {} min", minutes / 60, minutes % 60)
    }
}

/// `text` as one word.
pub(crate) fn glued(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}
