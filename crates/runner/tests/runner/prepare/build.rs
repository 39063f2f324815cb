use std::{
    fs::File,
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use deadheat_model::session::{BuildRecord, Phase, StackFailure};
use deadheat_runner::prepare::BuildProgress;

use super::{Workshop, runs};

/// Builds a stack with this `[build]`.
fn build(
    workshop: &Workshop,
    section: &str,
) -> (Result<BuildRecord, StackFailure>, Vec<BuildProgress>) {
    let stack = workshop.stack(&format!("[build]\n{section}"));
    let inspection = workshop.inspect(&stack);
    workshop.with_builder(|builder, tell| {
        builder
            .build(&stack, &inspection, tell)
            .map_err(super::failed)
    })
}

fn failure(workshop: &Workshop, section: &str) -> StackFailure {
    build(workshop, section).0.unwrap_err()
}

/// A build step that runs this in a shell.
fn step(script: &str) -> String {
    format!("steps = [[\"sh\", \"-c\", '''{script}''']]\n")
}

#[test]
fn a_build_is_recorded_with_its_time_and_its_size() {
    let workshop = Workshop::new();
    let section = step("sleep 0.3; mkdir -p out; echo built; printf 12345 > out/server")
        + "artefacts = [\"out/server\"]";
    let (first, told) = build(&workshop, &section);
    let first = first.unwrap();
    assert!(
        first.seconds >= 0.3 && first.seconds < 10.0,
        "{}",
        first.seconds
    );
    assert_eq!((first.artefact_bytes, first.incremental), (5, false));
    let log = workshop.text("logs/toy.build.log");
    assert!(
        log.starts_with("$ sh -c 'sleep 0.3; ") && log.ends_with("\nbuilt\n"),
        "{log}"
    );
    let [
        BuildProgress::Running {
            phase: Phase::Build,
            command,
        },
    ] = &told[..]
    else {
        panic!("{told:?}");
    };
    assert!(command.starts_with("sh -c 'sleep 0.3; "), "{command}");
    assert!(build(&workshop, &section).0.unwrap().incremental);
}

#[test]
fn without_what_it_made_a_build_is_not_incremental() {
    let workshop = Workshop::new();
    let section = step("mkdir -p out; echo > out/server") + "artefacts = [\"out/server\"]";
    build(&workshop, &section).0.unwrap();
    std::fs::remove_dir_all(workshop.path("stack/out")).unwrap();
    assert!(!build(&workshop, &section).0.unwrap().incremental);
}

#[test]
fn without_steps_a_build_takes_no_time() {
    let workshop = Workshop::new();
    workshop.file("stack/main.js", "12345");
    let (record, told) = build(&workshop, "artefacts = [\"main.js\"]");
    let record = record.unwrap();
    assert_eq!((record.seconds, record.artefact_bytes), (0.0, 5));
    assert!(told.is_empty(), "{told:?}");
}

#[test]
fn steps_run_in_their_order_and_in_the_stacks_folder() {
    let workshop = Workshop::new();
    let section = "steps = [[\"sh\", \"-c\", \"pwd > a\"], [\"cp\", \"a\", \"b\"], [\"./c.sh\"]]";
    workshop.program("../stack/c.sh", "cat b");
    build(&workshop, section).0.unwrap();
    let folder = workshop.path("stack").canonicalize().unwrap();
    let log = format!(
        "$ sh -c 'pwd > a'\n$ cp a b\n$ ./c.sh\n{}\n",
        folder.display()
    );
    assert_eq!(workshop.text("logs/toy.build.log"), log);
}

/// As with Maven, which downloads what it needs while it builds.
#[test]
fn a_build_that_the_fetch_has_run_is_not_run_again() {
    let workshop = Workshop::new();
    workshop.program("../stack/make.sh", "echo \"$@\" >> made");
    let section = "fetch = [[\"rm\", \"-f\", \"made\"], [\"./make.sh\", \"downloads\"]]\n\
                   fetch-builds = true\n\
                   steps = [[\"./make.sh\", \"offline\"]]\n\
                   artefacts = [\"made\"]";
    let (first, told) = build(&workshop, section);
    let first = first.unwrap();
    assert!(first.seconds > 0.0 && !first.incremental, "{first:?}");
    assert!(
        matches!(&told[..], [_, BuildProgress::Running { phase, .. }] if *phase == Phase::Fetch),
        "{told:?}"
    );
    let fetched = "downloads\n";
    assert_eq!(workshop.text("stack/made"), fetched);
    assert!(build(&workshop, section).0.unwrap().incremental);
    let built = format!("{fetched}offline\n");
    assert_eq!(workshop.text("stack/made"), built);
}

#[test]
fn a_build_ignores_the_users_settings_and_a_fetch_does_not() {
    let workshop = Workshop::new();
    let section = "fetch = [[\"sh\", \"-c\", \"echo fetched with $GOWORK.\"]]\n\
                   steps = [[\"sh\", \"-c\", \"echo built with $GOWORK, ${RUSTFLAGS-none}.\"]]";
    build(&workshop, section).0.unwrap();
    assert!(!workshop.text("logs/toy.fetch.log").contains("with off.\n"));
    let log = workshop.text("logs/toy.build.log");
    assert!(log.ends_with("\nbuilt with off, .\n"), "{log}");
}

#[test]
fn a_step_that_fails_ends_the_build_with_the_end_of_its_log() {
    let workshop = Workshop::new();
    let section = "steps = [[\"sh\", \"-c\", \"for i in $(seq 30); do echo line $i; done; echo oops >&2; exit 3\"], [\"touch\", \"later\"]]";
    let failed = failure(&workshop, section);
    assert_eq!(failed.phase, Phase::Build);
    let log = workshop.path("logs/toy.build.log");
    let expected = format!("exited with status 3; the log is {}", log.display());
    assert!(
        failed.reason.starts_with("building toy: `sh -c "),
        "{}",
        failed.reason
    );
    assert!(failed.reason.ends_with(&expected), "{}", failed.reason);
    assert_eq!(failed.log_tail.len(), 20);
    assert_eq!(failed.log_tail[0], "line 12");
    assert_eq!(failed.log_tail[19], "oops");
    assert!(!workshop.path("stack/later").exists());
}

#[test]
fn a_step_that_is_killed_or_not_there_says_so() {
    let workshop = Workshop::new();
    let killed = failure(&workshop, &step("kill -9 $$"));
    assert!(
        killed.reason.contains("was ended by SIGKILL"),
        "{}",
        killed.reason
    );
    let missing = failure(&workshop, "steps = [[\"no-such-compiler\", \"-O2\"]]");
    let expected = "`no-such-compiler -O2` cannot be run: no-such-compiler is not on the PATH";
    assert!(missing.reason.contains(expected), "{}", missing.reason);
}

#[test]
fn missing_debian_packages_are_named_as_the_likely_cause() {
    let workshop = Workshop::new();
    workshop.debian(&["libpq5"]);
    let section = step("exit 1") + "apt = [\"libpq5\", \"libpq-dev\"]";
    let reason = failure(&workshop, &section).reason;
    let expected = "libpq-dev is not installed: apt-get install -y --no-install-recommends --no-remove -oAPT::Cmd::Pattern-Only=true -- libpq-dev";
    assert!(reason.ends_with(expected), "{reason}");
}

#[test]
fn a_step_that_hangs_is_ended_with_all_that_it_started() {
    let mut workshop = Workshop::new();
    workshop.limit = Duration::from_millis(700);
    let script = "sleep 1000 & echo $! > child; setsid sleep 1000 & echo $! > daemon; trap \"\" TERM; \
                  while true; do sleep 1; done";
    let begun = Instant::now();
    let failed = failure(&workshop, &step(script));
    assert!(
        failed
            .reason
            .contains("was ended because it took longer than 700ms"),
        "{}",
        failed.reason
    );
    assert!(
        begun.elapsed() < Duration::from_secs(15),
        "{:?}",
        begun.elapsed()
    );
    for pid in ["stack/child", "stack/daemon"] {
        assert!(!runs(&workshop.path(pid)), "{pid}");
    }
}

#[test]
fn what_a_good_step_leaves_running_is_ended_too() {
    let workshop = Workshop::new();
    build(&workshop, &step("setsid sleep 1000 & echo $! > daemon"))
        .0
        .unwrap();
    assert!(!runs(&workshop.path("stack/daemon")));
}

#[test]
fn an_interrupt_ends_the_running_step() {
    let workshop = Workshop::new();
    let begun = Instant::now();
    let failed = thread::scope(|scope| {
        let built = scope.spawn(|| failure(&workshop, &step("echo $$ > child; exec sleep 1000")));
        while workshop.text("stack/child").is_empty() {
            thread::sleep(Duration::from_millis(10));
        }
        workshop.interrupt.store(true, Ordering::Relaxed);
        built.join().unwrap()
    });
    assert!(
        failed.reason.contains("was interrupted"),
        "{}",
        failed.reason
    );
    assert!(begun.elapsed() < Duration::from_secs(15));
    assert!(!runs(&workshop.path("stack/child")));
    // And nothing new begins.
    let failed = failure(&workshop, &step("touch later"));
    assert!(
        failed.reason.contains("was interrupted"),
        "{}",
        failed.reason
    );
    assert!(!workshop.path("stack/later").exists());
}

#[test]
fn an_artefact_that_was_not_made_is_a_failure() {
    let workshop = Workshop::new();
    let failed = failure(&workshop, &(step("true") + "artefacts = [\"out/server\"]"));
    assert!(
        failed.reason.contains("out/server: No such file"),
        "{}",
        failed.reason
    );
    assert!(
        failed.reason.contains("check `artefacts` in stack.toml"),
        "{}",
        failed.reason
    );
}

#[test]
fn two_deadheats_do_not_build_at_once() {
    let workshop = Workshop::new();
    std::fs::create_dir(workshop.path("stack/.deadheat")).unwrap();
    let path = workshop.path("stack/.deadheat/lock");
    let other = File::create(&path).unwrap();
    other.lock().unwrap();
    let (record, told) = thread::scope(|scope| {
        let built = scope.spawn(|| build(&workshop, &step("touch built")));
        thread::sleep(Duration::from_millis(400));
        assert!(!workshop.path("stack/built").exists());
        drop(other);
        built.join().unwrap()
    });
    record.unwrap();
    assert_eq!(told[0], BuildProgress::Waiting { lock: path });
    assert_eq!(told.len(), 2, "it says so once: {told:?}");
}

#[test]
fn waiting_for_another_deadheat_can_be_interrupted() {
    let workshop = Workshop::new();
    std::fs::create_dir(workshop.path("stack/.deadheat")).unwrap();
    let other = File::create(workshop.path("stack/.deadheat/lock")).unwrap();
    other.lock().unwrap();
    workshop.interrupt.store(true, Ordering::Relaxed);
    let failed = failure(&workshop, &step("true"));
    assert!(
        failed.reason.contains("while another deadheat held it"),
        "{}",
        failed.reason
    );
}
