//! The plan of a session of heats in words: at most 15 lines before anything starts.

use std::time::Duration;

use deadheat_document::Document;
use deadheat_model::{
    StackProtocol, TargetId,
    figure::{self, about, counted, list, rough_percent, some, time},
    heat::Rounds,
    heats::{Plan, PlannedLoad},
    workload::OfferedRate,
};
use deadheat_stats::steering::foretold;

use crate::plan_text::{self, Entry, glued, hosts, pinning};

/// The number of stacks that are named; the rest is counted.
const NAMES: usize = 12;
/// The number of left-out stacks that are named.
const LEFT_OUT: usize = 5;

/// The plan, with further lines about the session.
pub(super) fn describe(plan: &Plan, more: impl IntoIterator<Item = Entry>) -> Document {
    let stacks = stacks(plan);
    let loads: Vec<String> = plan.leading().map(|one| load(one, &stacks)).collect();
    let mut entries = vec![
        ("stacks", some(&stacks, NAMES)),
        ("loads", some(&loads, NAMES)),
    ];
    entries.extend(scaling(plan).map(|scaling| ("scaling", scaling)));
    entries.extend(heats(plan).map(|heats| ("heats", heats)));
    entries.extend(equal_work(plan).map(|work| ("rate", work)));
    entries.extend(expected(plan).map(|expected| ("expect", expected)));
    entries.push(("ends", ends(plan)));
    entries.extend(too_short(plan).map(|text| ("short", text)));
    let reasons = plan.loads.iter();
    let reasons = reasons.filter_map(|load| load.capacity_reason.clone());
    let mut reasons: Vec<String> = reasons.collect();
    reasons.dedup();
    entries.extend(reasons.into_iter().map(|reason| ("members", reason)));
    entries.extend(hosts(plan));
    entries.push(("CPUs", pinning(plan)));
    if !plan.left_out.is_empty() {
        let names = names(&plan.left_out);
        let all = glued("--stack '*'");
        let text = format!(
            "{}; {all} measures every stack, --workload chooses",
            some(&names, LEFT_OUT)
        );
        entries.push(("left out", text));
    }
    entries.push(("seed", plan.seed.to_string()));
    entries.extend(more);
    plan_text::plan(title(plan), entries)
}

fn title(plan: &Plan) -> String {
    let most = plan
        .budget_seconds
        .map(|budget| format!("at most {}", about(Duration::from_secs_f64(budget))));
    let time = match (plan.precision, most) {
        (Some(_), Some(most)) => format!("about {}, {most}", about(plan.estimate)),
        (None, Some(most)) => most,
        (_, None) => format!("up to {}", about(plan.estimate)),
    };
    format!(
        "Plan: {} × {}, measured in heats, {time}",
        counted(stacks(plan).len(), "stack"),
        counted(plan.leading().count(), "load"),
    )
}

/// Every stack of any load, once.
fn stacks(plan: &Plan) -> Vec<String> {
    names(plan.loads.iter().flat_map(|load| &load.targets))
}

/// The stacks without their CPU budgets, each once.
fn names<'t>(targets: impl IntoIterator<Item = &'t TargetId>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for target in targets {
        let name = target.on_cpus(None).to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The line about several CPU budgets: each stack is measured with each, and how many servers these are.
fn scaling(plan: &Plan) -> Option<String> {
    let budgets = plan.cpu_budgets();
    let servers = budgets.len() * stacks(plan).len();
    let all = figure::budgets(&budgets)?;
    let servers =
        (budgets.len() > 1).then(|| format!(", which makes {}", counted(servers, "server")));
    Some(format!(
        "each stack with {all}{}",
        servers.unwrap_or_default()
    ))
}

/// A load, and which of all `stacks` do not answer it.
fn load(load: &PlannedLoad, stacks: &[String]) -> String {
    let rounds = load
        .point
        .rounds
        .map(|rounds| format!(", {}", counted(rounds as usize, "round")));
    let point = &load.point;
    let streams = match point.streams {
        1 => String::new(),
        streams => format!(" × {}", counted(streams, "stream")),
    };
    let protocol = match point.protocol {
        StackProtocol::Http1 => String::new(),
        protocol => format!(", {protocol}"),
    };
    let named = glued(&format!(
        "{} ({} connections{streams}{}{protocol})",
        load.workload,
        point.connections,
        rounds.unwrap_or_default()
    ));
    let measured = names(&load.targets);
    let mut others = stacks.iter().filter(|stack| !measured.contains(stack));
    match (others.next(), others.count()) {
        (None, _) => named,
        (Some(other), 0) => format!("{named} without {other}"),
        _ => format!("{named} of {} stacks", measured.len()),
    }
}

/// What a heat is, by the first load.
fn heats(plan: &Plan) -> Option<String> {
    let load = plan.loads.first()?;
    let seats = (load.capacity as usize)
        .saturating_sub(1)
        .min(load.targets.len());
    let rounds = match load.heat.rounds {
        Rounds::Time { time } => format!("{} of", about(time)),
        Rounds::Count { rounds } => format!("{rounds} rounds of"),
    };
    let loads: Vec<&PlannedLoad> = plan.leading().collect();
    let with = |load: &PlannedLoad| {
        loads
            .iter()
            .filter(|one| one.shares_starts_with(load))
            .count()
    };
    let shared = loads.iter().map(|load| with(load)).max().unwrap_or(0);
    let each = if loads.len() > 1 { " per load" } else { "" };
    let start = match shared {
        0 | 1 => "a fresh start".to_owned(),
        shared if shared == loads.len() => "a start for all loads".to_owned(),
        shared => format!("a start, which {shared} of the loads share,"),
    };
    let slice = glued(&time(load.heat.slice));
    let (about_or_up_to, heats) = match plan.precision {
        Some(_) => (
            "about",
            loads.iter().map(|load| plan.planned_heats(load)).max()?,
        ),
        None => ("up to", load.most_heats()),
    };
    Some(format!(
        "{about_or_up_to} {heats}{each}, {} and a control alive in each: {rounds} {slice} slices in turn, after {start} and a warm-up",
        counted(
            seats,
            if plan.cpu_budgets().is_empty() {
                "stack"
            } else {
                "server"
            }
        ),
    ))
}

/// The line about the default stacks for which the budget has no room, and which budget has.
pub(super) fn budget_for_rest(rest: &[TargetId], all: Duration) -> Entry {
    let names = names(rest);
    let minutes = (all.as_secs_f64() / 60.0).ceil();
    let text = format!(
        "{} has room for eight heats of these as well: {}",
        glued(&format!("--budget {minutes:.0}m")),
        some(&names, NAMES)
    );
    ("room", text)
}

/// At which rates all stacks are compared, by the first load.
fn equal_work(plan: &Plan) -> Option<String> {
    let first = plan.leading().next()?;
    let work: Vec<&PlannedLoad> = plan.equal_work(first).map(|(_, load)| load).collect();
    let rates = work
        .iter()
        .filter_map(|one| Some(one.point.open.as_ref()?.rate));
    let rates = rates.map(|rate| match rate {
        OfferedRate::Common => "one that most can take at 70 % of their capacity".to_owned(),
        OfferedRate::PerSecond(rate) => glued(&format!("{rate}/s")),
    });
    let rates: Vec<String> = rates.collect();
    let plan = work.first()?.heat;
    let time = glued(&about(plan.rounds.number() * plan.slice));
    Some(format!(
        "then each stack for {time} in turns at the same rate, {}: CPU time per request, and response times",
        list(&rates)
    ))
}

/// How well ratios will be known, with the noise that is usual on a shared machine. One stack has none.
fn expected(plan: &Plan) -> Option<String> {
    let foretold = foretold(plan);
    let widths = foretold.iter().filter_map(|expected| expected.half_width);
    let mut widths: Vec<f64> = widths.collect();
    if widths.is_empty() && plan.leading().any(|load| load.targets.len() > 1) {
        return Some("no ratios: fewer than two heats of each stack fit".to_owned());
    }
    widths.sort_by(f64::total_cmp);
    let [least, most] = [widths.first()?, widths.last()?].map(|width| rough_percent(*width));
    let width = if least == most {
        format!("±{most}")
    } else {
        format!("±{least} to ±{most}")
    };
    Some(format!(
        "ratios known to {width}, with the usual noise of a shared machine"
    ))
}

fn ends(plan: &Plan) -> String {
    let margin = 100.0 * plan.margin;
    let budget = plan
        .budget_seconds
        .map(|budget| about(Duration::from_secs_f64(budget)));
    if let (Some(precision), Some(budget)) = (plan.precision, &budget) {
        let percent = (1000.0 * precision).round() / 10.0;
        let coarse = if precision > plan.margin {
            format!("; no dead heat (within {margin} %) is to be expected at this precision")
        } else {
            String::new()
        };
        return format!(
            "when ratios to the best are known to ±{percent} % at every load, after {} heats at least, or after {budget}; \
             verdicts come at the end{coarse}",
            plan.least_heats
        );
    }
    match (plan.until_decided, budget) {
        (true, budget) => format!(
            "when every stack is proven faster than the next one, or in a dead heat with it (within {margin} %), or \
             after {}",
            budget.as_deref().unwrap_or("all heats")
        ),
        (false, Some(budget)) => format!("after {budget}"),
        (false, None) => "after all heats".to_owned(),
    }
}

/// A budget with room for this share of the estimate is not too short: stacks that turn out to be unavailable take
/// no time.
const ENOUGH: f64 = 0.8;

/// The warning that the budget has no room for the heats that a verdict needs. The estimate is for at least these.
fn too_short(plan: &Plan) -> Option<String> {
    let share = plan.share_in_budget();
    if share >= ENOUGH {
        return None;
    }
    let minutes = (plan.estimate.as_secs_f64() / 60.0).ceil();
    let heats = plan.leading().map(PlannedLoad::most_heats).min()?;
    let fits = f64::from(heats) * share;
    Some(format!(
        "about {fits:.1} of the {heats} heats of each load fit, so some verdicts will be missing; {} has room for \
         all, as have fewer stacks (--stack) or workloads (--workload)",
        glued(&format!("--budget {minutes:.0}m"))
    ))
}

#[cfg(test)]
mod tests {
    use deadheat_model::heats::SessionRecord;
    use deadheat_shell::data::page;
    use deadheat_simulation::Recorded;

    use super::*;

    fn described(plan: &Plan) -> String {
        describe(plan, []).text(page())
    }

    fn plan(stacks: usize) -> Plan {
        let speeds = vec![1.0; stacks];
        let mut recorded = Recorded::measured(&speeds);
        recorded.workloads.push("users".to_owned());
        recorded.budget = Some(Duration::from_secs(600));
        let record: SessionRecord = recorded.run(1, &mut |_, _| {
            deadheat_model::heats::Step::End(deadheat_model::heats::EndReason::Nothing)
        });
        record.header.plan
    }

    fn width(plan: &Plan) -> f64 {
        let text = described(plan);
        let (_, width) = text.split_once("ratios known to ±").expect("a width");
        let (width, _) = width.split_once(" %").expect("in per cent");
        width.parse().expect("a number")
    }

    #[test]
    fn it_fits_a_screen_however_many_stacks_there_are() {
        let mut plan = plan(34);
        plan.left_out = (0..30)
            .map(|index| TargetId::new(format!("language-framework-{index}"), None))
            .collect();
        plan.loads[0].capacity_reason =
            Some("5 members at a time instead of 8: 3 GiB free".to_owned());
        let text = described(&plan);
        assert!(text.lines().count() <= 15, "{text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
        assert!(text.contains("34 stacks × 2 loads"), "{text}");
        assert!(text.contains("and 23 more"), "{text}");
        assert!(text.contains("--stack '*'"), "{text}");
    }

    #[test]
    fn it_says_who_does_not_answer_a_load() {
        let mut plan = plan(4);
        let all = plan.loads[0].targets.clone();
        let loads = |plan: &Plan| {
            described(plan)
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert!(!loads(&plan).contains("without"));
        plan.loads[1].targets.pop();
        let text = loads(&plan);
        assert!(text.contains(&format!(") without {}", all[3])), "{text}");
        plan.loads[1].targets.pop();
        assert!(loads(&plan).contains(") of 2 stacks"));
    }

    #[test]
    fn a_budget_without_room_is_named_with_one_that_has() {
        let mut plan = plan(2);
        assert!(!described(&plan).contains("  short"));
        plan.estimate = Duration::from_secs(1_190);
        let text = described(&plan);
        assert!(
            text.contains("about 5.0 of the 10 heats of each load fit"),
            "{text}"
        );
        assert!(text.contains("--budget 20m"), "{text}");
    }

    #[test]
    fn the_expected_precision_is_that_of_the_heats_that_fit() {
        let mut plan = plan(6);
        let with_all = width(&plan);
        plan.estimate = Duration::from_secs(1_800);
        assert!(width(&plan) > 1.5 * with_all, "{} {with_all}", width(&plan));
        plan.estimate = Duration::from_secs(6_000);
        let text = described(&plan);
        assert!(
            text.contains("no ratios: fewer than two heats of each stack fit"),
            "{text}"
        );
    }

    #[test]
    fn it_says_how_well_ratios_will_be_known() {
        let mut plan = plan(6);
        let many = width(&plan);
        for load in &mut plan.loads {
            load.looks = vec![2];
        }
        assert!(width(&plan) > 2.0 * many, "{} {many}", width(&plan));
        assert!((2.0..10.0).contains(&many), "{many}");
    }

    #[test]
    fn a_precision_coarser_than_the_margin_is_said_to_prove_no_dead_heat() {
        let ends = |precision| {
            let mut plan = plan(2);
            plan.precision = Some(precision);
            let text = described(&plan);
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let coarse = ends(0.5);
        assert!(
            coarse.contains("known to ±50 % at every load, after 8 heats at least, or"),
            "{coarse}"
        );
        let sentence = "no dead heat (within 3 %) is to be expected at this precision";
        assert!(coarse.contains(sentence), "{coarse}");
        assert!(!ends(0.03).contains(sentence));
    }

    #[test]
    fn it_says_what_several_budgets_take() {
        let mut plan = plan(4);
        assert!(!described(&plan).contains("  scaling"));
        for load in &mut plan.loads {
            let names = ["a", "b"].map(|name| TargetId::new(name, None));
            let at = |cpus| names.iter().map(move |name| name.on_cpus(Some(cpus)));
            load.targets = at(1).chain(at(2)).collect();
        }
        let text = described(&plan);
        assert!(text.starts_with("Plan: 2 stacks × 2 loads"), "{text}");
        let line = "scaling each stack with 1 and 2 CPUs, which makes 4 servers";
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&text).contains(line), "{text}");
        assert!(words(&text).contains("stacks a and b loads"), "{text}");
        assert!(
            words(&text).contains("4 servers and a control alive"),
            "{text}"
        );
    }

    #[test]
    fn it_says_why_heats_have_few_members() {
        let mut plan = plan(2);
        assert!(!described(&plan).contains("  members"));
        for load in &mut plan.loads {
            load.capacity_reason = Some("The database has 4 connections free.".to_owned());
        }
        let text = described(&plan);
        let line = "  members  The database has 4 connections free.";
        assert_eq!(text.matches(line).count(), 1, "{text}");
    }

    #[test]
    fn it_says_when_the_session_ends() {
        let mut plan = plan(2);
        assert!(
            described(&plan).contains("or after 10 min"),
            "{}",
            described(&plan)
        );
        plan.until_decided = false;
        assert!(described(&plan).contains("  ends    after 10 min"));
    }
}
