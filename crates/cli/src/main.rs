//! Deadheat: which HTTP server stack is faster for a job, what it costs, and when it is a dead heat.

mod args;
mod bisect;
mod compare;
mod compat;
mod completion;
mod config;
mod data;
mod doctor;
#[cfg(test)]
mod documented;
mod embedded;
mod exit;
mod explicit_options;
mod global_options;
mod heats;
mod hidden;
mod hints;
mod history;
mod hosts_file;
mod import;
mod imported;
mod interrupt;
mod invocation;
mod launcher_args;
mod live;
mod load;
mod man;
mod meant;
mod options;
mod other_hosts;
mod output;
mod plan_text;
mod profile;
mod progress;
mod report;
mod resume;
mod root_args;
mod run;
mod select;
mod session_folders;
mod setup;
mod slurm;
mod stacks;
mod target_safety;
mod toolchains;
mod values;

use std::{env, ffi::OsString, process::ExitCode};

use clap::{ArgMatches, CommandFactory, FromArgMatches};

use self::{
    args::{Arguments, Command},
    exit::{Exit, Failure},
};

fn main() -> ExitCode {
    let mut words = env::args_os();
    let tool = words.next().and_then(|program| compat::called(&program));
    let result = match tool {
        Some(tool) => compat::run(tool, words),
        None if completion::answered() => return ExitCode::SUCCESS,
        None => match compat::asked(env::args_os().skip(1)) {
            Some((tool, options)) => compat::run(tool, options),
            None => run(),
        },
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            output::error(&error.to_string());
            error.exit().into()
        }
    }
}

fn run() -> Result<Exit, Failure> {
    let typed: Vec<OsString> = env::args_os().collect();
    match parsed(&typed) {
        Ok((arguments, matches)) => begin(arguments, &matches, &typed),
        Err(error) => {
            let arguments = typed.iter().map(|one| one.to_string_lossy().into_owned());
            output::use_colour(output::colour_among(arguments));
            output::usage(&error)
        }
    }
}

fn parsed(line: &[OsString]) -> clap::error::Result<(Arguments, ArgMatches)> {
    let matches = Arguments::command().try_get_matches_from(line)?;
    let arguments = Arguments::from_arg_matches(&matches)?;
    Ok((arguments, matches))
}

/// Runs the command, with defaults from a file.
fn begin(arguments: Arguments, matches: &ArgMatches, typed: &[OsString]) -> Result<Exit, Failure> {
    output::use_colour(arguments.global.color);
    output::tell(arguments.global.verbosity.told());
    output::show_log();
    let config::Defaults { line, told } = config::with_defaults(typed, matches)?;
    if let Some(told) = told {
        output::note(&told);
    }
    let Some(line) = line else {
        return run_command(arguments.command);
    };
    match parsed(&line) {
        Ok((arguments, _)) => {
            invocation::keep(line);
            run_command(arguments.command)
        }
        Err(error) => output::usage(&error),
    }
}

fn run_command(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Run(args) => run::run(*args),
        Command::Report(args) => report::report(&args),
        Command::Compare(args) => compare::compare(*args),
        Command::Bisect(args) => bisect::bisect(*args),
        Command::History(args) => history::history(&args),
        Command::Import(args) => import::import(&args),
        Command::Load(args) => load::load(&args),
        Command::As(args) => compat::run_as(args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Setup(args) => setup::setup(&args),
        Command::Stacks(command) => stacks::stacks(&command),
        Command::Completions(args) => completion::script(&args),
        Command::Man(args) => man::man(&args),
        Command::Agent => hidden::agent(),
        Command::Supervise => hidden::supervise(),
        Command::Upstream(args) => hidden::upstream(&args),
        Command::NullServer(args) => hidden::null_server(&args),
    }
}
