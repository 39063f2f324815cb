//! What A and B are: both typed as text, and both the same kind of thing.

use std::path::{Path, PathBuf};

use deadheat_bench::meant;
use deadheat_model::TargetId;
use deadheat_runner::{secret::without_password, session::HEADER_FILE};
use deadheat_shell::{exit::CommandFailure, options::refuse};
use url::Url;

use super::records;
use crate::{
    imported::Pair,
    options::{CompareArgs, MeasureArgs, ServerArgs, SessionsArgs, StacksArgs},
};

/// The two sides of a comparison, which are of one kind.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Comparands {
    /// Records of `deadheat load`: a file, or a folder with several of them.
    Records {
        /// The baseline (A).
        a: PathBuf,
        /// The candidate (B).
        b: PathBuf,
    },
    /// Two sessions that have been measured: their folders.
    Sessions {
        /// The baseline (A).
        a: PathBuf,
        /// The candidate (B).
        b: PathBuf,
    },
    /// Files with reports of other tools.
    Reports,
    /// Two sides that are measured now.
    Live(Live),
}

/// Two sides that are measured in the same heats.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Live {
    /// URLs of running servers.
    Urls {
        /// The baseline (A).
        a: Url,
        /// The candidate (B).
        b: Url,
    },
    /// Commands that start servers: the text after `cmd:`, as typed.
    Commands {
        /// The baseline (A).
        a: String,
        /// The candidate (B).
        b: String,
    },
    /// Stacks.
    Stacks {
        /// The baseline (A).
        a: StackAt,
        /// The candidate (B).
        b: StackAt,
    },
}

/// A stack, as its sources are now or at a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StackAt {
    /// The stack; without a variant if none was named.
    pub(crate) target: TargetId,
    /// The revision, as git understands it; `None`: the sources as they are now.
    pub(crate) revision: Option<String>,
}

impl std::fmt::Display for StackAt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.target)?;
        match &self.revision {
            Some(revision) => write!(f, "@{revision}"),
            None => Ok(()),
        }
    }
}

/// One operand.
#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Session(PathBuf),
    Record(PathBuf),
    Url(Url),
    Command(String),
    Stack(StackAt),
    /// `@REVISION`: the other side's stack at a revision.
    Revision(String),
}

impl Operand {
    fn kind(&self) -> &'static str {
        match self {
            Operand::Session(_) => "a session",
            Operand::Record(_) => "a record of a load",
            Operand::Url(_) => "a URL",
            Operand::Command(_) => "a command",
            Operand::Stack(_) => "a stack",
            Operand::Revision(_) => "a revision",
        }
    }
}

/// Resolves the two sides, and refuses options that do not apply to their kind.
pub(crate) fn resolve(args: &CompareArgs) -> Result<Comparands, CommandFailure> {
    let comparands = comparands(args)?;
    let other_hosts = &args.measure.other_hosts;
    let options = meaningless(&comparands, args);
    let options: Vec<String> = options
        .iter()
        .map(|name| other_hosts.called(name))
        .collect();
    refuse(kinds(&comparands), &options)?;
    Ok(comparands)
}

/// What A and B are.
pub(super) fn comparands(args: &CompareArgs) -> Result<Comparands, CommandFailure> {
    let is_record = |text: &String| records::begins_as_record(Path::new(text));
    let are_records = [&args.a, &args.b].into_iter().all(is_record);
    if !are_records && Pair::new(&args.a, &args.b)?.is_some() {
        return Ok(Comparands::Reports);
    }
    pair(&args.a, &args.b)
}

/// The options that are refused because they have no meaning for what is compared.
pub(super) fn unread(args: &CompareArgs) -> Vec<String> {
    let comparands = comparands(args);
    comparands.map_or(Vec::new(), |comparands| meaningless(&comparands, args))
}

fn pair(a: &str, b: &str) -> Result<Comparands, CommandFailure> {
    use Operand::{Command, Record, Revision, Session, Stack, Url};
    let live = |live| Ok(Comparands::Live(live));
    match (operand(a)?, operand(b)?) {
        (Session(a), Session(b)) => Ok(Comparands::Sessions { a, b }),
        (Record(a), Record(b)) => Ok(Comparands::Records { a, b }),
        (Url(a), Url(b)) => live(Live::Urls { a, b }),
        (Command(a), Command(b)) => live(Live::Commands { a, b }),
        (Stack(a), Stack(b)) => live(Live::Stacks { a, b }),
        (Stack(a), Revision(revision)) => {
            let b = a.at(revision);
            live(Live::Stacks { a, b })
        }
        (Revision(revision), Stack(b)) => {
            let a = b.at(revision);
            live(Live::Stacks { a, b })
        }
        (Revision(_), Revision(_)) => Err(CommandFailure::usage(format!(
            "{a} and {b} are revisions of no stack; write one side as STACK{a}"
        ))),
        (one, other) => Err(CommandFailure::usage(mixed(a, &one, b, &other))),
    }
}

impl StackAt {
    fn at(&self, revision: String) -> Self {
        Self {
            target: self.target.clone(),
            revision: Some(revision),
        }
    }
}

fn mixed(a: &str, one: &Operand, b: &str, other: &Operand) -> String {
    let remedy = match (one, other) {
        (Operand::Record(_), _) | (_, Operand::Record(_)) => {
            "compare two records of `deadheat load -o FILE.json`, or two folders of them"
        }
        (Operand::Session(_), _) | (_, Operand::Session(_)) => {
            "compare two sessions, or two stacks (STACK STACK, STACK STACK@REVISION), which are then measured"
        }
        (Operand::Url(_), Operand::Command(_)) | (Operand::Command(_), Operand::Url(_)) => {
            "start the command yourself and compare two URLs, or give both as cmd:COMMAND"
        }
        (Operand::Url(_), _) | (_, Operand::Url(_)) => {
            "compare two URLs (start the stack yourself), or two stacks"
        }
        _ => "compare two stacks (STACK STACK), or two commands (cmd:COMMAND cmd:COMMAND)",
    };
    let [a, b] = [a, b].map(without_password);
    format!(
        "{a} is {}, {b} is {}: both sides must be of one kind, so that they can be measured alike; {remedy}",
        one.kind(),
        other.kind()
    )
}

fn operand(text: &str) -> Result<Operand, CommandFailure> {
    let folder = Path::new(text);
    if folder.join(HEADER_FILE).is_file() {
        return Ok(Operand::Session(folder.to_owned()));
    }
    if records::is_of_loads(folder) {
        return Ok(Operand::Record(folder.to_owned()));
    }
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    if scheme.is_some_and(|one| {
        ["http", "https"]
            .iter()
            .any(|known| one.eq_ignore_ascii_case(known))
    }) {
        return url(text).map(Operand::Url);
    }
    if let Some(command) = text.strip_prefix("cmd:") {
        return match command.trim() {
            "" => Err(CommandFailure::usage(
                "cmd: names no command; write it like 'cmd:./server --port $PORT'",
            )),
            command => Ok(Operand::Command(command.to_owned())),
        };
    }
    if let Some(revision) = text.strip_prefix('@') {
        return Ok(Operand::Revision(revision_or_head(revision)));
    }
    let (name, revision) = match text.split_once('@') {
        Some((name, revision)) => (name, Some(revision_or_head(revision))),
        None => (text, None),
    };
    // What may be the name of a stack is looked up first.
    if (!is_target(name) || meant::is_never_a_name(text))
        && let Some(instead) = meant::instead_of(text)
    {
        return Err(CommandFailure::usage(instead));
    }
    if !is_target(name) {
        return Err(CommandFailure::usage(format!(
            "{} is not a session, a record of a load, a URL, a cmd:COMMAND or the name of a stack; `deadheat compare \
             --help` has an example of each",
            without_password(text)
        )));
    }
    Ok(Operand::Stack(StackAt {
        target: name.parse().unwrap_or_else(|never| match never {}),
        revision,
    }))
}

fn url(text: &str) -> Result<Url, CommandFailure> {
    // What is not a URL may hold a password all the same.
    let shown = if text.contains('@') {
        &without_password(text)
    } else {
        text
    };
    let url = Url::parse(text).map_err(|error| {
        CommandFailure::usage(format!(
            "{shown} is not a URL ({error}); write it like http://127.0.0.1:8080/"
        ))
    })?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(CommandFailure::usage(format!(
            "{shown} contains a user name, and a URL appears in every output. Remove it and use --user USER:PASSWORD"
        )));
    }
    Ok(url)
}

/// Nothing after the @ means HEAD, as git's lone @ does.
fn revision_or_head(text: &str) -> String {
    let text = if text.is_empty() { "HEAD" } else { text };
    text.to_owned()
}

/// Whether `name` could be a stack or a stack with its variant; whether there is one is seen in the catalogue.
pub(crate) fn is_target(name: &str) -> bool {
    let is_id = |id: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        !id.is_empty() && !id.starts_with(['.', '-']) && id.chars().all(fits)
    };
    let (stack, variant) = name.split_once(':').unwrap_or((name, "default"));
    is_id(stack) && is_id(variant)
}

fn kinds(comparands: &Comparands) -> &'static str {
    match comparands {
        Comparands::Sessions { .. } => "two sessions, which are not measured again",
        Comparands::Records { .. } => "records of loads, which are not measured again",
        Comparands::Reports => "reports of other tools",
        Comparands::Live(Live::Urls { .. }) => "URLs",
        Comparands::Live(Live::Commands { .. }) => "commands",
        Comparands::Live(Live::Stacks { .. }) => "stacks",
    }
}

/// The options that were given and that nothing would read.
fn meaningless(comparands: &Comparands, args: &CompareArgs) -> Vec<String> {
    let given = &args.explicit;
    let recorded = matches!(
        comparands,
        Comparands::Sessions { .. } | Comparands::Records { .. } | Comparands::Reports
    );
    let reports = matches!(comparands, Comparands::Reports);
    let urls = matches!(comparands, Comparands::Live(Live::Urls { .. }));
    let stacks = matches!(comparands, Comparands::Live(Live::Stacks { .. }));
    let commands = matches!(comparands, Comparands::Live(Live::Commands { .. }));
    let read = [
        (given.in_group::<SessionsArgs>(), recorded && !reports),
        (given.among(&OF_VERDICTS), !reports),
        (given.among(&OF_RATES), !recorded),
        (given.among(&["--base", "--change"]), !recorded),
        (given.in_group::<MeasureArgs>(), !recorded),
        (given.among(&OF_STARTS), commands || stacks),
        (given.in_group::<ServerArgs>(), commands || urls),
        (given.among(&["--https"]), commands),
        (given.among(&OF_URLS), urls),
        (given.in_group::<StacksArgs>(), stacks),
        (given.among(&["--database"]), stacks),
    ];
    let unread: Vec<_> = read.iter().filter(|(_, is_read)| !is_read).collect();
    let is_unread = |name: &&String| unread.iter().any(|(options, _)| options.has(name));
    given.names().iter().filter(is_unread).cloned().collect()
}

/// Options of verdicts on measurements of Deadheat.
const OF_VERDICTS: [&str; 3] = ["--fail-if-slower", "--require-decision", "--details"];
/// Options of equal work, and of what may decide there.
const OF_RATES: [&str; 3] = ["--rate", "--decide", "--fail-if-costlier"];
/// Options for servers that Deadheat starts. A running server already has its CPUs and its address.
const OF_STARTS: [&str; 4] = ["--pinning", "--start-timeout", "--slurm", "--address"];
/// Options of `deadheat load` for the address of a URL and for its arrivals. Commands get their address from Deadheat,
/// and arrivals at equal work are always those of independent users.
pub(crate) const OF_URLS: [&str; 9] = [
    "--arrivals",
    "--max-connections",
    "--i-may-load-this-host",
    "--unix-socket",
    "--resolve",
    "--all-addresses",
    "--proxy",
    "-4",
    "-6",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks(a: &str, b: &str) -> Option<(String, String)> {
        match pair(a, b) {
            Ok(Comparands::Live(Live::Stacks { a, b })) => Some((a.to_string(), b.to_string())),
            _ => None,
        }
    }

    #[test]
    fn stacks_stand_alone_or_at_a_revision() {
        let cases = [
            (("go-a", "go-b"), ("go-a", "go-b")),
            (("go-a:1cpu", "go-a:2cpu"), ("go-a:1cpu", "go-a:2cpu")),
            (("go-a@HEAD~1", "go-a"), ("go-a@HEAD~1", "go-a")),
            (("go-a@v1.0/x", "go-a@main"), ("go-a@v1.0/x", "go-a@main")),
            (("go-a:1cpu", "@main"), ("go-a:1cpu", "go-a:1cpu@main")),
            (("@", "go-a"), ("go-a@HEAD", "go-a")),
            (("go-a@stash@{0}", "go-a"), ("go-a@stash@{0}", "go-a")),
        ];
        for ((a, b), (first, second)) in cases {
            let expected = (first.to_owned(), second.to_owned());
            assert_eq!(stacks(a, b), Some(expected), "{a} {b}");
        }
    }

    #[test]
    fn urls_and_commands_are_told_by_their_beginning() {
        assert!(matches!(
            operand("https://localhost/x"),
            Ok(Operand::Url(_))
        ));
        assert!(matches!(operand("HTTP://localhost/x"), Ok(Operand::Url(_))));
        for (wrong, said) in [
            ("http://me:s3cret@h/", "a user"),
            ("http://me:s3cret@h:x/", "not a URL"),
        ] {
            let error = operand(wrong).unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains("s3cret"), "{error}");
        }
        let command = Operand::Command("./a --port $PORT".to_owned());
        assert_eq!(operand("cmd:./a --port $PORT").unwrap(), command);
        for wrong in [
            "http://", "cmd:", "cmd:  ", "", "a/b", "../x", "go-a:", "go-a:*", "go-*", ":x", "a b",
        ] {
            assert!(operand(wrong).is_err(), "{wrong}");
        }
    }
}
