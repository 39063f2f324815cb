//! How many requests were answered, out of each tool's own report. A report that tells of a failure is no count.

use serde_json::Value;

use super::tool::Tool;

/// What a report says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Answers {
    /// Answered requests; with Deadheat those whose answer was as expected.
    pub(crate) answered: u64,
    /// The 99th percentile of the send lag in microseconds, where the tool reports one.
    pub(crate) send_lag_p99_us: Option<f64>,
}

/// Reads a tool's report: what it wrote to standard output.
///
/// # Errors
///
/// What failed, in the tool's words, or what is missing in the report.
pub(crate) fn read(tool: Tool, report: &str) -> Result<Answers, String> {
    let answered = match tool {
        Tool::Deadheat | Tool::Other => return deadheat(report),
        Tool::Wrk => wrk(report),
        Tool::Ab => ab(report),
        Tool::Hey => hey(report),
        Tool::H2load => h2load(report),
        Tool::Oha => oha(report),
        Tool::Shb => shb(report),
        Tool::Bare => after(report, "answers:")
            .and_then(number)
            .ok_or_else(|| missing("count")),
    }?;
    Ok(Answers {
        answered,
        send_lag_p99_us: None,
    })
}

/// The line that begins so, without what it begins with and without blanks around it.
fn after<'a>(report: &'a str, start: &str) -> Option<&'a str> {
    let mut rests = report
        .lines()
        .filter_map(|line| line.trim().strip_prefix(start));
    rests.next().map(str::trim)
}

/// The number that a text begins with.
fn number(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}

fn missing(what: &str) -> String {
    format!("its report has no {what}")
}

/// What `deadheat load --json` wrote (docs/formats.md). The whole load counts, its end included, because the CPU
/// time is that of the whole process.
fn deadheat(report: &str) -> Result<Answers, String> {
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

/// wrk: `175415 requests in 1.00s, 26.77MB read`. It tells of failures only when there are some.
fn wrk(report: &str) -> Result<u64, String> {
    for failure in ["Socket errors:", "Non-2xx or 3xx responses:"] {
        if let Some(rest) = after(report, failure) {
            return Err(format!("{failure} {rest}"));
        }
    }
    let line = report.lines().find(|line| line.contains(" requests in "));
    line.and_then(number)
        .ok_or_else(|| missing("\"requests in\""))
}

/// ab: `Complete requests:      190859`, and the failed ones beside it.
fn ab(report: &str) -> Result<u64, String> {
    let failed = after(report, "Failed requests:").ok_or_else(|| missing("\"Failed requests\""))?;
    if number(failed) != Some(0) {
        return Err(format!("Failed requests: {failed}"));
    }
    if let Some(rest) = after(report, "Non-2xx responses:") {
        return Err(format!("Non-2xx responses: {rest}"));
    }
    after(report, "Complete requests:")
        .and_then(number)
        .ok_or_else(|| missing("\"Complete requests\""))
}

/// hey: a line `[200] 40196 responses` (with a tab) for each status, and a list of errors when there are some.
fn hey(report: &str) -> Result<u64, String> {
    if let Some((_, errors)) = report.split_once("Error distribution:") {
        let first = errors.lines().map(str::trim).find(|line| !line.is_empty());
        return Err(format!("Error distribution: {}", first.unwrap_or("")));
    }
    let statuses = report.lines().filter(|line| line.ends_with(" responses"));
    let mut answered = None;
    for line in statuses.map(str::trim) {
        let Some(rest) = line.strip_prefix("[200]") else {
            return Err(line.to_owned());
        };
        answered = number(rest);
    }
    answered.ok_or_else(|| missing("line of status 200"))
}

/// h2load: `requests: 9 total, 9 started, 9 done, 9 succeeded, 0 failed, 0 errored, 0 timeout`.
fn h2load(report: &str) -> Result<u64, String> {
    let line = after(report, "requests:").ok_or_else(|| missing("line of requests"))?;
    let count = |what: &str| {
        let mut parts = line.split(',').map(str::trim);
        parts.find(|part| part.ends_with(what)).and_then(number)
    };
    for failure in ["failed", "errored", "timeout"] {
        if count(failure) != Some(0) {
            return Err(format!("requests: {line}"));
        }
    }
    count("succeeded").ok_or_else(|| missing("number of succeeded requests"))
}

/// oha: the statuses with their counts. What was under way at the end is an error there, and none here.
fn oha(report: &str) -> Result<u64, String> {
    const CUT_OFF_AT_THE_END: &str = "aborted due to deadline";
    let report = json(report)?;
    let errors = report["errorDistribution"].as_object();
    for (error, count) in errors.into_iter().flatten() {
        if error != CUT_OFF_AT_THE_END {
            return Err(format!("{error}: {count}"));
        }
    }
    only_200(&report["statusCodeDistribution"])
}

/// shb: the statuses with their counts, and two counts of errors.
fn shb(report: &str) -> Result<u64, String> {
    let report = json(report)?;
    for what in ["errors", "connectErrors"] {
        let count = &report["requests"][what];
        if count.as_u64() != Some(0) {
            return Err(format!("{what}: {count}"));
        }
    }
    only_200(&report["statusCodes"])
}

fn json(report: &str) -> Result<Value, String> {
    serde_json::from_str(report).map_err(|error| format!("its report is no JSON: {error}"))
}

/// The count of status 200 in an object of statuses; any other status is an error.
fn only_200(statuses: &Value) -> Result<u64, String> {
    let statuses = statuses.as_object();
    for (status, count) in statuses.into_iter().flatten() {
        if status != "200" {
            return Err(format!("status {status}: {count}"));
        }
    }
    statuses
        .and_then(|statuses| statuses.get("200")?.as_u64())
        .ok_or_else(|| missing("count of status 200"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A report as the tool writes it (cut to the lines that matter), its count, and the same with a failure in it.
    const REPORTS: [(Tool, &str, u64, &str, &str); 8] = [
        (
            Tool::Wrk,
            "Running 1s test @ http://127.0.0.1:1/small\n  1 threads and 50 connections\n  \
             175415 requests in 1.00s, 26.77MB read\nRequests/sec: 175226.81\n",
            175_415,
            "Requests/sec:",
            "  Socket errors: connect 0, read 3, write 0, timeout 0\nRequests/sec:",
        ),
        (
            Tool::Wrk,
            "  9 requests in 1.00s, 2.00KB read\nRequests/sec: 9.0\n",
            9,
            "Requests/sec:",
            "  Non-2xx or 3xx responses: 9\nRequests/sec:",
        ),
        (
            Tool::Ab,
            "Complete requests:      190859\nFailed requests:        0\nKeep-Alive requests:    190859\n",
            190_859,
            "requests:        0",
            "requests:        2\n   (Connect: 0, Receive: 0, Length: 2, Exceptions: 0)",
        ),
        (
            Tool::Hey,
            "Response time histogram:\n  0.000 [1]\t|\n  0.001 [15426]\t|\n\nStatus code distribution:\n  \
             [200]\t40196 responses\n\n",
            40_196,
            "[200]\t40196 responses\n",
            "[200]\t40196 responses\n  [502]\t3 responses\n",
        ),
        (
            Tool::Hey,
            "Status code distribution:\n  [200]\t40196 responses\n\n",
            40_196,
            "responses\n",
            "responses\n\nError distribution:\n  [3]\tGet \"http://127.0.0.1:1/\": EOF\n",
        ),
        (
            Tool::H2load,
            "finished in 1.00s, 155351.00 req/s, 23.70MB/s\nrequests: 155351 total, 155401 started, 155351 done, \
             155351 succeeded, 0 failed, 0 errored, 0 timeout\nstatus codes: 155351 2xx, 0 3xx\n",
            155_351,
            "0 errored",
            "4 errored",
        ),
        (
            Tool::Oha,
            r#"{"statusCodeDistribution": {"200": 125627}, "errorDistribution": {"aborted due to deadline": 50}}"#,
            125_627,
            "aborted due to deadline",
            "connection closed before message completed",
        ),
        (
            Tool::Shb,
            r#"{"requests": {"connectErrors": 0, "errors": 0, "ok": 164346}, "statusCodes": {"200": 164346}}"#,
            164_346,
            r#""errors": 0"#,
            r#""errors": 1"#,
        ),
    ];

    #[test]
    fn each_tools_answers_are_counted() {
        for (tool, report, answered, ..) in REPORTS {
            let expected = Answers {
                answered,
                send_lag_p99_us: None,
            };
            assert_eq!(read(tool, report), Ok(expected), "{tool:?}");
        }
    }

    #[test]
    fn a_failure_that_is_told_of_is_no_count() {
        for (tool, report, _, right, wrong) in REPORTS {
            let failed = report.replacen(right, wrong, 1);
            assert_ne!(failed, report, "{tool:?}");
            assert!(read(tool, &failed).is_err(), "{tool:?}: {failed}");
        }
    }

    #[test]
    fn a_report_that_breaks_off_is_no_count() {
        for (tool, report, ..) in REPORTS {
            assert!(read(tool, &report[..report.len() / 4]).is_err(), "{tool:?}");
            assert!(read(tool, "").is_err(), "{tool:?}");
        }
    }

    #[test]
    fn another_status_is_no_count() {
        let oha = r#"{"statusCodeDistribution": {"200": 9, "502": 1}, "errorDistribution": {}}"#;
        assert_eq!(read(Tool::Oha, oha), Err("status 502: 1".to_owned()));
    }

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
        let answers = deadheat(&report().to_string()).unwrap();
        assert_eq!(answers.answered, 9);
        assert!((answers.send_lag_p99_us.unwrap() - 50.0).abs() < 1e-6);
    }

    #[test]
    fn a_closed_loop_has_no_send_lag() {
        let mut closed = report();
        closed["figures"]["latencies"].as_array_mut().unwrap().pop();
        assert_eq!(deadheat(&closed.to_string()).unwrap().send_lag_p99_us, None);
    }

    #[test]
    fn a_failed_request_is_no_count() {
        let mut failed = report();
        failed["observation"]["total"]["failed"] = json!({ "reset": 2 });
        assert_eq!(deadheat(&failed.to_string()), Err("reset: 2".to_owned()));
    }

    #[test]
    fn a_report_without_its_counts_is_no_count() {
        for key in ["failed", "succeeded"] {
            let mut broken = report();
            broken["observation"]["total"]
                .as_object_mut()
                .unwrap()
                .remove(key);
            assert!(deadheat(&broken.to_string()).unwrap_err().contains(key));
        }
    }
}
