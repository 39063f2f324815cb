//! Deadheat: which HTTP server stack is faster for a job, what it costs, and when it is a dead heat.

mod args;
mod completion;
mod config;
mod hidden;
mod import;
mod man;
mod report;

use std::{env, ffi::OsString, process::ExitCode};

use clap::{ArgMatches, CommandFactory, FromArgMatches};
use deadheat_bench::{doctor, run, setup, stacks};
use deadheat_compare::{audit, bisect, history, site};
use deadheat_loadtool::look_alikes;
use deadheat_shell::{
    exit::{CommandFailure, Exit},
    invocation, output,
};

use self::args::{Arguments, Command};

fn main() -> ExitCode {
    let mut words = env::args_os();
    let tool = words
        .next()
        .and_then(|program| look_alikes::called(&program));
    let result = match tool {
        Some(tool) => look_alikes::run(tool, words),
        None if hidden::is_supervisor(env::args_os().skip(1)) => hidden::supervise(),
        None if completion::answered() => return ExitCode::SUCCESS,
        None => match look_alikes::asked(env::args_os().skip(1)) {
            Some((tool, options)) => look_alikes::run(tool, options),
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

fn run() -> Result<Exit, CommandFailure> {
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
fn begin(
    arguments: Arguments,
    matches: &ArgMatches,
    typed: &[OsString],
) -> Result<Exit, CommandFailure> {
    output::use_colour(arguments.global.color);
    output::set_verbosity(arguments.global.verbosity.verbosity());
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
            invocation::set_command_line(line);
            run_command(arguments.command)
        }
        Err(error) => output::usage(&error),
    }
}

fn run_command(command: Command) -> Result<Exit, CommandFailure> {
    match command {
        Command::Run(args) => run::run(*args),
        Command::Report(args) => report::report(&args),
        Command::Compare(args) => deadheat_compare::compare(*args),
        Command::Bisect(args) => bisect::bisect(*args),
        Command::History(args) => history::history(&args),
        Command::Site(args) => site::site(&args),
        Command::Import(args) => import::import(&args),
        Command::Audit(args) => audit::audit(&args),
        Command::Load(args) => deadheat_loadtool::load(&args),
        Command::As(args) => look_alikes::run_as(args),
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
