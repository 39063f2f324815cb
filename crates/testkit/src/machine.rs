//! What tests do about the machine that they run on: they wait for conditions, and record what they could not test.

use std::{
    env,
    fs::File,
    io::Write,
    process::Command,
    thread,
    time::{Duration, Instant},
};

/// For whatever should take a moment. It only ends a broken test, so it is generous: other programs may have the CPUs.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// The shortest and the longest pause between two looks. In between, a pause is a tenth of the time so far: what comes soon is
/// found at once, and a long wait does not keep a CPU busy with looks.
const PAUSES: [Duration; 2] = [Duration::from_millis(2), Duration::from_millis(20)];

/// Waits until `look` finds something.
///
/// # Panics
///
/// When it finds nothing within [`PATIENCE`].
#[track_caller]
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let [shortest, longest] = PAUSES;
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        let waited = started.elapsed();
        assert!(
            waited < PATIENCE,
            "within {PATIENCE:?}, this did not come: {what}"
        );
        thread::sleep((waited / 10).clamp(shortest, longest));
    }
}

/// Waits until a condition holds.
///
/// # Panics
///
/// When it does not within [`PATIENCE`].
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    eventually(what, || holds().then_some(()));
}

/// The variable that names the file for what was not tested.
pub const NOT_TESTED: &str = "DEADHEAT_NOT_TESTED";

/// Says that `what` was not tested here, and why. A test that calls this passes; whoever runs the tests decides whether
/// that is enough: `cargo xtask test` lists these lines at its end, and fails for them with `--strict`.
pub fn not_tested(what: &str, because: &str) {
    let Some(path) = env::var_os(NOT_TESTED) else {
        return;
    };
    // One write per line, so that lines of tests that run side by side do not mix.
    let line = format!("{what}\t{}\n", because.replace(['\n', '\t'], " "));
    let written = File::options()
        .create(true)
        .append(true)
        .open(&path)
        .and_then(|mut file| file.write_all(line.as_bytes()));
    if let Err(error) = written {
        panic!(
            "{what} was not tested ({because}), and {} cannot be written: {error}",
            path.display()
        );
    }
}

/// Whether `program` is missing here, so that `what` is not tested. It is called with `--version`, or with `version` as
/// Go has it.
pub fn is_missing(program: &str, what: &str) -> bool {
    let answers = |argument| Command::new(program).arg(argument).output().is_ok();
    let missing = !answers(if program == "go" {
        "version"
    } else {
        "--version"
    });
    if missing {
        not_tested(what, &format!("{program} is not installed"));
    }
    missing
}
