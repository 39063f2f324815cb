//! Blocks, measurement and latency: the best that fits the budget.

use std::time::Duration;

use deadheat_model::{
    LoadPhase,
    choice::{
        Choice, EVIDENCE_BLOCKS, LEAST_BLOCKS, LEAST_PHASE, LatencyChoice, Origin,
        PUBLISHED_BLOCKS, Purpose, ShortPhase,
    },
};

use super::layout::Layout;
use crate::session::{LatencyMode, SessionOptions};

/// The longest measurements come first: what fits with the most blocks is chosen among these, in seconds.
const MEASUREMENTS: [u64; 4] = [5, 3, 2, 1];
/// More blocks than these are never chosen for a publication: the interval hardly gets narrower.
const MOST_PUBLISHED_BLOCKS: u32 = 30;

/// What can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rung {
    pub(super) blocks: u32,
    pub(super) measure: Duration,
    /// Whether open loops are in it.
    pub(super) latency: bool,
}

/// Blocks and measurement, best first. More blocks come before longer measurements, because runs differ more between
/// processes than inside one (Kalibera & Jones, ISMM 2013); a measurement grows when there is time to spare.
fn ladder(options: &SessionOptions) -> Vec<(u32, Duration)> {
    let second = Duration::from_secs;
    let usual: Vec<(u32, Duration)> = match options.purpose {
        Purpose::Usual => {
            let evidence = MEASUREMENTS.map(|seconds| (EVIDENCE_BLOCKS, second(seconds)));
            let fewer = (LEAST_BLOCKS..EVIDENCE_BLOCKS).rev();
            let fewer = fewer.map(|blocks| (blocks, LEAST_PHASE));
            evidence.into_iter().chain(fewer).collect()
        }
        Purpose::FirstLook => vec![(LEAST_BLOCKS, LEAST_PHASE)],
        Purpose::Publication => {
            // Without a budget it is no longer than it has to be.
            let most = options
                .budget
                .map_or(PUBLISHED_BLOCKS, |_| MOST_PUBLISHED_BLOCKS);
            let blocks = (PUBLISHED_BLOCKS..=most).rev();
            blocks.map(|blocks| (blocks, second(5))).collect()
        }
    };
    let mut rungs: Vec<(u32, Duration)> = match options.blocks {
        None => usual,
        // With so many blocks, the measurement is what can still be chosen.
        Some(blocks) => match options.purpose {
            Purpose::Usual => MEASUREMENTS.map(|seconds| (blocks, second(seconds))).into(),
            Purpose::FirstLook => vec![(blocks, LEAST_PHASE)],
            Purpose::Publication => vec![(blocks, second(5))],
        },
    };
    if let Some(measure) = options.measure {
        rungs.iter_mut().for_each(|rung| rung.1 = measure);
        rungs.dedup();
    }
    rungs
}

/// Everything that can be chosen, best first; the last is the least that means anything.
fn rungs(options: &SessionOptions, can_be_open: bool) -> Vec<Rung> {
    let with: &[bool] = match options.latency {
        _ if !can_be_open => &[false],
        LatencyMode::On => &[true],
        LatencyMode::Off => &[false],
        LatencyMode::Auto => &[true, false],
    };
    let ladder = ladder(options);
    // Latency is a second question: it waits until the first one is answered with enough blocks.
    let enough = |blocks: u32| options.blocks.is_some() || blocks >= EVIDENCE_BLOCKS;
    let all = with.iter().flat_map(|latency| {
        ladder.iter().map(|&(blocks, measure)| Rung {
            blocks,
            measure,
            latency: *latency,
        })
    });
    let insists = options.latency == LatencyMode::On;
    all.filter(|rung| !rung.latency || insists || enough(rung.blocks))
        .collect()
}

/// Chooses for a session with these cells, with and without open loops.
pub(super) fn chosen(
    options: &SessionOptions,
    closed: &Layout<'_>,
    with_open: &Layout<'_>,
) -> (Rung, Choice) {
    let can_be_open = with_open.has_open();
    let rungs = rungs(options, can_be_open);
    let fits = |rung: &&Rung| {
        let layout = if rung.latency { with_open } else { closed };
        let time = layout.time(options, rung);
        options.budget.is_none_or(|budget| time <= budget)
    };
    let fitting = rungs.iter().find(fits);
    let least = Rung {
        blocks: options.blocks.unwrap_or(LEAST_BLOCKS),
        measure: options.measure.unwrap_or(LEAST_PHASE),
        latency: false,
    };
    let rung = *fitting.or(rungs.last()).unwrap_or(&least);
    let chosen_from = match (fitting, options.budget) {
        (None, _) => Origin::Least,
        (Some(_), None) => Origin::Purpose,
        (Some(_), Some(_)) => Origin::Budget,
    };
    let from = |asked: bool, fixed: bool| match () {
        () if asked => Origin::Asked,
        () if fixed => Origin::Purpose,
        () => chosen_from,
    };
    let looks = options.purpose == Purpose::FirstLook;
    let publishes = options.purpose == Purpose::Publication;
    let choice = Choice {
        purpose: options.purpose,
        blocks_from: from(options.blocks.is_some(), looks),
        measure: rung.measure,
        measure_from: from(options.measure.is_some(), looks || publishes),
        latency: latency(options, can_be_open, rung),
        too_short: too_short(options),
        offers: Vec::new(),
    };
    (rung, choice)
}

fn latency(options: &SessionOptions, can_be_open: bool, rung: Rung) -> LatencyChoice {
    match (options.latency, rung.latency) {
        (LatencyMode::Off, _) => LatencyChoice::Off,
        _ if !can_be_open => LatencyChoice::NoClosedLoop,
        (LatencyMode::On, _) => LatencyChoice::Asked,
        (LatencyMode::Auto, true) => LatencyChoice::Fits,
        (LatencyMode::Auto, false) => LatencyChoice::TooLong,
    }
}

/// What the user wants shorter than means anything. It is taken, and said.
fn too_short(options: &SessionOptions) -> Vec<ShortPhase> {
    let asked = [
        (LoadPhase::WarmUp, options.warm_up),
        (LoadPhase::Measurement, options.measure),
    ];
    let short = asked.into_iter().filter_map(|(phase, length)| {
        let length = length.filter(|length| *length < LEAST_PHASE)?;
        Some(ShortPhase { phase, length })
    });
    short.collect()
}
