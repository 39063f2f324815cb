//! The sessions of docs/results: each has its records there, from which its reports are made.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::records::keep;
use crate::steps::root;

/// The reports of a session that are kept beside its records: what the name ends with, and the format.
const REPORTS: [(&str, &str); 2] = [("md", "markdown"), ("html", "html")];

/// The picture in README.
const CARD: &str = "docs/card.png";

/// Takes a session's records into docs/results, in a folder that is called as they are in `session.json`: by their day.
pub(super) fn bring(session: &Path) -> Result<(), String> {
    let name = session.file_name().unwrap_or_default().to_string_lossy();
    let day = name
        .get(..8)
        .filter(|day| day.bytes().all(|byte| byte.is_ascii_digit()))
        .ok_or_else(|| format!("{name} is no session: its name does not begin with a day"))?;
    let into = folder().join(format!("{}-{}-{}", &day[..4], &day[4..6], &day[6..]));
    keep(session, &into).map_err(|error| format!("{}: {error}", session.display()))
}

/// Makes the reports of all sessions anew, and README's picture and table from the newest one's records.
pub(super) fn write(deadheat: &Path) -> Result<(), String> {
    let sessions = sessions();
    for session in &sessions {
        for (ending, format) in REPORTS {
            let report = report(deadheat, session, format)?;
            store(&session.with_extension(ending), &report)?;
        }
    }
    let Some(newest) = sessions.last() else {
        return Ok(());
    };
    store(&root().join(CARD), &report(deadheat, newest, "card")?)?;
    let readme = root().join("README.md");
    let with_table = with_table(&text(&readme)?, &table(deadheat, newest)?)?;
    store(&readme, with_table.as_bytes())
}

/// The reports are what the records say, and so is README's table.
pub(super) fn check(deadheat: &Path) -> Result<(), String> {
    let sessions = sessions();
    for session in &sessions {
        for (ending, format) in REPORTS {
            let file = session.with_extension(ending);
            let kept = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            if kept != report(deadheat, session, format)? {
                return Err(stale(&file));
            }
        }
    }
    let Some(newest) = sessions.last() else {
        return Ok(());
    };
    let readme = root().join("README.md");
    let kept = text(&readme)?;
    if kept == with_table(&kept, &table(deadheat, newest)?)? {
        Ok(())
    } else {
        Err(stale(&readme))
    }
}

fn stale(file: &Path) -> String {
    format!(
        "{} is not what the records of docs/results say: run cargo xtask evidence",
        file.display()
    )
}

fn folder() -> PathBuf {
    root().join("docs/results")
}

/// The newest session of docs/results.
pub(super) fn newest() -> Option<PathBuf> {
    sessions().pop()
}

/// The folders with records, the oldest first.
fn sessions() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).into_iter().flatten().flatten();
    let mut sessions: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.join("session.json").is_file())
        .collect();
    sessions.sort();
    sessions
}

fn text(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

fn store(file: &Path, content: &[u8]) -> Result<(), String> {
    fs::write(file, content).map_err(|error| format!("{}: {error}", file.display()))
}

/// A session's report in a format. The folder is named as in the checkout, because reports name it.
fn report(deadheat: &Path, session: &Path, format: &str) -> Result<Vec<u8>, String> {
    let session = session.strip_prefix(root()).unwrap_or(session);
    let failed = |what: &str| format!("the {format} of {}: {what}", session.display());
    let output = Command::new(root().join(deadheat))
        .arg("report")
        .arg(session)
        .args(["--format", format])
        .current_dir(root())
        .output()
        .map_err(|error| failed(&error.to_string()))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(failed(&String::from_utf8_lossy(&output.stderr)))
    }
}

/// A session's report for the terminal.
fn table(deadheat: &Path, session: &Path) -> Result<String, String> {
    let report = report(deadheat, session, "text")?;
    Ok(String::from_utf8_lossy(&report).trim_end().to_owned())
}

const BEGIN: &str =
    "<!-- The newest session of docs/results. Made from its records. -->\n```text\n";
const END: &str = "\n```\n";

/// README with the table in its place.
fn with_table(readme: &str, table: &str) -> Result<String, String> {
    let lacking = || format!("README.md: no place for the table, which begins with {BEGIN}");
    let (before, rest) = readme.split_once(BEGIN).ok_or_else(lacking)?;
    let (_, after) = rest.split_once(END).ok_or_else(lacking)?;
    Ok(format!("{before}{BEGIN}{table}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_its_place_in_the_readme() {
        let readme = format!("a\n{BEGIN}old{END}b\n```text\nother\n```\n");
        let found = with_table(&readme, "new").unwrap();
        assert_eq!(found, readme.replace("old", "new"));
        assert!(with_table("nothing", "new").is_err());
    }
}
