//! Sets of status codes.

use std::{fmt, ops::RangeInclusive, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The statuses of answers that lead to another address by themselves (RFC 9110 §15.4).
pub const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];

/// A set of status codes, 100 to 999. Written "200", "2xx", "200-204" and lists of them: "2xx,304".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct StatusSet(Vec<RangeInclusive<u16>>);

impl StatusSet {
    /// One code.
    pub fn just(status: u16) -> Self {
        Self(vec![status..=status])
    }

    /// These codes.
    pub fn of(statuses: &[u16]) -> Self {
        Self(statuses.iter().map(|status| *status..=*status).collect())
    }

    /// All 2xx.
    pub fn success() -> Self {
        Self(vec![200..=299])
    }

    /// Whether `status` is in it.
    pub fn contains(&self, status: u16) -> bool {
        self.0.iter().any(|range| range.contains(&status))
    }
}

impl From<u16> for StatusSet {
    fn from(status: u16) -> Self {
        Self::just(status)
    }
}

/// What is not a status, nor a range or list of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a status; write 200, 2xx, 200-204 or a list (2xx,304)")]
pub struct StatusError(String);

impl FromStr for StatusSet {
    type Err = StatusError;

    fn from_str(text: &str) -> Result<Self, StatusError> {
        text.split(',')
            .map(|part| range(part.trim()))
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

fn range(text: &str) -> Result<RangeInclusive<u16>, StatusError> {
    let bad = || StatusError(text.to_owned());
    let code = |text: &str| match text.parse() {
        Ok(code @ 100..=999) if text.len() == 3 => Ok(code),
        _ => Err(bad()),
    };
    if let Some(class) = text.strip_suffix("xx") {
        return match class.parse::<u16>() {
            Ok(class @ 1..=9) if text.len() == 3 => Ok(class * 100..=class * 100 + 99),
            _ => Err(bad()),
        };
    }
    match text.split_once('-') {
        None => code(text).map(|code| code..=code),
        Some((first, last)) => match (code(first.trim_end())?, code(last.trim_start())?) {
            (first, last) if first <= last => Ok(first..=last),
            _ => Err(bad()),
        },
    }
}

impl fmt::Display for StatusSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, range) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            let (first, last) = (*range.start(), *range.end());
            if first == last {
                write!(f, "{first}")?;
            } else if first % 100 == 0 && last == first + 99 {
                write!(f, "{}xx", first / 100)?;
            } else {
                write!(f, "{first}-{last}")?;
            }
        }
        Ok(())
    }
}

impl From<StatusSet> for String {
    fn from(set: StatusSet) -> Self {
        set.to_string()
    }
}

impl TryFrom<String> for StatusSet {
    type Error = StatusError;

    fn try_from(text: String) -> Result<Self, StatusError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_written_again() {
        for text in ["200", "2xx", "200-204", "2xx,304", "100-199"] {
            let set: StatusSet = text.parse().unwrap();
            let shown = if text == "100-199" { "1xx" } else { text };
            assert_eq!(set.to_string(), shown);
        }
        let set: StatusSet = " 2xx , 304-305 ".parse().unwrap();
        let inside = [200, 299, 304, 305];
        let outside = [100, 199, 300, 303, 306, 500];
        assert!(inside.iter().all(|status| set.contains(*status)));
        assert!(!outside.iter().any(|status| set.contains(*status)));
    }

    #[test]
    fn what_is_no_status_is_refused() {
        for text in [
            "", "20", "2000", "099", "0xx", "axx", "10xx", "204-200", "200,", "200-", "+20",
        ] {
            let error = text.parse::<StatusSet>().unwrap_err().to_string();
            assert!(error.contains("is not a status"), "{text:?}: {error}");
        }
    }
}
