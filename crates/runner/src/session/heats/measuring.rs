//! The measuring part: one heat after another, as they are steered.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use deadheat_model::{
    Event, HeatRecord, TargetId, WorkloadManifest,
    heat::{HeatEnd, Role},
    heats::{
        Control, EndReason, JournalEntry, MeasuredHeat, NextHeat, PlannedLoad, SessionRecord, Step,
    },
    stack::Runtime,
};

use super::{Steering, capacity::offer};
use crate::{
    heat::{Entry, EqualWork, Heat, Identity, KeptServers, ThisMachine, run_told},
    session::{
        SelectedTarget, SessionError, SessionOptions,
        folder::{SessionFolder, now},
        hosts::LoadedFrom,
        journal::Journal,
        members::{HeatSetting, Seat, identity},
        servers::{Ceiling, ServerSetting, words_as_recorded},
        services::Services,
    },
    verify::Fixtures,
};

/// The session ends after this many consecutive heats that lost a generator.
const MAX_LOSSES: u32 = 3;

/// Measures the rest of a session.
pub(super) struct Measuring<'a> {
    pub(super) options: &'a SessionOptions,
    pub(super) folder: &'a SessionFolder,
    /// The session so far, as its files hold it.
    pub(super) record: SessionRecord,
    pub(super) services: &'a mut Services,
    pub(super) generators: LoadedFrom,
    pub(super) journal: &'a mut Journal,
    pub(super) steering: &'a mut dyn Steering,
    pub(super) on_event: &'a mut dyn FnMut(&Event),
    pub(super) interrupt: &'a Arc<AtomicBool>,
    /// The servers that are kept from one heat to the next.
    pub(super) kept: KeptServers,
    /// The load that these servers are for.
    pub(super) kept_for: Option<usize>,
}

impl Measuring<'_> {
    /// Runs heats until there are enough, or the user asks to stop.
    pub(super) fn all(&mut self) -> Result<EndReason, SessionError> {
        let reason = self.heats();
        self.kept.stop_others(&[]);
        reason
    }

    fn heats(&mut self) -> Result<EndReason, SessionError> {
        let mut losses = 0;
        loop {
            if self.interrupt.load(Ordering::Relaxed) {
                return Ok(EndReason::Interrupted);
            }
            // All stacks may have dropped out.
            if self.record.header.plan.loads.is_empty() {
                return Ok(EndReason::Nothing);
            }
            match self.steering.next(&self.record, spent(&self.record)) {
                Step::End(reason) => return Ok(reason),
                Step::Heat(next) => {
                    if self.kept_for != Some(next.load) {
                        self.kept.stop_others(&[]);
                    }
                    self.kept_for = next.then;
                    let (end, is_lost) = self.heat(&next)?;
                    if is_lost {
                        losses += 1;
                        if !self.reach_again(losses) {
                            return Ok(EndReason::Lost);
                        }
                    } else if end == HeatEnd::Interrupted {
                        return Ok(EndReason::Interrupted);
                    } else {
                        losses = 0;
                    }
                }
            }
        }
    }

    /// Connects to the generators again after this many consecutive losses. Returns whether that worked.
    fn reach_again(&mut self, losses: u32) -> bool {
        let is_interrupted = self.interrupt.load(Ordering::Relaxed);
        // What a database has held is gone with it.
        if losses > MAX_LOSSES || is_interrupted || self.services.lost().is_some() {
            return false;
        }
        // The agents that are left end first.
        self.generators = LoadedFrom::default();
        let Some(hosts) = &self.record.header.plan.hosts else {
            return false;
        };
        match LoadedFrom::reach(hosts, self.interrupt) {
            Ok((generators, _)) => {
                self.generators = generators;
                true
            }
            Err(error) => {
                tracing::warn!("{error}");
                false
            }
        }
    }

    /// Runs a heat and keeps it; how it ended, and whether a host or a service was lost.
    fn heat(&mut self, next: &NextHeat) -> Result<(HeatEnd, bool), SessionError> {
        let number = self.record.begun();
        (self.on_event)(&Event::HeatStarted {
            heat: number,
            next: next.clone(),
        });
        let mut parts = self.run(number, next)?;
        let budget = self.record.header.plan.budget_seconds;
        let is_time_left = is_time_for_another(budget, spent(&self.record), &parts);
        for (load, heat) in &mut parts {
            if is_time_left && self.is_disturbed(*load, heat) {
                heat.end = HeatEnd::Disturbed;
            }
        }
        let how = parts
            .first()
            .map(|(_, heat)| (heat.end, heat.lost.is_some()));
        let parts = parts.into_iter().map(|(load, heat)| {
            let load = load as u32;
            Box::new(MeasuredHeat { load, heat })
        });
        let parts: Vec<Box<MeasuredHeat>> = parts.collect();
        // The line of the rounds is the last one: with it, the heat is there as a whole.
        let lines = parts.iter().skip(1).chain(parts.first());
        let entries = lines.cloned().map(JournalEntry::Heat);
        self.journal.append(entries)?;
        for heat in parts {
            (self.on_event)(&Event::HeatEnded { heat: heat.clone() });
            self.record.heats.push(*heat);
        }
        Ok(how.unwrap_or((HeatEnd::Deserted, false)))
    }

    /// Whether this heat at a load is repeated because other programs disturbed it, if there is time. Equal work has no heats
    /// of its own that could be repeated. Two sides of a comparison have their turns in each second, and their ratio is judged
    /// heat by heat.
    fn is_disturbed(&self, load: usize, heat: &HeatRecord) -> bool {
        let own = self
            .record
            .heats
            .iter()
            .filter(|one| one.load as usize == load);
        let disturbed = own.map(|one| one.heat.disturbance().is_some());
        let leads = self.record.header.plan.loads[load].leads();
        leads && self.options.comparison.is_none() && is_repeated(heat, disturbed)
    }

    /// Runs a heat: the load whose turn it is, and those that are measured with it, each with its place in the plan.
    fn run(
        &mut self,
        number: u32,
        next: &NextHeat,
    ) -> Result<Vec<(usize, HeatRecord)>, SessionError> {
        let plan = &self.record.header.plan;
        let load = planned(&plan.loads, next.load)?;
        let mut participants = heat_members(load, next, number)?;
        let with_it: Vec<(usize, &PlannedLoad)> = plan.equal_work(load).collect();
        let seed = plan.seed ^ u64::from(number) << 32;
        let generator = self.generators.generator();
        let servers = ServerSetting {
            session: self.options,
            plan: &load.heat,
            pinning: &plan.pinning,
            seed,
            generator,
            interrupt: self.interrupt,
        };
        let stacks = workload(self.options, load).map(|workload| HeatSetting {
            session: self.options,
            workload,
            point: &load.point,
            plan: &load.heat,
            pinning: &plan.pinning,
            seed,
            generator,
            interrupt: self.interrupt,
            certificate: self.services.certificate.as_ref(),
            kept: &self.kept,
        });
        let mut machine = ThisMachine::new(plan.pinning.cpus(), self.services.trees());
        if plan.hosts.is_some() {
            // The work for packets from a network is often in the time of no process.
            machine.interrupt_threads.clear();
        }
        let fixtures = &mut self.services.fixtures;
        let ceiling = stacks
            .as_ref()
            .filter(|_| participants.iter().any(|one| one.role == Role::Ceiling))
            .and_then(|setting| ceiling(setting, self.folder, fixtures));
        // Without it, the stacks can be compared all the same.
        participants.retain(|one| ceiling.is_some() || one.role != Role::Ceiling);
        let seats = seats(&self.kept, &participants);
        let fixtures = Mutex::new(fixtures);
        let mut entries: Vec<Entry<'_>> = Vec::new();
        for (one, seat) in participants.iter().zip(seats) {
            let comparison = self.options.comparison.as_deref();
            if let Some(server) = comparison.and_then(|both| both.server(&one.target)) {
                // Its load is named by what it is asked, which may be no file name.
                let log = self.folder.log(&format!("{}-heat{number}", server.target));
                entries.extend(servers.entry(server, log));
                continue;
            }
            let setting = stacks.as_ref().ok_or_else(|| {
                SessionError::Unplanned(format!("{} was not selected", load.workload))
            })?;
            let is_ceiling = one.role == Role::Ceiling;
            let seat = |target| Seat {
                target,
                runtime: runtime(&self.record, target),
                number: seat,
                role: one.role,
                is_kept: !is_ceiling && next.then.is_some(),
                log: log(self.folder, load, one, number),
            };
            let entry = match ceiling.as_ref().filter(|_| is_ceiling) {
                Some(made) => setting.ceiling(seat(&made.target), &made.canned, &fixtures),
                None => setting.stack(seat(stack(self.options, &one.target)?), &fixtures),
            };
            entries.push(entry);
        }
        let heat = Heat {
            number,
            plan: load.heat,
            orders: self.steering.orders(entries.len(), seed),
            seed,
            // A single stack is measured together with the null server.
            least: next.members.len().min(2),
            entries,
            equal_work: with_it
                .iter()
                .map(|(place, one)| EqualWork {
                    plan: one.heat,
                    offer: Box::new(|rounds| offer(&self.record, *place, rounds)),
                })
                .collect(),
        };
        let on_event = &mut *self.on_event;
        let mut on_step = |step| on_event(&Event::HeatStep { step });
        let mut parts = run_told(heat, now(), &machine, self.interrupt, &mut on_step)?;
        let mut members = parts.iter().flat_map(|part| &part.members);
        // While all members do well, nothing that they need was lost.
        let has_failed = members.any(|member| member.failure.is_some());
        let services = has_failed.then(|| self.services.lost()).flatten();
        let lost = self.generators.lost().or(services);
        for record in &mut parts {
            for (member, one) in record.members.iter_mut().zip(&participants) {
                member.command = words_as_recorded(&member.command);
                let both = self.options.comparison.as_deref();
                let own = || both.and_then(|both| both.server(&one.target)?.rate());
                member.offered_per_second = member.offered_per_second.or_else(own);
            }
            record.lost.clone_from(&lost);
            if lost.is_some() {
                // Its members failed for no fault of theirs.
                record.end = HeatEnd::Interrupted;
            }
        }
        let loads = [next.load].into_iter();
        let loads = loads.chain(with_it.iter().map(|(place, _)| *place));
        Ok(loads.zip(parts).collect())
    }
}

/// The seats of the members. Servers that are kept retain theirs. A kept server that is not a member is stopped.
fn seats(kept: &KeptServers, participants: &[HeatMember]) -> Vec<usize> {
    let participants = participants
        .iter()
        .map(|one| identity(&one.target, one.role));
    let participants: Vec<Identity> = participants.collect();
    kept.stop_others(&participants);
    let own: Vec<Option<usize>> = participants.iter().map(|one| kept.seat(one)).collect();
    let mut free = (0..).filter(|seat| !own.contains(&Some(*seat)));
    let seats = own.iter().map(|seat| seat.or_else(|| free.next()));
    seats.flatten().collect()
}

/// Whether a heat does not count, and is repeated, because other programs disturbed it from beginning to end. It counts if most
/// heats so far were like that (`disturbed` has them), which is then normal for this machine, or the work of a database that
/// Deadheat did not start; and if a member failed, which no other program does. This is decided once, so that each checkpoint
/// is judged once.
fn is_repeated(heat: &HeatRecord, disturbed: impl Iterator<Item = bool> + Clone) -> bool {
    let before = disturbed.clone().count();
    let disturbed = disturbed.filter(|is_disturbed| *is_disturbed).count();
    heat.end == HeatEnd::Finished
        && heat.disturbance().is_some()
        && heat.members.iter().all(|member| member.failure.is_none())
        && 2 * (disturbed + 1) <= before + 1
}

/// Whether the budget, in seconds, has time for another heat like the one that has just ended, of which these are the parts:
/// the rounds and equal work. `spent` is what the heats before it took.
fn is_time_for_another(
    budget: Option<f64>,
    spent: Duration,
    parts: &[(usize, HeatRecord)],
) -> bool {
    let took: Duration = parts.iter().map(|(_, heat)| heat.wall).sum();
    budget.is_none_or(|budget| (spent + 2 * took).as_secs_f64() < budget)
}

/// How long all heats so far took together.
fn spent(record: &SessionRecord) -> Duration {
    record.heats.iter().map(|one| one.heat.wall).sum()
}

/// A load of the plan.
fn planned(loads: &[PlannedLoad], index: usize) -> Result<&PlannedLoad, SessionError> {
    let load = loads.get(index);
    load.ok_or_else(|| SessionError::Unplanned(format!("the plan has no load {index}")))
}

/// The workload of a load; servers that are no stacks have none.
fn workload<'a>(options: &'a SessionOptions, load: &PlannedLoad) -> Option<&'a WorkloadManifest> {
    let mut workloads = options.workloads.iter().map(|one| &one.manifest);
    workloads.find(|one| one.id == load.workload)
}

/// The stack of this name.
fn stack<'a>(
    options: &'a SessionOptions,
    target: &TargetId,
) -> Result<&'a SelectedTarget, SessionError> {
    let mut targets = options.targets.iter();
    targets
        .find(|one| one.target == *target)
        .ok_or_else(|| SessionError::Unplanned(format!("{target} was not selected")))
}

/// How the code of `target` is executed here; the null server has no record.
fn runtime(record: &SessionRecord, target: &SelectedTarget) -> Runtime {
    let known = record.header.target(&target.target);
    known.map_or(Runtime::Native, |known| known.runtime)
}

/// The null server for a heat; `None` when its answer is not known or cannot be written.
fn ceiling(
    setting: &HeatSetting<'_>,
    folder: &SessionFolder,
    fixtures: &mut Fixtures,
) -> Option<Ceiling> {
    let made = Ceiling::new(
        &setting.session.supervision.program,
        folder.path(),
        setting.workload,
        setting.point,
        fixtures,
        setting.session.seed,
    );
    let told =
        made.inspect_err(|reason| tracing::warn!("a heat without the null server: {reason}"));
    told.ok()
}

/// The log of a stack's server that is started in a heat. A start that serves several loads is named by its heat alone.
fn log(folder: &SessionFolder, load: &PlannedLoad, one: &HeatMember, heat: u32) -> PathBuf {
    folder.log(&log_name(load, one, heat))
}

fn log_name(load: &PlannedLoad, one: &HeatMember, heat: u32) -> String {
    let again = match one.role {
        Role::Twin { .. } => "-twin",
        Role::Member | Role::Ceiling => "",
    };
    let stack = one.target.file_stem();
    match load.shared_starts {
        Some(_) => format!("{stack}-from-heat{heat}{again}"),
        None => format!(
            "{stack}-{}-{}-heat{heat}{again}",
            load.workload, load.point.id
        ),
    }
}

/// A server that takes part in a heat.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HeatMember {
    /// The server that is started: a stack, or the null server.
    target: TargetId,
    role: Role,
}

/// The members of a heat and its control, by place. The control is the last in the session's
/// first heat, the last but one in the next, and so on: a place must not be what tells a twin from its original.
///
/// # Errors
/// What is not in the plan.
fn heat_members(
    load: &PlannedLoad,
    next: &NextHeat,
    heat: u32,
) -> Result<Vec<HeatMember>, SessionError> {
    let unplanned = SessionError::Unplanned;
    let name = load.name();
    let stack = |number: usize| {
        let target = load.targets.get(number).cloned();
        target.ok_or_else(|| unplanned(format!("{name} has no stack of number {number}")))
    };
    let mut members = Vec::new();
    for number in &next.members {
        let (target, role) = (stack(*number)?, Role::Member);
        members.push(HeatMember { target, role });
    }
    if members.is_empty() {
        return Err(unplanned(format!("a heat of {name} without stacks")));
    }
    let place = members.len() - heat as usize % (members.len() + 1);
    match next.control {
        None => {}
        Some(Control::Ceiling) => members.insert(
            place,
            HeatMember {
                target: TargetId::null_server(),
                role: Role::Ceiling,
            },
        ),
        Some(Control::Twin { of }) => {
            let original = next.members.iter().position(|number| *number == of);
            let original = original
                .ok_or_else(|| unplanned(format!("the twin of number {of}, which is not in it")))?;
            // Those behind the twin move on by one place.
            let original = original + usize::from(original >= place);
            let twin = HeatMember {
                target: stack(of)?,
                role: Role::Twin {
                    of: original as u32,
                },
            };
            members.insert(place, twin);
        }
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use deadheat_model::{
        heat::{CpuUsed, SliceNoise},
        session::Phase,
    };

    use super::*;
    use crate::session::fixtures::{self, load};

    /// Six rounds of two members for a second each, in which other programs take this share of two CPUs.
    fn heat_with(share: f64) -> HeatRecord {
        let mut heat = fixtures::heat(&["a", "b"], &[[100, 100]; 6]);
        for slice in heat.rounds.iter_mut().flatten() {
            slice.cpu = Some(CpuUsed {
                seconds: 0.5,
                ..CpuUsed::default()
            });
            slice.noise = Some(SliceNoise {
                busy_seconds: 0.5 + 2.0 * share,
                cpus: 2,
                ..SliceNoise::default()
            });
        }
        heat
    }

    #[test]
    fn a_disturbed_heat_is_repeated_unless_that_is_usual_or_a_member_failed() {
        let disturbed = heat_with(0.1);
        let after = |heat: &HeatRecord, before: &[bool]| is_repeated(heat, before.iter().copied());
        assert!(after(&disturbed, &[false]));
        assert!(!after(&heat_with(0.04), &[false]));
        // Most heats are like that.
        assert!(!after(&disturbed, &[]));
        assert!(!after(&disturbed, &[true, false]));
        assert!(after(&disturbed, &[true, false, false]));
        let mut failed = disturbed.clone();
        failed.members[0].failure = Some(fixtures::failure(Phase::Load, Some(3)));
        assert!(!after(&failed, &[false]));
        let mut interrupted = disturbed;
        interrupted.end = HeatEnd::Interrupted;
        assert!(!after(&interrupted, &[false]));
    }

    #[test]
    fn another_heat_takes_as_long_as_the_one_before_it_with_its_equal_work() {
        let rounds = heat_with(0.1);
        let equal_work = HeatRecord {
            wall: Duration::from_secs(2),
            ..rounds.clone()
        };
        let parts = [(0, rounds), (1, equal_work)];
        let is_time = |budget, parts: &[(usize, HeatRecord)]| {
            is_time_for_another(budget, Duration::from_secs(10), parts)
        };
        assert!(is_time(None, &parts));
        assert!(is_time(Some(16.1), &parts));
        assert!(!is_time(Some(15.9), &parts));
        assert!(is_time(Some(12.1), &parts[..1]));
    }

    #[test]
    fn the_log_of_a_start_that_serves_several_loads_names_none_of_them() {
        let mut load = load(&["a"]);
        let one = |role| HeatMember {
            target: TargetId::new("a", Some("b")),
            role,
        };
        let name = |load: &PlannedLoad, role| log_name(load, &one(role), 7);
        assert_eq!(name(&load, Role::Member), "a@b-plaintext-c50-heat7");
        load.shared_starts = Some(0);
        assert_eq!(name(&load, Role::Member), "a@b-from-heat7");
        assert_eq!(name(&load, Role::Twin { of: 0 }), "a@b-from-heat7-twin");
    }

    fn taking_part(
        members: &[usize],
        control: Option<Control>,
    ) -> Result<Vec<(String, Role)>, SessionError> {
        in_heat(0, members, control)
    }

    fn in_heat(
        heat: u32,
        members: &[usize],
        control: Option<Control>,
    ) -> Result<Vec<(String, Role)>, SessionError> {
        let next = NextHeat {
            then: None,
            load: 0,
            members: members.to_vec(),
            control,
        };
        let members = heat_members(&load(&["a", "b", "c"]), &next, heat)?.into_iter();
        Ok(members
            .map(|one| (one.target.to_string(), one.role))
            .collect())
    }

    #[test]
    fn stacks_come_before_the_control_and_a_twin_knows_its_originals_place() {
        let named = |name: &str, role| (name.to_owned(), role);
        let (a, c) = (named("a", Role::Member), named("c", Role::Member));
        assert_eq!(taking_part(&[0, 2], None).unwrap(), [a.clone(), c.clone()]);
        let ceiling = taking_part(&[0, 2], Some(Control::Ceiling)).unwrap();
        let null = named("~null-server", Role::Ceiling);
        assert_eq!(ceiling, [a.clone(), c.clone(), null]);
        let twin = taking_part(&[0, 2], Some(Control::Twin { of: 2 })).unwrap();
        assert_eq!(twin, [a, c, named("c", Role::Twin { of: 1 })]);
    }

    #[test]
    fn the_control_is_in_each_place_by_turns() {
        let named = |name: &str, role| (name.to_owned(), role);
        let (a, c) = (named("a", Role::Member), named("c", Role::Member));
        let twin = |of| named("a", Role::Twin { of });
        let in_heat = |heat| in_heat(heat, &[0, 2], Some(Control::Twin { of: 0 })).unwrap();
        assert_eq!(in_heat(0), [a.clone(), c.clone(), twin(0)]);
        assert_eq!(in_heat(1), [a.clone(), twin(0), c.clone()]);
        assert_eq!(in_heat(2), [twin(1), a.clone(), c.clone()]);
        assert_eq!(in_heat(3), [a, c, twin(0)]);
    }

    #[test]
    fn who_is_not_planned_is_refused() {
        let error = taking_part(&[3], None).unwrap_err().to_string();
        assert!(error.contains("number 3"), "{error}");
        assert!(taking_part(&[], Some(Control::Ceiling)).is_err());
        assert!(taking_part(&[0], Some(Control::Twin { of: 1 })).is_err());
    }
}
