//! Figures that follow from each other must agree: digits that were lost or changed show here.

use deadheat_model::imported::{Load, RunFigures, Tool};

/// What is wrong with the figures of a report.
///
/// # Errors
/// Says which figures cannot all be right.
pub(crate) fn check(tool: Tool, load: &Load, figures: &RunFigures) -> Result<(), String> {
    for (name, value) in [
        ("time", figures.seconds),
        ("rate", figures.requests_per_second),
        ("mean", figures.mean_ms),
        ("median", figures.p50_ms),
        ("99th percentile", figures.p99_ms),
        ("maximum", figures.max_ms),
        ("transfer rate", figures.kib_per_second),
    ] {
        if value.is_some_and(|value| !value.is_finite() || value < 0.0) {
            return Err(format!("the {name} is not a positive number"));
        }
    }
    if figures.requests_per_second == Some(0.0) {
        return Err("a rate of 0 requests/s cannot be compared with others".to_owned());
    }
    let mut times = vec![
        ("median", figures.p50_ms, "99th percentile", figures.p99_ms),
        ("median", figures.p50_ms, "maximum", figures.max_ms),
        ("99th percentile", figures.p99_ms, "maximum", figures.max_ms),
    ];
    // ab's mean is made of the rate, its maximum is in whole milliseconds.
    if tool != Tool::Ab {
        times.push(("mean", figures.mean_ms, "maximum", figures.max_ms));
    }
    for (less, small, more, large) in times {
        if let (Some(small), Some(large)) = (small, large)
            && small > large * 1.01 + 0.01
        {
            return Err(format!(
                "the {less}, {small} ms, is more than the {more}, {large} ms"
            ));
        }
    }
    if let Some(complete) = figures.complete {
        let most = complete.max(load.requests.unwrap_or(0));
        if figures.non_2xx.is_some_and(|errors| errors > complete) {
            return Err(format!("there are more errors than the {complete} answers"));
        }
        let counts_among_complete = matches!(tool, Tool::Ab | Tool::K6);
        if counts_among_complete && figures.failed.is_some_and(|failed| failed > most) {
            return Err(format!(
                "more requests failed than the {most} that were sent"
            ));
        }
    }
    if tool == Tool::Ab {
        of_ab(load, figures)
    } else {
        Ok(())
    }
}

/// ab prints the same facts in several ways.
fn of_ab(load: &Load, figures: &RunFigures) -> Result<(), String> {
    let (Some(rate), Some(seconds), Some(complete)) = (
        figures.requests_per_second,
        figures.seconds,
        figures.complete,
    ) else {
        return Ok(());
    };
    let follows = complete as f64 / rate;
    // Half of the last digit of the time and of the rate.
    if (follows - seconds).abs() > 0.000_6 + follows * 0.005_1 / rate {
        return Err(format!(
            "{complete} requests at {rate}/s take {follows:.3} s, not {seconds} s"
        ));
    }
    if let (Some(mean), Some(connections)) = (figures.mean_ms, load.connections) {
        let follows = f64::from(connections) / rate * 1e3;
        // Half of the last digit, of which there are two before version 2.0.
        let has_two_digits = (mean * 100.0 - (mean * 100.0).round()).abs() < 1e-6;
        let rounded = if has_two_digits { 0.005_1 } else { 0.000_6 };
        if (follows - mean).abs() > rounded + (0.000_1 + 0.005_1 / rate) * follows {
            return Err(format!(
                "{connections} requests at once at {rate}/s take {follows:.3} ms, not {mean} ms"
            ));
        }
    }
    if let (Some(received), Some(transfer)) = (figures.received_bytes, figures.kib_per_second) {
        let follows = received as f64 / 1024.0 / follows;
        if (follows - transfer).abs() > 0.006 + follows * 0.005_1 / rate {
            return Err(format!(
                "{received} bytes are {follows:.2} KiB/s, not {transfer}"
            ));
        }
    }
    let bodies = figures.body_bytes.zip(figures.received_bytes);
    if bodies.is_some_and(|(bodies, received)| bodies > received) {
        return Err("the bodies have more bytes than were received".to_owned());
    }
    Ok(())
}
