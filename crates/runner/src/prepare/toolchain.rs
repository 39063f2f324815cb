//! A stack's programs: whether they are here, and in which version. Several are asked at a time, and each once, however many
//! stacks need it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use deadheat_model::stack::Toolchain;

use super::{
    Host,
    advice::{Cause, advice, program_wanted, wanted},
    apt,
    command::{in_shell, output},
    version::{find_version, is_too_new, is_too_old},
};
use crate::manifest::Stack;

/// Asking for a version takes a JVM a second; what takes much longer is stuck, or downloads something.
const VERSION_LIMIT: Duration = Duration::from_secs(20);

/// A usable program, or why it is missing or unusable.
pub type Program = Result<FoundProgram, UnfitProgram>;

/// A program that will do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundProgram {
    /// Its name.
    pub program: String,
    /// Its version, as it prints it.
    pub version: String,
    /// Where it is.
    pub path: PathBuf,
}

/// A program that will not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfitProgram {
    /// Why: missing, too old, too new, or it does not say its version.
    pub reason: String,
    /// Debian packages that would change that, where there is apt.
    pub packages: Vec<String>,
    /// What to do without packages: it fits the reason.
    pub advice: String,
}

impl UnfitProgram {
    /// What to do.
    pub fn remedy(&self, host: &Host<'_>) -> String {
        if self.packages.is_empty() {
            return self.advice.clone();
        }
        let command = in_shell(&apt::install_by_hand(host, &self.packages));
        format!("{command} (or: {})", self.advice)
    }
}

/// Looks for `toolchain`'s program on the PATH and asks its version in the stack's folder `dir`.
///
/// # Errors
/// When it is missing, too old or does not say its version.
pub fn check_program(
    host: &Host<'_>,
    dir: &Path,
    toolchain: &Toolchain,
) -> Result<FoundProgram, UnfitProgram> {
    let program = &toolchain.program;
    let unfit = |cause: Cause<'_>, reason: String| UnfitProgram {
        reason,
        packages: apt::that_would_help(host, toolchain, cause),
        advice: advice(host, dir, toolchain, cause),
    };
    let Some(path) = host.find(program, dir) else {
        let reason = format!("{} is not on the PATH", program_wanted(toolchain));
        return Err(unfit(Cause::Missing, reason));
    };
    let (text, outcome) = output(host, &toolchain.version, dir, VERSION_LIMIT);
    let broken = |why: String| Err(unfit(Cause::Broken(&path, &text), why));
    if let Err(error) = outcome {
        let said = complaint(&text).map_or(String::new(), |line| format!(": {line}"));
        return broken(format!("{program} does not work: {error}{said}"));
    }
    let Some(version) = find_version(&text) else {
        let command = in_shell(&toolchain.version);
        return broken(format!(
            "{program} does not work: `{command}` printed no version"
        ));
    };
    let wrong = |cause: Cause<'_>, how: &str| {
        let (path, wanted) = (path.display(), wanted(toolchain));
        let reason = format!("{program} {version} ({path}) is too {how}; {wanted} is needed");
        Err(unfit(cause, reason))
    };
    if is_too_old(&version, toolchain) {
        return wrong(Cause::TooOld(&path, &version), "old");
    }
    if is_too_new(&version, toolchain) {
        return wrong(Cause::TooNew(&path), "new");
    }
    Ok(FoundProgram {
        program: program.clone(),
        version,
        path,
    })
}

/// The line of `text` that says what is wrong: the first one that is no mere warning and no place in a program.
fn complaint(text: &str) -> Option<&str> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let says_nothing = |line: &&str| {
        let is_warning = line.trim().to_lowercase().starts_with("warning");
        is_warning || line.starts_with([' ', '\t']) || line.starts_with("Traceback ")
    };
    let said = lines().find(|line| !says_nothing(line));
    said.or_else(|| lines().next()).map(str::trim)
}

/// How many programs are asked at a time for each CPU. They wait for the disk, too.
const PER_CPU: usize = 2;
/// A program that has not answered after this time is slow.
const SLOW: Duration = Duration::from_secs(2);

/// Files by which version managers choose a version for a folder. `Some`: only if the file contains this text.
const CHOOSE_VERSIONS: [(&str, Option<&str>); 19] = [
    (".python-version", None),
    (".ruby-version", None),
    (".node-version", None),
    (".nvmrc", None),
    (".java-version", None),
    (".go-version", None),
    (".tool-versions", None),
    (".tool-version", None),
    (".mise.toml", None),
    ("mise.toml", None),
    (".sdkmanrc", None),
    (".mvn/jvm.config", None),
    (".mvn/maven.config", None),
    ("rust-toolchain", None),
    ("rust-toolchain.toml", None),
    ("global.json", None),
    ("go.mod", None),
    ("package.json", Some("\"volta\"")),
    ("Gemfile.lock", None),
];

/// A program whose version is asked.
pub(super) struct Question<'a> {
    /// What tells questions with the same answer.
    pub key: String,
    /// The folder in which it is asked.
    pub dir: &'a Path,
    /// Its section of the manifest.
    pub toolchain: &'a Toolchain,
}

/// How far the questions are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asking<'a> {
    /// How many programs have answered.
    pub answered: usize,
    /// How many are asked in all.
    pub all: usize,
    /// Programs that are being asked, in alphabetical order.
    pub waiting_for: Vec<&'a str>,
    /// Whether nothing has come for so long that it is worth saying whom it waits for.
    pub is_slow: bool,
}

/// A folder, as far as a program's version depends on it.
pub(super) struct VersionScope<'a> {
    stack: &'a Stack,
    /// The folder above, and the files that choose versions.
    choice: String,
}

impl<'a> VersionScope<'a> {
    pub(super) fn new(stack: &'a Stack) -> Self {
        let files = CHOOSE_VERSIONS.iter().filter_map(|(name, part)| {
            let text = fs::read_to_string(stack.dir.join(name)).ok()?;
            let chooses = part.is_none_or(|part| text.contains(part));
            chooses.then(|| format!("{name}\n{text}\n"))
        });
        let files: String = files.collect();
        Self {
            stack,
            choice: format!("{:?}\n{files}", stack.dir.parent()),
        }
    }

    /// The same for stacks whose question has the same answer.
    pub(super) fn key(&self, toolchain: &Toolchain) -> String {
        let words = toolchain.version.iter().chain([&toolchain.program]);
        let is_own = |word: &String| word.contains('/') || self.stack.dir.join(word).exists();
        // mix reads the project that it is called in.
        let of_folder = words.clone().any(is_own) || toolchain.program == "mix";
        if of_folder {
            format!("{toolchain:?}\n{:?}", self.stack.dir)
        } else {
            format!("{toolchain:?}\n{}", self.choice)
        }
    }
}

/// What is told while programs are asked: the index of a question, and its answer once it is there.
type Told = (usize, Option<Program>);

/// Asks all questions; the answers by the questions' keys.
pub(super) fn ask(
    host: &Host<'_>,
    questions: Vec<Question<'_>>,
    tell: &mut dyn FnMut(&Asking<'_>),
) -> BTreeMap<String, Program> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel::<Told>();
    // Who is told outlives the workers.
    let send = |told: Told| sender.send(told).unwrap_or_default();
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(question) = questions.get(index) else {
                return;
            };
            send((index, None));
            let answer = check_program(host, question.dir, question.toolchain);
            send((index, Some(answer)));
        }
    };
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let workers = (PER_CPU * cpus).min(questions.len());
    let mut answers = BTreeMap::new();
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
        let mut waiting: Vec<usize> = Vec::new();
        while answers.len() < questions.len() {
            let is_slow = match receiver.recv_timeout(SLOW) {
                Ok((index, None)) => {
                    waiting.push(index);
                    false
                }
                Ok((index, Some(answer))) => {
                    waiting.retain(|one| *one != index);
                    answers.insert(questions[index].key.clone(), answer);
                    false
                }
                Err(RecvTimeoutError::Timeout) => true,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let names = waiting
                .iter()
                .map(|index| questions[*index].toolchain.program.as_str());
            let mut names: Vec<&str> = names.collect();
            names.sort_unstable();
            names.dedup();
            tell(&Asking {
                answered: answers.len(),
                all: questions.len(),
                waiting_for: names,
                is_slow,
            });
        }
    });
    answers
}
