//! How often each status was answered, and what requests failed of, as hey and oha print it.

use crate::{
    error::Damage,
    number::count,
    text::{Cursor, Line},
};

/// Counts of statuses and of failures.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// Answers with each status.
    pub(crate) statuses: Vec<(u16, u64)>,
    /// Requests without an answer, by the reason.
    pub(crate) errors: Vec<(String, u64)>,
    /// Whether what follows shows that nothing was cut off: errors may stand behind the statuses.
    pub(crate) is_closed: bool,
}

impl Counted {
    /// Reads both sections; the cursor is behind the title of the first.
    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Self, Damage> {
        let mut counted = Self::default();
        while let Some(line) = cursor.peek().filter(|line| line.text.starts_with('[')) {
            counted.statuses.push(status(line)?);
            cursor.skip();
            // An empty line stands before the errors, if there are some.
            counted.is_closed = cursor.is_followed_by(2);
        }
        if cursor.is_at("Error distribution:") {
            cursor.skip();
            counted.is_closed = false;
            while let Some(line) = cursor.peek().filter(|line| line.text.starts_with('[')) {
                counted.errors.push(error(line)?);
                cursor.skip();
                counted.is_closed = cursor.is_followed_by(1);
            }
        }
        Ok(counted)
    }

    /// Answers of any status.
    pub(crate) fn answers(&self) -> u64 {
        self.statuses.iter().map(|(_, count)| count).sum()
    }

    /// Answers with another status than 2xx.
    pub(crate) fn non_2xx(&self) -> u64 {
        let errors = self
            .statuses
            .iter()
            .filter(|(status, _)| !(200..300).contains(status));
        errors.map(|(_, count)| count).sum()
    }

    /// Requests that failed, but for those that the end of the run cut off.
    pub(crate) fn failed(&self) -> u64 {
        let failed = self
            .errors
            .iter()
            .filter(|(reason, _)| !is_deadline(reason));
        failed.map(|(_, count)| count).sum()
    }

    /// All errors.
    pub(crate) fn errors(&self) -> u64 {
        self.errors.iter().map(|(_, count)| count).sum()
    }
}

/// Whether a request was merely in flight when oha's time was over.
pub(crate) fn is_deadline(reason: &str) -> bool {
    reason == "aborted due to deadline"
}

fn status(line: &Line) -> Result<(u16, u64), Damage> {
    let read = || {
        let (status, rest) = line.text.strip_prefix('[')?.split_once(']')?;
        let status = count(status).filter(|status| (100..1000).contains(status))?;
        let answers = count(rest.trim().strip_suffix("responses")?.trim())?;
        Some((u16::try_from(status).ok()?, answers))
    };
    line.expect(read(), "`[STATUS] N responses`")
}

fn error(line: &Line) -> Result<(String, u64), Damage> {
    let read = || {
        let (failed, reason) = line.text.strip_prefix('[')?.split_once(']')?;
        Some((reason.trim().to_owned(), count(failed)?))
    };
    line.expect(read(), "`[N] REASON`")
}
