//! A tree is frozen whole, and nothing of it stays behind frozen, whoever dies when.

use std::{
    collections::HashSet,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use deadheat_model::heat::Freezing;
use deadheat_runner::process::{Spawn, Supervised, Supervision, descendants, read_stat};
use deadheat_testkit::{not_tested, wait_until};

use crate::process::{is_alive, read_pid, shell, signal};

/// The ways to freeze, as the words by which `runner-child` is told to use them.
const WAYS: [&str; 3] = ["best", "v1", "off"];

/// Longer than a process that runs needs to be seen to.
const MOMENT: Duration = Duration::from_millis(50);

/// Starts the main process, its child and a daemon that forked twice and left group and session. All of them compute,
/// and end in order at SIGTERM.
const TREE: &str = "
    work='trap \"echo > $0.ended; exit\" TERM; echo $$ > $0.new; mv $0.new $0.pid; while :; do :; done'
    (setsid sh -c \"$work\" daemon &)
    sh -c \"$work\" child &
    trap 'echo > main.ended; exit' TERM
    while [ ! -e daemon.pid ] || [ ! -e child.pid ]; do sleep 0.01; done
    echo > ready
    while :; do :; done";

fn supervision(way: &str) -> Supervision {
    Supervision {
        program: env!("CARGO_BIN_EXE_runner-child").into(),
        args: [Supervision::COMMAND, way].map(str::to_owned).to_vec(),
    }
}

/// A tree that runs.
struct Running {
    folder: tempfile::TempDir,
    child: Supervised,
    /// Main process, child and daemon.
    pids: [u32; 3],
}

impl Running {
    /// `None` when this machine does not have that way; that is said.
    fn start(way: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let spec = shell(folder.path(), TREE);
        let mut child = Supervised::spawn(&supervision(way), &spec).unwrap();
        let is_there = match child.freezing() {
            Freezing::CgroupV2 => way == "best",
            Freezing::CgroupV1 => way == "v1",
            Freezing::Signals { reason } => {
                assert_eq!(reason, "no control group could be made that freezes");
                way == "off"
            }
            Freezing::Off => false,
        };
        if !is_there {
            not_tested("freezing", &format!("this machine has not: {way}"));
            return None;
        }
        let path = |name: &str| folder.path().join(name);
        wait_until("the tree", || path("ready").exists());
        let pids = [
            child.pid(),
            read_pid(&path("child.pid")),
            read_pid(&path("daemon.pid")),
        ];
        Some(Self {
            folder,
            child,
            pids,
        })
    }

    fn ticks(&self) -> [u64; 3] {
        self.pids.map(|pid| read_stat(pid).unwrap().cpu_ticks)
    }

    fn has(&self, file: &str) -> bool {
        self.folder.path().join(file).exists()
    }
}

#[test]
fn nothing_of_a_frozen_tree_runs_until_it_is_thawed() {
    for mut tree in WAYS.into_iter().filter_map(Running::start) {
        for _ in 0..3 {
            tree.child.freeze().unwrap();
            let before = tree.ticks();
            thread::sleep(MOMENT);
            assert_eq!(tree.ticks(), before, "{:?}", tree.child.freezing());
            tree.child.thaw().unwrap();
            wait_until("all of it runs again", || {
                let now = tree.ticks();
                now.iter().zip(before).all(|(now, before)| *now > before)
            });
        }
    }
}

#[test]
fn freezing_or_thawing_twice_changes_nothing() {
    for mut tree in WAYS.into_iter().filter_map(Running::start) {
        tree.child.freeze().unwrap();
        tree.child.freeze().unwrap();
        tree.child.thaw().unwrap();
        tree.child.thaw().unwrap();
        let before = tree.ticks();
        wait_until("it runs", || tree.ticks()[0] > before[0]);
    }
}

#[test]
fn a_frozen_tree_is_ended_in_order() {
    for mut tree in WAYS.into_iter().filter_map(Running::start) {
        tree.child.freeze().unwrap();
        let stopped = tree.child.stop().unwrap();
        assert!(!stopped.ignored_signal, "{stopped:?}");
        assert!(tree.has("main.ended"), "it saw the signal");
        assert!(!tree.pids.into_iter().any(is_alive));
    }
}

#[test]
fn what_forks_while_it_is_frozen_is_frozen_whole() {
    for way in WAYS {
        let folder = tempfile::tempdir().unwrap();
        let script = "echo > ready; while :; do (:) & (sleep 0.01 &) ; done";
        let spec = shell(folder.path(), script);
        let mut child = Supervised::spawn(&supervision(way), &spec).unwrap();
        wait_until("it forks", || folder.path().join("ready").exists());
        let supervisor = child.supervisor_pid();
        let all = || {
            let all = descendants(supervisor).into_iter();
            all.map(|stat| stat.pid).collect::<HashSet<_>>()
        };
        for _ in 0..5 {
            child.freeze().unwrap();
            let before = all();
            thread::sleep(Duration::from_millis(10));
            // What had ended when the others froze may go: the supervisor, which is not frozen, collects it.
            let new: Vec<_> = all().difference(&before).copied().collect();
            assert!(new.is_empty(), "{new:?}: {:?}", child.freezing());
            child.thaw().unwrap();
        }
        child.freeze().unwrap();
        child.stop().unwrap();
        assert!(all().is_empty());
    }
}

#[test]
fn one_that_has_just_died_can_be_frozen_and_its_death_is_told() {
    for mut tree in WAYS.into_iter().filter_map(Running::start) {
        signal(libc::SIGKILL, tree.child.pid());
        tree.child.freeze().unwrap();
        // The freezer of v1 may have been faster than its death.
        tree.child.thaw().unwrap();
        wait_until("its end is told", || tree.child.exit().is_some());
        // Its child and the daemon are left.
        tree.child.freeze().unwrap();
        assert!(tree.child.stop().unwrap().left_behind >= 1);
        assert!(!tree.pids.into_iter().any(is_alive));
        // Nothing and nobody is left, and that is no error.
        tree.child.freeze().unwrap();
        tree.child.thaw().unwrap();
    }
}

#[test]
fn a_killed_supervisor_leaves_nothing_frozen_behind() {
    for mut tree in WAYS.into_iter().filter_map(Running::start) {
        tree.child.freeze().unwrap();
        signal(libc::SIGKILL, tree.child.supervisor_pid());
        let way = tree.child.freezing().clone();
        wait_until(&format!("the end of all of it, frozen by {way:?}"), || {
            tree.child.exit();
            !tree.pids.into_iter().any(is_alive)
        });
        assert!(tree.child.stop().is_err());
    }
}

/// A Deadheat whose tree is frozen, and which is killed.
struct Owner {
    folder: tempfile::TempDir,
    process: std::process::Child,
    supervisor: u32,
    pids: [u32; 3],
}

fn start_owner(way: &str, folder: &Path, script: &str) -> std::process::Child {
    let spec: Spawn = shell(folder, script);
    let mut process = Command::new(env!("CARGO_BIN_EXE_runner-child"))
        .args(["freeze", way])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    writeln!(input, "{}", serde_json::to_string(&spec).unwrap()).unwrap();
    process
}

impl Owner {
    fn start(way: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| -> PathBuf { folder.path().join(name) };
        let process = start_owner(way, folder.path(), TREE);
        let supervisor = read_pid(&path("frozen"));
        let main = descendants(supervisor);
        let main = main
            .iter()
            .find(|stat| stat.parent == supervisor)
            .unwrap()
            .pid;
        let pids = [
            main,
            read_pid(&path("child.pid")),
            read_pid(&path("daemon.pid")),
        ];
        Self {
            folder,
            process,
            supervisor,
            pids,
        }
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    fn eventually_ended(&self, way: &str, pids: &[u32]) {
        wait_until(&format!("the end of all of it ({way})"), || {
            !pids.iter().any(|pid| is_alive(*pid))
        });
    }
}

#[test]
fn a_killed_owner_leaves_nothing_frozen_behind() {
    for way in WAYS {
        let mut owner = Owner::start(way);
        owner.kill();
        owner.eventually_ended(way, &owner.pids);
        owner.eventually_ended(way, &[owner.supervisor]);
        assert!(owner.folder.path().join("main.ended").exists(), "{way}");
    }
}

#[test]
fn what_a_killed_owner_and_a_killed_supervisor_left_frozen_is_ended_by_the_next_start() {
    for way in WAYS {
        let mut owner = Owner::start(way);
        // The owner first: it would kill the tree when it saw its supervisor's end.
        signal(libc::SIGSTOP, owner.supervisor);
        owner.kill();
        signal(libc::SIGKILL, owner.supervisor);
        let [main, child, daemon] = owner.pids;
        if way == "off" {
            // Nobody is left who knows the daemon; the kernel ends the group of the main process, which is orphaned.
            owner.eventually_ended(way, &[main, child]);
            signal(libc::SIGKILL, daemon);
            continue;
        }
        // Its lock on the groups ends with it, and the next start looks once.
        owner.eventually_ended(way, &[owner.supervisor]);
        let folder = tempfile::tempdir().unwrap();
        let mut next = start_owner("best", folder.path(), "echo > ready; sleep 300");
        owner.eventually_ended(way, &owner.pids);
        next.kill().unwrap();
        next.wait().unwrap();
    }
}
