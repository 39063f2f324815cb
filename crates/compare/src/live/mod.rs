//! Measures two things in heats of both.

pub(crate) mod heats;
pub(crate) mod loads;
pub(crate) mod looks;
pub(crate) mod stacks;
pub(crate) mod words;

use deadheat_bench::{
    other_hosts::hosts,
    progress::{self, OF_HEATS},
};
use deadheat_model::{
    Event, LoadSpec, TargetId,
    comparison::{ComparedCommand, Comparison, Contender, ContenderKind, Side},
    figure::{self, counted},
    heats::{MeasuredHeat, PlannedLoad},
    load::Endpoint,
};
use deadheat_runner::{
    agent::LOCAL,
    session::{PinningMode, SessionOptions},
};
use deadheat_shell::{exit::CommandFailure, invocation, output};
use deadheat_stats::{
    comparison::ComparisonAnalysis,
    heats::{Quantity, recorded::figures},
};

use self::words::{check_program, shown, without_secrets, words};
use crate::{
    options::{CompareArgs, MeasureArgs},
    resolve::Live,
};

/// Measures both sides until every cell has a verdict at a look, or looks or budget end. `None` after `--dry-run`,
/// which has printed the plan.
pub(super) fn measure(
    live: &Live,
    args: &CompareArgs,
) -> Result<Option<ComparisonAnalysis>, CommandFailure> {
    match live {
        Live::Urls { .. } => urls(args),
        Live::Commands { a, b } => commands([a, b], args),
        Live::Stacks { a, b } => stacks::measure(a, b, args),
    }
}

/// `base` with the options that every session has. `starts`: whether its servers are started.
pub(crate) fn session(
    args: &MeasureArgs,
    starts: bool,
    base: SessionOptions,
) -> Result<SessionOptions, CommandFailure> {
    let mut workloads = base.workloads.iter();
    let needs_database = workloads.any(|one| one.manifest.oracle.needs_database());
    Ok(SessionOptions {
        hosts: hosts(&args.other_hosts, starts, needs_database)?,
        ..args.heat.session(base)
    })
}

/// Compares servers that run. These have their CPUs already.
fn urls(args: &CompareArgs) -> Result<Option<ComparisonAnalysis>, CommandFailure> {
    let server = |typed: &str| {
        let (name, load) = loads::of_url(typed, args)?;
        let load = Box::new(load);
        Ok((name, ContenderKind::Url { load }))
    };
    let sides = [server(&args.a)?, server(&args.b)?];
    let other_hosts = &args.measure.other_hosts;
    if other_hosts.generator.iter().any(|name| name != LOCAL) {
        refuse_loopback(&other_hosts.called("--generator"), &sides)?;
    }
    compare(sides, Some(PinningMode::Off), args)
}

/// Compares servers that are started for each heat.
fn commands(
    commands: [&String; 2],
    args: &CompareArgs,
) -> Result<Option<ComparisonAnalysis>, CommandFailure> {
    let folder = invocation::current_folder()?;
    let server = |command: &String| {
        let words = words(command)?;
        let load = Box::new(loads::of_command(args)?);
        check_program(&words, &folder)?;
        let kind = ContenderKind::Command {
            command: ComparedCommand {
                words,
                folder: folder.clone(),
            },
            load,
        };
        Ok((shown(command), kind))
    };
    let [a, b] = commands;
    compare([server(a)?, server(b)?], None, args)
}

fn compare(
    sides: [(String, ContenderKind); 2],
    pinning: Option<PinningMode>,
    args: &CompareArgs,
) -> Result<Option<ComparisonAnalysis>, CommandFailure> {
    // Compares the commands as typed, because the record has them without passwords.
    let alike = same_server_note(&sides[0].1, &sides[1].1);
    let contender = |side: Side, (name, kind)| Contender {
        target: TargetId::new(side.to_string(), None),
        name,
        kind,
    };
    let starts = !matches!(sides[0].1, ContenderKind::Url { .. });
    let supervision = invocation::supervision();
    let alone = SessionOptions::new(
        Vec::new(),
        Vec::new(),
        None,
        args.measure.heat.seed(),
        supervision,
    );
    let mut options = session(&args.measure, starts, alone)?;
    options.pinning = pinning.unwrap_or(options.pinning);
    options.arguments = without_secrets(options.arguments, &args.server.request);
    let [a, b] = sides.map(|(name, kind)| (name, listening_at(kind, &options, args)));
    let comparison = Comparison {
        a: contender(Side::A, a),
        b: contender(Side::B, b),
        slow_end: None,
        alike,
        is_change: false,
        decide: Default::default(),
        check: Default::default(),
    };
    let interrupted = invocation::on_signals().map_err(CommandFailure::no_result)?;
    heats::measure(comparison, options, args, &interrupted)
}

/// A command's certificate is that of the address that it will listen at, unless the user names another one.
fn listening_at(
    mut kind: ContenderKind,
    options: &SessionOptions,
    args: &CompareArgs,
) -> ContenderKind {
    if let (ContenderKind::Command { load, .. }, Some(hosts)) = (&mut kind, &options.hosts)
        && let (Some(tls), None) = (&mut load.target.tls, &args.server.tls.server_name)
    {
        tls.server_name = hosts.address.to_string();
    }
    kind
}

/// A generator on another host would load its own loopback. `option` named it.
fn refuse_loopback(
    option: &str,
    sides: &[(String, ContenderKind); 2],
) -> Result<(), CommandFailure> {
    let own = sides.iter().find(|(_, kind)| {
        matches!(kind, ContenderKind::Url { load }
            if matches!(load.target.endpoint, Endpoint::Tcp { address } if address.ip().is_loopback()))
    });
    own.map_or(Ok(()), |(name, _)| {
        Err(CommandFailure::usage(format!(
            "{option}: {name} is a loopback address, so each generator would load itself; name an address of this machine that they reach"
        )))
    })
}

/// The note that A and B are the same server, if they are.
fn same_server_note(a: &ContenderKind, b: &ContenderKind) -> Option<String> {
    // Also finds one server under two names.
    let asked = |load: &LoadSpec| (load.target.clone(), load.exchanges.clone());
    let same = match (a, b) {
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

/// The default names of the members of each heat.
const SIDES: [&str; 2] = ["A", "B"];

/// The progress display of a comparison.
pub(crate) struct ComparisonProgress {
    /// The names of the members of each heat, in the order of their places.
    names: &'static [&'static str],
    shown: progress::Progress,
    loads: Vec<PlannedLoad>,
    /// Heats of all loads.
    heats: u64,
}

impl Default for ComparisonProgress {
    fn default() -> Self {
        Self::named(&SIDES)
    }
}

impl ComparisonProgress {
    /// Creates the display for heats whose members have these names, in the order of their places.
    pub(crate) fn named(names: &'static [&'static str]) -> Self {
        Self {
            names,
            shown: progress::Progress::default(),
            loads: Vec::new(),
            heats: 0,
        }
    }

    /// Takes an event.
    fn on(&mut self, event: &Event) {
        match event {
            Event::HeatsStarted { header } => {
                self.loads.clone_from(&header.plan.loads);
                let leading = self.loads.iter().filter(|load| load.leads());
                let heats = leading.map(PlannedLoad::most_heats);
                self.heats = heats.map(u64::from).sum();
                self.shown.begin(OF_HEATS, self.heats);
            }
            Event::HeatStarted { heat, next } => {
                let message = format!("heat {}{}", heat + 1, self.at(next.load));
                self.shown.say(message);
            }
            Event::HeatEnded { heat } => self.heat(heat),
            Event::HeatStep { .. } | Event::HeatsEnded { .. } => {}
            preparing => self.shown.prepare(preparing),
        }
    }

    /// Takes the bar away.
    fn finish(&mut self) {
        self.shown.finish();
    }

    /// The load, if there are several.
    fn at(&self, load: usize) -> String {
        let leading = self.loads.iter().filter(|load| load.leads());
        match self.loads.get(load).filter(|_| leading.count() > 1) {
            Some(one) => format!(" · {} {}", one.workload, one.point.id),
            None => String::new(),
        }
    }

    fn heat(&self, ended: &MeasuredHeat) {
        let heat = &ended.heat;
        let number = u64::from(heat.heat) + 1;
        self.shown.reach(number, String::new());
        let what = format!("[{number}/{}]{}", self.heats, self.at(ended.load as usize));
        for (side, member) in self.names.iter().zip(&heat.members) {
            if let Some(failure) = &member.failure {
                let told = output::failure_text(&failure.failure);
                self.shown.problem(&format!("{what} {side}: FAILED {told}"));
            }
        }
        if output::draws_progress() {
            return;
        }
        let members = heat.members.iter();
        let offered = members
            .filter_map(|member| member.offered_per_second)
            .next();
        let is_equal_work = self
            .loads
            .get(ended.load as usize)
            .is_some_and(|load| !load.leads());
        let (quantity, shown): (_, fn(f64) -> String) = if is_equal_work {
            (Quantity::Cost, figure::seconds)
        } else {
            (Quantity::Throughput, figure::per_second)
        };
        let found = self.names.iter().zip(figures(heat, quantity));
        let found =
            found.map(|(name, figure)| Some((format!("{name} {}", shown(figure?)), figure?)));
        let Some((told, figures)) = found.collect::<Option<(Vec<_>, Vec<_>)>>() else {
            return;
        };
        let told = told.join(", ");
        let ratio = match (self.names, &figures[..]) {
            ([a, b], [of_a, of_b]) => format!(", {b}/{a} {}", figure::ratio(of_b / of_a)),
            _ => String::new(),
        };
        let of = match offered.filter(|_| is_equal_work) {
            Some(rate) => format!("CPU time per request at {}", figure::rate(rate)),
            None => counted(heat.rounds.len(), "round"),
        };
        self.shown.line(&format!("{what} {told}{ratio} ({of})"));
    }
}
