//! Blocks, measurement and latency: the best that fits the budget.

use std::time::Duration;

use deadheat_model::{
    LoadPhase,
    choice::{
        Choice, EVIDENCE_BLOCKS, LEAST_BLOCKS, LEAST_PHASE, LONGEST_MEASUREMENT, LatencyChoice,
        MOST_BLOCKS, Origin, Purpose, ShortPhase,
    },
};

use super::{layout::Layout, offers::offers};
use crate::session::{LatencyMode, SessionOptions};

/// Measurements that a budget chooses from, the best first.
const MEASUREMENTS: [Duration; 4] = [
    LONGEST_MEASUREMENT,
    Duration::from_secs(3),
    Duration::from_secs(2),
    LEAST_PHASE,
];

/// The least measurement with which latency comes unasked: the percentiles that it is about need thousands of answers
/// (p99: 10,000), and open loops have fewer than the closed one.
const LATENCY_MEASURE: Duration = Duration::from_secs(3);

/// What can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rung {
    pub(super) blocks: u32,
    pub(super) measure: Duration,
    /// Whether open loops are in it.
    pub(super) latency: bool,
}

/// Numbers of blocks, the best first.
fn blocks(options: &SessionOptions) -> Vec<u32> {
    if let Some(asked) = options.blocks {
        return vec![asked];
    }
    let least = options.purpose.least_blocks();
    // Without a budget, what takes very long is no longer than it has to be.
    let within = |most: u32| options.budget.map_or(least, |_| most);
    let most = match options.purpose {
        Purpose::Usual => EVIDENCE_BLOCKS,
        Purpose::FirstLook => least,
        Purpose::Publication => within(MOST_BLOCKS),
        Purpose::Repetition => within(EVIDENCE_BLOCKS),
    };
    (least..=most).rev().collect()
}

/// Measurements, the best first.
fn measurements(options: &SessionOptions) -> Vec<Duration> {
    match (options.measure, options.purpose) {
        (Some(asked), _) => vec![asked],
        (None, Purpose::Usual | Purpose::Repetition) => MEASUREMENTS.into(),
        (None, Purpose::FirstLook) => vec![LEAST_PHASE],
        (None, Purpose::Publication) => vec![LONGEST_MEASUREMENT],
    }
}

/// Blocks and measurement, best first. More blocks come before longer measurements, because runs differ more between
/// processes than inside one (Kalibera & Jones, ISMM 2013): a measurement grows when all blocks fit and there is time to
/// spare.
fn ladder(options: &SessionOptions) -> Vec<(u32, Duration)> {
    let (blocks, measurements) = (blocks(options), measurements(options));
    let longer = measurements.iter().map(|measure| (blocks[0], *measure));
    let shortest = measurements[measurements.len() - 1];
    let fewer = blocks[1..].iter().map(|blocks| (*blocks, shortest));
    longer.chain(fewer).collect()
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
    let all = with.iter().flat_map(|latency| {
        ladder.iter().map(|&(blocks, measure)| Rung {
            blocks,
            measure,
            latency: *latency,
        })
    });
    // Latency is the second question: unless it is asked for, it waits until there are enough blocks for the first one,
    // and measurements long enough for its own figure.
    let insists = options.latency == LatencyMode::On;
    let has_room = |rung: &Rung| rung.blocks >= EVIDENCE_BLOCKS && rung.measure >= LATENCY_MEASURE;
    all.filter(|rung| !rung.latency || insists || has_room(rung))
        .collect()
}

/// The cells of a session without and with open loops.
pub(super) struct Layouts<'a> {
    pub(super) closed: Layout<'a>,
    pub(super) with_open: Layout<'a>,
}

impl Layouts<'_> {
    fn can_be_open(&self) -> bool {
        self.with_open.has_open()
    }

    pub(super) fn time(&self, options: &SessionOptions, rung: &Rung) -> Duration {
        let layout = if rung.latency {
            &self.with_open
        } else {
            &self.closed
        };
        layout.time(options, rung)
    }
}

/// What there is to choose from, and how long each takes.
pub(super) struct Rungs {
    /// Best first; never empty.
    all: Vec<(Rung, Duration)>,
}

impl Rungs {
    pub(super) fn of(options: &SessionOptions, layouts: &Layouts<'_>) -> Self {
        let rungs = rungs(options, layouts.can_be_open()).into_iter();
        let timed = rungs.map(|rung| (rung, layouts.time(options, &rung)));
        Self {
            all: timed.collect(),
        }
    }

    /// The best that fits `budget`.
    pub(super) fn fitting(&self, budget: Option<Duration>) -> Option<Rung> {
        let fits = |time: Duration| budget.is_none_or(|budget| time <= budget);
        let mut all = self.all.iter();
        all.find(|(_, time)| fits(*time)).map(|(rung, _)| *rung)
    }

    /// The least that means anything.
    pub(super) fn least(&self) -> Option<Rung> {
        self.all.last().map(|(rung, _)| *rung)
    }

    /// The time of the shortest one that is `wanted`.
    pub(super) fn shortest(&self, wanted: impl Fn(&Rung) -> bool) -> Option<Duration> {
        let wanted = self.all.iter().filter(|(rung, _)| wanted(rung));
        wanted.map(|(_, time)| *time).min()
    }
}

/// Chooses, and says why.
pub(super) fn chosen(options: &SessionOptions, layouts: &Layouts<'_>) -> (Rung, Choice) {
    let rungs = Rungs::of(options, layouts);
    let fitting = rungs.fitting(options.budget);
    let rung = fitting.or(rungs.least()).unwrap_or(Rung {
        blocks: LEAST_BLOCKS,
        measure: LEAST_PHASE,
        latency: false,
    });
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
        latency: latency(options, layouts.can_be_open(), rung),
        too_short: if layouts.can_be_open() {
            too_short(options)
        } else {
            Vec::new()
        },
        offers: offers(options, &rungs, rung),
    };
    (rung, choice)
}

fn latency(options: &SessionOptions, can_be_open: bool, rung: Rung) -> LatencyChoice {
    match (options.latency, rung.latency) {
        (LatencyMode::Off, _) => LatencyChoice::Off,
        _ if !can_be_open => LatencyChoice::NoClosedLoop,
        (LatencyMode::On, _) => LatencyChoice::Asked,
        (LatencyMode::Auto, true) => LatencyChoice::Fits,
        (LatencyMode::Auto, false) if never_enough(options) => LatencyChoice::FewBlocks,
        (LatencyMode::Auto, false) => LatencyChoice::TooLong,
    }
}

/// Whether no budget could make the blocks enough for latency.
fn never_enough(options: &SessionOptions) -> bool {
    blocks(options)
        .iter()
        .all(|blocks| *blocks < EVIDENCE_BLOCKS)
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
