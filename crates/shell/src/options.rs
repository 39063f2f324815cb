//! Options that commands have in common: colours and verbosity, where defaults come from, and which options were typed.

use std::path::PathBuf;

use clap::{ArgAction, ArgMatches, Args, Command, FromArgMatches, parser::ValueSource};

use crate::{
    exit::CommandFailure,
    output::{ColourArg, Verbosity},
};

/// What an option can do. A `deadheat.toml` that nobody named may set figures only: it can come with a repository that
/// somebody cloned, or lie in a folder above by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Chooses how much is measured, which of the known stacks and workloads, what counts as success, and how results
    /// are shown.
    Figures,
    /// Runs programs.
    RunsPrograms,
    /// Chooses hosts.
    ChoosesHosts,
    /// Changes requests.
    ChangesRequests,
    /// Reads files.
    ReadsFiles,
    /// Writes files.
    WritesFiles,
    /// Weakens TLS.
    WeakensTls,
}

impl Effect {
    /// In a message, after the option.
    pub fn words(self) -> &'static str {
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

/// Long names of options, separated by blanks, with what they can do. Each crate has one for the options that it declares.
pub type Effects = &'static [(Effect, &'static str)];

/// Of the options in this crate.
pub const EFFECTS: Effects = &[
    (Effect::Figures, "format json"),
    (Effect::RunsPrograms, "agent launcher"),
    (Effect::WritesFiles, "output"),
];

/// The options of all commands.
#[derive(Clone, Copy, Debug, Args)]
pub struct GlobalArgs {
    /// When to use colors
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColourArg::Auto, hide_short_help = true, help_heading = "Global options")]
    pub color: ColourArg,
    /// How much is written to standard error.
    #[command(flatten)]
    pub verbosity: VerbosityArgs,
}

/// How much is written to standard error.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct VerbosityArgs {
    /// Show each step, and the commands that Deadheat runs; -vv shows more
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "quiet")]
    verbose: u8,
    /// Show only warnings and errors, and no progress
    #[arg(short, long, global = true)]
    quiet: bool,
}

impl VerbosityArgs {
    /// What is asked for.
    pub fn verbosity(self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Problems,
            (false, 0) => Verbosity::Usual,
            (false, 1) => Verbosity::Steps,
            (false, _) => Verbosity::Everything,
        }
    }
}

/// Where defaults of options come from.
#[derive(Clone, Debug, Default, Args)]
pub struct ConfigArgs {
    /// Take defaults of options from this file [default: $DEADHEAT_CONFIG, or the nearest deadheat.toml]
    ///
    /// A deadheat.toml that is found in this folder or above may not choose programs, hosts, files or requests. One that you
    /// name may.
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        help_heading = "Configuration"
    )]
    config: Option<PathBuf>,
    /// Read no deadheat.toml
    #[arg(
        long,
        conflicts_with = "config",
        hide_short_help = true,
        help_heading = "Configuration"
    )]
    no_config: bool,
}

/// The options that the user gave, on the command line or in `deadheat.toml`, as messages call them (`--rate`, `-4`), in
/// the order in which they were given.
///
/// It must be the first field of a command's options: values that clap has handed out are not listed any more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExplicitOptions(Vec<String>);

impl ExplicitOptions {
    /// Whether this option was given.
    pub fn has(&self, option: &str) -> bool {
        self.0.iter().any(|one| one == option)
    }

    /// The given options that are among these.
    pub fn among(&self, options: &[&str]) -> Self {
        self.only(|given| options.contains(&given))
    }

    /// The given options without these.
    pub fn without(&self, options: &[&str]) -> Self {
        self.only(|given| !options.contains(&given))
    }

    /// The given options that belong to a group.
    pub fn in_group<Group: Args>(&self) -> Self {
        let group = Group::augment_args(Command::new("group"));
        let options: Vec<String> = group
            .get_arguments()
            .map(|option| name(option.get_id().as_str()))
            .collect();
        self.only(|given| options.iter().any(|option| option == given))
    }

    /// Marks an option as given that a file has set, or the program itself, so that later checks see it.
    pub fn add(&mut self, option: &str) {
        self.0.push(name(option));
    }

    /// Their names.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    fn only(&self, is_wanted: impl Fn(&str) -> bool) -> Self {
        let wanted = self.0.iter().filter(|given| is_wanted(given));
        Self(wanted.cloned().collect())
    }
}

/// Refuses options that say nothing about what is measured: "--rate has no meaning for stacks; omit it".
pub fn refuse(what: &str, meaningless: &[String]) -> Result<(), CommandFailure> {
    let (has, it) = match meaningless {
        [] => return Ok(()),
        [_] => ("has", "it"),
        _ => ("have", "them"),
    };
    let options = meaningless.join(", ");
    Err(CommandFailure::usage(format!(
        "{options} {has} no meaning for {what}; omit {it}"
    )))
}

/// The option with this id, as it is typed.
pub fn name(id: &str) -> String {
    match id.len() {
        1 => format!("-{id}"),
        _ => format!("--{}", id.replace('_', "-")),
    }
}

impl FromArgMatches for ExplicitOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let ids = matches.ids().map(clap::Id::as_str);
        // Groups of options are called as their types.
        let options = ids.filter(|id| !id.starts_with(|first: char| first.is_ascii_uppercase()));
        let given = options.filter(|id| matches.value_source(id) == Some(ValueSource::CommandLine));
        Ok(Self(given.map(name).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for ExplicitOptions {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}
