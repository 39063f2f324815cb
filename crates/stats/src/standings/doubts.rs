//! What may change a decision, the gravest first.

use deadheat_model::{
    TargetId, Wait,
    fault::TRANSPORT_FAILURES,
    heat::Freezing,
    heats::{PlannedLoad, SessionRecord},
    plan::{NoiseBound, Pinning},
};

use super::types::{Doubt, LoadStandings, Row};
use crate::heats::LimitedBy;

/// Requests that fail on the way in more than this share are reported, although they are too few to discard a heat.
const FEW_FAILURES: f64 = TRANSPORT_FAILURES / 10.0;

/// The doubts of a session.
pub(super) fn of(record: &SessionRecord, loads: &[LoadStandings]) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    doubts.extend(loads.iter().filter_map(twin_differs));
    doubts.extend(disturbed(record));
    for (index, (load, planned)) in loads.iter().zip(&record.header.plan.loads).enumerate() {
        doubts.extend(of_load(load, &|| busiest_host(record, index)));
        doubts.extend(nobody_limited(load, planned));
    }
    doubts.extend(frozen_by_signals(record));
    doubts.extend(generator_slept(record));
    if let Some(times) = u32::try_from(record.resumed.len()).ok().filter(|n| *n > 0) {
        doubts.push(Doubt::Resumed {
            times,
            rebooted: record.resumed.iter().any(|one| one.rebooted),
        });
    }
    doubts
}

fn twin_differs(load: &LoadStandings) -> Option<Doubt> {
    let twin = load.twin.as_ref().filter(|twin| twin.differs())?;
    Some(Doubt::TwinDiffers {
        load: load.name(),
        ratio: twin.ratio,
    })
}

/// What the hypervisor and other programs took of the CPUs that server and generator used.
fn disturbed(record: &SessionRecord) -> Vec<Doubt> {
    let cpus = record.header.plan.pinning.cpus().len().max(1) as f64;
    let (mut all, mut steal, mut others) = (0.0, 0.0, 0.0);
    let heats = record.heats.iter().filter(|one| one.is_complete());
    let slices = heats.flat_map(|one| one.heat.rounds.iter().flatten());
    for slice in slices {
        let Some(noise) = slice.noise else { continue };
        let member = slice.cpu.map_or(0.0, |cpu| cpu.seconds);
        all += cpus * slice.window.as_secs_f64();
        steal += noise.steal_seconds;
        others += noise.others(member).0;
    }
    let bound = NoiseBound::default();
    let mut doubts = Vec::new();
    if all > 0.0 && steal > bound.steal * all {
        doubts.push(Doubt::Steal { share: steal / all });
    }
    if all > 0.0 && others > bound.other_cpu * all {
        doubts.push(Doubt::Others {
            share: others / all,
        });
    }
    doubts
}

fn of_load(load: &LoadStandings, busiest_host: &dyn Fn() -> Option<String>) -> Vec<Doubt> {
    let rows = || load.tables.iter().flat_map(|table| &table.rows);
    let those = |is: fn(&Row) -> bool| -> Vec<TargetId> {
        let found = rows().filter(|row| is(row));
        found.map(|row| row.target.clone()).collect()
    };
    let mut doubts = Vec::new();
    let targets = those(|row| !row.failures.is_empty());
    if !targets.is_empty() {
        doubts.push(Doubt::FailedHeats {
            load: load.name(),
            targets,
        });
    }
    let targets = those(|row| row.throughput_per_second.is_bound);
    if !targets.is_empty() {
        doubts.push(Doubt::GeneratorLimited {
            load: load.name(),
            targets,
            host: busiest_host(),
        });
    }
    let share = |row: &Row| {
        let ended = row.answers + row.failed_requests;
        (
            row.target.clone(),
            row.failed_requests as f64 / ended.max(1) as f64,
        )
    };
    let failed: Vec<_> = rows()
        .map(share)
        .filter(|(_, share)| *share > FEW_FAILURES)
        .collect();
    if !failed.is_empty() {
        doubts.push(Doubt::FailedRequests {
            load: load.name(),
            targets: failed,
        });
    }
    let targets = those(|row| 2 * row.unsteady_heats > row.heats);
    if !targets.is_empty() {
        doubts.push(Doubt::Unsteady {
            load: load.name(),
            targets,
        });
    }
    let targets = those(|row| row.often_late);
    if !targets.is_empty() {
        doubts.push(Doubt::LongGaps {
            load: load.name(),
            targets,
        });
    }
    let targets = those(|row| row.uneven.is_some());
    if !targets.is_empty() {
        doubts.push(Doubt::Uneven {
            load: load.name(),
            targets,
        });
    }
    doubts
}

/// The host whose worker was the busiest in more than half of a load's slices.
fn busiest_host(record: &SessionRecord, load: usize) -> Option<String> {
    let hosts = &record.header.plan.hosts.as_ref()?.generators;
    let heats = record.complete_heats(load);
    let slices = heats.flat_map(|heat| heat.rounds.iter().flatten());
    let (mut times, mut all) = (vec![0; hosts.len()], 0);
    for host in slices.filter_map(|slice| slice.generator.host) {
        all += 1;
        if let Some(times) = times.get_mut(host as usize) {
            *times += 1;
        }
    }
    let most = hosts.iter().zip(times).find(|(_, times)| 2 * times > all);
    most.map(|(host, _)| host.clone())
}

/// Who waited for something else than a CPU, where a closed loop leaves a server nothing to wait for by design.
fn nobody_limited(load: &LoadStandings, planned: &PlannedLoad) -> Option<Doubt> {
    if planned.point.open.is_some() || planned.delay_seconds.is_some() {
        return None;
    }
    let rows = load.tables.iter().flat_map(|table| &table.rows);
    let waited = rows.filter(|row| row.limited_by == Some(LimitedBy::Neither));
    let targets: Vec<TargetId> = waited.map(|row| row.target.clone()).collect();
    (!targets.is_empty()).then(|| Doubt::NobodyLimited {
        load: load.name(),
        targets,
    })
}

fn frozen_by_signals(record: &SessionRecord) -> Option<Doubt> {
    let heats = record.heats.iter().map(|one| &one.heat);
    let mut members = heats.flat_map(|heat| &heat.members);
    members.find_map(|member| match &member.freezing {
        Some(Freezing::Signals { reason }) => Some(Doubt::FrozenBySignals {
            reason: reason.clone(),
        }),
        _ => None,
    })
}

/// Where the generator slept although the loads themselves do not ask for it, and why.
fn generator_slept(record: &SessionRecord) -> Option<Doubt> {
    let plan = &record.header.plan;
    if plan.is_loaded_elsewhere() {
        // Whom it wakes is another machine.
        return None;
    }
    if let Pinning::Off { .. } = plan.pinning {
        return Some(Doubt::NotPinned);
    }
    let slept = plan.loads.iter();
    let slept = slept.filter(|load| load.point.open.is_none() && load.heat.wait == Wait::Sleep);
    let loads: Vec<String> = slept.map(|load| load.name()).collect();
    (!loads.is_empty()).then_some(Doubt::GeneratorSlept { loads })
}
