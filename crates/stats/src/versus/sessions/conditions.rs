//! Where and how two sessions were measured, what of it differs, and whether the machine was as fast: the null server
//! is the same program in both.

use std::collections::BTreeMap;

use deadheat_model::{
    TargetId,
    change::{Aspect, Change, between},
    figure,
    heats::SessionRecord,
    warning::{Warning, doubt},
};

use super::{Bounds, Metric, Ratio, Sample, Session, Subject, cells::Load};
use crate::{
    standings::twin,
    versus::{Fact, Side},
};

/// Differences between two sessions that would be in every ratio: machine, Deadheat, settings, workloads and warm-ups.
/// With one of them a comparison says nothing of the stacks. `before` is A, `after` is B.
pub fn refusals(a: &SessionRecord, b: &SessionRecord) -> Vec<Change> {
    let changes = between(&a.header, &b.header).into_iter();
    let refusals = changes.filter(|change| !is_compared(change));
    refusals.chain(warm_ups(a, b)).collect()
}

/// Differences that are what is compared, or that say which stacks and load points only one side has.
pub(super) fn differences(a: &SessionRecord, b: &SessionRecord) -> Vec<Change> {
    let changes = between(&a.header, &b.header).into_iter();
    changes.filter(is_compared).collect()
}

fn is_compared(change: &Change) -> bool {
    match change.aspect {
        Aspect::Machine | Aspect::Deadheat | Aspect::Settings => false,
        Aspect::Commit | Aspect::Version | Aspect::Sources | Aspect::Selection => true,
    }
}

/// Warm-ups are in the heats. Stacks with another one are one reason.
fn warm_ups(a: &SessionRecord, b: &SessionRecord) -> Option<Change> {
    let of = |record: &SessionRecord| {
        let mut rules: BTreeMap<(String, TargetId), String> = BTreeMap::new();
        for heat in &record.heats {
            let load = record.header.plan.loads[heat.load as usize].name();
            for member in &heat.heat.members {
                let Some(warm_up) = member.warm_up.filter(|_| member.loads_before == 0) else {
                    continue;
                };
                let [least, most] = [warm_up.rule.least, warm_up.rule.most];
                let rule = format!("{} to {} s", least.as_secs_f64(), most.as_secs_f64());
                rules.insert((load.clone(), member.target.clone()), rule);
            }
        }
        rules
    };
    let (of_a, mut of_b) = (of(a), of(b));
    let others = of_a.into_iter().filter_map(|(key, one)| {
        let other = of_b.remove(&key)?;
        (one != other).then_some((key, one, other))
    });
    let others: Vec<_> = others.collect();
    let ((load, target), one, other) = others.first()?;
    let more = match others.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(Change {
        aspect: Aspect::Settings,
        target: None,
        what: format!("warm-up of {target} at {load}{more}"),
        before: Some(one.clone()),
        after: Some(other.clone()),
    })
}

/// A warning for each session in which a stack and its twin (A/A) differed.
pub(super) fn biased(sides: &[Session<'_>; 2]) -> Vec<Warning> {
    let of = |(session, name): (&Session<'_>, &str)| {
        let differs = |load: &&Load<'_>| twin::find(&load.at).is_some_and(|twin| twin.differs());
        let loads = session.loads.iter().filter(differs);
        let loads: Vec<String> = loads.map(|load| load.at.load.name()).collect();
        (!loads.is_empty()).then(|| {
            let sentence = format!(
                "In {name} one stack under two names (A/A) differed at {}: its order or its machine is biased, and \
                 every difference there is in doubt.",
                loads.join(", ")
            );
            doubt("twin-differs", sentence)
                .with("side", name)
                .with("loads", loads)
        })
    };
    sides.iter().zip(["A", "B"]).filter_map(of).collect()
}

/// What is known of one side.
pub(super) fn side(name: &str, record: &SessionRecord) -> Side {
    let header = &record.header;
    let commit = header.commit.clone();
    Side {
        name: name.to_owned(),
        facts: vec![
            Fact::new("session", &header.id),
            Fact::new("started", &header.started),
            Fact::new("commit", commit.unwrap_or_else(|| "unknown".to_owned())),
            Fact::new("complete heats", record.complete().to_string()),
        ],
        failed: None,
    }
}

/// Where and how both were measured; where that differs, each side's.
pub(super) fn conditions(a: &SessionRecord, b: &SessionRecord) -> Vec<Fact> {
    type Of = fn(&SessionRecord) -> String;
    let facts: [(&str, Of); 9] = [
        ("processor", |record| {
            record.header.machine.cpu_model.clone()
        }),
        ("usable CPUs", |record| {
            figure::list(&record.header.machine.cpus)
        }),
        ("pinning", |record| record.header.plan.pinning.in_words()),
        ("system", |record| record.header.machine.os.clone()),
        ("kernel", |record| record.header.machine.kernel.clone()),
        ("mitigations", |record| {
            record.header.machine.mitigations.join("; ")
        }),
        ("frequency governor", |record| {
            let governor = record.header.machine.governor.clone();
            governor.unwrap_or_else(|| "none known".to_owned())
        }),
        ("congestion control", |record| {
            let name = record.header.machine.congestion_control.clone();
            name.unwrap_or_else(|| "none known".to_owned())
        }),
        ("Deadheat", |record| record.header.deadheat.clone()),
    ];
    let fact = |(name, of): (&str, Of)| {
        let (a, b) = (of(a), of(b));
        let value = if a == b { a } else { format!("A: {a}; B: {b}") };
        Fact::new(name, value)
    };
    facts.into_iter().map(fact).collect()
}

/// How far the null server's throughput in B was from that in A: the distance from 1 of their ratio, for an open loop at
/// the closed one whose capacity it takes a share of. A stack that differs by less may differ because the machine did.
/// That the generator was the limit takes nothing from it: a machine that is slower slows the generator, too. `None` if
/// a session has no such heat.
pub(super) fn drift(sides: &[Session<'_>; 2], subject: &Subject, bounds: &Bounds) -> Option<f64> {
    let load = &sides[0].load(subject)?.at.load;
    let closed = load.point.open.as_ref().map(|open| &open.capacity_of);
    let closed = Subject {
        point: closed.unwrap_or(&subject.point).clone(),
        ..subject.clone()
    };
    Some(distance(ratio(sides, &closed, bounds)?.ratio))
}

/// A warning for each closed loop of both sessions at which the null server differed, or is not known.
pub(super) fn warnings(sides: &[Session<'_>; 2], bounds: &Bounds) -> Vec<Warning> {
    let [a, b] = sides;
    let closed = |load: &Subject| {
        let is_closed = |load: &Load<'_>| load.at.load.leads();
        a.load(load).is_some_and(is_closed) && b.load(load).is_some()
    };
    let of = |load: Subject| {
        let Some(ratio) = ratio(sides, &load, bounds) else {
            let sentence = format!(
                "Not both sessions have a heat with the null server at {load}: nothing shows whether the machine was \
                 as fast."
            );
            return Some(doubt("no-null-server", sentence));
        };
        let moved = distance(ratio.ratio) > bounds.practical_difference;
        (ratio.p? < bounds.alpha && moved).then(|| {
            let sentence = format!(
                "The null server, the same program in both sessions, answered {} times as much in B as in A at \
                 {load}: the machine was not as fast, and every difference there may come from that.",
                figure::ratio(ratio.ratio)
            );
            doubt("null-server", sentence).with("ratio", ratio.ratio)
        })
    };
    a.subjects(None).filter(closed).filter_map(of).collect()
}

/// The null server's throughput in B over that in A.
fn ratio(sides: &[Session<'_>; 2], at: &Subject, bounds: &Bounds) -> Option<Ratio> {
    let [a, b] = sides.each_ref().map(|side| {
        let load = side.load(at)?;
        Some(load.logs(Metric::Throughput, load.at.load.ceiling()))
    });
    Some(Sample::new(Metric::Throughput, a?, b?)?.ratio(None, bounds))
}

fn distance(ratio: f64) -> f64 {
    ratio.ln().abs().exp() - 1.0
}
