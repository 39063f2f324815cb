//! The records of rows: taking them, keeping them, and reading figures from them.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use deadheat_stats::interval::median;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    half_width,
    rows::{Experiment, Row},
};
use crate::{project::root, slices};

/// Where and when a row was measured.
#[derive(Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) measured: String,
    pub(super) commit: String,
    pub(super) machine: String,
}

const KEPT: &str = "evidence.json";
const RUN: &str = "01";
const SLICES: &str = "slices.json";

impl Kept {
    /// That of a row; `None`: it was never measured.
    pub(super) fn new(row: &Row) -> Result<Option<Self>, String> {
        let file = folder(row).join(KEPT);
        if file.exists() {
            read(&file).map(Some)
        } else {
            Ok(None)
        }
    }
}

fn folder(row: &Row) -> PathBuf {
    root().join("docs/evidence").join(&row.name)
}

pub(super) fn read<T: DeserializeOwned>(file: &Path) -> Result<T, String> {
    let failed = |error: String| format!("reading {}: {error}", file.display());
    let text = fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| failed(error.to_string()))
}

fn write<T: Serialize>(file: &Path, value: &T) -> Result<(), String> {
    let failed = |error: String| format!("writing {}: {error}", file.display());
    let text = serde_json::to_string(value).map_err(|error| failed(error.to_string()))?;
    fs::write(file, text + "\n").map_err(|error| failed(error.to_string()))
}

/// Runs the experiment of a row. Its records take the place of those that there are.
pub(super) fn take(row: &Row, kept: &Kept, deadheat: &Path) -> Result<(), String> {
    let own = folder(row);
    let failed = |error: std::io::Error| format!("{}: {error}", own.display());
    if own.exists() {
        fs::remove_dir_all(&own).map_err(failed)?;
    }
    fs::create_dir_all(&own).map_err(failed)?;
    match &row.experiment {
        Experiment::Slices { arguments } => {
            write(&own.join(SLICES), &slices::recorded(arguments, deadheat)?)?;
        }
        Experiment::Sessions {
            arguments, times, ..
        } => {
            for nth in 1..=*times {
                session(arguments, deadheat, &own.join(format!("{nth:02}")))?;
            }
        }
        Experiment::Run { arguments } => session(arguments, deadheat, &own.join(RUN))?,
    }
    write(&own.join(KEPT), kept)
}

/// Runs a session, and keeps its two files.
fn session(arguments: &[String], deadheat: &Path, into: &Path) -> Result<(), String> {
    let failed = |what: &str| format!("{} {}: {what}", deadheat.display(), arguments.join(" "));
    let results = tempfile::tempdir().map_err(|error| failed(&error.to_string()))?;
    let status = Command::new(root().join(deadheat))
        .args(arguments)
        .arg("--results")
        .arg(results.path())
        .current_dir(root())
        .status()
        .map_err(|error| failed(&error.to_string()))?;
    // 2 and 3 are mistakes and sessions without a figure.
    if !matches!(status.code(), Some(0 | 1)) {
        return Err(failed(&format!("it ended with {status}")));
    }
    let made = fs::read_dir(results.path()).map_err(|error| failed(&error.to_string()))?;
    let mut made = made.flatten().map(|entry| entry.path());
    let made = made
        .find(|folder| folder.join("session.json").is_file())
        .ok_or_else(|| failed("it left no session"))?;
    keep(&made, into).map_err(|error| failed(&error.to_string()))
}

/// Copies a session's two files, the journal compressed.
pub(super) fn keep(session: &Path, into: &Path) -> std::io::Result<()> {
    fs::create_dir_all(into)?;
    // Where the checkout and the results were is nobody's business.
    let here = root().display().to_string();
    let session = fs::canonicalize(session)?;
    let results = session.parent().filter(|folder| folder.parent().is_some());
    let without = |name: &str| {
        let text = fs::read_to_string(session.join(name))?.replace(&here, ".");
        let text = results.map_or(text.clone(), |folder| {
            text.replace(&folder.display().to_string(), "results")
        });
        fs::write(into.join(name), text)
    };
    without("session.json")?;
    without("heats.jsonl")?;
    let journal = into.join("heats.jsonl");
    let zipped = Command::new("gzip")
        .args(["-9", "-n", "-f"])
        .arg(&journal)
        .status()?;
    if zipped.success() {
        return Ok(());
    }
    Err(std::io::Error::other(format!(
        "gzip {}: {zipped}",
        journal.display()
    )))
}

/// A session's report in a format. The folder is named as in the checkout, because reports name it.
pub(super) fn report(deadheat: &Path, session: &Path, format: &str) -> Result<Vec<u8>, String> {
    let session = session.strip_prefix(root()).unwrap_or(session);
    let failed = |what: &str| format!("the {format} of {}: {what}", session.display());
    let output = Command::new(root().join(deadheat))
        .arg("report")
        .arg(session)
        .args(["--format", format])
        .current_dir(root())
        .output()
        .map_err(|error| failed(&format!("asking {}: {error}", deadheat.display())))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(failed(&String::from_utf8_lossy(&output.stderr)))
    }
}

/// What a row of slices says.
pub(super) fn sliced(row: &Row) -> Result<String, String> {
    let record: slices::Recorded = read(&folder(row).join(SLICES))?;
    Ok(record.table())
}

/// The records of a row of a session of stacks.
pub(super) fn session_of(row: &Row) -> PathBuf {
    folder(row).join(RUN)
}

/// The records of a row of comparisons, each in its folder.
pub(super) fn sessions_of(row: &Row) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder(row)).map_err(|error| error.to_string())?;
    let folders = entries.flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = folders.filter(|path| path.is_dir()).collect();
    folders.sort();
    Ok(folders)
}

/// What a row of comparisons says: how many ended how, and each of them if there are few.
pub(super) fn compared(row: &Row, deadheat: &Path) -> Result<String, String> {
    let folders = sessions_of(row)?;
    let mut verdicts: BTreeMap<String, u32> = BTreeMap::new();
    let (mut lines, mut halves) = (String::new(), Vec::new());
    for (nth, folder) in folders.iter().enumerate() {
        let judged = Judged::new(folder, deadheat)?;
        *verdicts.entry(judged.verdict.clone()).or_default() += 1;
        halves.push((judged.high / judged.low).ln() / 2.0);
        lines += &format!(
            "\n| {} | {} | {} | {:.3} | {:.3}–{:.3} |",
            nth + 1,
            judged.verdict,
            judged.heats,
            judged.ratio,
            judged.low,
            judged.high
        );
    }
    let counts: Vec<String> = verdicts
        .iter()
        .map(|(verdict, count)| format!("{verdict}: {count}"))
        .collect();
    Ok(format!(
        "{}. Median half width of the intervals: {}.\n\n| | B is | heats | B ÷ A | interval |\n| ---: | --- | ---: | ---: | --- |{lines}",
        counts.join(", "),
        half_width(median(halves.into_iter()))
    ))
}

/// What a comparison says of throughput.
struct Judged {
    verdict: String,
    heats: u64,
    ratio: f64,
    low: f64,
    high: f64,
}

impl Judged {
    fn new(folder: &Path, deadheat: &Path) -> Result<Self, String> {
        let failed = |what: String| format!("{}: {what}", folder.display());
        let said = report(deadheat, folder, "json")?;
        let said: Value =
            serde_json::from_slice(&said).map_err(|error| failed(error.to_string()))?;
        let ratio = said
            .pointer("/compared/0/ratios/0")
            .ok_or_else(|| failed("nothing was compared".to_owned()))?;
        let number = |pointer: &str| ratio.pointer(pointer).and_then(Value::as_f64);
        let whole = || {
            Some(Self {
                verdict: match ratio["verdict"].as_str()? {
                    "better" => "faster",
                    "worse" => "slower",
                    "dead-heat" => "dead heat",
                    _ => "undecided",
                }
                .to_owned(),
                heats: ratio["heats_a"].as_u64()?,
                ratio: number("/ratio")?,
                low: number("/interval/low")?,
                high: number("/interval/high")?,
            })
        };
        whole().ok_or_else(|| failed(format!("no figure in {ratio}")))
    }
}
