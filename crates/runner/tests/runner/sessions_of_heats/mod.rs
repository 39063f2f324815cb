//! Sessions that are measured in heats, of stacks that are one Python script with a fault.

mod failing;
mod measuring;
mod stopping;

use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use deadheat_model::{
    Event, TargetId, WorkloadManifest,
    heats::{Control, EndReason, NextHeat, PlannedLoad, SessionRecord, Step},
};
use deadheat_runner::{
    manifest::{SelectedWorkload, Stack},
    session::{
        PinningMode, SelectedTarget, SessionOptions,
        heats::{self, HeatOptions, HeatsOutcome, Steering},
    },
};

use crate::process::{is_alive, supervision};

/// The server of every fake stack.
const SERVER: &str = include_str!("../../../../cli/tests/cli/fake_server.py");

/// As the project's own, with few connections and every answer compared.
const PLAINTEXT: &str = "
id = \"plaintext\"
description = \"A constant text\"
method = \"GET\"
path = \"/plaintext\"
content-type = \"text/plain\"
content-sample = 1

[oracle]
kind = \"text\"
body = \"Hello, World!\"

[[point]]
id = \"c4\"
connections = 4
";

/// A folder with fake stacks, and with the sessions of a test.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    /// A stack with one of the faults in `fake_server.py`; `none`: it does everything rightly.
    fn stack(&self, id: &str, fault: &str) -> SelectedTarget {
        let dir = self.folder.path().join("stacks").join(id);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("server.py"), SERVER).unwrap();
        let events = self.events();
        let text = format!(
            "id = \"{id}\"\nlanguage = \"Python\"\nframework = \"fake\"\nclass = \"platform\"\nruntime = \"native\"\n\
             workloads = [\"plaintext\", \"greeting\"]\n[run]\ncommand = [\"python3\", \"-I\", \"-S\", \"server.py\"]\n\
             env = {{ FAULT = \"{fault}\", DEADHEAT_TEST_EVENTS = {events:?} }}\n"
        );
        fs::write(dir.join("stack.toml"), &text).unwrap();
        let manifest = toml::from_str(&text).unwrap();
        SelectedTarget {
            stack: Stack {
                dir,
                manifest,
                added: None,
            },
            target: TargetId::new(id, None),
        }
    }

    /// What happened to servers, a line each: what, and the process's number.
    fn events(&self) -> PathBuf {
        self.folder.path().join("events")
    }

    /// A session of these stacks, each with its fault.
    fn options(&self, stacks: &[(&str, &str)]) -> SessionOptions {
        let stacks = stacks.iter();
        let plaintext: WorkloadManifest = toml::from_str(PLAINTEXT).unwrap();
        let workload = SelectedWorkload {
            points: plaintext.point.clone(),
            manifest: plaintext.clone(),
        };
        SessionOptions {
            results: self.folder.path().join("results"),
            warm_up: Some(Duration::from_millis(20)),
            heats: HeatOptions {
                heats: Some(3),
                time: Some(Duration::from_millis(100)),
                slice: Duration::from_millis(20),
                guard: Duration::from_millis(5),
                ..HeatOptions::default()
            },
            pinning: PinningMode::Off,
            // It only ends a broken test.
            start_timeout: Duration::from_secs(60),
            arguments: vec!["run".to_owned()],
            version: "test".to_owned(),
            ..SessionOptions::new(
                stacks.map(|(id, fault)| self.stack(id, fault)).collect(),
                vec![workload],
                Some(plaintext),
                7,
                supervision(),
            )
        }
    }

    /// The same at a second load: another workload, which every stack answers alike.
    fn at_two_loads(&self, stacks: &[(&str, &str)]) -> SessionOptions {
        let mut options = self.options(stacks);
        let mut second = options.workloads[0].clone();
        second.manifest.id = "greeting".to_owned();
        options.workloads.push(second);
        // Enough for each load to be the first.
        options.heats.heats = Some(4);
        options
    }

    /// Processes of servers so far.
    fn started(&self) -> usize {
        let events = fs::read_to_string(self.events()).unwrap_or_default();
        let starts = events.lines().filter(|line| line.starts_with("start"));
        starts.count()
    }

    /// Whatever was started has ended.
    fn nobody_is_left(&self) {
        let events = fs::read_to_string(self.events()).unwrap_or_default();
        for line in events.lines() {
            let pid = line.rsplit(' ').next().unwrap().parse().unwrap();
            assert!(!is_alive(pid), "still runs: {line}");
        }
    }
}

/// Heats of all stacks until there are enough, the first ones with these controls.
#[derive(Default)]
struct Script {
    heats: usize,
    controls: Vec<Control>,
}

impl Steering for Script {
    fn next(&mut self, record: &SessionRecord, spent: Duration) -> Step {
        let walls = record.heats.iter().map(|one| one.heat.wall);
        assert_eq!(spent, walls.sum::<Duration>());
        let done = record.complete_heats(0).count();
        if done >= self.heats {
            return Step::End(EndReason::Finished);
        }
        Step::Heat(NextHeat {
            then: None,
            load: 0,
            members: (0..record.header.plan.loads[0].targets.len()).collect(),
            control: self.controls.get(done).copied(),
        })
    }

    fn orders(&mut self, members: usize, _: u64) -> Vec<Vec<usize>> {
        vec![(0..members).collect(), (0..members).rev().collect()]
    }

    fn looks(&self, _: &PlannedLoad, most: u32) -> Vec<u32> {
        vec![most]
    }
}

fn script(heats: usize) -> Script {
    Script {
        heats,
        ..Script::default()
    }
}

/// Runs a session to its end; its record as it was written.
fn run(options: &SessionOptions, mut script: Script) -> (SessionRecord, Vec<Event>) {
    let mut events = Vec::new();
    let mut on_event = |event: &Event| events.push(event.clone());
    let interrupt = Arc::default();
    let outcome = heats::run(options, &mut script, &mut on_event, &interrupt).unwrap();
    let record = heats::read_session(&outcome.folder).unwrap();
    assert_eq!(record.end, Some(outcome.reason));
    (record, events)
}

/// Runs a session in which the user asks to stop at the first event that `at` is true for.
fn interrupted(
    options: &SessionOptions,
    heats: usize,
    at: impl Fn(&Event) -> bool,
) -> HeatsOutcome {
    let interrupt = Arc::new(AtomicBool::new(false));
    let mut on_event = |event: &Event| {
        if at(event) {
            interrupt.store(true, Ordering::Relaxed);
        }
    };
    heats::run(options, &mut script(heats), &mut on_event, &interrupt).unwrap()
}
