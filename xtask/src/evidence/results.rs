//! The sessions of docs/results: each has its records there, from which its reports are made.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::records::{keep, report};
use crate::project::root;

/// The reports of a session that are kept beside its records: what the name ends with, and the format.
const REPORTS: [(&str, &str); 2] = [("md", "markdown"), ("html", "html")];

/// The picture in README, and the session that it is of.
const CARD: &str = "docs/card.png";
const OF_CARD: &str = "2026-11-30-plaintext";

/// The session of the table in README.
const OF_TABLE: &str = "2026-11-30-users";

/// Takes a session's records into docs/results, in a folder that is named by the day in the session's name, and a word.
pub(super) fn bring(session: &Path, word: Option<&str>) -> Result<(), String> {
    let name = session.file_name().unwrap_or_default().to_string_lossy();
    let day = name
        .get(..8)
        .filter(|day| day.bytes().all(|byte| byte.is_ascii_digit()))
        .ok_or_else(|| format!("{name} is no session: its name does not begin with a day"))?;
    let word = word.map_or_else(String::new, |word| format!("-{word}"));
    let into = folder().join(format!("{}-{}-{}{word}", &day[..4], &day[4..6], &day[6..]));
    keep(session, &into).map_err(|error| format!("{}: {error}", session.display()))
}

/// Makes the reports of all sessions anew, and README's picture and table.
pub(super) fn write(deadheat: &Path) -> Result<(), String> {
    for (file, content) in made(deadheat)? {
        fs::write(&file, content).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    // Not checked: how a picture is compressed may change with a library.
    let card = root().join(CARD);
    fs::write(&card, report(deadheat, &folder().join(OF_CARD), "card")?)
        .map_err(|error| format!("{}: {error}", card.display()))
}

/// The reports are what the records say, and so is README's table.
pub(super) fn check(deadheat: &Path) -> Result<(), String> {
    for (file, content) in made(deadheat)? {
        let kept = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        if kept != content {
            return Err(format!(
                "{} is not what the records of docs/results say: run cargo xtask evidence",
                file.display()
            ));
        }
    }
    Ok(())
}

/// Each file that is made from records, and what it has to contain.
fn made(deadheat: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
    let mut made = Vec::new();
    for session in sessions() {
        for (ending, format) in REPORTS {
            made.push((
                session.with_extension(ending),
                report(deadheat, &session, format)?,
            ));
        }
    }
    let readme = root().join("README.md");
    let text =
        fs::read_to_string(&readme).map_err(|error| format!("{}: {error}", readme.display()))?;
    let table = report(deadheat, &folder().join(OF_TABLE), "text")?;
    let table = String::from_utf8_lossy(&table);
    made.push((readme, with_table(&text, table.trim_end())?.into_bytes()));
    Ok(made)
}

pub(super) fn folder() -> PathBuf {
    root().join("docs/results")
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

const BEGIN: &str = "<!-- Made from the records of a session. -->\n```text\n";
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
