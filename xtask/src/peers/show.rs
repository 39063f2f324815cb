//! What goes to the terminal: results to standard output, everything else to standard error.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use super::trial::Trial;

/// A table.
pub(crate) fn result(text: &str) {
    println!("{text}");
}

/// How it goes on.
pub(crate) fn progress(text: &str) {
    eprintln!("{text}");
}

/// A trial that has ended.
pub(crate) fn trial(trial: &Trial) {
    let found = match &trial.outcome {
        Ok(found) => format!(
            "{:>8.2} µs {:>8.1} MiB {:>9.0} answers/s",
            found.cpu_us_per_answer(),
            found.peak_bytes as f64 / f64::from(1 << 20),
            found.answers_per_second(),
        ),
        Err(fault) => format!("does not count: {fault}"),
    };
    let (case, tool) = (trial.case.name(), trial.tool.name());
    match trial.block {
        0 => progress(&format!("{case:<9} warm-up   {tool:<9} {found}")),
        block => progress(&format!("{case:<9} block {block:<3} {tool:<9} {found}")),
    }
}
