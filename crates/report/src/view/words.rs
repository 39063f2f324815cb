//! Words that several parts of the view have in common.

use std::time::Duration;

use deadheat_model::{
    LoadPoint,
    stack::{DatabaseAccess, Runtime},
    workload::OfferedRate,
};
use deadheat_stats::{CellAnalysis, Group, Metric, limit::Limit};

use super::{clean, group::title};
use crate::figure::list;

/// Names that a sentence spells out.
const MOST_NAMES: usize = 8;

/// "a, b and c"; of many the first ones, and how many more.
pub fn some(names: &[String]) -> String {
    if names.len() <= MOST_NAMES {
        return list(names);
    }
    let more = names.len() - MOST_NAMES + 1;
    format!("{} and {more} more", names[..MOST_NAMES - 1].join(", "))
}

/// A cell's stack, under its variant.
pub fn name(cell: &CellAnalysis) -> String {
    clean(&cell.target.to_string())
}

/// What a load point's stacks are compared by.
pub fn metric(metric: Metric) -> String {
    match metric {
        Metric::Throughput => "throughput".to_owned(),
        Metric::ResponseTime { percent } => format!("p{percent} of the response time"),
    }
}

/// The offered rate of an open loop, short: "70 %" (of the stack's own capacity) or "common".
pub fn rate(point: &LoadPoint) -> String {
    match point.open.as_ref().map(|open| open.rate) {
        Some(OfferedRate::OfOwnCapacity(percent)) => format!("{percent} %"),
        Some(OfferedRate::OfSlowestCapacity(_)) => "common rate".to_owned(),
        None => "closed loop".to_owned(),
    }
}

/// Whether a load point is an open loop at one rate for all stacks.
pub fn is_common(point: &LoadPoint) -> bool {
    let rate = point.open.as_ref().map(|open| open.rate);
    matches!(rate, Some(OfferedRate::OfSlowestCapacity(_)))
}

/// The workload and its load, for a list.
pub fn at(group: &Group) -> String {
    match is_common(&group.point) {
        true => format!("{}, open loop at the common rate", closed(group)),
        false if group.point.open.is_some() => {
            format!("{}, open loop at {}", closed(group), rate(&group.point))
        }
        false => closed(group),
    }
}

/// The workload and the connections of its closed loop.
fn closed(group: &Group) -> String {
    let point = LoadPoint {
        open: None,
        ..group.point.clone()
    };
    title(&group.workload, &point)
}

/// What shows that the generator was the limit, in a few words each.
pub fn limits(limits: &[Limit]) -> String {
    let kinds: Vec<&str> = limits.iter().map(limit).collect();
    kinds.join("; ")
}

/// What shows that the generator was the limit, in a few words.
pub fn limit(limit: &Limit) -> &'static str {
    match limit {
        Limit::Worker { .. } => "a busy worker",
        Limit::Cpus { .. } => "busy CPUs beside a server with time left",
        Limit::Ceiling { .. } => "near the null server's rate",
        Limit::Little { .. } => "connections that waited for the generator",
        Limit::Late { .. } => "requests not sent in time",
        Limit::SendLag { .. } => "late requests",
    }
}

/// How code is executed.
pub const fn runtime(runtime: Runtime) -> &'static str {
    match runtime {
        Runtime::Native => "compiled ahead of time",
        Runtime::Jit => "compiled while it runs",
        Runtime::Interpreted => "interpreted",
    }
}

/// How a stack asks the database.
pub const fn access(access: DatabaseAccess) -> &'static str {
    match access {
        DatabaseAccess::Async => "asynchronous",
        DatabaseAccess::Blocking => "blocking",
        DatabaseAccess::Orm => "object-relational mapper",
    }
}

/// A length of time as it can be typed: "90s", "25m", "2h30m".
pub fn typed(duration: Duration) -> String {
    let text = humantime::format_duration(duration).to_string();
    text.replace(' ', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_names_the_first_are_told() {
        let names = |count: usize| (0..count).map(|n| format!("s{n}")).collect::<Vec<_>>();
        assert_eq!(some(&names(2)), "s0 and s1");
        assert!(some(&names(8)).ends_with("s6 and s7"));
        assert_eq!(some(&names(9)), "s0, s1, s2, s3, s4, s5, s6 and 2 more");
    }

    #[test]
    fn lengths_are_typed_as_options_take_them() {
        assert_eq!(typed(Duration::from_secs(9_000)), "2h30m");
        assert_eq!(typed(Duration::from_millis(200)), "200ms");
    }
}
