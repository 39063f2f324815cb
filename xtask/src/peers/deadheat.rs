//! Deadheat's own report (docs/formats.md), and the program that is measured.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::answers::Answers;
use crate::steps::{cargo, release_binary, root};

/// Reads the answers out of what `deadheat load --json` wrote. The whole load counts, its end included, because the CPU
/// time is that of the whole process.
///
/// # Errors
///
/// What failed, or what is missing in the report.
pub(crate) fn read(report: &str) -> Result<Answers, String> {
    let report: Value =
        serde_json::from_str(report).map_err(|error| format!("its report is no JSON: {error}"))?;
    let total = &report["observation"]["total"];
    let failed = total["failed"].as_object();
    let failed = failed.ok_or("its report has no observation.total.failed")?;
    for (kind, count) in failed {
        if count.as_u64() != Some(0) {
            return Err(format!("{kind}: {count}"));
        }
    }
    Ok(Answers {
        answered: total["succeeded"]
            .as_u64()
            .ok_or("its report has no observation.total.succeeded")?,
        send_lag_p99_us: send_lag_p99_us(&report),
    })
}

fn send_lag_p99_us(report: &Value) -> Option<f64> {
    let latencies = report["figures"]["latencies"].as_array()?;
    let lag = latencies.iter().find(|one| one["of"] == "send-lag")?;
    let percentiles = lag["percentiles"].as_array()?;
    let p99 = percentiles
        .iter()
        .find(|one| one["percent"].as_f64() == Some(99.0))?;
    Some(p99["seconds"].as_f64()? * 1e6)
}

/// The program that is measured: the one given, or the release build of this project, built now.
///
/// # Errors
///
/// That it is not there or cannot be built.
pub(crate) fn program(given: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(given) = given {
        // A child is started with an absolute path, wherever it is started.
        return given
            .canonicalize()
            .map_err(|error| format!("--deadheat {}: {error}", given.display()));
    }
    let build = ["build", "--release", "--quiet", "--package", "deadheat"];
    let status = cargo(&build).current_dir(root()).status();
    match status {
        Ok(status) if status.success() => Ok(release_binary()),
        Ok(status) => Err(format!("cargo {}: {status}", build.join(" "))),
        Err(error) => Err(format!("cargo {}: {error}", build.join(" "))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report() -> Value {
        json!({
            "figures": { "latencies": [
                { "of": "service-time", "percentiles": [{ "percent": 99.0, "seconds": 0.5 }] },
                { "of": "send-lag", "percentiles": [
                    { "percent": 50.0, "seconds": 0.00002 },
                    { "percent": 99.0, "seconds": 0.00005 },
                ] },
            ] },
            "observation": { "total": { "issued": 9, "succeeded": 9, "failed": {} } },
        })
    }

    #[test]
    fn valid_answers_and_the_send_lag_are_read() {
        let answers = read(&report().to_string()).unwrap();
        assert_eq!(answers.answered, 9);
        assert!((answers.send_lag_p99_us.unwrap() - 50.0).abs() < 1e-6);
    }

    #[test]
    fn a_closed_loop_has_no_send_lag() {
        let mut closed = report();
        closed["figures"]["latencies"].as_array_mut().unwrap().pop();
        assert_eq!(read(&closed.to_string()).unwrap().send_lag_p99_us, None);
    }

    #[test]
    fn a_failed_request_is_no_count() {
        let mut failed = report();
        failed["observation"]["total"]["failed"] = json!({ "reset": 2 });
        assert_eq!(read(&failed.to_string()), Err("reset: 2".to_owned()));
    }

    #[test]
    fn a_report_without_its_counts_is_no_count() {
        for key in ["failed", "succeeded"] {
            let mut broken = report();
            broken["observation"]["total"]
                .as_object_mut()
                .unwrap()
                .remove(key);
            assert!(read(&broken.to_string()).unwrap_err().contains(key));
        }
    }
}
