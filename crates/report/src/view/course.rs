//! The course of a session: every trial in the order in which it ran, and each block beside the others, so that a
//! machine that drifts is seen.

use deadheat_model::SessionRecord;
use deadheat_stats::{
    Analysis, Group, Metric,
    course::{self, BlockCourse, Standing, Step},
    verdict::TrialVerdict,
};
use serde::Serialize;

use super::{clean, doubts, words};
use crate::figure::{NONE, count, figure, percent, seconds};

/// The course of a session.
#[derive(Clone, Debug, Serialize)]
pub struct CourseView {
    /// What is shown and why so, in sentences.
    pub introduction: Vec<String>,
    /// Names of stacks and controls, to choose one of.
    pub stacks: Vec<String>,
    /// Each load point that has trials, in the order of the plan.
    pub points: Vec<CoursePoint>,
}

/// A load point.
#[derive(Clone, Debug, Serialize)]
pub struct CoursePoint {
    /// A name for links, unique in the report.
    pub anchor: String,
    /// The workload and its load.
    pub title: String,
    /// What is plotted.
    pub metric: String,
    /// Whether it is an open loop, whose throughput was given and tells nothing.
    pub is_open: bool,
    /// The range in which the blocks lay, in a sentence; `None` for a single block.
    pub summary: Option<String>,
    /// The blocks that have trials here.
    pub blocks: Vec<BlockRow>,
    /// The figures behind the plot.
    #[serde(skip)]
    pub plot: CoursePlot,
}

/// A block at a load point.
#[derive(Clone, Debug, Serialize)]
pub struct BlockRow {
    /// The block, from 1.
    pub block: String,
    /// When its first trial here started.
    pub began: String,
    /// The null server's figure.
    pub null_server: String,
    /// … as a share of its median over all blocks.
    pub null_ratio: String,
    /// The median over stacks of their trials as a share of their own medians.
    pub stacks: String,
    /// Trials that count.
    pub counted: String,
    /// Void ones.
    pub void: String,
    /// Those that were run because the one before was void.
    pub repetitions: String,
    /// Failed ones.
    pub failed: String,
    /// Others that were left out.
    pub left_out: String,
}

/// What a plot of trials in their order is made of.
#[derive(Clone, Debug, Default)]
pub struct CoursePlot {
    /// The trials of this load point.
    pub marks: Vec<Mark>,
    /// The blocks of the session.
    pub blocks: Vec<Span>,
    /// The medians over stacks in the blocks of this load point, by the block's number from 1.
    pub medians: Vec<(u32, f64)>,
    /// Places after which the session was resumed.
    pub pauses: Vec<f64>,
}

/// A block's part of the session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The block, from 1.
    pub block: u32,
    /// The place of its first trial among all trials of the session, from 1.
    pub first: usize,
    /// That of its last.
    pub last: usize,
}

/// A trial in a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Its place among all trials of the session, in the order in which they ended, from 1.
    pub place: usize,
    /// Its figure over its stack's own median.
    pub ratio: Option<f64>,
    /// How it is drawn.
    pub kind: MarkKind,
    /// Whose it is: the place in [`CourseView::stacks`].
    pub stack: usize,
    /// Stack, block, figure and verdict, in words.
    pub hover: String,
}

/// How a trial is drawn: the first that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// It failed.
    Failed,
    /// It was disturbed past the bound.
    Void,
    /// Its block is not complete, or another trial stands for it.
    LeftOut,
    /// The null server's.
    NullServer,
    /// The generator was the limit: its figure is a lower bound.
    Limited,
    /// It was run because the one before it was void, and counts.
    Repeated,
    /// Of the stack that was measured twice.
    Twice,
    /// Of that stack under its other name (A/A).
    Twin,
    /// Any other that counts.
    Counts,
}

/// The course of a session; `None` without a trial.
pub fn course(record: &SessionRecord, analysis: &Analysis) -> Option<CourseView> {
    let stacks = stacks(record);
    let spans = spans(record);
    let at = At {
        record,
        analysis,
        stacks: &stacks,
        spans: &spans,
    };
    let groups = analysis.groups.iter().enumerate();
    let points: Vec<CoursePoint> = groups
        .filter_map(|(index, group)| at.point(index, group))
        .collect();
    (!points.is_empty()).then(|| CourseView {
        introduction: introduction(record),
        stacks,
        points,
    })
}

fn introduction(record: &SessionRecord) -> Vec<String> {
    let mut sentences = vec![
        "Every trial in the order in which it ran, as a share of its own stack's median: a machine that becomes faster \
         or slower moves all stacks at once, however far apart they are, and that would not be seen between the stacks' \
         own figures on one axis."
            .to_owned(),
        "Stacks are compared within each block, so that a drift from block to block widens no difference."
            .to_owned(),
        "Pointing at a trial tells its stack, block, figure and verdict; what has no figure or lies beyond the axis stands \
         at its edge."
            .to_owned(),
    ];
    if record.header.plan.controls.null_server.is_some() {
        sentences.push(
            "The null server does nothing but answer: what moves its line is the machine, or the generator.".to_owned(),
        );
    }
    sentences
}

/// The plan's stacks, and the controls.
fn stacks(record: &SessionRecord) -> Vec<String> {
    let plan = &record.header.plan;
    let controls = plan.controls.null_server.iter();
    let controls = controls.chain(plan.controls.twin.as_ref().map(|twin| &twin.name));
    let all = plan.targets.iter().chain(controls);
    all.map(|target| clean(&plan.controls.shown(target)))
        .collect()
}

fn spans(record: &SessionRecord) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for (index, trial) in record.trials.iter().enumerate() {
        let (block, place) = (trial.block + 1, index + 1);
        match spans.last_mut() {
            Some(span) if span.block == block => span.last = place,
            _ => spans.push(Span {
                block,
                first: place,
                last: place,
            }),
        }
    }
    spans
}

struct At<'a> {
    record: &'a SessionRecord,
    analysis: &'a Analysis,
    stacks: &'a [String],
    spans: &'a [Span],
}

impl At<'_> {
    fn point(&self, index: usize, group: &Group) -> Option<CoursePoint> {
        let settings = &self.analysis.settings;
        let steps = course::steps(group, settings);
        let blocks = course::blocks(group, &steps, settings);
        if blocks.is_empty() {
            return None;
        }
        let medians = blocks
            .iter()
            .filter_map(|block| Some((block.block + 1, block.stacks?)));
        let pauses = self.record.resumed.iter();
        Some(CoursePoint {
            anchor: format!("course-{}", index + 1),
            title: words::at(group),
            metric: words::metric(group.metric),
            is_open: group.point.open.is_some(),
            summary: summary(&blocks),
            blocks: blocks
                .iter()
                .map(|block| self.row(group.metric, block))
                .collect(),
            plot: CoursePlot {
                marks: steps
                    .iter()
                    .filter_map(|step| self.mark(group, step))
                    .collect(),
                blocks: self.spans.to_vec(),
                medians: medians.collect(),
                pauses: pauses.map(|one| one.trials_before as f64 + 0.5).collect(),
            },
        })
    }

    fn row(&self, metric: Metric, block: &BlockCourse) -> BlockRow {
        let began = self.record.trials.get(block.first);
        let share = |ratio: f64| percent(ratio);
        let null = block.null_server;
        let number = |number: usize| count(number as u64);
        BlockRow {
            block: count(u64::from(block.block) + 1),
            began: began.map_or(NONE.to_owned(), |trial| clean(&trial.started)),
            null_server: null.map_or(NONE.to_owned(), |(value, _)| worded(metric, value)),
            null_ratio: null.map_or(NONE.to_owned(), |(_, ratio)| share(ratio)),
            stacks: block.stacks.map_or(NONE.to_owned(), share),
            counted: number(block.counted),
            void: number(block.void),
            repetitions: number(block.repetitions),
            failed: number(block.failed),
            left_out: number(block.left_out),
        }
    }

    fn mark(&self, group: &Group, step: &Step<'_>) -> Option<Mark> {
        let controls = &self.record.header.plan.controls;
        let name = clean(&controls.shown(&step.cell.target));
        let stack = self.stacks.iter().position(|other| *other == name)?;
        let trial = step.trial;
        let place = trial.record + 1;
        let again = match trial.attempt {
            0 => String::new(),
            again => format!(" (repetition {again})"),
        };
        let figure = step.figure.map(|value| match step.ratio {
            Some(ratio) => format!(
                "{}, {} of its median",
                with_unit(group.metric, value),
                percent(ratio)
            ),
            None => with_unit(group.metric, value),
        });
        let left_out = match step.standing {
            Standing::LeftOut => "; left out",
            Standing::Counted | Standing::Void => "",
        };
        Some(Mark {
            place,
            ratio: step.ratio,
            kind: kind(group, step),
            stack,
            hover: format!(
                "{name}, block {}{again}, trial {place}: {}; {}{left_out}",
                trial.block + 1,
                figure.unwrap_or_else(|| "no figure".to_owned()),
                doubts::verdict(&trial.verdict)
            ),
        })
    }
}

fn kind(group: &Group, step: &Step<'_>) -> MarkKind {
    let target = &step.cell.target;
    let ceiling = group.ceiling.as_ref();
    let twin = group.twin.as_ref();
    match (&step.trial.verdict, step.standing) {
        (TrialVerdict::Failed { .. }, _) => MarkKind::Failed,
        (_, Standing::Void) => MarkKind::Void,
        (_, Standing::LeftOut) => MarkKind::LeftOut,
        _ if ceiling.is_some_and(|one| one.cell.target == *target) => MarkKind::NullServer,
        (TrialVerdict::GeneratorLimited { .. }, _) => MarkKind::Limited,
        _ if step.trial.attempt > 0 => MarkKind::Repeated,
        _ if twin.is_some_and(|twin| twin.cell.target == *target) => MarkKind::Twin,
        _ if twin.is_some_and(|twin| twin.of == *target) => MarkKind::Twice,
        _ => MarkKind::Counts,
    }
}

/// Between which shares the blocks lay.
fn summary(blocks: &[BlockCourse]) -> Option<String> {
    let range = |of: fn(&BlockCourse) -> Option<f64>| {
        let values: Vec<f64> = blocks.iter().filter_map(of).collect();
        let least = values.iter().copied().fold(f64::MAX, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        (values.len() > 1).then(|| format!("{} to {}", percent(least), percent(most)))
    };
    let null = range(|block| block.null_server.map(|(_, ratio)| ratio));
    let stacks = range(|block| block.stacks);
    let null = null.map(|range| format!("the null server was at {range} of its median"));
    let stacks = stacks.map(|range| format!("the stacks' median was at {range} of their own"));
    let parts: Vec<String> = null.into_iter().chain(stacks).collect();
    (!parts.is_empty()).then(|| format!("From block to block {}.", parts.join("; ")))
}

/// A figure of a column that says its unit.
fn worded(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Throughput => figure(value),
        Metric::ResponseTime { .. } => seconds(value),
    }
}

fn with_unit(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Throughput => format!("{} requests/s", figure(value)),
        Metric::ResponseTime { percent } => format!("p{percent} {}", seconds(value)),
    }
}
