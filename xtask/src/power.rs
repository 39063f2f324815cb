//! `cargo xtask power`: how often a difference between stacks is found, from simulated sessions, as Markdown.
#![allow(clippy::print_stdout)]

use std::{ops::Range, thread};

use clap::{Args, ValueEnum};
use deadheat_simulation::heats;

/// What is simulated.
#[derive(Args)]
pub(crate) struct Options {
    /// Tables of docs/statistics.md, all by default
    tables: Vec<Table>,
    /// Sessions behind each figure
    #[arg(long, default_value_t = heats::power::SESSIONS)]
    sessions: u64,
}

/// A table of docs/statistics.md.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    /// How precise heats are, and what they find
    Precision,
    /// How often heats are wrong
    Errors,
    /// Members that are not alike
    Unlike,
    /// What a gate makes of changes of known size
    Gate,
}

impl Table {
    fn make(self, seeds: Range<u64>) -> String {
        match self {
            Self::Precision => heats_table(seeds),
            Self::Errors => evidence_table(seeds),
            Self::Unlike => unlike_table(seeds),
            Self::Gate => gate_table(seeds),
        }
    }
}

/// Prints the tables of docs/statistics.md.
pub(crate) fn power(options: &Options) {
    for table in Table::value_variants() {
        if options.tables.is_empty() || options.tables.contains(table) {
            println!("{}", table.make(0..options.sessions));
        }
    }
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
        let pairs = half.iter().map(|half| plus_minus(half.pairs));
        let best = half.iter().map(|half| plus_minus(half.best));
        let mut rows = heats_row(members, "half width of a pair alone", pairs);
        rows += &heats_row(members, "half width beside the best", best);
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

fn plus_minus(half: f64) -> String {
    format!("±{:.1} %", half * 100.0)
}

/// How often heats are wrong.
fn evidence_table(seeds: Range<u64>) -> String {
    let header = "| sessions | 95 % intervals that hold the truth | for the worst and the best pair | all beside the best \
                  | false differences | false dead heats |\n| --- | ---: | ---: | ---: | ---: | ---: |\n";
    let row = |(name, field, heats): &(&str, heats::Field, usize)| {
        let found = heats::evidence(field, *heats, seeds.clone(), &Default::default());
        format!(
            "| {name}, {heats} heats | {} | {} to {} | {} | {} | {} |\n",
            share(found.covered),
            share(found.pairs.0),
            share(found.pairs.1),
            share(found.best),
            share(found.false_differences),
            share(found.false_dead_heats),
        )
    };
    let rows = on_two_threads(&heats::power::cases(), row);
    let looked = heats::power::looked_cases().map(|(name, field, most)| {
        let found = heats::sequential_evidence(&field, most, seeds.clone(), &Default::default());
        format!(
            "| {name}, at most {most} heats | | | | {} | {} |\n",
            share(found.false_differences),
            share(found.false_dead_heats),
        )
    });
    header.to_owned() + &rows + &looked.concat()
}

/// What one member that is not like the others does to all.
fn unlike_table(seeds: Range<u64>) -> String {
    let header = "| members | heats | a pair of the others | a member beside the best | worst pair | false differences \
                  | false dead heats |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    let row = |(name, field): &(&str, heats::Field)| {
        let rows = heats::power::UNLIKE_HEATS.map(|heats| {
            let found = heats::evidence(field, heats, seeds.clone(), &Default::default());
            format!(
                "| {name} | {heats} | {} | {} | {} | {} | {} |\n",
                plus_minus(found.half_widths.others),
                plus_minus(found.half_widths.best),
                share(found.pairs.0),
                share(found.false_differences),
                share(found.false_dead_heats),
            )
        });
        rows.concat()
    };
    header.to_owned() + &on_two_threads(&heats::power::unlike_cases(), row)
}

/// What a gate makes of changes of known size.
fn gate_table(seeds: Range<u64>) -> String {
    let header = "| B ÷ A, truly | heats at most | fails | undecided | heats, on average |\n\
                  | ---: | ---: | ---: | ---: | ---: |\n";
    let most = heats::power::GATE_MOST_HEATS.into_iter();
    let cases = most.flat_map(|most| heats::power::GATE_RATIOS.map(|ratio| (ratio, most)));
    let row = |(ratio, most): &(f64, u32)| {
        let found = heats::gate(*ratio, heats::power::GATE_BOUND, *most, seeds.clone());
        format!(
            "| {ratio:.2} | {most} | {} | {} | {:.0} |\n",
            share(found.fails),
            share(found.undecided),
            found.heats
        )
    };
    header.to_owned() + &on_two_threads(&cases.collect::<Vec<_>>(), row)
}

/// The rows of all cases, in their order.
fn on_two_threads<C: Sync>(cases: &[C], row: impl Fn(&C) -> String + Sync) -> String {
    let (one, other) = cases.split_at(cases.len() / 2);
    let rows = thread::scope(|scope| {
        let row = &row;
        let half = |cases| scope.spawn(move || <[C]>::iter(cases).map(row).collect::<String>());
        [half(one), half(other)].map(|rows| rows.join().expect("a simulation does not panic"))
    });
    rows.concat()
}

fn share(share: deadheat_simulation::Share) -> String {
    format!("{:.1} %", share.rate() * 100.0)
}

/// A whole or half per cent, without the digits that binary fractions add.
fn per_cent(value: f64) -> String {
    format!("{} %", (value * 10.0).round() / 10.0)
}
