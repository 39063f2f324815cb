//! Two servers that are no stacks: URLs of servers that run, or commands.

use std::env;

use deadheat_model::{
    LoadSpec,
    comparison::{ComparedCommand, Contender, ContenderKind},
};
use deadheat_runner::session::{PinningMode, comparison::Contenders};
use deadheat_stats::versus::Versus;

use super::{
    heats::{Contest, measure},
    loads,
    words::{shown, words},
};
use crate::{compare::args::CompareArgs, exit::Failure, interrupt};

/// Compares servers that run.
pub(super) fn urls(args: &CompareArgs) -> Result<Option<Versus>, Failure> {
    let server = |typed: &str| {
        let (name, load) = loads::of_url(typed, args)?;
        let load = Box::new(load);
        Ok(Contender {
            name,
            kind: ContenderKind::Url { load },
        })
    };
    compare([server(&args.a)?, server(&args.b)?], PinningMode::Off, args)
}

/// Compares servers that are started for each heat.
pub(super) fn commands(
    commands: [&String; 2],
    args: &CompareArgs,
) -> Result<Option<Versus>, Failure> {
    let folder = env::current_dir().map_err(|error| {
        Failure::usage(format!(
            "finding the current folder: {error}; change to one that exists"
        ))
    })?;
    let server = |command: &String| {
        let words = words(command).map_err(Failure::usage)?;
        Ok(Contender {
            name: shown(command),
            kind: ContenderKind::Command {
                command: ComparedCommand {
                    words,
                    folder: folder.clone(),
                },
                load: Box::new(loads::of_command(args)?),
            },
        })
    };
    let [a, b] = commands;
    let pinning = args.measure.pinning.map(|pinning| pinning.mode());
    compare(
        [server(a)?, server(b)?],
        pinning.unwrap_or(PinningMode::Apart),
        args,
    )
}

fn compare(
    sides: [Contender; 2],
    pinning: PinningMode,
    args: &CompareArgs,
) -> Result<Option<Versus>, Failure> {
    let contest = Contest {
        names: sides.each_ref().map(|side| side.name.clone()),
        // By the words as they were typed: the record has them without passwords.
        alike: alike(&sides),
        contenders: Contenders::Servers(Box::new(sides)),
        pinning,
    };
    let interrupted = interrupt::on_signals().map_err(Failure::nothing)?;
    let measured = measure(contest, args, &interrupted)?;
    Ok(measured.map(|(_, versus)| versus))
}

/// That both sides are the same, if so.
fn alike([a, b]: &[Contender; 2]) -> Option<String> {
    // Also one server under two names.
    let asked = |load: &LoadSpec| (load.target.clone(), load.exchanges.clone());
    let same = match (&a.kind, &b.kind) {
        (ContenderKind::Url { load: a }, ContenderKind::Url { load: b }) => asked(a) == asked(b),
        (ContenderKind::Command { command: a, .. }, ContenderKind::Command { command: b, .. }) => {
            a == b
        }
        _ => false,
    };
    same.then(|| {
        "A and B are the same: what differs between them is the noise of this machine (A/A)"
            .to_owned()
    })
}
