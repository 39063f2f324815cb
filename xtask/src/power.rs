//! `cargo xtask power`: how often a difference between stacks is found, from simulated sessions, as Markdown.
#![allow(clippy::print_stdout)]

use std::{ops::Range, thread};

use clap::Args;
use deadheat_simulation::heats;

/// What is simulated.
#[derive(Args)]
pub(crate) struct Options {
    /// Sessions behind each figure
    #[arg(long, default_value_t = heats::power::SESSIONS)]
    sessions: u64,
}

/// Prints the tables of docs/statistics.md.
pub(crate) fn power(options: &Options) {
    println!("{}", heats_table(0..options.sessions));
    println!("{}", evidence_table(0..options.sessions));
}

/// How precise heats are, and what they find.
fn heats_table(seeds: Range<u64>) -> String {
    let heats = heats::power::HEATS;
    let header = format!(
        "| members | | {} |\n| --- | --- |{}\n",
        heats.map(|heats| format!("{heats} heats")).join(" | "),
        " ---: |".repeat(heats.len()),
    );
    let part = |members: usize| {
        let half = heats::power::precision(members, seeds.clone());
        let half = half
            .into_iter()
            .map(|half| format!("±{:.1} %", half * 100.0));
        let mut rows = heats_row(members, "half width of a 95 % interval", half);
        for effect in heats::power::EFFECTS {
            let what = match effect {
                0.0 => "equal: dead heat within 3 %".to_owned(),
                _ => format!("{} faster: found", per_cent(effect * 100.0)),
            };
            let found = heats::power::found(members, effect, seeds.clone());
            let found = found
                .into_iter()
                .map(|found| format!("{:.0} %", found * 100.0));
            rows += &heats_row(members, &what, found);
        }
        rows
    };
    // Each number of members on a thread of its own.
    let parts = thread::scope(|scope| {
        let part = &part;
        heats::power::MEMBERS
            .map(|members| scope.spawn(move || part(members)))
            .map(|rows| rows.join().expect("a simulation does not panic"))
    });
    header + &parts.concat()
}

fn heats_row(members: usize, what: &str, cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.collect();
    format!("| {members} | {what} | {} |\n", cells.join(" | "))
}

/// How often heats are wrong.
fn evidence_table(seeds: Range<u64>) -> String {
    let header = "| sessions | 95 % intervals that hold the truth | for the worst and the best pair | false differences \
                  | false dead heats |\n| --- | ---: | ---: | ---: | ---: |\n";
    let share = |share: deadheat_simulation::Share| format!("{:.1} %", share.rate() * 100.0);
    let row = |(name, field, heats): &(&str, heats::Field, usize)| {
        let found = heats::evidence(field, *heats, seeds.clone(), &Default::default());
        format!(
            "| {name}, {heats} heats | {} | {} to {} | {} | {} |\n",
            share(found.covered),
            share(found.pairs.0),
            share(found.pairs.1),
            share(found.false_differences),
            share(found.false_dead_heats),
        )
    };
    let cases = heats::power::cases();
    let (one, other) = cases.split_at(cases.len() / 2);
    let rows = thread::scope(|scope| {
        let row = &row;
        let half = |cases| scope.spawn(move || <[_]>::iter(cases).map(row).collect::<String>());
        [half(one), half(other)].map(|rows| rows.join().expect("a simulation does not panic"))
    });
    let looked = heats::power::looked_cases().map(|(name, field, most)| {
        let found = heats::looked(&field, most, seeds.clone(), &Default::default());
        format!(
            "| {name}, at most {most} heats | | | {} | {} |\n",
            share(found.false_differences),
            share(found.false_dead_heats),
        )
    });
    header.to_owned() + &rows.concat() + &looked.concat()
}

/// A whole or half per cent, without the digits that binary fractions add.
fn per_cent(value: f64) -> String {
    format!("{} %", (value * 10.0).round() / 10.0)
}
