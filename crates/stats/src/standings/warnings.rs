//! Warnings and notes about a session's figures: each check has a threshold and a sentence.

use std::collections::{BTreeMap, BTreeSet};

use deadheat_model::{
    Wait,
    figure::{counted, list, seconds, short_percent, some, some_of},
    heat::{Freezing, HeatEnd, LONGEST_GAP},
    heats::SessionRecord,
    observation::TRANSPORT_FAILURES,
    plan::Pinning,
    warning::{Warning, doubt, note},
};

use super::{
    after_another_load, short_names,
    types::{LoadStandings, Row},
};
use crate::heats::{LimitedBy, Quantity, recorded::taken};

/// Requests that fail on the way in more than this share are reported, although they are too few to discard a heat.
const FEW_FAILURES: f64 = TRANSPORT_FAILURES / 10.0;
/// This many names are spelled out.
const MAX_NAMES: usize = 3;

/// The warnings of a session, those that may change a decision first.
pub(super) fn find(record: &SessionRecord, loads: &[LoadStandings]) -> Vec<Warning> {
    let found = WarningInputs {
        record,
        loads,
        names: short_names(loads),
    };
    let mut warnings = Vec::new();
    warnings.extend(found.lost_hosts());
    warnings.extend(found.replacing());
    warnings.extend(found.twin_differs());
    warnings.extend(found.unfair_to_budgets());
    warnings.extend(found.imprecise());
    warnings.extend(found.disturbed_heats());
    let heats = record.heats.iter().filter(|one| one.is_complete());
    let slices = heats.flat_map(|one| one.heat.rounds.iter().flatten());
    warnings.extend(taken(slices));
    warnings.extend(found.failed_heats());
    warnings.extend(found.generator_limited());
    warnings.extend(found.near_capacity());
    warnings.extend(found.failed_requests());
    warnings.extend(found.changed_by_a_load());
    warnings.extend(found.unsteady());
    warnings.extend(found.long_gaps());
    warnings.extend(found.uneven());
    warnings.extend(found.nobody_limited());
    warnings.extend(found.frozen_by_signals());
    warnings.extend(found.generator_slept());
    warnings.extend(found.resumed());
    warnings.sort_by_key(|warning| warning.level);
    warnings
}

/// The input of every check.
struct WarningInputs<'a> {
    record: &'a SessionRecord,
    loads: &'a [LoadStandings],
    /// The names of the loads in a sentence.
    names: Vec<String>,
}

impl WarningInputs<'_> {
    /// Heats in which a host or a service was lost.
    fn lost_hosts(&self) -> Option<Warning> {
        let heats = self.record.heats.iter();
        let lost: Vec<&str> = heats.filter_map(|one| one.heat.lost.as_deref()).collect();
        let last = lost.last()?;
        let verb = if lost.len() == 1 { "counts" } else { "count" };
        let sentence = format!(
            "{} {verb} for nothing, because a host or a service was lost: {last}.",
            counted(lost.len(), "heat")
        );
        Some(
            doubt("lost-hosts", sentence)
                .with("heats", lost.len())
                .advice("The rest was measured with all of them."),
        )
    }

    /// Stacks that have the name of one of the project's own, and are another one.
    fn replacing(&self) -> Option<Warning> {
        let replacing = self.record.header.targets.iter().filter_map(|record| {
            let added = record.added.as_ref().filter(|added| added.replaces)?;
            Some(format!(
                "{} ({})",
                record.target.stack,
                added.folder.display()
            ))
        });
        // Once for all variants of one.
        let names: BTreeSet<String> = replacing.collect();
        let names: Vec<String> = names.into_iter().collect();
        let sentence = format!(
            "Measured in place of a stack of that name: {}.",
            some(&names, MAX_NAMES)
        );
        (!names.is_empty()).then(|| doubt("replaced-stacks", sentence).with("stacks", names))
    }

    /// A stack and its twin (A/A) differ: the method or the machine is biased.
    fn twin_differs(&self) -> Option<Warning> {
        let twins = self.loads.iter().filter_map(|load| {
            let twin = load.twin.as_ref().filter(|twin| twin.differs())?;
            Some((load.name(), twin.ratio))
        });
        let twins: Vec<(String, f64)> = twins.collect();
        let (load, ratio) = twins.first()?;
        let more = match twins.len() - 1 {
            0 => String::new(),
            more => format!(" and {} more", counted(more, "load")),
        };
        let sentence = format!(
            "The same stack measured twice differs by {} ({load}{more}).",
            short_percent((ratio - 1.0).abs())
        );
        Some(
            doubt("twin-differs", sentence)
                .with("load", load.as_str())
                .with("ratio", *ratio)
                .advice("Distrust differences of that size, or repeat on a quieter machine."),
        )
    }

    /// Loads at which the precision that was asked for was not reached, with what was.
    fn imprecise(&self) -> Option<Warning> {
        let asked = self.record.header.plan.precision?;
        let loads = self.loads.iter().zip(&self.names);
        let missed = loads.filter_map(|(load, name)| {
            load.look.filter(|_| load.leads())?;
            let widths = load.tables.iter().filter_map(|table| table.half_width);
            let width = widths.max_by(f64::total_cmp)?.exp_m1();
            (width > asked).then(|| (format!("{name} ±{}", short_percent(width)), width))
        });
        let (missed, widths): (Vec<String>, Vec<f64>) = missed.unzip();
        let widest = widths.into_iter().max_by(f64::total_cmp)?;
        let sentence = format!(
            "The precision that was asked for, ±{}, was not reached: {}.",
            short_percent(asked),
            some(&missed, MAX_NAMES)
        );
        Some(
            doubt("imprecise", sentence)
                .with("asked", asked)
                .with("reached", widest)
                .advice("The machine is noisier than usual, or processes of a stack differ. Repeat on a quieter machine, or with \
                         fewer stacks."),
        )
    }

    /// Heats that do not count because they were disturbed from beginning to end.
    fn disturbed_heats(&self) -> Option<Warning> {
        let heats = self.record.heats.iter().map(|one| &one.heat);
        let disturbed = heats.filter(|heat| heat.end == HeatEnd::Disturbed);
        let disturbed = disturbed.filter_map(|heat| Some((heat.heat, heat.disturbance()?)));
        let disturbed: BTreeMap<u32, f64> = disturbed.collect();
        let least = disturbed.values().copied().reduce(f64::min)?;
        let verb = if disturbed.len() == 1 { "does" } else { "do" };
        let sentence = format!(
            "{} {verb} not count, because other programs took at least {} of the CPU time from beginning to end.",
            counted(disturbed.len(), "heat"),
            short_percent(least)
        );
        Some(
            doubt("disturbed-heats", sentence)
                .with("heats", disturbed.into_keys().collect::<Vec<u32>>())
                .with("share", least)
                .advice("Leave the machine alone while it measures."),
        )
    }

    /// A warning about rows: those that `of` names, load by load, in a sentence that it begins.
    fn of_rows(
        &self,
        id: &str,
        begins: &str,
        of: impl Fn(&LoadStandings, &Row) -> Option<String>,
    ) -> Option<Warning> {
        let (mut places, mut evidence) = (Vec::new(), Vec::new());
        for (load, short) in self.loads.iter().zip(&self.names) {
            let rows = load.tables.iter().flat_map(|table| &table.rows);
            let named: Vec<String> = rows.filter_map(|row| of(load, row)).collect();
            if !named.is_empty() {
                places.push(format!("{} ({short})", some(&named, MAX_NAMES)));
                evidence.extend(named.iter().map(|name| format!("{}: {name}", load.name())));
            }
        }
        let places = (!places.is_empty()).then(|| some_of(&places, MAX_NAMES, "load"))?;
        Some(doubt(id, format!("{begins}: {places}.")).with("targets", evidence))
    }

    /// Like [`Self::of_rows`], for the rows of which `is` is true.
    fn of_rows_that(&self, id: &str, begins: &str, is: impl Fn(&Row) -> bool) -> Option<Warning> {
        self.of_rows(id, begins, |_, row| is(row).then(|| row.target.to_string()))
    }

    fn failed_heats(&self) -> Option<Warning> {
        let begins = "Failed in a heat, so their figures are of their other heats";
        let found = self.of_rows_that("failed-heats", begins, |row| !row.failures.is_empty());
        Some(found?.advice("Read their logs before you choose one."))
    }

    fn generator_limited(&self) -> Option<Warning> {
        let is_bound = |row: &Row| row.throughput_per_second.is_bound;
        let limited = |load: &LoadStandings| {
            let mut rows = load.tables.iter().flat_map(|table| &table.rows);
            rows.any(is_bound)
        };
        let loads = self.loads.iter().enumerate();
        let hosts = loads.filter(|(_, load)| limited(load));
        let hosts: BTreeSet<String> = hosts
            .filter_map(|(index, _)| busiest_host(self.record, index))
            .collect();
        let hosts: Vec<String> = hosts.into_iter().collect();
        let on = match hosts.as_slice() {
            [] => String::new(),
            hosts => format!(" on {}", list(hosts)),
        };
        let begins = format!("Lower bounds, because the load generator{on} was the limit");
        let found = self.of_rows_that("generator-limited", &begins, is_bound)?;
        Some(
            found
                .with("hosts", hosts)
                .advice("Compare them by CPU per request."),
        )
    }

    /// Stacks that have no response time at a rate, because it is near their capacity.
    fn near_capacity(&self) -> Option<Warning> {
        let begins = "No response times, because the rate is near their capacity, or turns began with a queue";
        let found = self.of_rows_that("near-capacity", begins, |row| row.near_capacity);
        Some(found?.advice("Turns do not show whole queues there. Measure at a lower --rate."))
    }

    fn failed_requests(&self) -> Option<Warning> {
        let found = self.of_rows("failed-requests", "Requests failed", |_, row| {
            let ended = row.answers + row.failed_requests;
            let share = row.failed_requests as f64 / ended.max(1) as f64;
            let is_much = share > FEW_FAILURES;
            is_much.then(|| format!("{} {}", short_percent(share), row.target))
        });
        Some(found?.advice("Read their logs before you choose one."))
    }

    /// Stacks that are faster or slower where their process had served another load before, by more than what makes a
    /// dead heat. All stacks and loads share the error.
    fn changed_by_a_load(&self) -> Option<Warning> {
        let plan = &self.record.header.plan;
        let loads = plan.loads.iter().enumerate();
        let loads = loads.filter(|(_, load)| load.leads() && load.shared_starts.is_some());
        let found: Vec<_> = loads
            .flat_map(|(index, load)| {
                let found = after_another_load(self.record, index, Quantity::Throughput);
                found
                    .into_iter()
                    .map(move |(target, one)| (load.name(), target, one))
            })
            .collect();
        let level = plan.alpha / found.len().max(1) as f64;
        let begins = "Faster or slower, compared with the others, in processes that had served another load before";
        let warning = self.of_rows("changed-by-a-load", begins, |load, row| {
            let mut found = found.iter();
            let (_, _, one) =
                found.find(|(name, target, _)| *name == load.name() && *target == row.target)?;
            let is_changed = one.p_of_zero() < level && one.mean.abs() > plan.margin.ln_1p();
            let change = 100.0 * one.mean.exp_m1();
            is_changed.then(|| format!("{} by {change:+.0} %", row.target))
        });
        Some(
            warning?
                .advice("Their figures here are a mixture of both: measure with --separate-loads."),
        )
    }

    /// Stacks that were not steady after their warm-up in most of their heats.
    fn unsteady(&self) -> Option<Warning> {
        let is_unsteady = |row: &Row| 2 * row.unsteady_heats > row.heats;
        let found = self.of_rows_that("unsteady", "Not steady after the warm-up", is_unsteady);
        Some(found?.advice("Their figures may change when they run for longer."))
    }

    fn long_gaps(&self) -> Option<Warning> {
        let begins = format!(
            "Often waited for {} or longer for its turn, in which idle connections may be closed",
            seconds(LONGEST_GAP.as_secs_f64())
        );
        let found = self.of_rows_that("long-gaps", &begins, |row| row.often_late);
        Some(found?.advice("Measure fewer stacks at a time, or none that answers slowly."))
    }

    fn uneven(&self) -> Option<Warning> {
        let begins = "Their connections waited unevenly, so percentiles hide how long some waited";
        let found = self.of_rows_that("uneven", begins, |row| row.uneven.is_some());
        Some(found?.advice("Read response times at a rate instead (--rate)."))
    }

    /// Stacks that waited for something other than a CPU, in loads that leave a server nothing to wait for by design.
    fn nobody_limited(&self) -> Option<Warning> {
        let planned = &self.record.header.plan.loads;
        let waits = planned
            .iter()
            .filter(|load| !load.leads() || load.delay_seconds.is_some());
        let waits: Vec<String> = waits.map(|load| load.name()).collect();
        let begins = "Had CPU time left, so something else was the limit, such as the database";
        let found = self.of_rows("nobody-limited", begins, |load, row| {
            // That a server does not use all of its CPUs is what budgets show.
            let is_one = row.limited_by == Some(LimitedBy::Neither)
                && row.target.cpus.is_none_or(|cpus| cpus == 1)
                && !waits.contains(&load.name());
            is_one.then(|| row.target.to_string())
        });
        Some(found?.advice(
            "Compare them by CPU per request, or run the database on a machine of its own (--postgres).",
        ))
    }

    /// Servers could not be frozen by a control group, so that their parents could see signals.
    fn frozen_by_signals(&self) -> Option<Warning> {
        let heats = self.record.heats.iter().map(|one| &one.heat);
        let mut members = heats.flat_map(|heat| &heat.members);
        let reason = members.find_map(|member| match &member.freezing {
            Some(Freezing::Signals { reason }) => Some(reason),
            _ => None,
        })?;
        let sentence = format!(
            "Waiting servers were stopped by signals, which they can notice: {}.",
            reason.trim_end_matches('.')
        );
        Some(
            note("frozen-by-signals", sentence)
                .advice("Run as root, or where control groups can be made."),
        )
    }

    /// The generator had CPUs of the servers, the fewer the more a server was given.
    fn unfair_to_budgets(&self) -> Option<Warning> {
        let plan = &self.record.header.plan;
        let budgets = plan.cpu_budgets();
        let is_shared = plan.generator_shares_cpus() && budgets.len() > 1;
        let most = *budgets.last().filter(|_| is_shared)?;
        let sentence = format!(
            "The load generator used the servers' CPUs, and a server with {} left it the fewest: gains are at least these.",
            counted(most, "CPU")
        );
        let advice = format!(
            "Measure on a machine with {} or more, or load from another one (--generator).",
            counted(2 * most, "CPU")
        );
        Some(
            doubt("shared-cpus", sentence)
                .with("largest", most)
                .advice(advice),
        )
    }

    /// Where the generator slept although the loads themselves do not ask for it.
    fn generator_slept(&self) -> Option<Warning> {
        let plan = &self.record.header.plan;
        if plan.is_loaded_elsewhere() {
            // The server is on another machine, which its sleep cannot disturb.
            return None;
        }
        if let Pinning::Off { .. } = plan.pinning {
            let sentence = "Server and load generator shared CPUs and slowed each other.";
            let warning = doubt("not-pinned", sentence.to_owned())
                .advice("Measure on a machine with at least 2 CPUs, with --pinning apart.");
            return self.unfair_to_budgets().is_none().then_some(warning);
        }
        let loads = plan.loads.iter().zip(&self.names);
        let slept = loads.filter(|(load, _)| load.leads() && load.heat.wait == Wait::Sleep);
        let loads: Vec<String> = slept.map(|(_, short)| short.clone()).collect();
        let sentence = format!(
            "The generator shared its CPUs, so each answer also had to wake it ({}). Figures are somewhat low.",
            some(&loads, MAX_NAMES)
        );
        (!loads.is_empty()).then(|| {
            note("generator-slept", sentence)
                .with("loads", loads)
                .advice("Use a machine with more CPUs.")
        })
    }

    fn resumed(&self) -> Option<Warning> {
        let resumed = &self.record.resumed;
        let rebooted = resumed.iter().any(|one| one.rebooted);
        let sentence = format!(
            "The session was resumed {}{}.",
            match resumed.len() {
                1 => "once".to_owned(),
                many => counted(many, "time"),
            },
            if rebooted { ", after a reboot" } else { "" }
        );
        (!resumed.is_empty()).then(|| {
            note("resumed", sentence)
                .with("times", resumed.len())
                .with("rebooted", rebooted)
        })
    }
}

/// The host whose worker was the busiest in more than half of a load's slices.
fn busiest_host(record: &SessionRecord, load: usize) -> Option<String> {
    let hosts = &record.header.plan.hosts.as_ref()?.generators;
    let heats = record.complete_heats(load);
    let slices = heats.flat_map(|heat| heat.rounds.iter().flatten());
    let (mut times, mut all) = (vec![0; hosts.len()], 0);
    for host in slices.filter_map(|slice| slice.generator.host) {
        all += 1;
        if let Some(times) = times.get_mut(host as usize) {
            *times += 1;
        }
    }
    let most = hosts.iter().zip(times).find(|(_, times)| 2 * times > all);
    most.map(|(host, _)| host.clone())
}
