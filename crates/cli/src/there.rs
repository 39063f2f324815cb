//! What `deadheat run --server` gives to the run that it starts on that host.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::output::Shown;

/// The hidden option that has it, as JSON.
pub(crate) const OPTION: &str = "--there";

/// Where the project and the session's folder are on this host, and what is known of the machine that everything is shown
/// on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct There {
    pub(crate) root: PathBuf,
    pub(crate) stacks: Vec<PathBuf>,
    pub(crate) results: PathBuf,
    /// What the file of `--hosts` says, which is not on this host.
    pub(crate) hosts: Option<String>,
    /// The commit of the sources, which are in no checkout here.
    pub(crate) commit: Option<String>,
    pub(crate) shown: Shown,
}

/// Reads it.
pub(crate) fn there(text: &str) -> Result<There, String> {
    serde_json::from_str(text).map_err(|error| format!("this is for Deadheat itself: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output;

    #[test]
    fn what_is_given_arrives_and_nothing_else_is_taken() {
        let given = There {
            root: "/a root".into(),
            stacks: vec!["/more".into()],
            results: "/r".into(),
            hosts: Some("server = \"web1\"".to_owned()),
            commit: Some("abc-dirty".to_owned()),
            shown: output::shown(),
        };
        let text = serde_json::to_string(&given).unwrap();
        assert_eq!(there(&text).unwrap(), given);
        assert!(there("{}").unwrap_err().contains("Deadheat itself"));
    }
}
