//! Heats of real servers: the null server, in several processes at once.

use std::{
    net::Ipv4Addr,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use deadheat_model::{
    StackManifest, TargetId, Wait, WorkloadManifest,
    heat::{
        Freezing, HeatEnd, HeatPlan, HeatRecord, Role, Rounds, SLICE_SPREAD, SliceFlag, WarmUpRule,
    },
};
use deadheat_runner::{
    heat::{Entry, Generator, Heat, ServerMember, ThisMachine, WarmUps, run},
    manifest::Stack,
    services::null,
    session::{Checks, Launch, MemberRequest, SelectedTarget},
    verify::{Canned, Fixtures},
};
use deadheat_testkit::wait_until;

use crate::process::{is_alive, read_pid, signal, supervision};

const PLAINTEXT: &str = include_str!("../../../../workloads/plaintext.toml");

const PLAN: HeatPlan = HeatPlan {
    slice: Duration::from_millis(20),
    guard: Duration::from_millis(5),
    rounds: Rounds::Count { rounds: 5 },
    freeze: true,
    wait: Wait::Sleep,
    memory_every: Duration::ZERO,
};

const RULE: WarmUpRule = WarmUpRule {
    least: Duration::from_millis(20),
    most: Duration::from_millis(100),
    slice: Duration::from_millis(10),
    pause: Duration::ZERO,
    rest: Duration::ZERO,
    look: 4,
    bound: 0.5,
};

/// What the members of a test share.
struct Scene {
    folder: tempfile::TempDir,
    workload: WorkloadManifest,
    canned: Canned,
    fixtures: Fixtures,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workload: WorkloadManifest = toml::from_str(PLAINTEXT).unwrap();
        let mut fixtures = Fixtures::create(folder.path(), 1).unwrap();
        let canned = Canned::new(&workload, &workload.point[0], &mut fixtures, 1).unwrap();
        std::fs::write(folder.path().join("body"), &canned.body).unwrap();
        Self {
            folder,
            workload,
            canned,
            fixtures,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The null server, started by a shell that does `before` first and leaves its process's number in `<place>.pid`.
    fn target(&self, place: usize, before: &str) -> SelectedTarget {
        let args = null::ServeOptions::args(&self.canned.content_type, &self.path("body"));
        let script = format!(
            "{before} echo $$ > {place}.new; mv {place}.new {place}.pid; exec \"$0\" \"$@\""
        );
        let mut command = vec!["sh".to_owned(), "-c".to_owned(), script];
        command.push(env!("CARGO_BIN_EXE_runner-child").to_owned());
        command.push(null::COMMAND.to_owned());
        command.extend(args);
        let id = format!("rust-null{place}");
        let mut manifest: StackManifest = toml::from_str(&format!(
            "id = \"{id}\"\nlanguage = \"Rust\"\nframework = \"none\"\nclass = \"platform\"\nruntime = \"native\"\n\
             [run]\ncommand = [\"sh\"]\n"
        ))
        .unwrap();
        manifest.run.command = command;
        SelectedTarget {
            stack: Stack {
                dir: self.folder.path().to_owned(),
                manifest,
                added: None,
            },
            target: TargetId::new(id, None),
        }
    }

    /// Runs a heat of one server for each of `before`.
    fn run(&mut self, before: &[&str], plan: HeatPlan, stop: &Arc<AtomicBool>) -> HeatRecord {
        let targets = before.iter().enumerate();
        let targets: Vec<_> = targets
            .map(|(place, before)| self.target(place, before))
            .collect();
        let log = |place: usize| self.path(&format!("{place}.log"));
        let logs: Vec<_> = (0..targets.len()).map(log).collect();
        let supervision = supervision();
        let fixtures = Mutex::new(&mut self.fixtures);
        let entries = targets.iter().zip(logs).map(|(target, log)| {
            let request = MemberRequest {
                checks: Checks::Canned(&self.canned),
                point: &self.workload.point[0],
                launch: Launch {
                    host: Ipv4Addr::LOCALHOST.into(),
                    target,
                    supervision: &supervision,
                    pinned: None,
                    cpus: 1,
                    protocols: Default::default(),
                    certificate: None,
                    workload: &self.workload,
                    seat: 0,
                    log,
                    timeout: Duration::from_secs(30),
                },
                workers: Vec::new(),
                measure: plan.slice,
                seed: 1,
            };
            Entry {
                is_kept: false,
                target: target.target.clone(),
                role: Role::Member,
                warm_ups: WarmUps {
                    started: RULE,
                    at_a_rate: None,
                },
                member: Box::new(ServerMember::new(
                    request,
                    plan.wait,
                    &fixtures,
                    Generator::Here,
                    Arc::clone(stop),
                )),
            }
        });
        let heat = Heat {
            number: 0,
            plan,
            orders: vec![(0..targets.len()).collect()],
            seed: 1,
            entries: entries.collect(),
            least: 1,
            equal_work: Vec::new(),
        };
        let mut parts = run(heat, "now".to_owned(), &ThisMachine::default(), stop).unwrap();
        parts.remove(0)
    }
}

fn nobody_is_left(folder: &Path, members: usize) {
    for place in 0..members {
        let pid = read_pid(&folder.join(format!("{place}.pid")));
        assert!(!is_alive(pid), "{place} still runs");
    }
}

#[test]
fn servers_are_loaded_in_turn_and_answer_after_every_thaw() {
    let mut scene = Scene::new();
    let record = scene.run(&["", "", ""], PLAN, &Arc::default());
    assert_eq!(record.end, HeatEnd::Finished);
    for member in &record.members {
        assert!(member.failure.is_none(), "{:?}", member.failure);
        assert_eq!(
            (member.verified_before, member.verified_after),
            (Some(1), Some(1))
        );
        assert_ne!(member.freezing, Some(Freezing::Off));
        assert!(member.memory.idle.unwrap() > 0 && member.memory.samples == 5);
        assert!(member.warm_up.unwrap().took >= RULE.least);
    }
    for slice in record.rounds.iter().flatten() {
        assert_eq!(slice.tally.failed.total(), 0, "{slice:?}");
        assert!(slice.tally.is_conserved());
        assert!(slice.window >= PLAN.slice.mul_f64(1.0 - SLICE_SPREAD));
        // On a busy machine the others' turns may take long.
        let mut flags = slice.flags.iter();
        assert!(flags.all(|flag| *flag == SliceFlag::LongGap), "{slice:?}");
    }
    for place in 0..3 {
        let slices = record.rounds.iter().flatten();
        let own = slices.filter(|slice| slice.member == place);
        // A busy machine may leave a single slice of 20 ms without an answer.
        assert!(own.map(|slice| slice.tally.succeeded).sum::<u64>() > 0);
    }
    let cpu: f64 = record
        .rounds
        .iter()
        .flatten()
        .filter_map(|slice| slice.cpu)
        .map(|cpu| cpu.seconds)
        .sum();
    assert!(cpu > 0.0);
    let written = serde_json::to_string(&record).unwrap();
    let read: HeatRecord = serde_json::from_str(&written).unwrap();
    // The last digit of a share may be another one after it was read.
    let counts = |record: &HeatRecord| {
        let slices = record.rounds.iter().flatten();
        let counts = slices.map(|slice| (slice.member, slice.at, slice.tally.clone()));
        counts.collect::<Vec<_>>()
    };
    assert_eq!((read.plan, counts(&read)), (record.plan, counts(&record)));
    nobody_is_left(scene.folder.path(), 3);
}

#[test]
fn a_server_that_is_killed_in_the_middle_leaves_the_heat_and_the_others_go_on() {
    let mut scene = Scene::new();
    let plan = HeatPlan {
        rounds: Rounds::Count { rounds: 20 },
        ..PLAN
    };
    let killed = scene.path("1.pid");
    let up = scene.path("2.pid");
    let killer = thread::spawn(move || {
        // The last one is up, so that the rounds are near.
        read_pid(&up);
        signal(libc::SIGKILL, read_pid(&killed));
    });
    let record = scene.run(&["", "", ""], plan, &Arc::default());
    killer.join().unwrap();
    assert_eq!(record.end, HeatEnd::Finished);
    let failure = record.members[1].failure.as_ref().unwrap();
    assert!(
        failure
            .failure
            .reason
            .ends_with("was ended by SIGKILL under load"),
        "{}",
        failure.failure.reason
    );
    assert!(failure.void_from.is_some());
    for place in [0, 2] {
        assert!(record.members[place].failure.is_none());
        let slices = record.rounds.iter().flatten();
        assert_eq!(
            slices
                .filter(|slice| slice.member as usize == place)
                .count(),
            20
        );
    }
    nobody_is_left(scene.folder.path(), 3);
}

#[test]
fn a_server_that_leaves_children_is_told_of_and_they_are_ended() {
    let mut scene = Scene::new();
    let child = "(setsid sh -c 'trap \"\" TERM; echo $$ > child.new; mv child.new child.pid; \
                 while :; do sleep 1; done' &) ; while [ ! -e child.pid ]; do sleep 0.01; done;";
    let record = scene.run(&["", child], PLAN, &Arc::default());
    let failure = record.members[1].failure.as_ref().unwrap();
    let reason = &failure.failure.reason;
    assert!(
        reason.contains("left") && reason.ends_with("which were killed"),
        "{reason}"
    );
    assert_eq!(
        (failure.void_from, record.members[1].verified_after),
        (None, Some(1))
    );
    assert!(!is_alive(read_pid(&scene.path("child.pid"))));
}

#[test]
fn the_wish_to_stop_ends_a_heat_of_frozen_servers() {
    let mut scene = Scene::new();
    let stop: Arc<AtomicBool> = Arc::default();
    let plan = HeatPlan {
        // Only ends a broken test.
        rounds: Rounds::Time {
            time: Duration::from_secs(30),
        },
        ..PLAN
    };
    let (up, wish) = (scene.path("1.pid"), Arc::clone(&stop));
    let user = thread::spawn(move || {
        let pid = read_pid(&up);
        // Frozen or not, in the middle of the rounds or just before.
        wait_until("it is there", || is_alive(pid));
        thread::sleep(Duration::from_millis(100));
        wish.store(true, Ordering::Relaxed);
    });
    let record = scene.run(&["", ""], plan, &stop);
    user.join().unwrap();
    assert_eq!(record.end, HeatEnd::Interrupted);
    let failures = record
        .members
        .iter()
        .filter_map(|member| member.failure.as_ref());
    assert_eq!(failures.count(), 0);
    nobody_is_left(scene.folder.path(), 2);
}
