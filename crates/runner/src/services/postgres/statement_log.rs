//! What a role says to the server: read from the server's own log, which is switched on for a moment.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use deadheat_model::workload::Table;

use super::{admin::Admin, endpoint::random_word};
use crate::{process::LOG_END, services::ServiceError};

/// How long the server may take to follow a setting, or a line to its log. It only ends a broken check.
const PATIENCE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(5);
/// The setting that has each message of the extended protocol logged with its text (PostgreSQL's documentation, section
/// "Error Reporting and Logging").
const SETTING: &str = "log_min_duration_statement";

/// What a role asked the server for, while it was listened to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Statements that ask for the table and were executed.
    pub asked: u64,
    /// Of these, the ones whose text was parsed for them: by a Parse message, or as a simple query.
    pub parsed: u64,
    /// Other statements that were executed.
    pub others: u64,
    /// The text of the last one that asks for the table; empty without one.
    pub last: String,
}

/// A log that is listened to. Ends at [`Listening::end`], or when it is dropped.
pub(super) struct Listening<'a> {
    admin: &'a Admin,
    log: &'a Path,
    /// What the log says before whatever is listened to.
    first: String,
    is_on: bool,
}

impl<'a> Listening<'a> {
    /// Has every statement logged from now on, on connections that are open already as well.
    pub(super) fn begin(admin: &'a Admin, log: &'a Path) -> Result<Self, ServiceError> {
        let listening = Self {
            admin,
            log,
            first: random_word(16),
            is_on: true,
        };
        set(admin, Some("0"))?;
        // The server's processes follow one after the other; what this one says after that is not before the others.
        listening.mark(&listening.first)?;
        Ok(listening)
    }

    /// Ends it: what `role` has said, of which statements that ask for `table` are counted apart.
    pub(super) fn end(mut self, role: &str, table: Table) -> Result<Said, ServiceError> {
        let last = random_word(16);
        let text = self.mark(&last)?;
        self.is_on = false;
        set(self.admin, None)?;
        let Some(said) = between(&text, &self.first, &last) else {
            return Err(failed(self.log, "more was logged than it keeps"));
        };
        Ok(said_by(role, table, said))
    }

    /// Says something that is like nothing else until it is in the log; the end of the log.
    fn mark(&self, word: &str) -> Result<String, ServiceError> {
        let statement = format!("select '{word}'");
        let until = Instant::now() + PATIENCE;
        loop {
            self.admin
                .run("marking its log", |client| client.batch_execute(&statement))?;
            let text = end_of(self.log).map_err(|error| failed(self.log, error))?;
            if text.contains(word) {
                return Ok(text);
            }
            if Instant::now() > until {
                return Err(failed(self.log, "its statements do not appear there"));
            }
            thread::sleep(POLL);
        }
    }
}

/// What a log says after the last time that it has the word `first`, and before the next time that it has `last`.
fn between<'t>(text: &'t str, first: &str, last: &str) -> Option<&'t str> {
    let (_, rest) = text.rsplit_once(first)?;
    Some(rest.split_once(last)?.0)
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        if self.is_on
            && let Err(error) = set(self.admin, None)
        {
            tracing::warn!("{error}");
        }
    }
}

fn set(admin: &Admin, value: Option<&str>) -> Result<(), ServiceError> {
    let change = match value {
        Some(value) => format!("alter system set {SETTING} = {value}"),
        None => format!("alter system reset {SETTING}"),
    };
    admin.run("setting what it logs", |client| {
        client.batch_execute(&change)?;
        client.batch_execute("select pg_reload_conf()")
    })
}

fn failed(log: &Path, problem: impl std::fmt::Display) -> ServiceError {
    ServiceError::new(
        format!("reading PostgreSQL's log {}", log.display()),
        problem,
        "free some space there",
    )
}

/// The end of a log. Not by places in it: of a long one, the middle is taken out.
fn end_of(log: &Path) -> std::io::Result<String> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_END)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What `role` says in lines such as `deadheat_stack LOG:  duration: 0.07 ms  execute s1: select …`. A statement's further
/// lines begin with a tab.
fn said_by(role: &str, table: Table, log: &str) -> Said {
    let mut said = Said::default();
    let joined = log.replace("\n\t", " ");
    for line in joined.lines() {
        let Some((step, statement)) = step_of(role, line) else {
            continue;
        };
        let is_asked = asks_for(table, statement);
        if is_asked {
            said.last = statement.to_owned();
        }
        match step {
            Step::Parse => said.parsed += u64::from(is_asked),
            Step::Execute if is_asked => said.asked += 1,
            Step::Query if is_asked => {
                said.asked += 1;
                said.parsed += 1;
            }
            Step::Execute | Step::Query => said.others += 1,
        }
    }
    said
}

#[derive(Clone, Copy)]
enum Step {
    Parse,
    Execute,
    /// A simple query: parsed and executed.
    Query,
}

fn step_of<'l>(role: &str, line: &'l str) -> Option<(Step, &'l str)> {
    let line = line.strip_prefix(role)?.strip_prefix(" LOG:  duration: ")?;
    let (_, line) = line.split_once(" ms  ")?;
    let (step, statement) = line.split_once(": ")?;
    let step = match step.split(' ').next()? {
        "parse" => Step::Parse,
        "execute" => Step::Execute,
        "statement" => Step::Query,
        _ => return None,
    };
    Some((step, statement))
}

/// Whether a statement asks for `table`, as any driver or mapper may write it.
fn asks_for(table: Table, statement: &str) -> bool {
    let name = table.to_string();
    let words = statement
        .to_lowercase()
        .replace('"', "")
        .replace([',', ';', '(', ')'], " ");
    let words: Vec<&str> = words.split_whitespace().collect();
    words.windows(2).any(|pair| {
        let table = pair[1].rsplit('.').next().unwrap_or_default();
        ["from", "into", "update"].contains(&pair[0]) && table == name
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listened_to_lies_between_two_words() {
        let log = "old A new A\nsaid\nB more B";
        assert_eq!(between(log, "A", "B"), Some("\nsaid\n"));
        assert_eq!(between(log, "C", "B"), None);
        assert_eq!(between(log, "A", "C"), None);
    }

    #[test]
    fn what_a_role_said_is_counted_by_its_steps() {
        let log = "\
deadheat_stack LOG:  duration: 0.1 ms  parse s1: select id, email from users order by id limit 10
deadheat_stack LOG:  duration: 0.1 ms  bind s1: select id, email from users order by id limit 10
deadheat_stack LOG:  duration: 0.1 ms  execute s1: select id, email
\tfrom users order by id limit 10
deadheat_stack LOG:  duration: 0.1 ms  execute s1: SELECT \"users\".\"id\" FROM \"public\".\"users\" ORDER BY 1
deadheat_stack LOG:  duration: 0.1 ms  statement: select u.id from Users u;
deadheat_stack LOG:  duration: 0.1 ms  statement: BEGIN
deadheat_stack LOG:  duration: 0.1 ms  execute <unnamed>: DISCARD ALL
deadheat_stack_2 LOG:  duration: 0.1 ms  statement: select 1 from users
deadheat LOG:  duration: 0.1 ms  statement: select 'mark'
deadheat_stack ERROR:  relation \"users\" does not exist
";
        let expected = Said {
            asked: 3,
            parsed: 2,
            others: 2,
            last: "select u.id from Users u;".to_owned(),
        };
        assert_eq!(said_by("deadheat_stack", Table::Users, log), expected);
    }
}
