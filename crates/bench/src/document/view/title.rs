//! What was compared, on what machine, when.

use std::{collections::BTreeSet, fmt};

use deadheat_document::view::clean;
use deadheat_model::{
    TargetId,
    figure::{budgets, counted, list},
    heats::SessionHeader,
};
use deadheat_stats::standings::Standings;

/// Up to this many stacks are named; more are only counted.
const MOST_NAMES: usize = 2;

/// A report's title in three parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Title {
    /// What was compared ("18 HTTP stacks, 4 workloads").
    pub compared: String,
    /// On what machine ("AMD EPYC 7B13, 2 CPUs").
    pub machine: String,
    /// Whether nothing but that machine took part.
    pub alone: bool,
    /// When ("22 Nov 2026").
    pub date: String,
}

impl fmt::Display for Title {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} · {} · {}", self.compared, self.machine, self.date)
    }
}

pub(super) fn title(header: &SessionHeader, standings: &Standings) -> Title {
    Title {
        compared: compared(header, standings),
        machine: machine(header),
        alone: header.plan.hosts.is_none(),
        date: date(&header.started),
    }
}

fn compared(header: &SessionHeader, standings: &Standings) -> String {
    let rows = || {
        let tables = standings.loads.iter().flat_map(|load| &load.tables);
        tables.flat_map(|table| &table.rows).map(|row| &row.target)
    };
    let planned = header.plan.loads.iter().flat_map(|load| &load.targets);
    let asked_for = header.targets.iter().map(|one| &one.target);
    // Before anything is measured, what is going to be, or was asked for.
    let mut found: Vec<&TargetId> = rows().collect();
    if found.is_empty() {
        found = planned.chain(asked_for).collect();
    }
    let mut names: Vec<String> = Vec::new();
    for target in found {
        let name = clean(&target.on_cpus(None).to_string());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let stacks = match names.len() {
        0 => "No stacks".to_owned(),
        1..=MOST_NAMES => list(&names),
        many => format!("{many} HTTP stacks"),
    };
    let budgets = budgets(&header.plan.cpu_budgets()).map(|budgets| format!(" on {budgets}"));
    let stacks = stacks + &budgets.unwrap_or_default();
    let workloads: BTreeSet<&str> = standings
        .loads
        .iter()
        .map(|load| load.workload.as_str())
        .collect();
    let workloads = match (workloads.len(), workloads.first()) {
        (0, _) => return stacks,
        (1, Some(one)) => clean(one),
        (many, _) => counted(many, "workload"),
    };
    format!("{stacks}, {workloads}")
}

fn machine(header: &SessionHeader) -> String {
    let machine = &header.machine;
    let cpus = counted(machine.cpus.len(), "CPU");
    let own = match model(&machine.cpu_model) {
        model if model.is_empty() => cpus,
        model => format!("{model}, {cpus}"),
    };
    let generators = header.plan.hosts.iter().flat_map(|one| &one.generators);
    let loaded = match generators.count() {
        0 => String::new(),
        count => format!(", loaded from {}", counted(count, "other host")),
    };
    let database = match header.plan.database_host() {
        Some(_) => ", database on another host",
        None => "",
    };
    format!("{own}{loaded}{database}")
}

/// The processor's name without words that every name has ("Processor", "CPU", "64-Core").
fn model(name: &str) -> String {
    let name = name.split(" @ ").next().unwrap_or(name);
    let is_informative = |word: &&str| {
        let lower = word.to_lowercase();
        !matches!(lower.as_str(), "processor" | "cpu") && !lower.ends_with("-core")
    };
    let plain = name
        .replace("(R)", "")
        .replace("(TM)", "")
        .replace("(tm)", "");
    let words: Vec<&str> = plain.split_whitespace().filter(is_informative).collect();
    clean(&words.join(" "))
}

/// "22 Nov 2026" of an RFC 3339 time; what is none stays as it is.
fn date(started: &str) -> String {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let day = started.split('T').next().unwrap_or(started);
    let parts: Vec<&str> = day.split('-').collect();
    let [year, month, day_of_month] = parts.as_slice() else {
        return clean(day);
    };
    let month = month.parse::<usize>().ok();
    let month = month.and_then(|month| MONTHS.get(month.checked_sub(1)?));
    match (month, day_of_month.parse::<u32>()) {
        (Some(month), Ok(day)) => clean(&format!("{day} {month} {year}")),
        _ => clean(day),
    }
}

#[cfg(test)]
mod tests {
    use super::{date, model};

    #[test]
    fn dates_are_short_and_odd_ones_stay() {
        assert_eq!(date("2026-11-22T03:04:05Z"), "22 Nov 2026");
        assert_eq!(date("2026-01-02"), "2 Jan 2026");
        assert_eq!(date("2026-13-02T1"), "2026-13-02");
        assert_eq!(date("yesterday\u{1b}"), "yesterday\\u{1b}");
    }

    #[test]
    fn processors_have_short_names() {
        let cases = [
            ("AMD EPYC 7B13 64-Core Processor", "AMD EPYC 7B13"),
            ("Intel(R) Xeon(R) CPU @ 2.20GHz", "Intel Xeon"),
            ("AMD EPYC", "AMD EPYC"),
            ("", ""),
        ];
        for (name, short) in cases {
            assert_eq!(model(name), short);
        }
    }
}
