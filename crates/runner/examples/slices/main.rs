//! What slices change: throughput and CPU time per request of live servers in slices, and in an uninterrupted load of
//! the same processes, in turns. Plaintext; the stacks must be built.
//!
//! `slices SUPERVISOR ROOT SLICE_MS GUARD_MS on|off poll|sleep TURNS STACK…`, where ROOT has `stacks` and `workloads`.
//! A turn is two seconds of uninterrupted load for each stack, then as much counted time in slices, all in turn, frozen
//! in between or not.

#[path = "../scene/mod.rs"]
mod scene;

use std::{
    error::Error,
    io::{self, Write},
    sync::{Arc, Mutex, atomic::AtomicBool},
    time::{Duration, Instant},
};

use deadheat_model::{
    heat::{HeatPlan, Rounds},
    trial::Phase,
};
use deadheat_runner::heat::{Member, ServerMember, rule_for};

use scene::Typed;

/// Counted load of each stack in a turn, in either way.
const COUNTED: Duration = Duration::from_secs(2);
/// Before the uninterrupted load is counted.
const SETTLING: Duration = Duration::from_millis(300);

/// What was counted of a stack in one way.
#[derive(Clone, Copy, Default)]
struct Sum {
    answers: u64,
    seconds: f64,
    cpu: f64,
}

impl Sum {
    fn throughput(&self) -> f64 {
        self.answers as f64 / self.seconds
    }

    /// In µs.
    fn cost(&self) -> f64 {
        self.cpu * 1e6 / self.answers as f64
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "slices SUPERVISOR ROOT SLICE_MS GUARD_MS on|off poll|sleep TURNS STACK…";
    let Typed { plan, scene } = Typed::read(usage)?;
    let HeatPlan {
        slice,
        guard,
        freeze,
        wait,
        ..
    } = plan;
    let Rounds::Count { rounds: turns } = plan.rounds else {
        return Err(usage.into());
    };
    let mut fixtures = scene.fixtures()?;
    let fixtures = Mutex::new(&mut fixtures);
    let stop = Arc::new(AtomicBool::new(false));
    let mut members = Vec::new();
    for target in &scene.targets {
        let request = scene.request(target, slice);
        let mut member = ServerMember::new(request, wait, &fixtures, Arc::clone(&stop));
        let told = |failure: deadheat_model::trial::TrialFailure| failure.reason;
        member.start().map_err(told)?;
        member.verify(Phase::VerifyBefore).map_err(told)?;
        member.open().map_err(told)?;
        member
            .slice(
                Duration::ZERO,
                rule_for(&target.stack.manifest, &target.target).most,
                &mut |_| (),
            )
            .map_err(told)?;
        if freeze {
            member.freeze()?;
        }
        members.push(member);
    }
    let mut sums = vec![[Sum::default(); 2]; members.len()];
    let counts = |member: &mut ServerMember<'_>, sum: &mut Sum, guard, length| {
        if freeze {
            member.thaw()?;
        }
        let seen = member
            .slice(guard, length, &mut |_| ())
            .map_err(|failure| failure.reason)?;
        if freeze {
            member.freeze()?;
        }
        sum.answers += seen.observation.measured.answers();
        sum.seconds += seen.observation.window.as_secs_f64();
        sum.cpu += seen.cpu.map_or(f64::NAN, |cpu| cpu.seconds);
        Ok::<_, String>(())
    };
    let mut out = io::stdout().lock();
    let (mut ratios, mut sliced) = (vec![Vec::new(); members.len()], Duration::ZERO);
    for _ in 0..turns {
        let mut turn = vec![[Sum::default(); 2]; members.len()];
        for (member, [whole, _]) in members.iter_mut().zip(&mut turn) {
            counts(member, whole, SETTLING, COUNTED)?;
        }
        let begun = Instant::now();
        for _ in 0..COUNTED.as_millis() / slice.as_millis() {
            for (member, [_, parts]) in members.iter_mut().zip(&mut turn) {
                counts(member, parts, guard, slice)?;
            }
        }
        sliced += begun.elapsed();
        for ((sums, turn), ratios) in sums.iter_mut().zip(turn).zip(&mut ratios) {
            ratios.push((turn[1].throughput() / turn[0].throughput()).ln());
            for (sum, one) in sums.iter_mut().zip(turn) {
                sum.answers += one.answers;
                sum.seconds += one.seconds;
                sum.cpu += one.cpu;
            }
        }
    }
    for ((target, [whole, parts]), ratios) in scene.targets.iter().zip(&sums).zip(&ratios) {
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        let squares = ratios.iter().map(|one| (one - mean).powi(2)).sum::<f64>();
        let error = (squares / ratios.len() as f64 / (ratios.len() - 1).max(1) as f64).sqrt();
        writeln!(
            out,
            "{:<12} {:>7.0}/s {:>6.2} µs in slices, {:>7.0}/s {:>6.2} µs without: {:.3} × throughput (± {:.3}), {:.3} × cost",
            target.target.to_string(),
            parts.throughput(),
            parts.cost(),
            whole.throughput(),
            whole.cost(),
            mean.exp(),
            error,
            parts.cost() / whole.cost()
        )?;
    }
    let counted = sums.iter().map(|[_, parts]| parts.seconds).sum::<f64>();
    writeln!(
        out,
        "{:.0} % of the time in slices counted",
        100.0 * counted / sliced.as_secs_f64()
    )?;
    for mut member in members {
        member.stop().map_err(|failure| failure.reason)?;
    }
    Ok(())
}
