//! The host that a session runs on, if it is not this one: the option that names it, and what the deadheat on that host is
//! given.

use std::path::PathBuf;

use clap::Args;
use deadheat_runner::revision::Revision;
use serde::{Deserialize, Serialize};

use crate::{output::Shown, place::PlaceArgs};

/// The hidden option that has what is given, as JSON.
pub(crate) const OPTION: &str = "--there";

/// The host that the session runs on.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Several hosts")]
pub(crate) struct SessionHostArgs {
    /// Run the session on this host, with the servers; the project's files go there, and the session's folder comes back.
    /// Other hosts are named as that host knows them
    #[arg(
        long,
        value_name = "HOST",
        hide_short_help = true,
        conflicts_with = "slurm"
    )]
    pub(crate) server: Option<String>,
    /// For Deadheat itself
    #[arg(long, hide = true, value_name = "JSON", value_parser = there)]
    pub(crate) there: Option<There>,
}

/// Where the project and the session's folder are on this host, and what is known of the machine that everything is shown
/// on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct There {
    pub(crate) root: Option<PathBuf>,
    pub(crate) stacks: Vec<PathBuf>,
    pub(crate) results: PathBuf,
    /// What the file of `--hosts` says, which is not on this host.
    pub(crate) hosts: Option<String>,
    /// The commit of the sources, which are in no checkout here.
    pub(crate) commit: Option<String>,
    /// What git says of the sides of a comparison.
    pub(crate) sides: Option<SidesThere>,
    pub(crate) shown: Shown,
}

/// What git says of the two stacks of a comparison, on the host that their sources are from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SidesThere {
    /// The revisions, of sides that are at one.
    pub(crate) revisions: [Option<Revision>; 2],
    /// Whether the files of both are the same; `None` for two different stacks.
    pub(crate) same: Option<bool>,
    /// A root folder on this host for each revision, in their order.
    pub(crate) roots: Vec<PathBuf>,
}

impl There {
    /// Puts the folders of this host in the place of those that were typed elsewhere.
    pub(crate) fn take_place(&self, place: &mut PlaceArgs) {
        place.root.clone_from(&self.root);
        place.more_stacks.clone_from(&self.stacks);
    }
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
        let revision = Revision {
            typed: "HEAD".to_owned(),
            commit: "abcdef".to_owned(),
            short: "abc".to_owned(),
        };
        let given = There {
            root: Some("/a root".into()),
            stacks: vec!["/more".into()],
            results: "/r".into(),
            hosts: Some("server = \"web1\"".to_owned()),
            commit: Some("abc-dirty".to_owned()),
            sides: Some(SidesThere {
                revisions: [None, Some(revision)],
                same: Some(false),
                roots: vec!["/revision".into()],
            }),
            shown: output::shown(),
        };
        let text = serde_json::to_string(&given).unwrap();
        assert_eq!(there(&text).unwrap(), given);
        assert!(there("{}").unwrap_err().contains("Deadheat itself"));
    }
}
