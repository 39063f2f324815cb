//! What each option of a file can do. A file that nobody named may set figures only: it can come with a repository that
//! somebody cloned, or lie in a folder above by chance.

/// What an option can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Chooses how much is measured, which of the known stacks and workloads, what counts as success, and how results
    /// are shown.
    Figures,
    RunsPrograms,
    ChoosesHosts,
    ChangesRequests,
    ReadsFiles,
    WritesFiles,
    WeakensTls,
}

impl Effect {
    /// In a message, after the option.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Figures => "sets figures",
            Self::RunsPrograms => "runs programs",
            Self::ChoosesHosts => "chooses hosts",
            Self::ChangesRequests => "changes requests",
            Self::ReadsFiles => "reads files",
            Self::WritesFiles => "writes files",
            Self::WeakensTls => "weakens TLS",
        }
    }
}

/// The options of all commands that have a table in the file. An option that is missing here is taken from a named file
/// only.
const TABLE: [(Effect, &[&str]); 7] = [
    (
        Effect::Figures,
        &[
            "all",
            "arrivals",
            "base",
            "budget",
            "change",
            "check-every",
            "connect-timeout",
            "connections",
            "cpus",
            "decide",
            "details",
            "dry-run",
            "duration",
            "expect-body",
            "expect-contains",
            "expect-json",
            "expect-length",
            "expect-status",
            "fail-if",
            "fail-if-costlier",
            "fail-if-slower",
            "find-rate",
            "first-byte",
            "force",
            "format",
            "grace",
            "guard",
            "heat-time",
            "heats",
            "http2",
            "http2-prior-knowledge",
            "interval",
            "json",
            "label",
            "live",
            "looks",
            "margin",
            "max-connections",
            "most-requests-per-connection",
            "no-keepalive",
            "no-resumption",
            "pack",
            "pinning",
            "pipeline",
            "precision",
            "price",
            "progress",
            "publish",
            "published",
            "quick",
            "ramp",
            "rate",
            "requests",
            "require-decision",
            "seed",
            "separate-loads",
            "slice",
            "stack",
            "stage",
            "start-timeout",
            "stream",
            "stream-events",
            "streams",
            "think",
            "threads",
            "timeout",
            "trials",
            "until-interrupted",
            "wait",
            "warm-up",
            "whole-budget",
            "workload",
        ],
    ),
    // `--postgres download` fetches and runs a server.
    (
        Effect::RunsPrograms,
        &[
            "agent", "launcher", "postgres", "root", "setup", "slurm", "stacks",
        ],
    ),
    (
        Effect::ChoosesHosts,
        &[
            "address",
            "all-addresses",
            "database",
            "generator",
            "generator-cpus",
            "hosts",
            "on",
            "otlp",
            "proxy",
            "resolve",
            "source",
            "unix-socket",
        ],
    ),
    (
        Effect::ChangesRequests,
        &[
            "body",
            "chunked",
            "cookies",
            "follow-redirects",
            "form",
            "grpc",
            "header",
            "http1.0",
            "https",
            "method",
            "path",
            "template",
            "urls",
            "user",
        ],
    ),
    (
        Effect::ReadsFiles,
        &["body-file", "cert", "expect-body-file", "key"],
    ),
    (Effect::WritesFiles, &["output", "results"]),
    (
        Effect::WeakensTls,
        &[
            "cacert",
            "insecure",
            "server-name",
            "tls-ciphers",
            "tls-version",
        ],
    ),
];

/// What the option with this long name can do; `None` if the table does not have it.
pub(super) fn effect(option: &str) -> Option<Effect> {
    let mut rows = TABLE.iter();
    let row = rows.find(|(_, options)| options.contains(&option));
    row.map(|(effect, _)| *effect)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{Arg, CommandFactory as _};

    use super::*;
    use crate::{
        args::Arguments,
        config::{COMMANDS, options::TYPED_ALONE},
    };

    #[test]
    fn every_option_that_a_file_can_have_is_classified_once() {
        let program = Arguments::command();
        let commands = COMMANDS.map(|name| program.find_subcommand(name).unwrap());
        let options = commands
            .iter()
            .flat_map(|command| command.get_arguments())
            .filter(|option| !option.is_hide_set())
            .filter_map(Arg::get_long)
            .filter(|name| !TYPED_ALONE.contains(name));
        let options: BTreeSet<&str> = options.collect();
        let classified: Vec<&str> = TABLE
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        let distinct: BTreeSet<&str> = classified.iter().copied().collect();
        assert_eq!(distinct, options, "say in TABLE what a new option can do");
        assert_eq!(distinct.len(), classified.len(), "an option is there twice");
    }

    #[test]
    fn what_takes_a_path_or_a_url_sets_no_figures() {
        let program = Arguments::command();
        for name in COMMANDS {
            let options = program.find_subcommand(name).unwrap().get_arguments();
            for option in options.filter(|option| !option.is_hide_set()) {
                let values = option.get_value_names().unwrap_or_default();
                let mut values = values.iter().map(|value| value.as_str());
                let is_outside = values.any(|value| {
                    ["FILE", "DIR", "PATH", "URL", "HOST", "IP", "ADDRESS"]
                        .iter()
                        .any(|word| value.contains(word))
                });
                let long = option.get_long().unwrap_or_default();
                if is_outside && !TYPED_ALONE.contains(&long) {
                    assert_ne!(effect(long), Some(Effect::Figures), "{name} --{long}");
                }
            }
        }
    }
}
