//! `deadheat load`, run to its end, and what it reported.

use std::{
    fmt,
    io::Read,
    panic::{AssertUnwindSafe, catch_unwind},
    process::{Child, Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use deadheat_model::{Failure, Observation, failure::FailurePhase};

/// Longer than any load here takes. It only ends a broken test.
const LONGEST: Duration = Duration::from_secs(90);
/// Loads that run at once: most of them wait.
const AT_ONCE: usize = 6;

/// A load that has ended.
pub struct Loaded {
    shown: String,
    pub status: Option<i32>,
    pub stderr: String,
    /// What it found, as its JSON says.
    pub seen: Observation,
    /// From its start to its end.
    pub took: Duration,
}

/// Runs `deadheat load --json` with these arguments to its end, and asserts what holds for every load.
#[track_caller]
pub fn load(args: &[&str]) -> Loaded {
    let shown = format!("deadheat load {}", args.join(" "));
    let started = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_deadheat"))
        .args(["load", "--json", "--live", "off"])
        .args(args)
        .env_remove("NO_COLOR")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("starting {shown}: {error}"));
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (stdout, stderr, status) = thread::scope(|scope| {
        let stdout = scope.spawn(|| text(stdout));
        let stderr = scope.spawn(|| text(stderr));
        let status = wait(&mut child, started);
        let join = |thread: thread::ScopedJoinHandle<'_, String>| thread.join().expect("reading");
        (join(stdout), join(stderr), status)
    });
    let took = started.elapsed();
    let what = || {
        format!("{shown}: {status:?} after {took:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
    };
    assert!(status.is_some(), "it did not end by itself: {}", what());
    let json: serde_json::Value =
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {}", what()));
    let seen: Observation = serde_json::from_value(json["observation"].clone())
        .unwrap_or_else(|error| panic!("{error}: {}", what()));
    let loaded = Loaded {
        status: status.flatten(),
        shown,
        stderr,
        seen,
        took,
    };
    loaded.assert_conserved();
    loaded
}

fn text(from: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    let mut from = from.expect("a pipe");
    from.read_to_end(&mut bytes)
        .expect("reading what deadheat writes");
    String::from_utf8(bytes).expect("deadheat writes UTF-8")
}

/// The exit status; nothing when it had to be ended.
fn wait(child: &mut Child, started: Instant) -> Option<Option<i32>> {
    loop {
        if let Some(status) = child.try_wait().expect("waiting for deadheat") {
            return Some(status.code());
        }
        if started.elapsed() > LONGEST {
            child.kill().expect("ending deadheat");
            child.wait().expect("waiting for deadheat");
            return None;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

impl Loaded {
    #[track_caller]
    fn assert_conserved(&self) {
        let seen = &self.seen;
        assert!(seen.total.is_conserved(), "{self}");
        assert!(seen.measured.is_conserved(), "{self}");
        assert_eq!(seen.service_time.count(), seen.measured.succeeded, "{self}");
        let groups = |kind| {
            let of_it = seen.failures.iter().filter(move |group| group.kind == kind);
            (
                of_it.clone().map(|group| group.measured).sum::<u64>(),
                of_it.map(|group| group.total).sum::<u64>(),
            )
        };
        for kind in Failure::ALL {
            let counted = (seen.measured.failed[*kind], seen.total.failed[*kind]);
            assert_eq!(groups(*kind), counted, "{kind}: {self}");
        }
        if let Some(open) = &seen.open {
            assert_eq!(
                open.response_time.count(),
                seen.measured.succeeded,
                "{self}"
            );
        }
    }

    /// Asserts its exit status.
    #[track_caller]
    pub fn exits(self, expected: i32) -> Self {
        assert_eq!(self.status, Some(expected), "{self}");
        self
    }

    /// Asserts that all of so many requests were issued and answered rightly, and the exit status.
    #[track_caller]
    pub fn all_succeed(self, requests: u64) -> Self {
        assert_eq!(self.seen.total.issued, requests, "{self}");
        assert_eq!(self.seen.total.succeeded, requests, "{self}");
        self.exits(0)
    }

    /// Asserts that all of so many requests were issued and failed alike, in one of these phases, and the exit status.
    #[track_caller]
    pub fn all_fail(self, requests: u64, kind: Failure, phases: &[FailurePhase]) -> Self {
        assert_eq!(self.seen.total.issued, requests, "{self}");
        assert_eq!(self.seen.total.failed[kind], requests, "{self}");
        for group in &self.seen.failures {
            assert!(
                phases.contains(&group.phase),
                "{} is none of {phases:?}: {self}",
                group.phase
            );
        }
        self.exits(3)
    }
}

impl fmt::Display for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            shown,
            status,
            stderr,
            seen,
            took,
        } = self;
        let (total, measured) = (&seen.total, &seen.measured);
        write!(
            f,
            "{shown}: {status:?} after {took:?}\ntotal {total:?}\nmeasured {measured:?}\n{:?}\n{:?}\n--- stderr\n{stderr}",
            seen.failures, seen.examples
        )
    }
}

/// Checks all cases, some at once, and tells of all that fail.
#[track_caller]
pub fn in_parallel<T: Send>(cases: impl IntoIterator<Item = T>, check: impl Fn(T) + Sync) {
    let cases: Vec<T> = cases.into_iter().collect();
    assert!(!cases.is_empty());
    let cases = Mutex::new(cases.into_iter());
    let failed = AtomicUsize::new(0);
    let next = || {
        cases
            .lock()
            .expect("no case panics while it is taken")
            .next()
    };
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = next() {
                    // What a case shared with others is looked at no more after a panic.
                    if catch_unwind(AssertUnwindSafe(|| check(case))).is_err() {
                        failed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner();
    assert_eq!(failed, 0, "cases failed; the panics above say why");
}
