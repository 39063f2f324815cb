//! What the page of a running session has in addition to the report: a bar that shows the progress, and a script that
//! reloads the page. The final report has neither.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use minijinja::{Value, context};

const STYLE: &str = include_str!("live.css");
const SCRIPT: &str = include_str!("live.js");

/// The template of the bar.
pub(crate) const TEMPLATE: (&str, &str) = ("live.html", include_str!("templates/live.html.j2"));

/// The bar above a live page.
#[derive(Clone, Debug)]
pub struct Bar {
    /// What the session does, in words ("running: heat 3 of at most 8, 6 stacks at plaintext:c50").
    pub status: String,
    /// A few words for the browser's tab.
    pub title: String,
    /// The number of heats that have ended.
    pub heats: usize,
    /// The largest number of heats that the session can have.
    pub of: usize,
    /// When the page was written.
    pub written: SystemTime,
    /// The time after which the next page is expected.
    pub next: Duration,
}

impl Bar {
    /// What the templates call `live`.
    pub(crate) fn context(&self) -> Value {
        let written = self.written.duration_since(UNIX_EPOCH).unwrap_or_default();
        context! {
            status => self.status.as_str(),
            title => self.title.as_str(),
            heats => self.heats,
            of => self.of,
            written_ms => written.as_millis() as u64,
            next_ms => self.next.as_millis() as u64,
            style => Value::from_safe_string(STYLE.to_owned()),
            script => Value::from_safe_string(SCRIPT.to_owned()),
        }
    }
}
