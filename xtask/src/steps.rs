//! Steps: each runs even when another one failed, some side by side, and all are listed at the end with what they took.
#![allow(clippy::print_stdout)]

use std::{
    fs::File,
    io,
    process::{Command, ExitCode, Stdio},
    sync::Mutex,
    time::{Duration, Instant},
};

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::{
    interrupt,
    project::root,
    sys::{self, Usage},
};

/// No step takes that long. CI has a limit of its own.
const LONGEST_STEP: Duration = Duration::from_secs(3 * 3600);

/// What may be missing on this machine without failing `cargo xtask test`.
#[derive(clap::Args)]
pub(crate) struct Strictness {
    /// Fail for everything that cannot be tested here
    #[arg(long)]
    strict: bool,
    /// Except for these: a stack (`elixir-phoenix`), `browser`, `cluster`, `peers`, `skeleton *`; repeatable
    #[arg(long, value_name = "GLOB", requires = "strict", value_parser = Glob::new)]
    may_lack: Vec<Glob>,
}

impl Strictness {
    /// Fails for everything that cannot be tested: what a command for one step alone wants.
    pub(crate) fn full() -> Self {
        Self {
            strict: true,
            may_lack: Vec::new(),
        }
    }
}

/// Something that was not tested here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Lack {
    /// What, in one or two words: `--may-lack` names it.
    what: String,
    because: String,
}

impl Lack {
    pub(crate) fn new(what: &str, because: &str) -> Self {
        Self {
            what: what.to_owned(),
            because: because.to_owned(),
        }
    }
}

/// Work that any number of threads share: each takes the next item when it has done one.
pub(crate) struct Queue<I>(Mutex<I>);

impl<T, I: Iterator<Item = T>> Queue<I> {
    pub(crate) fn new(items: impl IntoIterator<IntoIter = I>) -> Self {
        Self(Mutex::new(items.into_iter()))
    }

    /// Calls `run` with items until none is left.
    pub(crate) fn work(&self, run: impl Fn(T)) {
        let next = || self.0.lock().expect("no iterator panics").next();
        while let Some(item) = next() {
            run(item);
        }
    }
}

/// What was run and how it ended. Threads share it.
pub(crate) struct Steps {
    strict: bool,
    may_lack: GlobSet,
    /// Whether a command's output is held back until it has ended, so that steps that run side by side do not mix.
    collects: bool,
    started: Instant,
    done: Mutex<Vec<Step>>,
    lacks: Mutex<Vec<Lack>>,
    /// What failed once and is run again, alone.
    again: Mutex<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    /// Something was not brought, and is listed by who needs it.
    Partly,
    /// It failed, and is run again, alone, by a step of its own.
    Again,
    /// A signal ended it.
    Interrupted,
    Failed(String),
}

impl From<Result<(), String>> for Outcome {
    fn from(result: Result<(), String>) -> Self {
        result.map_or_else(Self::Failed, |()| Self::Passed)
    }
}

/// What becomes of a step that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhenFailed {
    /// It counts as failed.
    Fails,
    /// It is run again, alone: beside others it may have failed for want of a CPU.
    RunsAgain,
}

struct Step {
    name: String,
    outcome: Outcome,
    wall: Duration,
    /// Of the command and everything that it waited for; none for a check that starts no command of its own.
    cpu: Option<Duration>,
}

impl Steps {
    /// Steps that are judged by `strictness`. With `collects`, each command's output follows when the command has ended.
    pub(crate) fn new(strictness: &Strictness, collects: bool) -> Self {
        let mut may_lack = GlobSetBuilder::new();
        for glob in &strictness.may_lack {
            may_lack.add(glob.clone());
        }
        Self {
            strict: strictness.strict,
            // Each glob was parsed by itself; together they can only be too large.
            may_lack: may_lack.build().unwrap_or_default(),
            collects,
            started: Instant::now(),
            done: Mutex::default(),
            lacks: Mutex::default(),
            again: Mutex::default(),
        }
    }

    /// Runs a command in the project's folder; it fails when its exit status is not 0. True when it passed.
    pub(crate) fn run(&self, name: &str, command: Command) -> bool {
        let judge = |said: &str| Ok(said.to_owned());
        let output = self.step(name, command, self.collects, WhenFailed::Fails, judge);
        output.inspect(|output| print!("{output}")).is_some()
    }

    /// The same; what the command wrote to standard output goes to `judge`, which may find fault with it. It is shown
    /// when something failed. What `judge` found, if all passed.
    pub(crate) fn run_with<T>(
        &self,
        name: &str,
        command: Command,
        when_failed: WhenFailed,
        judge: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        self.step(name, command, true, when_failed, judge)
    }

    fn step<T>(
        &self,
        name: &str,
        mut command: Command,
        reads: bool,
        when_failed: WhenFailed,
        judge: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let begun = begin(name)?;
        let shown = shown(&command);
        let mut cpu = None;
        let ran = self.execute(name, &mut command, reads);
        let judged = match ran {
            Err(error) => Err(format!("{shown}: {error}")),
            Ok((usage, said)) => {
                cpu = Some(usage.user + usage.system);
                let judged = match (usage.failure(), judge(&said)) {
                    (None, judged) => judged,
                    (Some(why), Ok(_)) => Err(format!("{shown}: {why}")),
                    (Some(why), Err(problem)) => Err(format!("{problem} ({shown}: {why})")),
                };
                judged.inspect_err(|_| print!("{said}"))
            }
        };
        let (outcome, found) = match (judged, when_failed) {
            (Ok(found), _) => (Outcome::Passed, Some(found)),
            (Err(problem), WhenFailed::Fails) => (Outcome::Failed(problem), None),
            (Err(problem), WhenFailed::RunsAgain) => {
                println!("failed, and will be run again: {name}: {problem}");
                self.again([format!("{name}: {problem}")]);
                (Outcome::Again, None)
            }
        };
        self.note(name, outcome, begun.elapsed(), cpu);
        found
    }

    /// Notes what has failed and is run again; after a signal nothing is.
    fn again(&self, what: impl IntoIterator<Item = String>) {
        if interrupt::is_interrupted() {
            return;
        }
        self.again.lock().expect("no step panics").extend(what);
    }

    /// Runs tests; the names of those that failed, which are to be run again, alone.
    pub(crate) fn run_tests(&self, name: &str, mut command: Command) -> Vec<String> {
        let mut failed = Vec::new();
        let Some(begun) = begin(name) else {
            return failed;
        };
        let (outcome, cpu) = match self.execute(name, &mut command, self.collects) {
            Ok((usage, said)) => {
                print!("{said}");
                failed = failed_tests(&said);
                let outcome = match usage.failure() {
                    None => Outcome::Passed,
                    // It did not compile, or a test ended the process.
                    Some(why) if failed.is_empty() => {
                        Outcome::Failed(format!("{}: {why}", shown(&command)))
                    }
                    Some(_) => Outcome::Again,
                };
                self.again(failed.iter().cloned());
                (outcome, Some(usage.user + usage.system))
            }
            Err(error) => (
                Outcome::Failed(format!("{}: {error}", shown(&command))),
                None,
            ),
        };
        self.note(name, outcome, begun.elapsed(), cpu);
        failed
    }

    /// Runs a command that may fail: what it did not bring is listed by the steps that need it.
    pub(crate) fn attempt(&self, name: &str, mut command: Command) {
        let Some(begun) = begin(name) else {
            return;
        };
        let ran = self.execute(name, &mut command, self.collects);
        let (outcome, cpu) = match ran {
            Ok((usage, _)) => {
                let outcome = usage.failure().map_or(Outcome::Passed, |_| Outcome::Partly);
                (outcome, Some(usage.user + usage.system))
            }
            Err(error) => {
                println!("{name}: {command:?}: {error}");
                (Outcome::Partly, None)
            }
        };
        self.note(name, outcome, begun.elapsed(), cpu);
    }

    /// Runs a check of this program's own. True when it passed.
    pub(crate) fn check(&self, name: &str, check: impl FnOnce() -> Result<(), String>) -> bool {
        let Some(begun) = begin(name) else {
            return false;
        };
        let checked = check();
        self.note(name, checked.into(), begun.elapsed(), None)
    }

    /// Says that something was not tested here, and why. After a signal, much was not: that is said once, at the end.
    pub(crate) fn not_tested(&self, lack: Lack) {
        if interrupt::is_interrupted() {
            return;
        }
        self.lacks.lock().expect("no step panics").push(lack);
    }

    /// What a command used, and with `reads` what it wrote to standard output. What it wrote to standard error is shown.
    fn execute(
        &self,
        name: &str,
        command: &mut Command,
        reads: bool,
    ) -> io::Result<(Usage, String)> {
        if command.get_current_dir().is_none() {
            command.current_dir(root());
        }
        command.stdin(Stdio::null());
        let file = |wanted: bool| wanted.then(tempfile::tempfile).transpose();
        let (standard, error) = (file(reads)?, file(self.collects)?);
        if let Some(standard) = &standard {
            command.stdout(standard.try_clone()?);
        }
        if let Some(error) = &error {
            command.stderr(error.try_clone()?);
        }
        let child = command.spawn()?;
        let (usage, overdue) = sys::wait_for(child.id(), LONGEST_STEP)?;
        if let Some(error) = error {
            println!("\n==> {name}: done\n{}", text(error)?.trim_end());
        }
        let said = standard.map_or(Ok(String::new()), text)?;
        if overdue {
            Err(io::Error::other(format!("ended after {LONGEST_STEP:?}")))
        } else {
            Ok((usage, said))
        }
    }

    fn note(&self, name: &str, outcome: Outcome, wall: Duration, cpu: Option<Duration>) -> bool {
        let outcome = match outcome {
            Outcome::Passed => outcome,
            _ if interrupt::is_interrupted() => Outcome::Interrupted,
            outcome => outcome,
        };
        if let Outcome::Failed(problem) = &outcome {
            println!("FAILED {name}: {problem}");
        }
        let passed = outcome == Outcome::Passed;
        self.done.lock().expect("no step panics").push(Step {
            name: name.to_owned(),
            outcome,
            wall,
            cpu,
        });
        passed
    }

    /// Prints the table of steps, what was not tested, and the sum.
    pub(crate) fn finish(self) -> ExitCode {
        let Self {
            strict,
            may_lack,
            started,
            done,
            lacks,
            again,
            ..
        } = self;
        let done = done.into_inner().expect("no step panics");
        let mut lacks = lacks.into_inner().expect("no step panics");
        lacks.sort();
        lacks.dedup();
        println!("\n{}", table(&done, started.elapsed()));
        let (allowed, amiss): (Vec<_>, Vec<_>) = lacks
            .into_iter()
            .partition(|lack| !strict || may_lack.is_match(&lack.what));
        let (mut passed, mut failed) = (0, 0);
        for step in &done {
            match &step.outcome {
                Outcome::Failed(problem) => {
                    println!("FAILED {}: {problem}", step.name);
                    failed += 1;
                }
                Outcome::Interrupted => {}
                Outcome::Passed | Outcome::Partly | Outcome::Again => passed += 1,
            }
        }
        for what in again.into_inner().expect("no step panics") {
            println!("failed the first time, and was run again, alone: {what}");
        }
        for lack in &allowed {
            println!("not tested here: {}, because {}", lack.what, lack.because);
        }
        for lack in &amiss {
            println!(
                "FAILED (--strict): {} was not tested, because {}",
                lack.what, lack.because
            );
        }
        println!(
            "steps: {passed} passed, {} failed; {} not tested here",
            failed + amiss.len(),
            allowed.len()
        );
        if interrupt::is_interrupted() {
            println!("interrupted: the other steps were not run");
        }
        if failed + amiss.len() == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

/// Announces a step; when it began. None after a signal: no step starts any more.
fn begin(name: &str) -> Option<Instant> {
    if interrupt::is_interrupted() {
        return None;
    }
    println!("==> {name}");
    Some(Instant::now())
}

/// The names in the lists of failures that the standard test harness ends with.
fn failed_tests(said: &str) -> Vec<String> {
    let lists = said.split("\nfailures:\n    ").skip(1);
    let names = lists.flat_map(|list| list.lines().take_while(|line| !line.is_empty()));
    names.map(|name| name.trim().to_owned()).collect()
}

fn text(mut file: File) -> io::Result<String> {
    use io::{Read, Seek};
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A row per step in the order in which they ended, and a row for all. Steps that run side by side overlap in wall time.
fn table(steps: &[Step], wall: Duration) -> String {
    let seconds = |time: Duration| format!("{:.0} s", time.as_secs_f64());
    let row = |outcome: &str, name: &str, wall: Duration, cpu: Option<Duration>| {
        let cpu = cpu.map_or_else(|| "–".to_owned(), seconds);
        format!(
            "| {outcome:<6} | {name:<40} | {:>7} | {cpu:>7} |\n",
            seconds(wall)
        )
    };
    let mut text = format!(
        "| {:<6} | {:<40} | {:>7} | {:>7} |\n",
        "", "step", "wall", "CPU"
    );
    text += &format!("| {:-<6} | {:-<40} | {:->7} | {:->7} |\n", "", "", "", "");
    for step in steps {
        let outcome = match step.outcome {
            Outcome::Passed => "passed",
            Outcome::Partly => "partly",
            Outcome::Again => "again",
            Outcome::Interrupted => "ended",
            Outcome::Failed(_) => "FAILED",
        };
        text += &row(outcome, &step.name, step.wall, step.cpu);
    }
    let cpu = steps.iter().filter_map(|step| step.cpu).sum();
    text + &row("", "all", wall, Some(cpu))
}

/// A command as one would type it, without the environment that it is given.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(strict: bool, may_lack: &[&str]) -> Steps {
        let globs = may_lack.iter().map(|glob| Glob::new(glob).unwrap());
        let strictness = Strictness {
            strict,
            may_lack: globs.collect(),
        };
        Steps::new(&strictness, true)
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_is_lacking_fails_a_strict_run_unless_it_may_be() {
        let lack = || Lack::new("elixir-phoenix", "Hex cannot be reached");
        for (strict, may_lack, code) in [
            (false, &[][..], ExitCode::SUCCESS),
            (true, &[], ExitCode::FAILURE),
            (true, &["elixir-*"], ExitCode::SUCCESS),
            (true, &["ruby-*"], ExitCode::FAILURE),
        ] {
            let steps = steps(strict, may_lack);
            steps.not_tested(lack());
            assert_eq!(steps.finish(), code, "{strict} {may_lack:?}");
        }
    }

    #[test]
    fn failed_tests_are_named_for_a_second_run_and_what_names_none_fails() {
        let failing = "echo 'running 3 tests

failures:

---- a::b stdout ----
no

failures:
    a::b
    c

test result: FAILED. 1 passed; 2 failed

running 1 test

failures:
    d::e

test result: FAILED'; exit 101";
        let steps = steps(false, &[]);
        let failed = steps.run_tests("tests", shell(failing));
        assert_eq!(failed, ["a::b", "c", "d::e"]);
        let outcome = |steps: &Steps| steps.done.lock().unwrap().last().unwrap().outcome.clone();
        assert_eq!(outcome(&steps), Outcome::Again);
        let failed = steps.run_tests("tests", shell("echo 'error: could not compile'; exit 101"));
        assert!(failed.is_empty());
        assert!(matches!(outcome(&steps), Outcome::Failed(_)));
        assert_eq!(steps.finish(), ExitCode::FAILURE);
    }

    #[test]
    fn what_is_judged_is_read_also_by_steps_that_run_alone() {
        let steps = Steps::new(&Strictness::full(), false);
        let said = |said: &str| Ok(said.to_owned());
        let found = steps.run_with("one", shell("echo 5"), WhenFailed::Fails, said);
        assert_eq!(found.as_deref(), Some("5\n"));
    }

    #[test]
    fn one_failed_step_fails_all_and_keeps_none_from_running() {
        let steps = steps(false, &[]);
        assert!(!steps.run("first", shell("exit 3")));
        assert!(steps.run("second", shell("exit 0")));
        assert!(!steps.check("third", || Err("no".to_owned())));
        let judged = |said: &str| Err::<(), _>(said.to_owned());
        let fourth = steps.run_with("fourth", shell("echo 5"), WhenFailed::Fails, judged);
        assert!(fourth.is_none());
        steps.attempt("fifth", shell("exit 1"));
        let outcomes: Vec<_> = steps
            .done
            .lock()
            .unwrap()
            .iter()
            .map(|step| step.outcome.clone())
            .collect();
        let failed = |why: &str| Outcome::Failed(why.to_owned());
        assert!(
            matches!(&outcomes[0], Outcome::Failed(why) if why.ends_with("exit status 3")),
            "{outcomes:?}"
        );
        assert_eq!(
            outcomes[1..],
            [
                Outcome::Passed,
                failed("no"),
                failed("5\n"),
                Outcome::Partly
            ]
        );
        assert_eq!(steps.finish(), ExitCode::FAILURE);
    }
}
