//! What users who know another tool may have meant.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use deadheat_runner::secret::HIDDEN;

/// Options that users expect from other tools (ab, wrk, hey, oha, h2load) or from other commands of Deadheat, and what
/// to use instead. docs/load.md lists the former by need.
pub const OF_OTHER_TOOLS: [(&str, &str); 18] = [
    ("-A", "--user USER:PASSWORD"),
    ("-F", "--form NAME=VALUE"),
    ("-D", "--body-file FILE"),
    ("-R", "--rate 5000/s"),
    ("-T", "-H 'Content-Type: …'"),
    ("-a", "--user USER:PASSWORD"),
    (
        "-k",
        "nothing: connections are kept by default (--no-keepalive closes them)",
    ),
    ("-p", "--body-file FILE"),
    ("-s", "--timeout 30s"),
    (
        "-t",
        "-d 10s for the length, --threads 4 for threads, --timeout 30s for patience",
    ),
    ("-r", "--follow-redirects=3"),
    ("-x", "--proxy http://HOST:PORT"),
    ("-z", "-d 10s"),
    ("--disable-keepalive", "--no-keepalive"),
    ("--latency", "nothing: latencies are always shown"),
    ("--no-tui", "--progress off"),
    ("--markdown", "--format markdown"),
    ("--results", "the folder as the argument"),
];

/// Options whose values may be secrets: what requests are made of, and where they and metrics go.
const SECRET: [&str; 12] = [
    "--header",
    "--user",
    "--body",
    "--form",
    "--proxy",
    "--expect-body",
    "--expect-contains",
    "--expect-json",
    "--path",
    "--postgres",
    "--otlp",
    "URL",
];

/// A copy of the error with the parts of its context for which `has` is true.
fn copied(error: &clap::Error, has: impl Fn(ContextKind) -> bool) -> clap::Error {
    let mut copy = clap::Error::new(error.kind());
    for (kind, value) in error.context().filter(|(kind, _)| has(*kind)) {
        copy.insert(kind, value.clone());
    }
    copy
}

/// The error without clap's own advice, which takes an option of another tool for a value or for a slip of the keyboard.
pub(crate) fn without_tips(error: &clap::Error) -> clap::Error {
    copied(error, |kind| {
        !matches!(kind, ContextKind::Suggested | ContextKind::SuggestedArg)
    })
}

/// The error without the value that it repeats, if that may be a secret.
pub(crate) fn without_secrets(error: &clap::Error) -> Option<clap::Error> {
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    // "--header <HEADER>", "[URL]"; of another tool, an option has a letter alone.
    let name = argument.split_whitespace().next().unwrap_or_default();
    let name = name.trim_matches(['[', ']', '<', '>', '.']);
    let is_short = name.starts_with('-') && !name.starts_with("--");
    let of_tool =
        is_short && ["-H", "-A", "-a", "-d", "-b", "-C", "-F", "-X", "-x"].contains(&name);
    // In curl, -d is a body, and users who are used to that type it here.
    let typed = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(typed)) => typed.as_str(),
        _ => "",
    };
    let is_body =
        name == "--duration" && (typed.starts_with(['{', '[', '"', '@']) || typed.contains('='));
    let is_value = matches!(
        error.kind(),
        ErrorKind::ValueValidation | ErrorKind::InvalidValue
    );
    if !is_value || !(SECRET.contains(&name) || of_tool || is_body) {
        return None;
    }
    let mut hidden = copied(error, |_| true);
    hidden.insert(
        ContextKind::InvalidValue,
        ContextValue::String(HIDDEN.to_owned()),
    );
    // The reason may repeat the value as well; those of these options do not.
    Some(match std::error::Error::source(error) {
        Some(reason) => {
            let text = format!(
                "invalid value '{HIDDEN}' for '{argument}': {reason}\n\nFor more information, try '--help'.\n"
            );
            clap::Error::raw(error.kind(), text)
        }
        None => hidden,
    })
}

/// A sentence to add to what clap says, if there is one.
pub fn hint(error: &clap::Error) -> Option<String> {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let typed = context(ContextKind::InvalidSubcommand)?;
            typed
                .contains("://")
                .then(|| format!("To load a URL: deadheat load {typed}"))
        }
        ErrorKind::UnknownArgument => {
            let typed = context(ContextKind::InvalidArg)?;
            if ["-h", "--help"].contains(&typed) {
                // Other tools have these as their own.
                return Some("The help of this command: deadheat help as".to_owned());
            }
            let known = OF_OTHER_TOOLS.iter().find(|(option, _)| *option == typed);
            let known = known.map(|(option, ours)| format!("Instead of {option}, here: {ours}"));
            known.or_else(|| second_operand(typed))
        }
        // In ab, hey and oha, -m is the method.
        ErrorKind::ValueValidation => {
            let is_streams = context(ContextKind::InvalidArg)?.starts_with("--streams");
            let typed = context(ContextKind::InvalidValue)?;
            let is_method = is_streams && typed.bytes().all(|byte| byte.is_ascii_alphabetic());
            is_method.then(|| format!("A method is -X {typed}; -m is the number of streams"))
        }
        _ => None,
    }
}

/// What an operand too many may mean: `-q 5000` is a rate in hey and oha, and here `-q` takes no value.
fn second_operand(typed: &str) -> Option<String> {
    let is_operand = typed.contains("://") || typed.parse::<f64>().is_ok();
    is_operand.then(|| {
        "One URL is loaded; --urls FILE names several. -q is quiet, and takes no value: a rate is --rate 5000/s. A number of redirects is --follow-redirects=3".to_owned()
    })
}
