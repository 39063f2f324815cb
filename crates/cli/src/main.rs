//! Deadheat: which HTTP server stack is faster for a job, what it costs, and when it is a dead heat.

mod args;
mod care;
mod compare;
mod doctor;
#[cfg(test)]
mod documented;
mod elsewhere;
mod elsewhere_run;
mod exit;
mod gone;
mod heats;
mod hidden;
mod hints;
mod history;
mod hosts_file;
mod import;
mod imported;
mod interrupt;
mod invocation;
mod kubernetes;
mod lines;
mod live;
mod load;
mod output;
mod place;
mod plan_text;
mod profile;
mod progress;
mod reach;
mod report;
mod resume;
mod run;
mod select;
mod setup;
mod slurm;
mod slurm_script;
mod stacks;
mod there;
mod values;
mod wrap;

use std::{env, process::ExitCode};

use clap::Parser;

use self::{
    args::{Arguments, Command, StacksCommand},
    exit::{Exit, Failure},
};

fn main() -> ExitCode {
    let result = match Arguments::try_parse() {
        Ok(arguments) => {
            output::use_colour(arguments.color);
            if let Command::Run(args) = &arguments.command
                && let Some(there) = &args.there
            {
                output::show_as(there.shown);
            }
            output::show_warnings();
            run_command(arguments.command)
        }
        Err(error) => {
            let arguments = env::args_os().map(|one| one.to_string_lossy().into_owned());
            output::use_colour(output::colour_among(arguments));
            output::usage(&error)
        }
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            output::error(&error.to_string());
            error.exit().into()
        }
    }
}

fn run_command(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Run(args) => run::run(*args),
        Command::Report(args) => report::report(&args),
        Command::Compare(args) => compare::compare(*args),
        Command::History(args) => history::history(&args),
        Command::Import(args) => import::import(&args),
        Command::Load(args) => load::load(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Setup(args) => setup::setup(&args),
        Command::Stacks(StacksCommand::List(args)) => stacks::list(&args),
        Command::Stacks(StacksCommand::New(args)) => stacks::new(&args),
        Command::Stacks(StacksCommand::Check(args)) => stacks::check(&args),
        Command::SlurmScript(args) => slurm_script::script(&args),
        Command::KubernetesManifest(args) => kubernetes::manifest(&args),
        Command::Agent => hidden::agent(),
        Command::Supervise => hidden::supervise(),
        Command::Upstream(args) => hidden::upstream(&args),
        Command::NullServer(args) => hidden::null_server(&args),
    }
}
