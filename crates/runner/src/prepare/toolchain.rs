//! The programs of stacks: whether they are installed, and their versions. Several are queried in parallel, and each
//! only once, however many stacks need it.

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

/// The time limit of a version query. A JVM takes a second; a program that takes much longer hangs, or downloads
/// something.
const VERSION_LIMIT: Duration = Duration::from_secs(20);

/// A usable program, or why it is missing or unusable.
pub type Program = Result<FoundProgram, UnfitProgram>;

/// A usable program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundProgram {
    /// Its name.
    pub program: String,
    /// Its version, in its own format.
    pub version: String,
    /// Its path.
    pub path: PathBuf,
}

/// A missing or unusable program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfitProgram {
    /// The reason: missing, too old, too new, or without a readable version.
    pub reason: String,
    /// Debian packages that would fix this; empty without apt.
    pub packages: Vec<String>,
    /// The advice for the reason, without packages.
    pub advice: String,
}

impl UnfitProgram {
    /// The advice: install the packages, or `advice` without packages.
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

/// The error message in `text`: the first line that is not a warning or a location in a program.
fn complaint(text: &str) -> Option<&str> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let says_nothing = |line: &&str| {
        let is_warning = line.trim().to_lowercase().starts_with("warning");
        is_warning || line.starts_with([' ', '\t']) || line.starts_with("Traceback ")
    };
    let said = lines().find(|line| !says_nothing(line));
    said.or_else(|| lines().next()).map(str::trim)
}

/// The number of programs that are queried in parallel for each CPU. They wait for the disk, too.
const PER_CPU: usize = 2;
/// A query that takes longer than this is slow.
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

/// A query for the version of a program.
pub(super) struct VersionQuery<'a> {
    /// The key, which is the same for queries with the same answer.
    pub key: String,
    /// The working folder of the query.
    pub dir: &'a Path,
    /// The program's section of the manifest.
    pub toolchain: &'a Toolchain,
}

/// The progress of version queries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionProgress<'a> {
    /// The number of finished queries.
    pub answered: usize,
    /// The number of all queries.
    pub all: usize,
    /// The programs that are being queried, in alphabetical order.
    pub waiting_for: Vec<&'a str>,
    /// Whether no query has finished for a long time, so that the user should see which ones are pending.
    pub is_slow: bool,
}

/// The properties of a stack's folder that a program's version may depend on.
pub(super) struct VersionScope<'a> {
    stack: &'a Stack,
    /// The parent folder, and the files that choose versions.
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

    /// The key of the version query, which is the same for stacks with the same answer.
    pub(super) fn key(&self, toolchain: &Toolchain) -> String {
        let words = toolchain.version.iter().chain([&toolchain.program]);
        let is_own = |word: &String| word.contains('/') || self.stack.dir.join(word).exists();
        // mix reads the project in its working folder.
        let of_folder = words.clone().any(is_own) || toolchain.program == "mix";
        if of_folder {
            format!("{toolchain:?}\n{:?}", self.stack.dir)
        } else {
            format!("{toolchain:?}\n{}", self.choice)
        }
    }
}

/// A message of a worker: the index of a query, and the answer, or `None` when the query starts.
type VersionUpdate = (usize, Option<Program>);

/// Runs all queries. Returns the answers by the queries' keys.
pub(super) fn ask(
    host: &Host<'_>,
    questions: Vec<VersionQuery<'_>>,
    tell: &mut dyn FnMut(&VersionProgress<'_>),
) -> BTreeMap<String, Program> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel::<VersionUpdate>();
    // The receiver outlives the workers.
    let send = |told: VersionUpdate| sender.send(told).unwrap_or_default();
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
            tell(&VersionProgress {
                answered: answers.len(),
                all: questions.len(),
                waiting_for: names,
                is_slow,
            });
        }
    });
    answers
}
