//! `deadheat load`: the load generator on its own.
//!
//! ```text
//! LoadArgs (as typed) → asked, checked, found → LoadSpec → plan → run → LoadRecord → outputs, thresholds → exit status
//! ```

pub mod analysis;
mod contradictions;
pub mod document;
pub mod find_rate;
mod form;
mod hosts;
mod live;
pub mod look_alikes;
mod messages;
pub mod options;
mod outputs;
mod plan_text;
mod push;
mod request;
mod series;
mod spec;
mod target;
mod template;
mod thresholds;
pub mod url;
mod values;
mod workers;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime},
};

use deadheat_load::LoadEvent;
use deadheat_model::{
    Failure as RequestFailure, LoadRecord, LoadSpec, StopRule, machine::Machine, record::SCHEMA,
};
use deadheat_runner::{agent::Agents, secret::hide_in_load, session::describe_machine};
use deadheat_shell::{
    data,
    exit::{CommandFailure, Exit},
    invocation, output,
};
use serde::Serialize;

use self::{
    hosts::Hosts,
    live::{Live, Mode},
    outputs::{Outputs, StdoutContent},
    plan_text::PlanContext,
    push::Push,
    request::RequestPlan,
    series::Series,
    thresholds::Threshold,
};
pub use self::{messages::nothing, outputs::shown_again};
use crate::{
    analysis::{LoadFigures, has_mostly_failed},
    options::{LoadArgs, ProgressArg},
};

/// Loads a server, or searches for the rate that it can take.
pub fn load(args: &LoadArgs) -> Result<Exit, CommandFailure> {
    if args.find.is_asked() {
        return find_rate::find(args);
    }
    let PreparedLoad {
        asked,
        hows,
        mut spec,
    } = prepare(args)?;
    let hosts = hosts::hosts(&args.hosts, &spec)?;
    let waiting = workers::choose_wait(args.safety.wait, &spec, hosts.has_others());
    spec.wait = waiting.wait;
    let threads = workers::choose_threads(args.safety.threads, &spec, !hosts.names.is_empty());
    spec.threads = threads.count;
    let thresholds = &args.output.fail_if;
    let fits = |threshold: &Threshold| threshold.check(&spec);
    thresholds.iter().try_for_each(fits)?;
    let shown = StdoutContent::new(args.output.data.format(), args.output.details);
    let mut outputs = Outputs::open(&args.output.data.output, shown)?;
    let context = PlanContext {
        typed: &asked.typed,
        hows: &hows,
        hosts: hosts.describe(),
        why_wait: waiting.why,
        why_threads: threads.why.as_deref(),
        files: &args.output.data.output,
        collector: args.output.otlp.as_ref(),
        thresholds,
    };
    let watches = output::draws_progress() && !args.output.details && !args.safety.dry_run;
    let plan = if watches {
        plan_text::in_short(&spec, &context)
    } else {
        plan_text::describe(&spec, &context)
    };
    if args.safety.dry_run {
        let refused = |error| messages::refused(&asked.typed, &error);
        deadheat_load::check(&spec).map_err(refused)?;
        let for_programs = || {
            hide_in_load(&mut spec);
            PlanOfLoad {
                spec,
                find_rate: None,
            }
        };
        return args.output.data.print_plan(&plan, for_programs);
    }
    output::note(&data::as_note(&plan));
    let mut push = Push::to(args.output.otlp.as_ref());
    let mut contact = ServerContact::default();
    let record = go(
        &spec,
        &hosts,
        &asked,
        mode(args.output.progress),
        &mut contact,
        &mut outputs,
        &mut push,
    )?;
    let written = outputs.write(&record);
    if let Some(undelivered) = push.finish() {
        output::warn(&undelivered);
    }
    written?;
    if contact == ServerContact::Refused {
        return Err(messages::dead(&spec));
    }
    Ok(conclude(&record, thresholds))
}

/// The plan of a load or of a search for programs.
#[derive(Serialize)]
struct PlanOfLoad<'a> {
    spec: LoadSpec,
    #[serde(skip_serializing_if = "Option::is_none")]
    find_rate: Option<find_rate::PlanOfSearch<'a>>,
}

/// Loads as `args` ask for, and shows nothing, for callers that have a report of their own. The measurement ends after `limit` at
/// the latest. With [`ServerContact::Reached`], a server that refuses every connection does not end it.
pub(crate) fn observed(
    args: &LoadArgs,
    limit: Option<Duration>,
    mut contact: ServerContact,
) -> Result<LoadRecord, CommandFailure> {
    let PreparedLoad {
        asked, mut spec, ..
    } = prepare(args)?;
    let hosts = hosts::hosts(&args.hosts, &spec)?;
    spec.wait = workers::choose_wait(args.safety.wait, &spec, hosts.has_others()).wait;
    spec.limit = limit;
    let mut nowhere = Outputs::open(&[], StdoutContent::Brief)?;
    let mut push = Push::to(None);
    go(
        &spec,
        &hosts,
        &asked,
        Mode::Silent,
        &mut contact,
        &mut nowhere,
        &mut push,
    )
}

/// Options that are refused together, or one that is refused alone, without dashes; none if `args` can be used.
pub fn clash(args: &LoadArgs) -> Option<Vec<String>> {
    let asked = request::asked(args).ok()?;
    contradictions::names(args, &asked.origins)
}

/// What is loaded, and what that was made from.
struct PreparedLoad {
    asked: RequestPlan,
    /// How each target's name became an address, if it had one.
    hows: Vec<Option<String>>,
    spec: LoadSpec,
}

fn prepare(args: &LoadArgs) -> Result<PreparedLoad, CommandFailure> {
    let asked = request::asked(args)?;
    contradictions::check(args, &asked.origins)?;
    let expect = spec::expectation(&args.answer)?;
    let mut targets = Vec::new();
    let mut hows = Vec::new();
    for origin in &asked.origins {
        let (target, how) = target::find(origin, args)?;
        targets.push(target);
        hows.push(how);
    }
    let exchanges = request::exchanges(&asked, &args.request, &expect)?;
    let spec = spec::spec(args, targets, exchanges, invocation::random_seed())?;
    Ok(PreparedLoad { asked, hows, spec })
}

/// The load that `args` ask for, for callers that load without the rest of this command.
pub fn spec_of(args: &LoadArgs) -> Result<LoadSpec, CommandFailure> {
    Ok(prepare(args)?.spec)
}

/// Loads, and keeps what was found. The load ends at its first interval if `contact` is then refused.
fn go(
    spec: &LoadSpec,
    hosts: &Hosts,
    asked: &RequestPlan,
    mode: Mode,
    contact: &mut ServerContact,
    outputs: &mut Outputs,
    push: &mut Push,
) -> Result<LoadRecord, CommandFailure> {
    let mut generators = Generators::launch(&asked.typed, hosts)?;
    let stop = Arc::clone(&generators.stop);
    let mut started = now();
    let mut live = Live::start(mode, spec, &asked.typed);
    let mut series = Series::default();
    let mut on_event = |event: LoadEvent| {
        if contact.is_refused(&event, spec.interval) {
            // The message at the end says more than rows of zeros.
            stop.store(true, Ordering::SeqCst);
        } else {
            live.on(&event);
        }
        match event {
            // The times of intervals count from here.
            LoadEvent::Started => {
                started = now();
                push.begin(&started, &asked.typed, spec);
            }
            LoadEvent::Slice(_) => {}
            LoadEvent::Interval(interval) => {
                outputs.interval(&interval);
                push.interval(&interval);
                series.push(&interval);
            }
        }
    };
    let found = generators.load(spec, &mut on_event);
    live.finish();
    let mut record = found?;
    if *contact == ServerContact::Refused {
        // Not by the user.
        record.interrupted = false;
    }
    record.started = started;
    record.intervals = series.into_intervals();
    hide_in_load(&mut record.spec);
    Ok(record)
}

/// What sends loads: this process, or agents on other hosts.
struct Generators {
    agents: Option<Agents>,
    /// The machine of this process.
    machine: Machine,
    typed: String,
    /// Ends the load. Ctrl-C sets it.
    stop: Arc<AtomicBool>,
}

impl Generators {
    /// Listens for Ctrl-C, and launches the agents if loads come from other hosts. `typed` is the URL, without secrets.
    fn launch(typed: &str, hosts: &Hosts) -> Result<Self, CommandFailure> {
        let stop = invocation::on_signals().map_err(|error| {
            CommandFailure::no_result(format!("listening for Ctrl-C: {error}; start it again"))
        })?;
        let agents = if hosts.names.is_empty() {
            None
        } else {
            let launched = Agents::launch(&hosts.names, &hosts.launcher, &hosts.binary, &stop);
            Some(launched.map_err(|error| messages::lost(typed, &error, &stop))?)
        };
        Ok(Self {
            agents,
            machine: describe_machine(),
            typed: typed.to_owned(),
            stop,
        })
    }

    /// Runs one load, to the end of the drain. The record has no intervals, and still has secrets.
    fn load(
        &mut self,
        spec: &LoadSpec,
        on_event: &mut dyn FnMut(LoadEvent),
    ) -> Result<LoadRecord, CommandFailure> {
        let started = now();
        let (observation, hosts) = match &mut self.agents {
            None => {
                let found = deadheat_load::run(spec, on_event, &self.stop);
                let found = found.map_err(|error| messages::refused(&self.typed, &error))?;
                (found, Vec::new())
            }
            Some(agents) => {
                let found = agents.load(spec, on_event, &self.stop);
                found.map_err(|error| messages::lost(&self.typed, &error, &self.stop))?
            }
        };
        let mut record = LoadRecord {
            schema: SCHEMA,
            deadheat: env!("CARGO_PKG_VERSION").to_owned(),
            started,
            url: self.typed.clone(),
            machine: self.machine.clone(),
            spec: spec.clone(),
            interrupted: false,
            observation,
            intervals: Vec::new(),
            hosts,
        };
        record.interrupted = was_cut_short(&record, &self.stop);
        Ok(record)
    }
}

/// The time, as records have it.
fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

/// Whether somebody stopped the load before its end: a signal that comes while the last answers are waited for takes
/// nothing away, and one is the end of a load until Ctrl-C.
fn was_cut_short(record: &LoadRecord, stop: &AtomicBool) -> bool {
    let found = &record.observation;
    stop.load(Ordering::SeqCst)
        && match record.spec.stop {
            StopRule::Duration { length } => found.window < length,
            StopRule::Count { requests } => found.measured.ended() < requests,
            StopRule::Interrupt => found.window.is_zero(),
        }
}

/// Whether the server has accepted a connection. If it refuses every connection from the start, it does not run, and
/// the load ends at its first interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ServerContact {
    /// Nothing has ended yet.
    #[default]
    None,
    /// Something other than a refused connection happened, or nobody asks.
    Reached,
    /// All connections were refused.
    Refused,
}

impl ServerContact {
    /// Takes an event of a load with intervals of this length; whether all connections were refused. The rest of an
    /// interval at the end of a load says nothing: that load has ended already.
    fn is_refused(&mut self, event: &LoadEvent, length: Option<Duration>) -> bool {
        if let (Self::None, LoadEvent::Interval(interval)) = (*self, event)
            && length.is_some_and(|length| {
                interval.until.saturating_sub(interval.from) >= length.mul_f64(0.9)
            })
        {
            let failed = interval.failed.total();
            let refused = interval.failed[RequestFailure::ConnectRefused];
            *self = match interval.succeeded + failed {
                0 if interval.connections == 0 => Self::None,
                ended if ended == refused && ended > 0 && interval.connections == 0 => {
                    Self::Refused
                }
                _ => Self::Reached,
            };
        }
        *self == Self::Refused
    }
}

/// Tells what became of the thresholds, and what follows for the exit status.
fn conclude(record: &LoadRecord, thresholds: &[Threshold]) -> Exit {
    let mut failed = false;
    for threshold in thresholds {
        let outcome = threshold.judge(record);
        if outcome.failed {
            output::warn(&outcome.line);
        } else {
            output::note(&outcome.line);
        }
        failed |= outcome.failed;
    }
    if let Some(hint) = messages::redirects(record) {
        output::warn(&hint);
    }
    if let Some(nothing) = messages::nothing(record) {
        output::error(&nothing);
        return messages::exit_without_result(record);
    }
    // Unless the user has said how many requests may fail.
    let judges_errors = thresholds.iter().any(Threshold::is_of_errors);
    if !judges_errors && has_mostly_failed(&LoadFigures::new(record)) {
        failed = true;
        output::warn(
            "half of the requests or more failed, so the exit status is 1; say how many may with --fail-if 'errors>90%'",
        );
    }
    match (failed, record.interrupted) {
        (true, _) => Exit::Failed,
        (false, true) => Exit::Interrupted,
        (false, false) => Exit::Fine,
    }
}

/// How the load is shown, where the user leaves it to us.
fn mode(asked: ProgressArg) -> Mode {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    match asked {
        _ if !output::tells_progress() => Mode::Silent,
        ProgressArg::Auto if output::draws_progress() && !dumb => Mode::Terminal,
        ProgressArg::Auto | ProgressArg::Lines => Mode::Lines,
        ProgressArg::Terminal => Mode::Terminal,
        ProgressArg::Off => Mode::Silent,
    }
}
