//! The folders of sessions in a folder such as `results`.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use deadheat_runner::{files, session::HEADER_FILE};
use serde::Deserialize;

/// The folder of sessions, if nobody names another one.
pub const RESULTS: &str = "results";

/// The HTML report's file in a session's folder.
pub const HTML_FILE: &str = "report.html";

/// The folder of a session. These have the order in which their sessions started; one may have been renamed.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionFolder {
    started: String,
    /// The folder.
    pub folder: PathBuf,
}

/// The folders of sessions in `results`, in their order.
///
/// # Errors
/// When it cannot be read.
pub fn sessions(results: &Path) -> io::Result<Vec<SessionFolder>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(results)? {
        all.extend(session(entry?.path()));
    }
    all.sort();
    Ok(all)
}

/// The session in `folder`; `None` if it has none.
pub fn session(folder: PathBuf) -> Option<SessionFolder> {
    /// What is needed of a header, without keeping the rest of it. A broken one is reported when it is read.
    #[derive(Default, Deserialize)]
    struct HeaderStart {
        #[serde(default)]
        started: String,
    }
    let text = files::read_text(&folder.join(HEADER_FILE)).ok()?;
    let header: HeaderStart = serde_json::from_str(&text).unwrap_or_default();
    Some(SessionFolder {
        started: header.started,
        folder,
    })
}
