//! One heat of stacks at plaintext, as a session runs it; the stacks must be built.
//!
//! `heat SUPERVISOR ROOT SLICE_MS GUARD_MS on|off poll|sleep ROUNDS STACK…`, where ROOT has `stacks` and `workloads`.

#[path = "../scene/mod.rs"]
mod scene;

use std::{
    error::Error,
    io::{self, Write},
    sync::{Arc, Mutex, atomic::AtomicBool},
};

use deadheat_model::heat::Role;
use deadheat_runner::heat::{Entry, Heat, Machine, ServerMember, rule_for, run};

use scene::Typed;

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "heat SUPERVISOR ROOT SLICE_MS GUARD_MS on|off poll|sleep ROUNDS STACK…";
    let Typed { plan, scene } = Typed::read(usage)?;
    let mut fixtures = scene.fixtures()?;
    let fixtures = Mutex::new(&mut fixtures);
    let stop = Arc::new(AtomicBool::new(false));
    let entries = scene.targets.iter().map(|target| {
        let request = scene.request(target, plan.slice);
        Entry {
            target: target.target.clone(),
            role: Role::Member,
            warm_up: rule_for(&target.stack.manifest, &target.target),
            member: Box::new(ServerMember::new(
                request,
                plan.wait,
                &fixtures,
                Arc::clone(&stop),
            )),
        }
    });
    // Backwards in every other round, so that who comes after whom is balanced a little.
    let forth: Vec<usize> = (0..scene.targets.len()).collect();
    let back = forth.iter().rev().copied().collect();
    let heat = Heat {
        number: 0,
        plan,
        orders: vec![forth, back],
        entries: entries.collect(),
        least: 1,
    };
    let record = run(heat, String::new(), &Machine::default(), &stop)?;
    let mut out = io::stdout().lock();
    let mut counted = 0.0;
    for (place, member) in record.members.iter().enumerate() {
        let slices = record.rounds.iter().flatten();
        let slices: Vec<_> = slices.filter(|one| one.member as usize == place).collect();
        let seconds: f64 = slices.iter().map(|one| one.window.as_secs_f64()).sum();
        let answers: u64 = slices.iter().map(|one| one.tally.answers()).sum();
        let cpu: f64 = slices
            .iter()
            .filter_map(|one| one.cpu)
            .map(|cpu| cpu.seconds)
            .sum();
        let mut freezes: Vec<_> = slices.iter().map(|one| one.frozen.freeze).collect();
        freezes.sort_unstable();
        counted += seconds;
        writeln!(
            out,
            "{:<12} {:>7.0}/s {:>6.2} µs, warm-up {}, memory {:?}, frozen by {:?} in {:?}, {} flagged {}",
            member.target.to_string(),
            answers as f64 / seconds,
            cpu * 1e6 / answers as f64,
            member.warm_up.map_or(String::new(), |warm_up| format!(
                "{:.1} s ({}, trend {:.3})",
                warm_up.took.as_secs_f64(),
                if warm_up.steady {
                    "steady"
                } else {
                    "not steady"
                },
                warm_up.trend.unwrap_or(f64::NAN)
            )),
            member.memory.mean,
            member.freezing,
            freezes.get(freezes.len() / 2),
            slices.iter().filter(|one| !one.flags.is_empty()).count(),
            member
                .failure
                .as_ref()
                .map_or("", |failure| &failure.failure.reason),
        )?;
    }
    let wall = record.wall.as_secs_f64();
    let bytes = serde_json::to_string(&record)?.len();
    writeln!(
        out,
        "{:.0} % of {wall:.1} s counted; {bytes} bytes of record",
        100.0 * counted / wall
    )?;
    Ok(())
}
