//! The page of a session that runs: the report, a bar that says how far it is, and a script that follows it. The file
//! that a session leaves has none of this.

use minijinja::{Value, context};

use super::environment;
use crate::ReportError;

const STYLE: &str = include_str!("live.css");
const NOTICE_STYLE: &str = concat!(include_str!("notice.css"), include_str!("live.css"));
const SCRIPT: &str = include_str!("live.js");

/// The templates of a notice: few, because it is made before each heat.
const NOTICE: [(&str, &str); 2] = [
    ("notice.html", include_str!("templates/notice.html.j2")),
    TEMPLATE,
];

/// The template of the bar.
pub(crate) const TEMPLATE: (&str, &str) = ("live.html", include_str!("templates/live.html.j2"));

/// What a live page may load: the events of its own server beside what stands in it.
pub(crate) const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                                 connect-src 'self'; img-src data: blob:";

/// Where a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nothing is measured yet.
    Preparing,
    /// Heats are measured.
    Running,
    /// It has ended, in whichever way.
    Ended,
}

/// The bar above a live page.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Where the session is.
    pub stage: Stage,
    /// The same in words ("running: heat 3 of at most 8, 6 stacks at plaintext:c50").
    pub status: String,
    /// What follows for the reader.
    pub note: String,
    /// A few words for the browser's tab.
    pub title: String,
    /// Heats that have ended.
    pub heats: usize,
    /// All heats, as far as they are known.
    pub of: usize,
    /// Which drawing of the page it is, from 1; 0: no report is drawn yet.
    pub version: u64,
}

impl Bar {
    /// What the templates call `live`.
    pub(crate) fn context(&self) -> Value {
        let is = match self.stage {
            Stage::Preparing => "preparing",
            Stage::Running => "running",
            Stage::Ended => "ended",
        };
        context! {
            is,
            status => self.status.as_str(),
            note => self.note.as_str(),
            title => self.title.as_str(),
            heats => self.heats,
            of => self.of,
            version => self.version,
            policy => Value::from_safe_string(POLICY.to_owned()),
            style => Value::from_safe_string(STYLE.to_owned()),
            notice_style => Value::from_safe_string(NOTICE_STYLE.to_owned()),
            script => Value::from_safe_string(SCRIPT.to_owned()),
        }
    }
}

/// A page of a few kilobytes that stands in for the report, and becomes it: `notice` says why.
pub fn live_notice(bar: &Bar, notice: &str) -> Result<String, ReportError> {
    let environment = environment(&NOTICE, true)?;
    let template = environment.get_template("notice.html")?;
    Ok(template.render(context! { live => bar.context(), notice })?)
}
