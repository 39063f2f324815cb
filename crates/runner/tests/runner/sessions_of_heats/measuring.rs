//! What is measured, and in which order.

use std::{fs, sync::Arc, time::Duration};

use deadheat_model::{
    Event, TargetId,
    event::HeatStep,
    heat::{HeatEnd, HeatRecord, Role},
    heats::{Control, EndReason, NextHeat, PlannedLoad, SessionRecord, Step},
    session::TargetState,
    workload::OfferedRate,
};
use deadheat_runner::session::{
    SessionOptions,
    heats::{self, Steering},
};

use super::{Bench, Script, run, script};

/// A heat's members: their names and roles.
fn roles(record: &SessionRecord, heat: usize) -> Vec<(String, Role)> {
    let members = record.heats[heat].heat.members.iter();
    members
        .map(|one| (one.target.to_string(), one.role))
        .collect()
}

fn word(event: &Event) -> Option<String> {
    Some(match event {
        Event::HeatsStarted { .. } => "started".to_owned(),
        Event::HeatStarted { heat, .. } => format!("heat {heat}"),
        Event::HeatStep { step } => match step {
            HeatStep::BringingUp { target } => format!("up {target}"),
            // As many as the machine has time for.
            HeatStep::Round { done, .. } if *done > 0 => return None,
            HeatStep::Round { .. } => "rounds".to_owned(),
            HeatStep::AtRate { .. } => return None,
            HeatStep::Ending => "ending".to_owned(),
        },
        Event::HeatEnded { heat } => format!("ended {}", heat.heat.heat),
        Event::HeatsEnded { reason } => format!("{reason:?}"),
        _ => return None,
    })
}

#[test]
fn heats_follow_each_other_as_they_are_steered_and_are_read_back() {
    let bench = Bench::new();
    let options = bench.options(&[("a", "none"), ("b", "none")]);
    let script = Script {
        heats: 2,
        controls: vec![Control::Ceiling, Control::Twin { of: 1 }],
    };
    let (record, events) = run(&options, script);
    assert_eq!(record.end, Some(EndReason::Finished));
    let named = |name: &str, role| (name.to_owned(), role);
    let (a, b) = (named("a", Role::Member), named("b", Role::Member));
    let null = named("~null-server", Role::Ceiling);
    assert_eq!(roles(&record, 0), [a.clone(), b.clone(), null]);
    // The control moves on by one place with each heat.
    let twin = named("b", Role::Twin { of: 2 });
    assert_eq!(roles(&record, 1), [a, twin, b]);
    for (number, one) in record.heats.iter().enumerate() {
        assert_eq!((one.load, one.heat.heat), (0, number as u32));
        assert_eq!(one.heat.end, HeatEnd::Finished);
        assert!(!one.heat.rounds.is_empty());
        for member in &one.heat.members {
            assert!(member.failure.is_none(), "{:?}", member.failure);
            assert!(member.verified_after.is_some());
        }
    }
    let words: Vec<String> = events.iter().filter_map(word).collect();
    let heat = |number: u32, third: &str| {
        let number = |what: &str| format!("{what} {number}");
        [
            number("heat"),
            "up a".to_owned(),
            "up b".to_owned(),
            format!("up {third}"),
            "rounds".to_owned(),
            "ending".to_owned(),
            number("ended"),
        ]
    };
    let expected: Vec<String> = [
        vec!["started".to_owned()],
        heat(0, "~null-server").to_vec(),
        heat(1, "b").to_vec(),
        vec!["Finished".to_owned()],
    ]
    .concat();
    assert_eq!(words, expected);
    bench.nobody_is_left();
}

#[test]
fn the_plan_that_is_shown_before_is_the_one_that_is_measured() {
    let bench = Bench::new();
    let options = bench.options(&[("a", "none"), ("b", "none")]);
    let draft = heats::draft(&options, &script(1));
    let (record, _) = run(&options, script(1));
    let plan = &record.header.plan;
    assert_eq!(plan.loads[0].targets, draft.loads[0].targets);
    assert_eq!(plan.loads[0].heat, draft.loads[0].heat);
    assert_eq!(plan.loads[0].looks, [3]);
    assert_eq!((plan.seed, plan.alpha, plan.margin), (7, 0.05, 0.03));
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    assert_eq!(record.header.boot.as_deref(), Some(boot.trim()));
    assert!(record.header.definitions.contains_key("plaintext"));
}

#[test]
fn one_that_answers_wrongly_at_first_is_left_out_and_one_stack_is_measured_alone() {
    let bench = Bench::new();
    let options = bench.options(&[("a", "finds-everything"), ("b", "none")]);
    let script = Script {
        controls: vec![Control::Ceiling],
        ..script(1)
    };
    let (record, _) = run(&options, script);
    let failed = &record.header.targets[0];
    assert!(failed.failed_workload("plaintext").is_some(), "{failed:?}");
    let planned = &record.header.plan.loads[0].targets;
    assert_eq!(planned[..], [TargetId::new("b", None)]);
    assert_eq!(record.heats[0].heat.end, HeatEnd::Finished);
    assert_eq!(record.heats[0].heat.members.len(), 2);
}

#[test]
fn a_session_without_anybody_to_measure_says_so() {
    let bench = Bench::new();
    let options = bench.options(&[("a", "exits-at-once")]);
    let (record, _) = run(&options, script(3));
    let state = &record.header.targets[0].state;
    assert!(matches!(state, TargetState::Failed(_)), "{state:?}");
    assert_eq!(record.end, Some(EndReason::Nothing));
    assert_eq!(record.heats, []);
}

/// Heats of the first load until every stack takes part in the equal work of one: on a busy machine a short heat may be without
/// an answer, so that nobody knows what a stack can take.
struct UntilAllAreOffered;

/// The most heats, which only end a broken test.
const MAX_HEATS: u32 = 50;

impl Steering for UntilAllAreOffered {
    fn next(&mut self, record: &SessionRecord, _: Duration) -> Step {
        let is_offered = |heat: &HeatRecord| {
            let mut stacks = heat.members.iter().filter(|one| one.role == Role::Member);
            stacks.all(|one| one.offered_per_second.is_some())
        };
        let heats = record.complete_heats(0).count();
        if record.complete_heats(1).any(is_offered) || heats >= MAX_HEATS as usize {
            return Step::End(EndReason::Finished);
        }
        Step::Heat(NextHeat {
            then: None,
            load: 0,
            members: (0..record.header.plan.loads[0].targets.len()).collect(),
            control: Some(Control::Ceiling),
        })
    }

    fn orders(&mut self, members: usize, _: u64) -> Vec<Vec<usize>> {
        vec![(0..members).collect()]
    }

    fn looks(&self, _: &PlannedLoad, most: u32) -> Vec<u32> {
        vec![most]
    }
}

#[test]
fn equal_work_is_done_by_the_processes_of_the_closed_loop_at_one_rate_for_the_whole_session() {
    let bench = Bench::new();
    let mut options = bench.options(&[("a", "none"), ("b", "unhurried")]);
    options.heats.rates = vec![OfferedRate::Common, OfferedRate::PerSecond(1_000_000)];
    let mut steps = Vec::new();
    let mut on_event = |event: &Event| {
        if let Event::HeatStep { step } = event {
            steps.push(step.clone());
        }
    };
    let interrupt = Arc::default();
    let outcome = heats::run(&options, &mut UntilAllAreOffered, &mut on_event, &interrupt).unwrap();
    let record = heats::read_session(&outcome.folder).unwrap();
    let points = record.header.plan.loads.iter().map(|load| &*load.point.id);
    let points: Vec<&str> = points.collect();
    assert_eq!(points, ["c4", "c4-rate", "c4-rate-1000000"]);
    // The rounds are the last line of their heat, and the first part of it in the record.
    let journal = fs::read_to_string(outcome.folder.join(heats::HEATS_FILE)).unwrap();
    let mut lines = journal.lines();
    let last = lines.rfind(|line| line.starts_with("{\"record\":\"heat\","));
    assert!(last.unwrap().contains("\"heat\",\"load\":0,"));
    assert_eq!(record.heats[0].load, 0);
    // One start of each for all three.
    let [closed, common, beyond] =
        [0, 1, 2].map(|load| record.complete_heats(load).last().unwrap());
    let heats = record.complete_heats(0).count();
    let starts = steps
        .iter()
        .filter(|step| matches!(step, HeatStep::BringingUp { .. }));
    assert_eq!(starts.count(), heats * closed.members.len());
    let stacks = |heat: &HeatRecord| {
        let members = heat.members.iter().enumerate();
        let members = members.filter(|(_, one)| one.role == Role::Member);
        members.map(|(place, _)| place).collect::<Vec<_>>()
    };
    let slices = |heat: &HeatRecord, place: usize| {
        let all = heat.rounds.iter().flatten();
        all.filter(|slice| slice.member as usize == place).count()
    };
    let rates: Vec<f64> = stacks(common)
        .into_iter()
        .map(|place| common.members[place].offered_per_second.unwrap())
        .collect();
    assert!(
        rates[0] >= 1.0 && rates.iter().all(|rate| *rate == rates[0]),
        "{rates:?}"
    );
    for place in stacks(common) {
        let (before, at_rate) = (&closed.members[place], &common.members[place]);
        assert_eq!(
            (&before.target, before.ready),
            (&at_rate.target, at_rate.ready)
        );
        assert_eq!(before.offered_per_second, None);
        assert!(at_rate.warm_up.is_none() && at_rate.verified_after.is_some());
        let turns = common.plan.rounds.number() as usize;
        let measured = slices(common, place);
        // Rounds in which the hypervisor stole time are measured again, at most as many.
        assert!(
            turns >= 2 && (turns..=2 * turns).contains(&measured),
            "{measured} of {turns}"
        );
        // Nobody can take a million: it is a result, and costs no time.
        assert_eq!(beyond.members[place].offered_per_second, Some(1e6));
        assert_eq!(slices(beyond, place), 0);
    }
    for slice in common.rounds.iter().flatten() {
        assert!(
            slice.open.is_some() && slice.tally.is_conserved(),
            "{slice:?}"
        );
        assert!(slice.window >= Duration::from_secs(1), "{slice:?}");
    }
}

/// Turns of a heat at each load, the first load first or last by turns. One start serves them all where the plan says so.
struct Turns(usize);

impl Steering for Turns {
    fn next(&mut self, record: &SessionRecord, _: Duration) -> Step {
        let done = [0, 1].map(|load| record.complete_heats(load).count());
        let turn = done[0].min(done[1]);
        if turn >= self.0 {
            return Step::End(EndReason::Finished);
        }
        let order = if turn % 2 == 0 { [0, 1] } else { [1, 0] };
        let is_first = done[0] == done[1];
        let loads = &record.header.plan.loads;
        let is_shared = loads[0].shares_starts_with(&loads[1]);
        Step::Heat(NextHeat {
            load: if is_first { order[0] } else { order[1] },
            members: (0..record.header.plan.loads[0].targets.len()).collect(),
            control: Some(Control::Ceiling),
            then: (is_first && is_shared).then_some(order[1]),
        })
    }

    fn orders(&mut self, members: usize, _: u64) -> Vec<Vec<usize>> {
        vec![(0..members).collect()]
    }

    fn looks(&self, _: &PlannedLoad, most: u32) -> Vec<u32> {
        vec![most]
    }
}

/// The stacks of each heat, with the loads that their processes had served before.
fn loads_before(record: &SessionRecord) -> Vec<Vec<(String, u32)>> {
    let heats = record.heats.iter().map(|one| {
        let members = one.heat.members.iter();
        let stacks = members.filter(|one| one.role == Role::Member);
        stacks
            .map(|one| (one.target.to_string(), one.loads_before))
            .collect()
    });
    heats.collect()
}

fn in_turns(options: &SessionOptions, turns: usize) -> SessionRecord {
    let mut turns = Turns(turns);
    let outcome = heats::run(options, &mut turns, &mut |_| (), &Arc::default()).unwrap();
    heats::read_session(&outcome.folder).unwrap()
}

#[test]
fn one_start_serves_a_heat_at_each_load() {
    let bench = Bench::new();
    let options = bench.at_two_loads(&[("a", "none"), ("b", "none")]);
    let prepared = 2;
    let record = in_turns(&options, 2);
    let both = |loads| vec![("a".to_owned(), loads), ("b".to_owned(), loads)];
    assert_eq!(loads_before(&record), [both(0), both(1), both(0), both(1)]);
    assert_eq!(bench.started() - prepared, 2 * 2);
    for one in &record.heats {
        assert_eq!(one.heat.end, HeatEnd::Finished);
        for member in &one.heat.members {
            assert!(member.failure.is_none(), "{:?}", member.failure);
            assert!(member.verified_before.is_some() && member.verified_after.is_some());
            assert_eq!(member.ready.is_some(), member.loads_before == 0);
            assert_eq!(member.memory.idle.is_some(), member.loads_before == 0);
            assert!(!member.command.is_empty());
        }
    }
    bench.nobody_is_left();
}

/// In one heat nobody is fresh where another one has served a load before.
#[test]
fn each_heat_starts_its_servers_where_one_of_them_is_started_otherwise_or_it_is_asked_for() {
    let bench = Bench::new();
    let mut separate = bench.at_two_loads(&[("a", "none"), ("b", "none")]);
    separate.heats.separate_loads = true;
    let mut unlike = bench.at_two_loads(&[("a", "none"), ("b", "none")]);
    let own = &mut unlike.targets[1].stack.manifest.run.workload_env;
    let other = [("KIND".to_owned(), "other".to_owned())];
    own.insert("greeting".to_owned(), other.into());
    for options in [separate, unlike] {
        let record = in_turns(&options, 1);
        assert!(loads_before(&record).iter().flatten().all(|one| one.1 == 0));
    }
    bench.nobody_is_left();
}

#[test]
fn a_server_that_ends_between_two_loads_has_failed() {
    let bench = Bench::new();
    let options = bench.at_two_loads(&[("a", "none"), ("b", "none"), ("c", "none")]);
    let mut on_event = |event: &Event| {
        if let Event::HeatEnded { heat } = event
            && heat.load == 0
        {
            // The server that was started last is a member of this heat.
            let events = fs::read_to_string(bench.events()).unwrap();
            let mut started = events.lines().rev();
            let last = started.find(|line| line.starts_with("started ")).unwrap();
            let pid = last.rsplit(' ').next().unwrap().parse().unwrap();
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
    };
    let outcome = heats::run(&options, &mut Turns(1), &mut on_event, &Arc::default()).unwrap();
    let record = heats::read_session(&outcome.folder).unwrap();
    let failures = record.heats[1].heat.members.iter();
    let failures: Vec<String> = failures
        .filter_map(|one| Some(one.failure.as_ref()?.failure.reason.clone()))
        .collect();
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert!(
        failures[0].contains("SIGKILL while it was frozen between two loads"),
        "{failures:?}"
    );
    bench.nobody_is_left();
}

#[test]
fn who_fails_at_one_load_is_started_again_for_the_next() {
    let bench = Bench::new();
    // It dies in its first heat.
    let options = bench.at_two_loads(&[("a", "none"), ("b", "dies-under-load"), ("c", "none")]);
    let record = in_turns(&options, 1);
    let before = loads_before(&record);
    let of = |name: &str| (name.to_owned(), 1);
    assert!(before[1].contains(&of("a")) && before[1].contains(&of("c")));
    assert!(before[1].contains(&("b".to_owned(), 0)));
    bench.nobody_is_left();
}
