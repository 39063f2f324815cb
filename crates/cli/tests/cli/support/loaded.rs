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

use deadheat_model::{
    Failure, Observation,
    failure::FailurePhase::{self, Connect, FirstByte, Tls, Waiting, Write},
};
use deadheat_testkit::Seen;
use rustix::process::Signal;

use super::processes;

/// Longer than any load here takes, however busy the machine. It only ends a broken test.
const LONGEST: Duration = Duration::from_secs(240);
/// Loads that run at once: most of them wait.
const AT_ONCE: usize = 6;

/// A load that runs.
pub struct Loading {
    pid: u32,
}

impl Loading {
    pub fn signal(&self, signal: Signal) {
        processes::signal(self.pid, signal);
    }
}

/// A load that has ended.
pub struct Loaded {
    shown: String,
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// What it found, as its JSON says.
    pub seen: Observation,
    /// From its start to its end.
    pub took: Duration,
}

/// Runs `deadheat load --json` with these arguments to its end, and asserts what holds for every load.
#[track_caller]
pub fn load(args: &[&str]) -> Loaded {
    load_meanwhile(args, |_| {})
}

/// The same; `meanwhile` is done while it runs.
#[track_caller]
pub fn load_meanwhile(args: &[&str], meanwhile: impl FnOnce(&Loading) + Send) -> Loaded {
    let shown = format!("deadheat load {}", args.join(" "));
    let started = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_deadheat"))
        .args(["load", "--json", "--progress", "off"])
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
        let pid = child.id();
        scope.spawn(move || meanwhile(&Loading { pid }));
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
        stdout,
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

    /// Names the case that it is of, for what is said when something is wrong.
    pub fn of(mut self, case: &str) -> Self {
        self.shown = format!("{case}: {}", self.shown);
        self
    }

    /// Asserts that what it counted is what the server saw, for a load with a count from its first request on.
    ///
    /// No more can be known where a request was cut off before its answer began, or was on its way at the end: it may
    /// have arrived or not. Neither can it where a connection was being made at the end.
    #[track_caller]
    pub fn agrees_with(self, server: &Seen) -> Self {
        let (seen, total) = (&self.seen, &self.seen.total);
        assert_eq!(server.malformed, [""; 0], "{self}");
        let count = |is: &dyn Fn(Failure, FailurePhase) -> bool| -> u64 {
            let of_them = seen.failures.iter();
            let of_them = of_them.filter(|group| is(group.kind, group.phase));
            of_them.map(|group| group.total).sum()
        };
        let never_sent = count(&|_, phase| matches!(phase, Waiting | Connect | Tls));
        let unsure = total.in_flight
            + count(&|kind, phase| match phase {
                Write => true,
                FirstByte => kind != Failure::Timeout,
                _ => false,
            });
        let sent = total.issued - never_sent;
        assert!(
            (sent - unsure..=sent + seen.resent).contains(&server.requests),
            "the server saw {} requests of {sent}, of which {unsure} are unsure: {self}",
            server.requests
        );
        assert!(
            total.succeeded <= server.answered() && server.answered() <= sent,
            "the server gave {} answers: {self}",
            server.answered()
        );
        assert!(
            seen.connections_opened <= server.connections,
            "the server took {} connections in, not {}: {self}",
            server.connections,
            seen.connections_opened
        );
        let ended: u64 = server.each.iter().map(|one| one.requests).sum();
        assert_eq!(ended, server.requests, "{self}");
        if total.succeeded == total.issued && seen.measured == *total {
            self.assert_equal(server);
        }
        self
    }

    /// What holds besides where nothing failed, nothing was left and nothing was left out.
    #[track_caller]
    fn assert_equal(&self, server: &Seen) {
        let seen = &self.seen;
        let sent: u64 = server.each.iter().map(|one| one.sent_bytes).sum();
        assert_eq!(seen.received_bytes, sent, "{self}");
        if seen.resent == 0 {
            assert_eq!(seen.sent_bytes, server.request_bytes, "{self}");
            // One that is made at the end may have been given up, and carried nothing.
            let carried = server.each.iter().map(|one| one.requests);
            let most = carried.max().unwrap_or_default();
            let own = seen.answers_per_connection.most().unwrap_or_default();
            assert_eq!(own, most, "answers on one connection: {self}");
        }
        let statuses: u64 = seen.statuses.values().sum();
        assert_eq!(statuses, seen.total.succeeded, "{self}");
        assert_eq!(
            seen.answers_per_connection.count(),
            seen.connections_opened,
            "{self}"
        );
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
            stdout: _,
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
