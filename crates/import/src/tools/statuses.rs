//! How often each status was answered, and what requests failed of, as hey and oha print it.

use crate::{
    number::count,
    report::Damage,
    text::{Cursor, Line},
};

/// Counts of statuses and of failures.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// Answers with each status.
    pub(crate) statuses: Vec<(u16, u64)>,
    /// Requests without an answer, by the reason.
    pub(crate) errors: Vec<(String, u64)>,
    /// Whether the lines after the counts show that the report was not cut off before its list of errors.
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
            counted.read_errors(cursor)?;
        }
        Ok(counted)
    }

    /// Reads the errors; the cursor is at their title.
    pub(crate) fn read_errors(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Damage> {
        cursor.skip();
        self.is_closed = false;
        while let Some(line) = cursor.peek().filter(|line| line.text.starts_with('[')) {
            self.errors.push(error(line)?);
            cursor.skip();
            self.is_closed = cursor.is_followed_by(1);
        }
        Ok(())
    }

    /// Answers of any status.
    pub(crate) fn answers(&self) -> u64 {
        sum(self.statuses.iter().map(|(_, count)| *count))
    }

    /// Answers with another status than 2xx.
    pub(crate) fn non_2xx(&self) -> u64 {
        let errors = self
            .statuses
            .iter()
            .filter(|(status, _)| !(200..300).contains(status));
        sum(errors.map(|(_, count)| *count))
    }

    /// Requests that failed, but for those that the end of the run cut off.
    pub(crate) fn failed(&self) -> u64 {
        let failed = self
            .errors
            .iter()
            .filter(|(reason, _)| !is_deadline(reason));
        sum(failed.map(|(_, count)| *count))
    }

    /// All errors.
    pub(crate) fn errors(&self) -> u64 {
        sum(self.errors.iter().map(|(_, count)| *count))
    }
}

/// Counts that are too large to be true are the largest one, which then fits no rate.
pub(super) fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
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
