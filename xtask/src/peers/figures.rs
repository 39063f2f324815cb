//! From trials to what they say. All statistics are those of `deadheat_stats`.

use deadheat_stats::interval::{Interval, LogMean, MedianInterval, log_mean, median_interval};

use super::{
    case::{Case, Figure, Target},
    tool::Tool,
    trial::{Figures, Trial},
};

/// The level that intervals aim at (0 to 1).
const LEVEL: f64 = 0.95;

/// What the trials of one tool in one case say.
pub(crate) struct Summary {
    /// The tool.
    pub(crate) tool: Tool,
    /// Its trials.
    pub(crate) trials: usize,
    /// Those that count.
    pub(crate) counted: usize,
    /// Why the first one that does not count does not.
    pub(crate) fault: Option<String>,
    /// Answered requests per second.
    pub(crate) throughput: Option<MedianInterval>,
    /// CPU time per answered request, in microseconds.
    pub(crate) cpu_us: Option<MedianInterval>,
    /// The largest resident set, in bytes.
    pub(crate) peak_bytes: Option<MedianInterval>,
    /// Deadheat's CPU time per answered request over this tool's, paired within blocks.
    pub(crate) cpu_ratio: Option<LogMean>,
    /// Deadheat's largest resident set over this tool's, paired within blocks.
    pub(crate) memory_ratio: Option<LogMean>,
}

/// How Deadheat stands to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The whole interval is within it.
    Met,
    /// The whole interval is beyond it.
    Missed,
    /// The interval holds it, or there is none.
    NotDecided,
}

/// A target with what was found.
pub(crate) struct Judged {
    /// The target.
    pub(crate) target: Target,
    /// The figure; `None`: nothing was measured.
    pub(crate) value: Option<f64>,
    /// Its interval; `None` with fewer than two blocks.
    pub(crate) interval: Option<Interval>,
    /// How it stands.
    pub(crate) verdict: Verdict,
}

/// What the trials of a case say of each tool, in the order of `tools`.
pub(crate) fn summarise(tools: &[Tool], trials: &[Trial]) -> Vec<Summary> {
    let level = LEVEL;
    let summary = |tool: &Tool| {
        let of_tool = || trials.iter().filter(|trial| trial.tool == *tool);
        let counted: Vec<&Figures> = of_tool()
            .filter_map(|trial| trial.outcome.as_ref().ok())
            .collect();
        let median = |value: fn(&Figures) -> f64| {
            let values: Vec<f64> = counted.iter().map(|figures| value(figures)).collect();
            median_interval(&values, level)
        };
        let ratio = |value: fn(&Figures) -> f64| {
            let compared = *tool != Tool::Deadheat;
            compared.then(|| log_mean(&ratios(trials, *tool, value), level))?
        };
        Summary {
            tool: *tool,
            trials: of_tool().count(),
            counted: counted.len(),
            fault: of_tool().find_map(|trial| trial.outcome.clone().err()),
            throughput: median(Figures::answers_per_second),
            cpu_us: median(Figures::cpu_us_per_answer),
            peak_bytes: median(peak_bytes),
            cpu_ratio: ratio(Figures::cpu_us_per_answer),
            memory_ratio: ratio(peak_bytes),
        }
    };
    tools.iter().map(summary).collect()
}

fn peak_bytes(figures: &Figures) -> f64 {
    figures.peak_bytes as f64
}

/// Deadheat's value over a peer's, for each block in which both count.
fn ratios(trials: &[Trial], peer: Tool, value: fn(&Figures) -> f64) -> Vec<f64> {
    let in_block = |tool: Tool, block: u32| {
        let mut all = trials.iter();
        let trial = all.find(|trial| trial.tool == tool && trial.block == block)?;
        trial.outcome.as_ref().ok().map(value)
    };
    let blocks = trials
        .iter()
        .filter(|trial| trial.tool == Tool::Deadheat)
        .map(|trial| trial.block);
    blocks
        .filter_map(|block| Some(in_block(Tool::Deadheat, block)? / in_block(peer, block)?))
        .collect()
}

/// How Deadheat stands to each target of a case.
pub(crate) fn judge(case: Case, summaries: &[Summary], trials: &[Trial]) -> Vec<Judged> {
    let judged = |target: &Target| {
        let (value, interval, most) = match *target {
            Target::Ratio { figure, peer, most } => {
                let summary = summaries.iter().find(|summary| summary.tool == peer);
                let ratio = summary.and_then(|summary| match figure {
                    Figure::Cpu => summary.cpu_ratio,
                    Figure::Memory => summary.memory_ratio,
                });
                (
                    ratio.map(|ratio| ratio.mean),
                    ratio.and_then(|ratio| ratio.interval),
                    most,
                )
            }
            Target::SendLag { most_us } => {
                let lag = send_lag_us(trials);
                (
                    lag.map(|lag| lag.median),
                    lag.and_then(|lag| lag.interval),
                    most_us,
                )
            }
        };
        Judged {
            target: *target,
            value,
            interval,
            verdict: verdict(interval, most),
        }
    };
    case.targets().iter().map(judged).collect()
}

/// The 99th percentile of Deadheat's send lag in microseconds, over its trials.
fn send_lag_us(trials: &[Trial]) -> Option<MedianInterval> {
    let lags: Vec<f64> = trials
        .iter()
        .filter(|trial| trial.tool == Tool::Deadheat)
        .filter_map(|trial| trial.outcome.as_ref().ok()?.send_lag_p99_us)
        .collect();
    median_interval(&lags, LEVEL)
}

fn verdict(interval: Option<Interval>, most: f64) -> Verdict {
    match interval {
        Some(interval) if interval.high <= most => Verdict::Met,
        Some(interval) if interval.low > most => Verdict::Missed,
        _ => Verdict::NotDecided,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use super::*;

    /// A trial that counts.
    pub(crate) fn trial(tool: Tool, block: u32, cpu_us: u64, peak_bytes: u64) -> Trial {
        let answered = 1_000;
        Trial {
            case: Case::Small,
            tool,
            block,
            place: 1,
            outcome: Ok(Figures {
                answered,
                wall: Duration::from_secs(1),
                user: Duration::ZERO,
                system: Duration::from_micros(cpu_us * answered),
                peak_bytes,
                send_lag_p99_us: (tool == Tool::Deadheat).then_some(10.0 * f64::from(block)),
                server: Duration::ZERO,
                others: Duration::ZERO,
                stolen: Duration::ZERO,
            }),
        }
    }

    #[test]
    fn ratios_are_taken_within_a_block() {
        // The machine is ten times slower in the second block: the ratio is a half in both.
        let trials = [
            trial(Tool::Deadheat, 1, 5, 100),
            trial(Tool::Wrk, 1, 10, 50),
            trial(Tool::Wrk, 2, 100, 50),
            trial(Tool::Deadheat, 2, 50, 100),
        ];
        let summaries = summarise(&[Tool::Deadheat, Tool::Wrk], &trials);
        assert!(summaries[0].cpu_ratio.is_none());
        let ratio = summaries[1].cpu_ratio.unwrap();
        let interval = ratio.interval.unwrap();
        assert!((ratio.mean - 0.5).abs() < 1e-9);
        assert!((interval.low - 0.5).abs() < 1e-9 && (interval.high - 0.5).abs() < 1e-9);
        assert!((summaries[1].memory_ratio.unwrap().mean - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_trial_that_does_not_count_takes_its_pair_with_it() {
        let mut lost = trial(Tool::Wrk, 2, 1, 1);
        lost.outcome = Err("Socket errors: read 1".to_owned());
        let trials = [
            trial(Tool::Deadheat, 1, 5, 100),
            trial(Tool::Wrk, 1, 10, 50),
            trial(Tool::Deadheat, 2, 7, 100),
            lost,
        ];
        let summaries = summarise(&[Tool::Deadheat, Tool::Wrk], &trials);
        let wrk = &summaries[1];
        assert_eq!((wrk.trials, wrk.counted), (2, 1));
        assert_eq!(wrk.fault.as_deref(), Some("Socket errors: read 1"));
        let ratio = wrk.cpu_ratio.unwrap();
        assert_eq!(ratio.trials, 1);
        assert!(ratio.interval.is_none());
    }

    #[test]
    fn a_target_is_met_missed_or_not_decided() {
        let interval = |low, high| {
            Some(Interval {
                low,
                high,
                level: 0.95,
            })
        };
        assert_eq!(verdict(interval(0.80, 0.88), 0.88), Verdict::Met);
        assert_eq!(verdict(interval(0.89, 0.90), 0.88), Verdict::Missed);
        assert_eq!(verdict(interval(0.87, 0.89), 0.88), Verdict::NotDecided);
        assert_eq!(verdict(None, 0.88), Verdict::NotDecided);
    }

    #[test]
    fn the_send_lag_is_judged_over_the_blocks() {
        let trials: Vec<Trial> = (1..=11)
            .map(|block| trial(Tool::Deadheat, block, 5, 1))
            .collect();
        let judged = judge(Case::Open, &summarise(&[Tool::Deadheat], &trials), &trials);
        let [cpu, lag] = &judged[..] else {
            panic!("two targets");
        };
        assert_eq!((cpu.value, cpu.verdict), (None, Verdict::NotDecided));
        assert_eq!(lag.value, Some(60.0));
        assert_eq!(lag.verdict, Verdict::Met);
    }
}
