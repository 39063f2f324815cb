//! The first sentence about reports of other tools: whether they can rank the servers, and if so, which is the fastest.

use std::collections::BTreeMap;

use deadheat_model::{
    figure::{counted, figure},
    imported::{ENOUGH_RUNS, Run},
};

/// Whether the runs can rank the servers, and what there is.
pub(super) fn headline(runs: &[Run], tables: &[&[Run]]) -> String {
    let mut tools: Vec<&str> = runs.iter().map(|run| run.tool.name()).collect();
    tools.sort_unstable();
    tools.dedup();
    let what = format!("{} of {}", counted(runs.len(), "run"), tools.join(", "));
    if let [run] = runs {
        return match (run.valid_rate(), run.invalid()) {
            (Some(rate), _) => format!("{what}: {} requests/s.", figure(rate)),
            (None, why) => {
                let why = why.unwrap_or("the report has none");
                format!("{what}: its rate cannot be used, because {why}.")
            }
        };
    }
    let rankings: Vec<Result<String, &str>> = tables.iter().map(|table| fastest(table)).collect();
    let found: Vec<&String> = rankings
        .iter()
        .filter_map(|one| one.as_ref().ok())
        .collect();
    if !found.is_empty() {
        let found: Vec<&str> = found.iter().map(|one| one.as_str()).collect();
        let within = if tables.len() == 1 {
            ""
        } else {
            "; the tables are different loads, so compare within one"
        };
        return format!(
            "{what}{within}. The highest mean rate is {}.",
            found.join("; ")
        );
    }
    let mut names: Vec<String> = runs.iter().map(Run::name).collect();
    names.sort_unstable();
    names.dedup();
    let is_one_server = names.len() == 1;
    let has_rate = runs.iter().any(|run| run.valid_rate().is_some());
    if is_one_server && has_rate {
        return format!("{what}, all of one server: {}.", range(runs));
    }
    let mut reasons: Vec<&str> = Vec::new();
    if !has_rate {
        reasons.push("no rate can be used");
    } else {
        if tables.len() > 1 {
            reasons.push("the tables are different loads");
        }
        for reason in rankings.iter().filter_map(|one| one.as_ref().err()) {
            if !reasons.contains(reason) {
                reasons.push(reason);
            }
        }
    }
    format!(
        "None of these runs can rank the servers: {}. There are {what}.",
        reasons.join("; ")
    )
}

/// The fastest server of a table, or why nobody can tell.
fn fastest(table: &[Run]) -> Result<String, &'static str> {
    let valid: Vec<(&Run, f64)> = table
        .iter()
        .filter_map(|run| Some((run, run.valid_rate()?)))
        .collect();
    let mut servers: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (run, rate) in &valid {
        servers.entry(run.name()).or_default().push(*rate);
    }
    let Some((first, _)) = valid.first() else {
        return Err("no rate of a table can be used");
    };
    if servers.len() < 2 {
        return Err("a table has one server alone");
    }
    let is_same = |run: &Run| {
        let (load, other) = (&run.load, &first.load);
        (load.connections, load.rate, load.is_open)
            == (other.connections, other.rate, other.is_open)
    };
    if !valid.iter().all(|(run, _)| is_same(run)) {
        return Err("the servers did not have the same load");
    }
    if servers.values().any(|rates| rates.len() < ENOUGH_RUNS) {
        return Err("fewer than three runs of a server cannot tell a difference from chance");
    }
    let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
    let means = servers.iter().map(|(name, rates)| (name, mean(rates)));
    let best = means.max_by(|one, other| one.1.total_cmp(&other.1));
    let (name, rate) = best.ok_or("a table has no server")?;
    let section = first.section.as_deref();
    let section = section.map_or_else(String::new, |section| format!(" ({section})"));
    Ok(format!("{} requests/s, of {name}{section}", figure(rate)))
}

/// The lowest and the highest rate.
fn range(runs: &[Run]) -> String {
    let rates = runs.iter().filter_map(Run::valid_rate);
    let (low, high) = rates.fold((f64::INFINITY, 0.0_f64), |(low, high), rate| {
        (low.min(rate), high.max(rate))
    });
    format!("{} to {} requests/s", figure(low), figure(high))
}
