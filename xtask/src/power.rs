//! `cargo xtask power`: how often a difference between stacks is found, from simulated sessions, as Markdown.
#![allow(clippy::print_stdout)]

use std::{ops::Range, thread};

use clap::Args;
use deadheat_simulation::{
    Machine,
    power::{self, BLOCKS, EFFECTS, NOISES, SESSIONS, STACKS},
};

/// What is simulated.
#[derive(Args)]
pub(crate) struct Options {
    /// Sessions behind each figure
    #[arg(long, default_value_t = SESSIONS)]
    sessions: u32,
}

/// Prints a table for each number of stacks.
pub(crate) fn power(options: &Options) {
    for stacks in STACKS {
        println!("{}", table(stacks, 0..u64::from(options.sessions)));
    }
}

fn table(stacks: usize, seeds: Range<u64>) -> String {
    let header = format!(
        "| {stacks} stacks: noise | difference | {} |\n| --- | --- |{}\n",
        BLOCKS.map(|blocks| format!("{blocks} blocks")).join(" | "),
        " ---: |".repeat(BLOCKS.len()),
    );
    // Each noise on a thread of its own.
    let parts = thread::scope(|scope| {
        NOISES
            .map(|noise| {
                let seeds = seeds.clone();
                scope.spawn(move || EFFECTS.map(|effect| row(stacks, noise, effect, &seeds)))
            })
            .map(|rows| rows.join().expect("a simulation does not panic").concat())
    });
    header + &parts.concat()
}

fn row(stacks: usize, noise: f64, effect: f64, seeds: &Range<u64>) -> String {
    let cells = BLOCKS.map(|blocks| {
        let machine = Machine::drifting(noise);
        let found = power::found(effect, stacks, machine, blocks, seeds.clone());
        per_cent((found.rate() * 100.0).round())
    });
    let (noise, effect) = (per_cent(noise * 100.0), per_cent(effect * 100.0));
    format!("| {noise} | {effect} | {} |\n", cells.join(" | "))
}

/// A whole or half per cent, without the digits that binary fractions add.
fn per_cent(value: f64) -> String {
    format!("{} %", (value * 10.0).round() / 10.0)
}
