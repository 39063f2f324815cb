//! A stack's programs: whether they are here, and in which version, as they print it. Several are asked at a time, and each
//! once, however many stacks need it.

use std::{
    cmp,
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

/// The first version-like word of `text`: "1.25.3" of "go version go1.25.3 linux/amd64", "21" of "openjdk 21 2023-09-19".
pub(super) fn find_version(text: &str) -> Option<String> {
    let words = text.split_whitespace();
    words.filter_map(version_of_word).next().map(str::to_owned)
}

fn version_of_word(word: &str) -> Option<&str> {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    // "nginx/1.22.1"
    let word = word.rsplit('/').next().unwrap_or(word);
    let start = word.find(|c: char| c.is_ascii_digit())?;
    let (prefix, version) = word.split_at(start);
    if !prefix.chars().all(|c| c.is_ascii_alphabetic()) {
        return None;
    }
    let numbers = version
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .map_or(version, |end| &version[..end]);
    if numbers.trim_end_matches('.').contains('.') {
        // A suffix such as "-14", "p20" or "+build" belongs to it.
        return Some(version);
    }
    let rest = &version[numbers.len()..];
    // A number alone may be a date or a part of a name: no "amd64", no "2023-09-19", no "32-bit".
    let alone = rest.is_empty() || rest == "-ea";
    let plain = prefix.is_empty() || prefix == "v";
    (alone && plain).then_some(version)
}

/// Compares by the numbers between the dots; what follows the first other character is not looked at, and numbers that
/// are missing count as 0.
pub(super) fn compare(a: &str, b: &str) -> cmp::Ordering {
    let (a, b) = (numbers(a), numbers(b));
    let longest = a.len().max(b.len());
    let at = |numbers: &[u64], index: usize| numbers.get(index).copied().unwrap_or(0);
    (0..longest)
        .map(|index| at(&a, index).cmp(&at(&b, index)))
        .find(|ordering| ordering.is_ne())
        .unwrap_or(cmp::Ordering::Equal)
}

fn numbers(version: &str) -> Vec<u64> {
    let end = version.find(|c: char| !c.is_ascii_digit() && c != '.');
    let leading = end.map_or(version, |end| &version[..end]);
    leading
        .split('.')
        .map_while(|part| part.parse().ok())
        .collect()
}

/// Whether `version` is older than all that will do.
pub(super) fn is_too_old(version: &str, toolchain: &Toolchain) -> bool {
    let minimum = toolchain.minimum.as_deref();
    minimum.is_some_and(|minimum| compare(version, minimum).is_lt())
}

/// Whether `version` is newer than all that will do.
pub(super) fn is_too_new(version: &str, toolchain: &Toolchain) -> bool {
    let maximum = toolchain.maximum.as_deref();
    maximum.is_some_and(|maximum| compare(&prefix(version, maximum), maximum).is_gt())
}

/// As many of the numbers of `version` as `like` has.
fn prefix(version: &str, like: &str) -> String {
    let count = like.split('.').count();
    version.split('.').take(count).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_version_in_what_programs_print() {
        let cases = [
            ("go version go1.25.3 linux/amd64", Some("1.25.3")),
            ("v22.11.0", Some("22.11.0")),
            ("Python 3.12.1", Some("3.12.1")),
            ("cargo 1.95.0 (f2d3ce0bd 2026-03-21)", Some("1.95.0")),
            (
                "openjdk 21 2023-09-19\nOpenJDK Runtime Environment (build 21+35-2513)",
                Some("21"),
            ),
            ("openjdk version \"17.0.9\" 2023-10-17", Some("17.0.9")),
            (
                "ruby 3.1.2p20 (2022-04-12 revision 4491bb740a) [x86_64-linux-gnu]",
                Some("3.1.2p20"),
            ),
            ("Nim Compiler Version 1.6.10 [Linux: amd64]", Some("1.6.10")),
            ("Erlang/OTP 25 [erts-13.1.5] [source] [64-bit]", Some("25")),
            ("gcc (Debian 12.2.0-14) 12.2.0", Some("12.2.0-14")),
            ("nginx version: nginx/1.22.1", Some("1.22.1")),
            ("x86_64 amd64 2024-01-01 32-bit", None),
            ("command not found", None),
        ];
        for (text, expected) in cases {
            assert_eq!(find_version(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn compares_numbers_and_not_letters() {
        let cases = [
            ("1.25", "1.25.0", cmp::Ordering::Equal),
            ("1.9", "1.25", cmp::Ordering::Less),
            ("3.1.2p20", "3.1", cmp::Ordering::Greater),
            ("21", "17.0.9", cmp::Ordering::Greater),
            ("12.2.0-14", "12.2.0", cmp::Ordering::Equal),
            ("1.25rc1", "1.25", cmp::Ordering::Equal),
        ];
        for (a, b, expected) in cases {
            assert_eq!(compare(a, b), expected, "{a} {b}");
            assert_eq!(compare(b, a), expected.reverse(), "{b} {a}");
        }
    }
}
