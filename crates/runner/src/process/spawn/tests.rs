use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use tracing::{Event, Metadata, Subscriber, span};

use super::*;

/// Counts the events that `tracing` reports.
struct Counter(Arc<AtomicU32>);

impl Subscriber for Counter {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, _: &Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

fn spec() -> Spawn {
    Spawn {
        name: "a server".to_owned(),
        program: "true".into(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: "/".into(),
        cpus: None,
        log: "/dev/null".into(),
        user: None,
        stop_signal: libc::SIGTERM,
        grace: Some(Duration::ZERO),
        unhurried: false,
        remove_after: None,
    }
}

/// The error of a child whose supervisor is this script, given `patience` to answer.
fn lost(script: &str, patience: Duration) -> String {
    let supervision = Supervision {
        program: "sh".into(),
        args: ["-c", script].map(str::to_owned).to_vec(),
    };
    let mut child = Supervised::spawn(&supervision, &spec()).unwrap();
    child.patience = Some(patience);
    child.stop().unwrap_err().to_string()
}

#[test]
fn a_supervisor_that_ends_without_a_word_is_told_from_one_that_does_not_answer() {
    const STARTED: &str = "read line; echo '{\"event\":\"started\",\"pid\":1}'";
    let killed = lost(&format!("{STARTED}; kill -9 $$"), ANSWER_PATIENCE);
    assert_eq!(
        killed,
        "the supervisor of a server ended unexpectedly (signal: 9 (SIGKILL)); its child processes may still run (see `ps`)"
    );
    let silent = lost(
        &format!("{STARTED}; while read line; do :; done"),
        Duration::ZERO,
    );
    assert!(
        silent.contains("did not answer for 0 s and was killed; "),
        "{silent}"
    );
}

#[test]
fn one_that_did_not_start_is_not_said_to_run() {
    let supervisor = "read line; echo '{\"event\":\"not-started\",\"reason\":\"no such file\"}'";
    let supervision = Supervision {
        program: "sh".into(),
        args: ["-c", supervisor].map(str::to_owned).to_vec(),
    };
    let told = Arc::new(AtomicU32::new(0));
    let error = tracing::subscriber::with_default(Counter(Arc::clone(&told)), || {
        Supervised::spawn(&supervision, &spec()).unwrap_err()
    });
    assert_eq!(error.to_string(), "starting a server: no such file");
    assert_eq!(told.load(Ordering::Relaxed), 0);
}
