//! One short real session over all stacks and most workloads, and what its files must say. No timing is judged.

use std::{fs, path::Path};

use serde_json::Value;

use crate::steps::{Steps, deadheat, root};

pub(crate) fn short_session(steps: &mut Steps) {
    let results = root().join("target/xtask-session");
    // Whatever an earlier run left is not this one's.
    let _ = fs::remove_dir_all(&results);
    let folder = results.display().to_string();
    let args = [
        "run",
        "--stack",
        "*",
        // json and ping-pong are what plaintext and payload are to a load; conformance asks for all eight.
        "--workload",
        "plaintext",
        "--workload",
        "json-decode",
        "--workload",
        "payload",
        "--workload",
        "hash",
        "--workload",
        "users",
        "--workload",
        "proxy",
        "--blocks",
        "1",
        "--measure",
        "1s",
        "--warm-up",
        "500ms",
        // Whatever else this machine is doing.
        "--noise-bound",
        "off",
        "--seed",
        "1",
        "--results",
        &folder,
    ];
    steps.run("a short real session", deadheat(&args));
    steps.check("its records", || records(&results));
}

fn records(results: &Path) -> Result<(), String> {
    let failed =
        |what: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", what.display());
    let mut sessions = fs::read_dir(results).map_err(|error| failed(results, &error))?;
    let session = sessions.next().ok_or("no session was recorded")?;
    let session = session.map_err(|error| failed(results, &error))?.path();
    for name in ["report.html", "report.md", "report.json", "report.csv"] {
        let path = session.join(name);
        let length = fs::metadata(&path)
            .map_err(|error| failed(&path, &error))?
            .len();
        if length == 0 {
            return Err(format!("{} is empty", path.display()));
        }
    }
    let read = |name: &str| {
        fs::read_to_string(session.join(name)).map_err(|error| failed(&session, &error))
    };
    let parse = |text: &str| serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
    let header = parse(&read("session.json")?)?;
    let planned = header["plan"]["cells"].as_array().map_or(0, Vec::len);
    let mut measured = 0;
    for line in read("trials.jsonl")?.lines() {
        let entry = parse(line)?;
        if entry["record"] == "trial" {
            trial(&entry)?;
            measured += 1;
        }
    }
    if planned == 0 || measured != planned {
        return Err(format!(
            "{measured} trials were recorded of {planned} planned"
        ));
    }
    Ok(())
}

/// Each trial was measured, lost no request, and used its server.
fn trial(entry: &Value) -> Result<(), String> {
    let name = format!(
        "{} {} {}",
        entry["target"], entry["workload"], entry["point"]
    );
    let outcome = &entry["outcome"];
    if outcome["result"] != "measured" {
        return Err(format!("{name}: {outcome}"));
    }
    for span in ["total", "measured"] {
        let tally = &outcome["load"][span];
        let number = |key: &str| tally[key].as_u64().unwrap_or(0);
        let failed: u64 = tally["failed"]
            .as_object()
            .map_or(0, |kinds| kinds.values().filter_map(Value::as_u64).sum());
        let came = number("carried_in") + number("issued");
        let went = number("succeeded") + failed + number("in_flight");
        if came != went || number("succeeded") == 0 || failed > 0 {
            return Err(format!("{name}, {span}: {tally}"));
        }
    }
    let cpu = outcome["resources"]["cpu_seconds"].as_f64().unwrap_or(0.0);
    if cpu <= 0.0 {
        return Err(format!("{name}: its server used no CPU time"));
    }
    Ok(())
}
