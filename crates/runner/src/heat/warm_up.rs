//! Warming up a member until it is steady.
//!
//! A fixed warm-up is too short for one server and wasted on another. This one ends by a rule that is declared
//! beforehand and looks at the trend alone, so that the figures which count do not choose it; how long it took and
//! whether it ended by steadiness are in the record.

use std::time::Duration;

use deadheat_model::{heat::WarmUpRule, stack::Runtime};

use super::Seen;

/// The length of a warm-up's slices: several collections of a young generation fit into the slices that are looked at.
const SLICE: Duration = Duration::from_millis(200);
/// How many slices are looked at. With these, a trend has a standard error of about three quarters of a slice's scatter.
const LOOK: u32 = 8;
/// The largest trend of a steady server. Slices of steady servers scatter by 5 to 10 % on a shared machine, so that a
/// smaller bound would wait for a lucky look.
const BOUND: f64 = 0.05;

/// How long a server of a runtime is warmed up. Compilers while it runs (JVM, V8, .NET) need seconds, and may pause in
/// between: java-vertx stood still after 4 s of a busy machine at three times the CPU time per answer that it came to
/// later. Others need their caches and connections.
pub fn rule_for(runtime: Runtime) -> WarmUpRule {
    let (least, most) = match runtime {
        Runtime::Native | Runtime::Interpreted => (1, 4),
        Runtime::Jit => (6, 15),
    };
    rule(Duration::from_secs(least), Duration::from_secs(most))
}

/// A warm-up of at least and at most these times, until the server is steady.
pub fn rule(least: Duration, most: Duration) -> WarmUpRule {
    WarmUpRule {
        least,
        most,
        slice: SLICE.min(most),
        look: LOOK,
        bound: BOUND,
    }
}

/// What the slices of a warm-up said so far.
#[derive(Debug, Default)]
pub(super) struct Course {
    throughputs: Vec<f64>,
    /// CPU time per answer.
    costs: Vec<f64>,
}

impl Course {
    /// Adds a slice.
    pub(super) fn add(&mut self, seen: &Seen) {
        self.throughputs.push(seen.observation.throughput());
        let answers = seen.observation.measured.answers();
        if let (Some(cpu), 1..) = (seen.cpu, answers) {
            self.costs.push(cpu.seconds / answers as f64);
        }
    }

    /// The trends over the last `look` slices, of throughput and of CPU time per answer.
    pub(super) fn trends(&self, look: u32) -> (Option<f64>, Option<f64>) {
        (trend(&self.throughputs, look), trend(&self.costs, look))
    }
}

/// The trend over the last `look` values: how much higher the median of their later half is than that of the earlier
/// half, as a share of it. `None` when there are fewer than `look`, or too few to halve, or the earlier half is nothing.
fn trend(values: &[f64], look: u32) -> Option<f64> {
    let half = look as usize / 2;
    let last = values.len().checked_sub(2 * half)?;
    let (earlier, later) = values[last..].split_at(half);
    let earlier = median(earlier).filter(|earlier| *earlier > 0.0)?;
    Some(median(later)? / earlier - 1.0)
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    match sorted.len() % 2 {
        0 => Some((sorted[sorted.len() / 2 - 1] + upper) / 2.0),
        _ => Some(upper),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trend_is_that_of_the_last_slices() {
        let cases: [(&[f64], u32, Option<f64>); 8] = [
            (&[100.0, 100.0, 110.0, 110.0], 4, Some(0.1)),
            (&[1.0, 1.0, 100.0, 100.0, 100.0, 100.0], 4, Some(0.0)),
            (&[100.0, 100.0, 50.0, 50.0], 4, Some(-0.5)),
            // One slice that the machine spoiled is no trend.
            (&[100.0, 100.0, 100.0, 100.0, 3.0, 100.0], 6, Some(0.0)),
            // The middle one of an odd number belongs to no half.
            (&[1.0, 100.0, 110.0], 3, Some(0.1)),
            (&[100.0, 100.0, 100.0], 4, None),
            (&[0.0, 0.0, 100.0, 100.0], 4, None),
            (&[100.0], 1, None),
        ];
        for (throughputs, look, expected) in cases {
            let found = trend(throughputs, look);
            let near = match (found, expected) {
                (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
                (found, expected) => found.is_none() && expected.is_none(),
            };
            assert!(near, "{throughputs:?} by {look}: {found:?}");
        }
    }

    #[test]
    fn every_runtime_can_become_steady_within_its_time() {
        for runtime in [Runtime::Native, Runtime::Jit, Runtime::Interpreted] {
            let rule = rule_for(runtime);
            assert!(rule.least < rule.most);
            assert!(rule.slice * rule.look < rule.most);
        }
    }
}
